/* SPDX-License-Identifier: BSD-2-Clause */
#include "resolver/ahead.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "resolver/resolver.h"
#include "unit/test.h"

extern const struct resolver resolver_kernel;

TestSuite(ahead, .fini = check_leaks);

#define NAMES "ffffffff81000000 T _stext\nffffffff81000100 T alpha_call\nffffffff81000200 T beta\n"

static char proc[] = "/tmp/stoke-ahead-XXXXXX";
static struct host host;

static void write_proc(const char *name, const char *text)
{
	int fd = openat(host.proc_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	cr_assert(eq(long, write(fd, text, strlen(text)), (long)strlen(text)));
	(void)close(fd);
}

static void make_proc(const char *modules)
{
	cr_assert(mkdtemp(proc) != NULL);
	cr_assert(eq(int, host_open(proc, NULL, &host), 0));
	write_proc("kallsyms", NAMES);
	if (modules)
		write_proc("modules", modules);
}

static void remove_proc(void)
{
	(void)unlinkat(host.proc_fd, "kallsyms", 0);
	(void)unlinkat(host.proc_fd, "modules", 0);
	host_close(&host);
	(void)rmdir(proc);
}

/* What is given when there is another list of modules at the end than at the start. */
static void *take_after(const char *before, const char *after)
{
	struct resolve_ahead *ahead = NULL;
	void *state;

	make_proc(before);
	cr_assert(eq(int, resolve_ahead_start(&host, &ahead), 0));
	if (after)
		write_proc("modules", after);
	state = resolve_ahead_take(ahead);
	cr_assert(eq(ptr, resolve_ahead_take(ahead), NULL), "once");
	resolve_ahead_free(ahead);
	remove_proc();
	return state;
}

Test(ahead, gives_the_names_that_it_read)
{
	void *state = take_after(NULL, NULL);
	enum resolver_miss miss;
	struct symbol found;

	cr_assert(ne(ptr, state, NULL));
	cr_assert(eq(int, resolver_kernel.lookup(state, 0xffffffff81000110, &found, 1, &miss), 1));
	cr_assert(eq(int, strncmp(found.name, "alpha_call", found.name_size), 0));
	resolver_kernel.close(state);
}

Test(ahead, does_not_mind_who_uses_a_module)
{
	void *state = take_after("ext4 741376 1 - Live 0xffffffffc0a00000\n",
		"ext4 741376 2 mbcache,jbd2, Live 0xffffffffc0a00000\n");

	cr_assert(ne(ptr, state, NULL));
	resolver_kernel.close(state);
}

Test(ahead, gives_nothing_when_a_module_went)
{
	const char *loaded = "ext4 741376 1 - Live 0xffffffffc0a00000\n";

	cr_assert(eq(ptr, take_after(loaded, ""), NULL));
}

Test(ahead, gives_nothing_when_a_module_came)
{
	cr_assert(eq(ptr, take_after("", "ext4 741376 1 - Live 0xffffffffc0a00000\n"), NULL));
}

Test(ahead, gives_nothing_when_a_module_moved)
{
	cr_assert(eq(ptr,
		take_after("ext4 741376 1 - Live 0xffffffffc0a00000\n",
			"ext4 741376 1 - Live 0xffffffffc0b00000\n"),
		NULL));
}

Test(ahead, can_be_dropped_while_it_reads)
{
	struct resolve_ahead *ahead = NULL;

	make_proc(NULL);
	cr_assert(eq(int, resolve_ahead_start(&host, &ahead), 0));
	resolve_ahead_free(ahead);
	resolve_ahead_free(NULL);
	remove_proc();
	usleep(100000); /* the worker frees what it holds: for the leak check */
}
