/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stackid PID HZ SECONDS: samples PID with two bpf_get_stackid() calls a tick and prints what the
 * program took: "runs N ns N samples N". Run beside stoke, it sees the same ticks' load.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "stackid.skel.h"

static int attach(struct stackid_bpf *skeleton, int cpu, unsigned hz)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000u / hz};
	int fd = (int)syscall(
		SYS_perf_event_open, &attr, -1, cpu, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	/* The link keeps the event until this program ends. */
	return bpf_program__attach_perf_event(skeleton->progs.stackid_tick, fd) ? 0 : -errno;
}

int main(int argc, char **argv)
{
	struct stackid_bpf *skeleton = argc == 4 ? stackid_bpf__open() : NULL;
	struct bpf_prog_info info = {0};
	__u32 size = sizeof(info);
	int stats;

	if (!skeleton)
		return 2;
	skeleton->rodata->target = (__u32)strtoul(argv[1], NULL, 10);
	if (stackid_bpf__load(skeleton))
		return 1;
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++)
		if (attach(skeleton, cpu, (unsigned)strtoul(argv[2], NULL, 10)) == -ENOENT)
			return 1;
	puts("ready");
	(void)fflush(stdout);
	(void)sleep((unsigned)strtoul(argv[3], NULL, 10));
	if (bpf_obj_get_info_by_fd(bpf_program__fd(skeleton->progs.stackid_tick), &info, &size))
		return 1;
	printf("runs %llu\nns %llu\nsamples %llu\n", (unsigned long long)info.run_cnt,
		(unsigned long long)info.run_time_ns, (unsigned long long)skeleton->bss->samples);
	(void)close(stats);
	stackid_bpf__destroy(skeleton);
	return 0;
}
