/* SPDX-License-Identifier: BSD-2-Clause */
/* probes.c: the calls of a recording, one by one. */
#include "source/probes.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "source/features.h"
#include "source/perf.h"

#define RING_BYTES	(8u << 20) /* the least that objects.c makes */
#define CLOCK_PERIOD_NS 200000
#define CLOCK_TRIES	100 /* of 2 ms: a machine may be busy, or stolen from */

static int probe_program(void)
{
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	_cleanup_close_ int fd = bpf_prog_load(
		BPF_PROG_TYPE_PERF_EVENT, "probe", "Dual BSD/GPL", code, ARRAY_SIZE(code), NULL);

	return fd < 0 ? -errno : 0;
}

static int probe_ring(void)
{
	_cleanup_close_ int fd =
		bpf_map_create(BPF_MAP_TYPE_RINGBUF, "probe", 0, 0, RING_BYTES, NULL);

	return fd < 0 ? -errno : 0;
}

/* Waits for the first sample: 1, or 0 when none came. */
static int fires(int fd)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	const size_t bytes = 2 * (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *ring =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int found = 0;

	if (ring == MAP_FAILED)
		return 0;
	for (int i = 0; i < CLOCK_TRIES && !found; i++) {
		(void)nanosleep(&pause, NULL); /* shorter when a signal comes */
		found = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE) != 0;
	}
	(void)munmap(ring, bytes); /* its own mapping: cannot fail */
	return found;
}

static void probe_event(unsigned cpu, struct probes *ret)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = CLOCK_PERIOD_NS,
		.sample_type = PERF_SAMPLE_TIME,
	};
	_cleanup_close_ int fd = perf_open_cpu(&attr, cpu);

	ret->event = fd < 0 ? fd : 0;
	ret->event_counts = fd >= 0 && fires(fd);
}

int probe_process(pid_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = CLOCK_PERIOD_NS,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	_cleanup_close_ int fd =
		(int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : 0;
}

int probe_memory(pid_t pid)
{
	char byte;
	struct iovec to = {.iov_base = &byte, .iov_len = 1};
	struct iovec from = {.iov_base = (void *)16, .iov_len = 1}; /* below mmap_min_addr */

	if (process_vm_readv(pid, &to, 1, &from, 1, 0) >= 0 || errno == EFAULT)
		return 0;
	return -errno;
}

void probes_run(unsigned cpu, struct probes *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->program = probe_program();
	ret->ring = probe_ring();
	probe_event(cpu, ret);
	ret->cycles = cycles_per_second();
}
