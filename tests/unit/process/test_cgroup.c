/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/cgroup.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "unit/place.h"
#include "unit/test.h"

TestSuite(cgroup, .fini = check_leaks);

#define ID "3f9c1b2a77d0aaaabbbbccccddddeeeeffff00001111222233334444555566aa"

static int limit_in(const char *place, struct cgroup_limit *ret)
{
	char proc[PATH_MAX], sys[PATH_MAX];
	struct host host;
	int r;

	(void)snprintf(proc, sizeof(proc), "%s/proc", place);
	(void)snprintf(sys, sizeof(sys), "%s/sys", place);
	cr_assert(eq(int, host_open(proc, sys, &host), 0));
	r = cgroup_read_limit(&host, 42, ret);
	host_close(&host);
	return r;
}

Test(cgroup, the_tightest_limit_above_a_process_of_version_2_counts)
{
	_cleanup_place_ char *place = place_new();
	struct cgroup_limit limit = {0};

	place_write(place, "proc/42/cgroup", "0::/a.slice/b.service/c\n");
	place_write(place, "sys/fs/cgroup/a.slice/cpu.max", "150000 100000\n");
	place_write(place, "sys/fs/cgroup/a.slice/cpu.stat",
		"usage_usec 9\nnr_periods 200\nnr_throttled 82\nthrottled_usec 3000\n");
	place_write(place, "sys/fs/cgroup/a.slice/b.service/cpu.max", "400000 100000\n");
	place_write(place, "sys/fs/cgroup/a.slice/b.service/c/cpu.max", "max 100000\n");
	cr_assert(eq(int, limit_in(place, &limit), 0));
	cr_assert(eq(dbl, limit.cores, 1.5));
	cr_assert(eq(u64, limit.nr_periods, 200));
	cr_assert(eq(u64, limit.nr_throttled, 82));
	cr_assert(eq(u64, limit.throttled_ns, 3000000));
}

Test(cgroup, version_1_has_its_own_files)
{
	_cleanup_place_ char *place = place_new();
	struct cgroup_limit limit = {0};

	place_write(place, "proc/42/cgroup",
		"9:name=systemd:/\n4:cpu,cpuacct:/docker/x\n3:cpuset:/y\n0::/\n");
	place_write(place, "sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "50000\n");
	place_write(place, "sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
	place_write(place, "sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.stat",
		"nr_periods 10\nnr_throttled 3\nthrottled_time 77\n");
	place_write(place, "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	place_write(place, "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
	cr_assert(eq(int, limit_in(place, &limit), 0));
	cr_assert(eq(dbl, limit.cores, 0.5));
	cr_assert(eq(u64, limit.nr_throttled, 3));
	cr_assert(eq(u64, limit.throttled_ns, 77));
}

Test(cgroup, no_limit_is_no_error_and_no_cgroup_is)
{
	_cleanup_place_ char *place = place_new();
	struct cgroup_limit limit = {.cores = 7};

	place_write(place, "proc/42/cgroup", "0::/a\n");
	cr_assert(eq(int, limit_in(place, &limit), -ENOENT));
	place_write(place, "sys/fs/cgroup/a/cpu.max", "max 100000\n");
	cr_assert(eq(int, limit_in(place, &limit), 0));
	cr_assert(eq(dbl, limit.cores, 0));
	place_write(place, "proc/42/cgroup", "");
	cr_assert(eq(int, limit_in(place, &limit), -ENOENT));
}

Test(cgroup, a_hostile_path_leads_nowhere)
{
	_cleanup_place_ char *place = place_new();
	struct cgroup_limit limit = {0};

	place_write(place, "proc/42/cgroup", "0::/../../outside\nx\n:\n1:cpu\n0::\n");
	place_write(place, "sys/fs/cgroup/x", "");
	place_write(place, "outside/cpu.max", "1 100000\n");
	cr_assert(eq(int, limit_in(place, &limit), 0));
	cr_assert(eq(dbl, limit.cores, 0));
}

Test(cgroup, a_container_is_known_by_64_digits)
{
	static const char *const texts[] = {"0::/docker/" ID "\n",
		"0::/kubepods.slice/pod1/cri-containerd-" ID ".scope\n",
		"0::/machine.slice/libpod-" ID ".scope/container\n"};
	char id[CONTAINER_ID_MAX] = "";

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cr_assert(eq(int, container_id_find(texts[i], strlen(texts[i]), id), 0));
		cr_assert(eq(str, id, ID));
	}
	cr_assert(eq(int, container_id_find("0::/" ID "0", 5 + 64, id), -ENOENT));
	cr_assert(eq(int, container_id_find(ID, 63, id), -ENOENT));
	cr_assert(eq(int, container_id_find("", 0, id), -ENOENT));
}
