/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "resolver/resolver.h"
#include "unit/elf/files.h"

extern const struct resolver resolver_elf;

TestSuite(resolver_elf, .fini = check_leaks);

static struct module module;
static void *state;
static enum resolver_miss miss;

static void open_file(const char *name)
{
	static char path[64];

	(void)snprintf(path, sizeof(path), "/%s", name);
	module = (struct module){
		.kind = MODULE_FILE, .path = path, .fd = open_elf(name), .root_fd = -1};
	cr_assert(eq(int, resolver_elf.open(NULL, &module, &state), 0));
	(void)close(module.fd); /* a resolver keeps its own */
}

/* The name at an offset, "" when there is none. */
static char *at(uint64_t offset)
{
	static char name[8192];
	struct symbol symbol;

	if (resolver_elf.lookup(state, offset, &symbol, 1, &miss) != 1)
		return "";
	memcpy(name, symbol.name, symbol.name_size);
	name[symbol.name_size] = '\0';
	return name;
}

static void close_file(void)
{
	resolver_elf.close(state);
	state = NULL;
}

Test(resolver_elf, names_functions_wherever_the_segments_lie)
{
	static const char *const names[] = {"lld.so", "based.so", "together.so", "apart.so"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		open_file(names[i]);
		cr_assert(eq(str, at(function_offset(names[i], SECRET_HOT) + 4), "secret_hot"));
		cr_assert(eq(str, at(function_offset(names[i], API_LAST) + 4), "api_last"));
		close_file();
	}
}

Test(resolver_elf, gap_of_a_stripped_library_is_not_its_neighbour)
{
	open_file("stripped.so");
	cr_assert(eq(str, at(function_offset("stripped.so", API_FIRST) + 1), "api_first"));
	cr_assert(eq(str, at(function_offset("stripped.so", SECRET_HOT) + 4), ""));
	cr_assert(eq(int, miss, MISS_GAP));
	close_file();
}

Test(resolver_elf, function_without_a_name_is_one_place)
{
	uint64_t hot = function_offset("stripped.so", SECRET_HOT), vaddr = 0;

	open_file("stripped.so");
	cr_assert(eq(int, resolver_elf.locate(state, hot + 9, &vaddr), 0));
	cr_assert(eq(u64, vaddr, hot)); /* linked by GNU ld: the same number */
	cr_assert(eq(int, resolver_elf.locate(state, (hot & ~(uint64_t)0xfff) + 1, &vaddr), 0));
	cr_assert(eq(u64, vaddr, (hot & ~(uint64_t)0xfff) + 1)); /* _init is in no table */
	cr_assert(eq(int, resolver_elf.locate(state, 1u << 30, &vaddr), -ENOENT));
	close_file();
}

Test(resolver_elf, takes_names_out_of_mini_debug_info)
{
	open_file("mini.so");
	cr_assert(eq(str, at(function_offset("mini.so", ONLY_IN_SYMTAB) + 4), "only_in_symtab"));
	cr_assert(eq(str, at(function_offset("mini.so", API_LAST) + 4), "api_last"));
	close_file();
	open_file("mini-torn.so");
	cr_assert(eq(str, at(function_offset("mini-torn.so", ONLY_IN_SYMTAB) + 4), ""));
	cr_assert(eq(str, at(function_offset("mini-torn.so", API_LAST) + 4), "api_last"));
	close_file();
}

Test(resolver_elf, takes_names_out_of_debug_files_of_the_targets_root)
{
	static const char *const names[] = {"by-id", "beside", "hidden", "global"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char path[64];

		(void)snprintf(path, sizeof(path), "sysroot/lib/%s.so", names[i]);
		module = (struct module){.kind = MODULE_FILE,
			.path = path + strlen("sysroot"),
			.fd = open_elf(path),
			.root_fd = open(elf_path("sysroot"), O_PATH | O_CLOEXEC)};
		cr_assert(eq(int, resolver_elf.open(NULL, &module, &state), 0));
		cr_assert(eq(str, at(function_offset(path, ONLY_IN_SYMTAB) + 4), "only_in_symtab"));
		(void)close(module.fd);
		(void)close(module.root_fd);
		close_file();
	}
}

Test(resolver_elf, names_the_vdso_from_its_image)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)vdso;
	size_t size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	char *found = NULL;

	cr_assert(vdso != NULL);
	module = (struct module){.kind = MODULE_VDSO,
		.path = "[vdso]",
		.image = malloc(size),
		.image_size = size,
		.fd = -1,
		.root_fd = -1};
	memcpy(module.image, vdso, size);
	cr_assert(eq(int, resolver_elf.open(NULL, &module, &state), 0));
	for (uint64_t offset = 0; offset < size && !found; offset += 8)
		found = strstr(at(offset), "clock_gettime") ? "found" : NULL;
	cr_assert(found != NULL);
	close_file();
	free(module.image);
}

Test(resolver_elf, leaves_other_modules_to_others)
{
	static const enum module_kind kinds[] = {MODULE_KERNEL, MODULE_JIT, MODULE_FOREIGN};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		module = (struct module){.kind = kinds[i], .fd = -1, .root_fd = -1};
		cr_assert(eq(int, resolver_elf.open(NULL, &module, &state), -ENOENT));
	}
}

Test(resolver_elf, says_why_a_file_gives_nothing)
{
	struct module gone = {.kind = MODULE_FILE,
		.path = "/gone",
		.fd = -1,
		.open_error = ENOENT,
		.root_fd = -1};

	cr_assert(lt(int, resolver_elf.open(NULL, &gone, &state), 0));
	cr_assert(ne(int, resolver_elf.open(NULL, &gone, &state), -ENOENT)); /* it is ours */
	gone.open_error = EACCES;
	cr_assert(eq(int, resolver_elf.open(NULL, &gone, &state), -EACCES));
}

/* Places of a file that have this name. */
static int count_named(const char *file, const char *name)
{
	int nr = 0;

	open_file(file);
	for (uint64_t offset = 0; offset < 0x4000; offset += 8)
		nr += strcmp(at(offset), name) == 0;
	close_file();
	return nr;
}

Test(resolver_elf, stubs_of_the_plt_have_the_name_of_what_they_call)
{
	static const char *const names[] = {"lld.so", "together.so", "stripped.so", "headless.so"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		/* A stub is 16 bytes, or 8; with .plt.sec the lazy ones before it have no name. */
		cr_assert(ge(int, count_named(names[i], "getenv@plt"), 1), "%s", names[i]);
		cr_assert(le(int, count_named(names[i], "getenv@plt"), 2), "%s", names[i]);
	}
}

Test(resolver_elf, a_file_without_section_headers_has_its_dynamic_symbols)
{
	cr_assert(ge(int, count_named("headless.so", "api_first"), 1));
	cr_assert(eq(int, count_named("headless.so", "api_last"),
		count_named("stripped.so", "api_last")));
	cr_assert(eq(int, count_named("headless.so", "secret_hot"), 0));
}
