/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/load.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "unit/test.h"

TestSuite(load, .fini = check_leaks);

Test(load, times_are_those_of_all_cpus)
{
	static const char text[] =
		"cpu  100 10 50 800 40 5 15 20 7 0\n"
		"cpu0 50 5 25 400 20 3 7 10 3 0\ncpu1 50 5 25 400 20 2 8 10 4 0\n"
		"intr 1 2 3\nctxt 9\n";
	static const char *const bad[] = {"", "cpu \n", "cpu  1 2 3\ncpu0 1\n", "cpu0 1 2 3 4\n",
		"cpu  a b c d\n", "cpu  1 2 3 4 5 6 7 8"};
	struct machine_times times = {0};

	cr_assert(eq(int, machine_times_parse(text, sizeof(text) - 1, &times), 0));
	cr_assert(eq(u64, times.user, 110));
	cr_assert(eq(u64, times.system, 50));
	cr_assert(eq(u64, times.idle, 840));
	cr_assert(eq(u64, times.irq, 20));
	cr_assert(eq(u64, times.stolen, 20));
	cr_assert(eq(u32, times.nr_cpus, 2));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		cr_assert(eq(int, machine_times_parse(bad[i], strlen(bad[i]), &times), -EINVAL),
			"%s", bad[i]);
}

static const struct load before = {
	.times = {.user = 1000, .system = 500, .irq = 10, .idle = 9000, .nr_cpus = 8},
	.limit = {.cores = 2, .nr_periods = 100, .nr_throttled = 7},
	.has_times = 1,
	.has_limit = 1,
};

Test(load, says_what_the_machine_did_meanwhile)
{
	const int64_t tick_ns = 1000000000 / sysconf(_SC_CLK_TCK);
	struct load after = before;
	char text[256];

	cr_assert(eq(int, load_say_machine(&before, &after, 0, text, sizeof(text)), -ENODATA));
	after.times.user += 220;
	after.times.system += 80;
	after.times.irq += 10;
	after.times.idle += 690;
	cr_assert(eq(int, load_say_machine(&before, &after, 248 * tick_ns, text, sizeof(text)), 0));
	cr_assert(eq(str, text,
		"8 CPUs, 31 % busy (user 22 %, system 8 %, irq 1 %), 80 % of that the target"));
	cr_assert(eq(int, load_say_machine(&before, &after, 999 * tick_ns, text, sizeof(text)), 0));
	cr_assert(ne(ptr, strstr(text, ", 100 % of that the target"), NULL), "%s", text);
	after.times.stolen += 1000;
	after.times.idle = 0; /* a CPU has gone, and its idle time with it */
	cr_assert(eq(int, load_say_machine(&before, &after, -1, text, sizeof(text)), 0));
	cr_assert(eq(str, text,
		"8 CPUs, 24 % busy (user 17 %, system 6 %, irq 1 %), 76 % stolen by other "
		"machines"));
	after.has_times = 0;
	cr_assert(eq(int, load_say_machine(&before, &after, 0, text, sizeof(text)), -ENODATA));
}

Test(load, says_how_often_the_limit_was_met)
{
	struct load after = before, none = before;
	char text[256];

	cr_assert(eq(int, load_say_limit(&before, &after, text, sizeof(text)), 0));
	cr_assert(eq(str, text, "2.0 cores by cgroup, never throttled meanwhile"));
	after.limit.nr_periods += 100;
	after.limit.nr_throttled += 41;
	cr_assert(eq(int, load_say_limit(&before, &after, text, sizeof(text)), 0));
	cr_assert(eq(str, text,
		"2.0 cores by cgroup, throttled in 41 % of the periods: more CPU would be used if "
		"allowed"));
	after.limit.cores = 0.5;
	cr_assert(eq(int, load_say_limit(&before, &after, text, sizeof(text)), 0));
	cr_assert(ne(ptr, strstr(text, "0.5 cores by cgroup (2.0 at the start), throttled"), NULL));
	none.limit.cores = 0;
	cr_assert(eq(int, load_say_limit(&before, &none, text, sizeof(text)), -ENODATA));
	none.has_limit = 0;
	cr_assert(eq(int, load_say_limit(&before, &none, text, sizeof(text)), -ENODATA));
}
