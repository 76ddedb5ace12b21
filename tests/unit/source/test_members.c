/* SPDX-License-Identifier: BSD-2-Clause */
/* source/members.c, with events of this machine: of a child that does nothing but wait. */
#include "source/members.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "bpf/event.h"
#include "unit/test.h"

static const unsigned cpus[] = {0};
static struct members *members;
static pid_t child;

static struct members_options options_of(uint64_t period_ns)
{
	return (struct members_options){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.period = period_ns,
		.period_ns = period_ns,
		.children = 1,
		.user = 1,
		.cpus = cpus,
		.nr_cpus = 1,
	};
}

static void setup(void)
{
	struct members_options options = options_of(10000000);
	struct stoke_error err = {0};
	int r = members_open(&options, &members, &err);

	if (r == -EPERM || r == -EACCES || r == -EOPNOTSUPP)
		cr_skip_test("no events here: %s", err.text);
	cr_assert(eq(int, r, 0), "%s", err.text);
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	cr_assert(gt(int, child, 0));
}

static void teardown(void)
{
	if (child > 0) {
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0);
	}
	members_close(members);
	check_leaks();
}

TestSuite(members, .init = setup, .fini = teardown);

Test(members, are_who_was_added_and_what_they_fork)
{
	cr_assert(eq(int, members_has(members, child), 0));
	cr_assert(eq(int, members_add_process(members, child, NULL), 0));
	cr_assert(eq(int, members_has(members, child), 1));
	cr_assert(eq(int, members_forked(members, child, 999999), 0));
	cr_assert(eq(int, members_forked(members, 5, 6), 0));
	cr_assert(eq(int, members_has(members, 999999), 1));
	cr_assert(eq(int, members_has(members, 6), 0), "its parent is none");
	members_exited(members, child);
	members_exited(members, 12345);
	cr_assert(eq(int, members_has(members, child), 0));
	cr_assert(eq(int, members_has(members, 999999), 1));
}

Test(members, are_found_among_thousands)
{
	cr_assert(eq(int, members_add_process(members, child, NULL), 0));
	for (pid_t pid = 1000000; pid < 1004000; pid += 2)
		cr_assert(eq(int, members_forked(members, child, 2000000 - pid), 0));
	for (pid_t pid = 1000000; pid < 1004000; pid++)
		cr_assert(eq(int, members_has(members, 2000000 - pid), pid % 2 == 0));
}

Test(members, says_that_a_process_has_ended)
{
	struct stoke_error err = {0};
	pid_t gone = fork();

	if (gone == 0)
		_exit(0);
	cr_assert(eq(int, waitpid(gone, NULL, 0), gone));
	cr_assert(eq(int, members_add_process(members, gone, &err), -ESRCH));
	cr_assert(ne(ptr, strstr(err.text, "ended"), NULL));
	cr_assert(eq(int, members_add_thread(members, gone, &err), -ESRCH));
	cr_assert(eq(int, members_add_pending(members, gone, &err), -ESRCH));
}

Test(members, says_that_there_are_too_few_files)
{
	struct rlimit before, few;
	struct stoke_error err = {0};

	cr_assert(eq(int, getrlimit(RLIMIT_NOFILE, &before), 0));
	few = (struct rlimit){3, 3};
	cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &few), 0));
	cr_assert(eq(int, members_add_thread(members, child, &err), -EMFILE));
	cr_assert(ne(ptr, strstr(err.text, "ulimit -n"), NULL));
	few = (struct rlimit){before.rlim_cur, before.rlim_cur};
	(void)setrlimit(RLIMIT_NOFILE, &few); /* only root may raise it again */
}

Test(members, copies_less_of_each_stack_where_there_are_more_of_them)
{
	const uint64_t periods_ns[] = {100000000, 10000000, 1000000, 100000};
	uint32_t before = STOKE_COPY_BYTES;

	for (size_t i = 0; i < ARRAY_SIZE(periods_ns); i++) {
		struct members_options options = options_of(periods_ns[i]);
		const struct plain_rings *rings;
		struct members *other;

		cr_assert(eq(int, members_open(&options, &other, NULL), 0));
		rings = members_rings(other);
		cr_assert(eq(sz, rings->nr, 1));
		cr_assert(le(u32, rings->stack_bytes, before));
		cr_assert(ge(u32, rings->stack_bytes, 4096));
		cr_assert(eq(u32, rings->stack_bytes % 8, 0), "as the kernel wants it");
		cr_assert(eq(sz, rings->items[0].bytes & (rings->items[0].bytes - 1), 0));
		before = rings->stack_bytes;
		members_close(other);
	}
}

Test(members, has_nothing_lost_where_nothing_fired)
{
	cr_assert(eq(int, members_add_process(members, child, NULL), 0));
	members_stop(members);
	cr_assert(eq(u64, members_lost(members), 0));
}
