/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolver/resolver.h"
#include "unit/test.h"

extern const struct resolver resolver_kernel;

TestSuite(resolver_kernel, .fini = check_leaks);

static const struct module kernel = {.kind = MODULE_KERNEL, .fd = -1, .root_fd = -1};
static void *state;
static enum resolver_miss miss;
static struct symbol found;

/* Opens the resolver over a /proc with this kallsyms (NULL: none in it). */
static int open_with(const char *text)
{
	char dir[] = "/tmp/stoke-proc-XXXXXX";
	struct host host = {.proc_fd = -1};
	int fd, r;

	cr_assert(mkdtemp(dir) != NULL);
	host.proc_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (text) {
		fd = openat(host.proc_fd, "kallsyms", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		cr_assert(eq(sz, (size_t)write(fd, text, strlen(text)), strlen(text)));
		(void)close(fd);
	}
	r = resolver_kernel.open(&host, &kernel, &state);
	(void)unlinkat(host.proc_fd, "kallsyms", 0);
	(void)close(host.proc_fd);
	(void)rmdir(dir);
	return r;
}

static char *at(uint64_t address)
{
	static char name[256];

	if (resolver_kernel.lookup(state, address, &found, 1, &miss) != 1)
		return "";
	cr_assert(lt(sz, found.name_size, sizeof(name)));
	memcpy(name, found.name, found.name_size);
	name[found.name_size] = '\0';
	return name;
}

static void done(void)
{
	resolver_kernel.close(state);
	state = NULL;
}

static const char mixed[] = "0000000000000000 A fixed_percpu_data\n"
			    "ffffffff81000000 T _stext\n"
			    "ffffffff81000100 T alpha_call\n"
			    "ffffffff81000100 t alpha_alias\n"
			    "ffffffff81000200 d not_code\n"
			    "ffffffff81000300 W weak_call\n"
			    "ffffffffc0000000 t mod_fn\t[some_mod]\n"
			    "ffffffffc0000040 t bpf_prog_0123456789abcdef_prog\t[bpf]\n";

Test(resolver_kernel, names_functions_modules_and_bpf_programs)
{
	cr_assert(eq(int, open_with(mixed), 0));
	cr_assert(eq(str, at(0xffffffff81000150), "alpha_call"));
	cr_assert(eq(ptr, (void *)found.file, NULL));
	cr_assert(eq(str, at(0xffffffff81000250), "alpha_call"));
	cr_assert(eq(str, at(0xffffffff81000310), "weak_call"));
	cr_assert(eq(str, at(0xffffffffc0000010), "mod_fn"));
	cr_assert(eq(int, memcmp(found.file, "[some_mod]", 10), 0));
	cr_assert(eq(sz, found.file_size, 10));
	cr_assert(eq(str, at(0xffffffffc0000050), "bpf_prog_0123456789abcdef_prog"));
	cr_assert(eq(int, memcmp(found.file, "[bpf]", 5), 0));
	cr_assert(eq(int, found.kind, FUNCTION_KERNEL));
	done();
}

Test(resolver_kernel, names_nothing_outside_of_what_it_knows)
{
	cr_assert(eq(int, open_with(mixed), 0));
	cr_assert(eq(str, at(0x10), ""));
	cr_assert(eq(int, miss, MISS_GAP));
	cr_assert(eq(str, at(0xffffffff80ffffff), ""));
	cr_assert(eq(str, at(0xffffffff90000000), "")); /* far behind the last of the kernel */
	cr_assert(eq(str, at(0xfffffffffffffff0), ""));
	done();
}

Test(resolver_kernel, text_ends_at_etext)
{
	cr_assert(eq(int,
		open_with("ffffffff81000000 T first\nffffffff81000100 t also_there\n"
			  "ffffffff81000100 T _etext\nffffffff83000000 T _sinittext\n"
			  "ffffffff83000100 T _einittext\n"),
		0));
	cr_assert(eq(str, at(0xffffffff810000ff), "first"));
	cr_assert(eq(str, at(0xffffffff81000100), ""));
	cr_assert(eq(str, at(0xffffffff83000050), "_sinittext"));
	cr_assert(eq(str, at(0xffffffff83000100), ""));
	done();
}

Test(resolver_kernel, hidden_addresses_name_nothing)
{
	cr_assert(eq(int,
		open_with("0000000000000000 T _stext\n0000000000000000 T do_sys_poll\n"
			  "0000000000000000 t handle_softirqs\n"
			  "0000000000000000 t helper\t[some_mod]\n"),
		0));
	cr_assert(eq(str, at(0), ""));
	cr_assert(eq(int, miss, MISS_HIDDEN));
	cr_assert(eq(str, at(0xffffffff81000100), ""));
	cr_assert(eq(int, miss, MISS_HIDDEN));
	done();
}

Test(resolver_kernel, best_alias_wins_in_any_order)
{
	static const char *const lines[] = {"ffffffff81000000 t aaa_local\n",
		"ffffffff81000000 W aa_weak\n", "ffffffff81000000 T __ia32_sys_getpid\n",
		"ffffffff81000000 T __x64_sys_getpid\n"};

	for (size_t from = 0; from < ARRAY_SIZE(lines); from++) {
		char text[512] = "";

		for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
			(void)strncat(text, lines[(from + i) % ARRAY_SIZE(lines)],
				sizeof(text) - strlen(text) - 1);
		cr_assert(eq(int, open_with(text), 0));
		cr_assert(eq(str, at(0xffffffff81000000), "__x64_sys_getpid"));
		done();
	}
}

Test(resolver_kernel, lines_in_any_order_and_of_any_quality)
{
	cr_assert(eq(int,
		open_with("ffffffffc0000000 t late\t[m]\nnonsense\n\nffffffff81000200 T second\n"
			  "ffffffff81000100 T first\nffffffff81000300 T\nffffffff81000300 T \n"
			  "fffffffffffffffffffff T too_long\n ffffffff81000150 T blank\n"
			  "ffffffff81000150 TT two\nffffffff81000180 T torn"),
		0));
	cr_assert(eq(str, at(0xffffffff81000190), "first"));
	cr_assert(eq(str, at(0xffffffff81000310), "second"));
	cr_assert(eq(str, at(0xffffffffc0000001), "late"));
	done();
}

Test(resolver_kernel, reads_addresses_of_32_bits)
{
	cr_assert(eq(int, open_with("c0008000 T stext\nc000807c t __create_page_tables\n"), 0));
	cr_assert(eq(str, at(0xc0008010), "stext"));
	cr_assert(eq(str, at(0xc0008080), "__create_page_tables"));
	done();
}

Test(resolver_kernel, empty_and_missing_files)
{
	cr_assert(eq(int, open_with(""), 0));
	cr_assert(eq(str, at(0xffffffff81000000), ""));
	cr_assert(eq(int, miss, MISS_NO_SYMBOLS));
	done();
	cr_assert(lt(int, open_with(NULL), 0));
	cr_assert(ne(int, open_with(NULL), -ENOENT)); /* which would mean: ask another resolver */
}

Test(resolver_kernel, leaves_other_modules_to_others)
{
	const struct module file = {.kind = MODULE_FILE, .fd = -1, .root_fd = -1};

	cr_assert(eq(int, resolver_kernel.open(NULL, &file, &state), -ENOENT));
}
