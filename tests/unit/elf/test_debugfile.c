/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/debugfile.h"

#include <errno.h>
#include <unistd.h>

#include "elf/symbols.h"
#include "unit/elf/files.h"

TestSuite(debugfile, .fini = check_leaks);

static int find(const char *name, struct elf_file **ret)
{
	int root = open(elf_path("sysroot"), O_PATH | O_DIRECTORY | O_CLOEXEC), r;
	struct elf_file *file = NULL;
	char path[64];

	(void)snprintf(path, sizeof(path), "sysroot/lib/%s.so", name);
	cr_assert(ge(int, root, 0));
	cr_assert(eq(int, elf_file_open(open_elf(path), &file), 0));
	cr_assert(eq(ptr, (void *)elf_file_section_of(file, SHT_SYMTAB), NULL));
	r = debugfile_find(file, root, path + strlen("sysroot"), ret);
	elf_file_close(file);
	(void)close(root);
	return r;
}

/* Is the static function of `full`, which is stripped of its names, known in `debug`? */
static void expect_names(const char *full, const struct elf_file *debug)
{
	struct symbols *symbols = NULL;
	struct elf_symbol symbol = {0};
	struct elf_file *file = NULL;
	uint64_t vaddr = 0;

	cr_assert(eq(int, elf_file_open(open_elf(full), &file), 0));
	cr_assert(eq(int, elf_file_vaddr(file, function_offset(full, ONLY_IN_SYMTAB), &vaddr), 0));
	cr_assert(eq(int, symbols_new(&symbols), 0));
	cr_assert(gt(int, symbols_add(symbols, debug, SHT_SYMTAB), 0));
	cr_assert(eq(int, symbols_sort(symbols), 0));
	cr_assert(eq(int, symbols_read(symbols, symbols_locate(symbols, vaddr), &symbol), 1));
	cr_assert(eq(int, memcmp(symbol.name, "only_in_symtab", 14), 0));
	symbols_free(symbols);
	elf_file_close(file);
}

Test(debugfile, is_found_by_build_id_in_the_root_of_the_target)
{
	struct elf_file *debug = NULL;

	cr_assert(eq(int, find("by-id", &debug), 0));
	expect_names("sysroot/lib/by-id.so", debug);
	elf_file_close(debug);
}

Test(debugfile, is_found_by_link_in_three_places)
{
	static const char *const names[] = {"beside", "hidden", "global", "linked"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct elf_file *debug = NULL;

		cr_assert(eq(int, find(names[i], &debug), 0), "%s", names[i]);
		expect_names("plain.so", debug);
		elf_file_close(debug);
	}
}

Test(debugfile, of_another_build_is_not_used)
{
	struct elf_file *debug = NULL;

	cr_assert(eq(int, find("wrong", &debug), -ESTALE));
	cr_assert(eq(ptr, debug, NULL));
}

Test(debugfile, may_be_missing)
{
	struct elf_file *debug = NULL;

	cr_assert(eq(int, find("missing", &debug), -ENOENT));
}

/* A link of the target to /x is one to /x of its root; ours would be a stranger's file. */
Test(debugfile, links_do_not_lead_out_of_the_root)
{
	struct elf_file *file = NULL, *debug = NULL;
	int root = open(elf_path("sysroot/lib/.debug"), O_PATH | O_DIRECTORY | O_CLOEXEC);

	cr_assert(eq(int, find("outside", &debug), -ENOENT));
	cr_assert(eq(int, access(elf_path("sysroot/lib/outside.debug"), R_OK), 0));
	cr_assert(ge(int, root, 0));
	cr_assert(eq(int, elf_file_open(open_elf("sysroot/lib/beside.so"), &file), 0));
	cr_assert(eq(int, debugfile_find(file, root, "/../beside.so", &debug), -ENOENT));
	cr_assert(eq(int, debugfile_find(file, root, "beside.so", &debug), -ENOENT));
	cr_assert(eq(int, debugfile_find(file, root, NULL, &debug), -ENOENT));
	elf_file_close(file);
	(void)close(root);
}

Test(debugfile, unpacks_mini_debug_info)
{
	struct elf_file *file = NULL, *debug = NULL;

	cr_assert(eq(int, elf_file_open(open_elf("mini.so"), &file), 0));
	cr_assert(eq(int, debugfile_unpack(file, &debug), 0));
	expect_names("mini.so", debug);
	elf_file_close(debug);
	elf_file_close(file);
}

Test(debugfile, torn_mini_debug_info_is_none)
{
	struct elf_file *file = NULL, *debug = NULL;

	cr_assert(eq(int, elf_file_open(open_elf("mini-torn.so"), &file), 0));
	cr_assert(eq(int, debugfile_unpack(file, &debug), -ENOENT));
	elf_file_close(file);
	cr_assert(eq(int, elf_file_open(open_elf("plain.so"), &file), 0));
	cr_assert(eq(int, debugfile_unpack(file, &debug), -ENOENT));
	elf_file_close(file);
}

/* 600 MB of zeros are 90 KB of xz: memory stays under the limit. */
Test(debugfile, mini_debug_info_may_not_grow_without_end)
{
	struct elf_file *file = NULL, *debug = NULL;

	cr_assert(eq(int, elf_file_open(open_elf("mini-bomb.so"), &file), 0));
	cr_assert(eq(int, debugfile_unpack(file, &debug), -ENOENT));
	cr_assert(eq(ptr, debug, NULL));
	elf_file_close(file);
}
