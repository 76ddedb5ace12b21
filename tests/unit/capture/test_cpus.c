/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "unit/test.h"

TestSuite(cpus, .fini = check_leaks);

Test(cpus, reads_ranges_and_singles)
{
	_cleanup_free_ unsigned *cpus = NULL;
	size_t nr = 0;

	cr_assert(eq(int, cpus_parse("0-3,8,10-11\n", &cpus, &nr), 0));
	cr_assert(eq(sz, nr, 7));
	cr_assert(eq(u32, cpus[4], 8));
	cr_assert(eq(u32, cpus[6], 11));
}

Test(cpus, sorts_and_drops_doubles)
{
	_cleanup_free_ unsigned *cpus = NULL;
	size_t nr = 0;

	cr_assert(eq(int, cpus_parse("5,1-2,2", &cpus, &nr), 0));
	cr_assert(eq(sz, nr, 3));
	cr_assert(eq(u32, cpus[0], 1));
	cr_assert(eq(u32, cpus[2], 5));
}

Test(cpus, refuses_what_is_no_list)
{
	static const char *const bad[] = {
		"", "a", "1-", "3-1", "1,,2", "-1", "1 2", "0-99999999999", "4294967296"};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		unsigned *cpus = NULL;
		size_t nr = 0;

		cr_assert(eq(int, cpus_parse(bad[i], &cpus, &nr), -EINVAL), "%s", bad[i]);
	}
}

static void make_host(const char *online, struct host *ret)
{
	static char sys[] = "/tmp/stoke-test-XXXXXX";
	char path[256];
	FILE *file;

	cr_assert(not(zero(ptr, mkdtemp(sys))));
	for (const char *const *part = (const char *const[]){"devices", "devices/system",
		     "devices/system/cpu", NULL};
		*part; part++) {
		(void)snprintf(path, sizeof(path), "%s/%s", sys, *part);
		cr_assert(eq(int, mkdir(path, 0755), 0));
	}
	(void)snprintf(path, sizeof(path), "%s/devices/system/cpu/online", sys);
	file = fopen(path, "w");
	(void)fputs(online, file);
	(void)fclose(file);
	*ret = (struct host){.sys = sys};
}

Test(cpus, chooses_all_128_or_those_wanted_or_says_which_is_missing)
{
	_cleanup_free_ unsigned *all = NULL, *some = NULL, *none = NULL;
	struct stoke_error err = {0};
	struct host host;
	size_t nr = 0;

	make_host("0-63,65-128\n", &host);
	cr_assert(eq(int, cpus_choose(&host, NULL, 0, &all, &nr, &err), 0));
	cr_assert(eq(sz, nr, 128));
	cr_assert(eq(int, cpus_choose(&host, (unsigned[]){128, 3}, 2, &some, &nr, &err), 0));
	cr_assert(eq(sz, nr, 2));
	cr_assert(eq(u32, some[0], 3));
	cr_assert(eq(int, cpus_choose(&host, (unsigned[]){64}, 1, &none, &nr, &err), -EINVAL));
	cr_assert(not(zero(ptr, strstr(err.text, "CPU 64 is not online"))));
}
