/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * members.c: events of threads. The kernel lets inherited events write to a ring only where they
 * are of one CPU (perf_mmap()), so each thread has one for each CPU. The ring of a CPU belongs to
 * an event of stoke's own that never fires: whoever else ends, it stays.
 */
#include "source/members.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "bpf/event.h"
#include "source/features.h"
#include "source/perf.h"

/* With one page more this fits what an otherwise idle user may lock: 516 KiB a CPU. */
#define USER_RING_BYTES (512u << 10)
#define MAX_RING_BYTES	(4u << 20)
#define MIN_RING_BYTES	(64u << 10)
/* A ring passes its watermark at a quarter; the rest of it should last this long. */
#define READER_DELAY_NS	 40000000ull
#define MIN_STACK_BYTES	 4096u
#define STACK_STEP_BYTES 1024u
#define ANY_CPU		 -1

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4)
#endif

struct members {
	struct members_options options;
	struct plain_ring *rings; /* of the CPU of the same index */
	struct plain_rings all_rings;
	size_t page;
	int kernel; /* may be seen, and was asked for */
	int lost_by_read;
	int *events;
	size_t nr_events, events_capacity;
	pid_t *pids; /* sorted */
	size_t nr_pids, pids_capacity;
	uint64_t random;
	uint64_t lost, lost_before;
};

static int perf_open(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == EMFILE && perf_raise_file_limit() == 0)
		fd = (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* xorshift64*: no two events should stay in step with each other, or with what they sample. */
static uint64_t next_random(struct members *members)
{
	members->random ^= members->random >> 12;
	members->random ^= members->random << 25;
	members->random ^= members->random >> 27;
	return members->random * 0x2545F4914F6CDD1Dull;
}

/* What a ring belongs to. All that write to one ring have to have one clock. */
static struct perf_event_attr owner_of_ring(const struct members *members, size_t bytes)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(struct perf_event_attr),
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.disabled = 1,
		.sample_id_all = 1,
		.exclude_kernel = !members->kernel,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(bytes / 4),
	};
}

/* A ring as large as there may be: what the last one got, the next need not ask for more. */
static int open_ring(struct members *members, unsigned cpu, size_t *bytes, struct stoke_error *err)
{
	struct plain_ring *ring = &members->rings[members->all_rings.nr];
	int r;

	for (;; *bytes /= 2) {
		struct perf_event_attr attr = owner_of_ring(members, *bytes);
		_cleanup_close_ int fd = perf_open(&attr, 0, (int)cpu);

		if (fd < 0)
			return refusal_explain("open events", fd, err);
		ring->page = mmap(
			NULL, members->page + *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (ring->page != MAP_FAILED) {
			ring->fd = take_fd(fd);
			ring->bytes = *bytes;
			members->all_rings.nr++;
			return 0;
		}
		r = -errno;
		if ((r != -EPERM && r != -ENOMEM) || *bytes <= MIN_RING_BYTES)
			break;
	}
	return fail(err, r,
		"cannot map a ring for the samples of CPU %u: %s; raise "
		"kernel.perf_event_mlock_kb or the limit of locked memory (ulimit -l)",
		cpu, r == -EPERM ? "more memory than may be locked" : strerror(-r));
}

/* Are events allowed that fire in the kernel? */
static int may_see_kernel(const struct members *members)
{
	struct perf_event_attr attr = owner_of_ring(members, MIN_RING_BYTES);
	_cleanup_close_ int fd = -1;

	attr.exclude_kernel = 0;
	fd = perf_open(&attr, 0, ANY_CPU);
	return fd >= 0;
}

/* Does read() tell of losses (6.0 and some before)? */
static int tells_losses(const struct members *members)
{
	struct perf_event_attr attr = owner_of_ring(members, MIN_RING_BYTES);
	_cleanup_close_ int fd = -1;

	attr.read_format = PERF_FORMAT_LOST;
	fd = perf_open(&attr, 0, ANY_CPU);
	return fd >= 0;
}

static size_t ring_bytes(const struct members *members)
{
	uint64_t want = STOKE_COPY_BYTES * (READER_DELAY_NS * 4 / members->options.period_ns + 1);
	size_t bytes = USER_RING_BYTES;
	struct rights rights;

	rights_read("/proc", "/sys", &rights);
	while (bytes < want && bytes < MAX_RING_BYTES && rights_may_lock(&rights))
		bytes *= 2;
	return bytes;
}

/* As much of a stack as the ring has room for at this rate. */
static uint32_t stack_bytes(const struct members *members, size_t smallest)
{
	uint64_t samples = READER_DELAY_NS / members->options.period_ns + 1;
	uint64_t bytes = smallest / 4 * 3 / samples / STACK_STEP_BYTES * STACK_STEP_BYTES;

	return bytes < MIN_STACK_BYTES	  ? MIN_STACK_BYTES
	       : bytes > STOKE_COPY_BYTES ? STOKE_COPY_BYTES
					  : (uint32_t)bytes;
}

static int open_rings(struct members *members, struct stoke_error *err)
{
	const struct members_options *options = &members->options;
	size_t bytes = ring_bytes(members);
	int r = 0;

	for (size_t i = 0; r == 0 && i < options->nr_cpus; i++)
		r = open_ring(members, options->cpus[i], &bytes, err);
	if (r < 0)
		return r;
	members->all_rings.items = members->rings;
	members->all_rings.stack_bytes = stack_bytes(members, bytes);
	members->all_rings.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	if (members->kernel)
		members->all_rings.sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (options->user)
		members->all_rings.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	return 0;
}

/* An event for each CPU, of a thread or (-1) of all. enable_on_exec: not before that. 0, -errno. */
static int open_events(struct members *members, pid_t tid, int enable_on_exec, int inherit)
{
	const struct members_options *options = &members->options;
	const struct plain_rings *rings = &members->all_rings;

	for (size_t i = 0; i < rings->nr; i++) {
		struct perf_event_attr attr = owner_of_ring(members, rings->items[i].bytes);
		_cleanup_close_ int fd = -1;
		int r;

		attr.type = options->type;
		attr.config = options->config;
		attr.sample_type = rings->sample_type;
		/* PERF_SAMPLE_PERIOD tells it beside each sample, so each event may have its own:
		 * no task stays in step with all of them. */
		attr.sample_period = perf_draw(options->period, next_random(members));
		attr.read_format = members->lost_by_read ? PERF_FORMAT_LOST : 0;
		attr.disabled = enable_on_exec != 0;
		attr.enable_on_exec = enable_on_exec != 0;
		attr.inherit = inherit != 0;
		attr.exclude_idle = 1;
		attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
		attr.exclude_callchain_user = 1; /* the walk over the copy leads further */
		attr.exclude_callchain_kernel = !members->kernel;
		attr.sample_regs_user = options->user ? PLAIN_REGISTERS : 0;
		attr.sample_stack_user = options->user ? rings->stack_bytes : 0;
		fd = perf_open(&attr, tid, (int)options->cpus[i]);
		if (fd < 0)
			return fd;
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, rings->items[i].fd) < 0)
			return -errno;
		r = array_reserve(
			&members->events, &members->events_capacity, members->nr_events, 1);
		if (r < 0)
			return r;
		members->events[members->nr_events++] = take_fd(fd);
	}
	return 0;
}

int members_open(
	const struct members_options *options, struct members **ret, struct stoke_error *err)
{
	struct members *members = calloc(1, sizeof(*members));
	int r;

	if (!members)
		return fail(err, -ENOMEM, "out of memory");
	members->options = *options;
	members->page = (size_t)sysconf(_SC_PAGESIZE);
	if (getrandom(&members->random, sizeof(members->random), GRND_NONBLOCK) < 0)
		members->random = (uintptr_t)members; /* early at boot */
	members->random |= 1;
	members->kernel = options->kernel && may_see_kernel(members);
	members->lost_by_read = tells_losses(members);
	members->rings = calloc(options->nr_cpus, sizeof(*members->rings));
	r = members->rings ? open_rings(members, err) : fail(err, -ENOMEM, "out of memory");
	if (r == 0 && options->all) {
		r = open_events(members, -1, 0, 0);
		if (r < 0)
			r = refusal_explain("open events", r, err);
	}
	if (r < 0) {
		members_close(members);
		return r;
	}
	*ret = members;
	return 0;
}

void members_close(struct members *members)
{
	if (!members)
		return;
	for (size_t i = 0; i < members->nr_events; i++)
		(void)close(members->events[i]); /* nothing was written through it */
	for (size_t i = 0; i < members->all_rings.nr; i++) {
		/* its own mapping: cannot fail */
		(void)munmap(members->rings[i].page, members->page + members->rings[i].bytes);
		(void)close(members->rings[i].fd);
	}
	free(members->rings);
	free(members->events);
	free(members->pids);
	free(members);
}

const struct plain_rings *members_rings(const struct members *members)
{
	return &members->all_rings;
}

int members_see_kernel(const struct members *members)
{
	return members->kernel;
}

/* Where pid is, or would be. */
static size_t place_of(const struct members *members, pid_t pid)
{
	size_t low = 0, high = members->nr_pids;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (members->pids[middle] < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int members_has(const struct members *members, pid_t pid)
{
	size_t place = place_of(members, pid);

	return place < members->nr_pids && members->pids[place] == pid;
}

static int note(struct members *members, pid_t pid)
{
	size_t place = place_of(members, pid);
	int r;

	if (members_has(members, pid))
		return 0;
	r = array_reserve(&members->pids, &members->pids_capacity, members->nr_pids, 1);
	if (r < 0)
		return r;
	memmove(members->pids + place + 1, members->pids + place,
		(members->nr_pids - place) * sizeof(*members->pids));
	members->pids[place] = pid;
	members->nr_pids++;
	return 0;
}

static int explain(const char *kind, pid_t id, int code, struct stoke_error *err)
{
	char what[64];

	if (code == -ESRCH)
		return fail(err, code, "%s %d has just ended", kind, (int)id);
	(void)snprintf(what, sizeof(what), "open events for %s %d", kind, (int)id);
	return refusal_explain(what, code, err);
}

int members_add_process(struct members *members, pid_t pid, struct stoke_error *err)
{
	int r = 0, nr = 0;
	struct dirent *entry;
	char path[64];
	DIR *threads;

	if (members_has(members, pid))
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	threads = opendir(path);
	if (!threads)
		return explain("process", pid, -ESRCH, err);
	while (r >= 0 && (entry = readdir(threads))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		r = open_events(members, tid, 0, 1);
		nr += r == 0;
		if (r == -ESRCH)
			r = 0; /* threads end */
	}
	(void)closedir(threads); /* only read */
	if (r == 0 && !nr)
		r = -ESRCH;
	if (r == 0)
		r = note(members, pid);
	return r < 0 ? explain("process", pid, r, err) : 0;
}

int members_add_pending(struct members *members, pid_t pid, struct stoke_error *err)
{
	int r = open_events(members, pid, 1, 1);

	if (r == 0)
		r = note(members, pid);
	return r < 0 ? explain("process", pid, r, err) : 0;
}

int members_add_thread(struct members *members, pid_t tid, struct stoke_error *err)
{
	int r = open_events(members, tid, 0, 0);

	return r < 0 ? explain("thread", tid, r, err) : 0;
}

int members_forked(struct members *members, pid_t parent, pid_t child)
{
	if (!members->options.children || !members_has(members, parent))
		return 0;
	return note(members, child);
}

void members_exited(struct members *members, pid_t pid)
{
	size_t place = place_of(members, pid);

	if (!members_has(members, pid))
		return;
	members->nr_pids--;
	memmove(members->pids + place, members->pids + place + 1,
		(members->nr_pids - place) * sizeof(*members->pids));
}

static uint64_t read_lost(const struct members *members)
{
	uint64_t sum = 0, counts[2];

	for (size_t i = 0; members->lost_by_read && i < members->nr_events; i++) {
		if (read(members->events[i], counts, sizeof(counts)) == sizeof(counts))
			sum += counts[1];
	}
	return sum;
}

void members_begin(struct members *members)
{
	members->lost_before = read_lost(members);
}

void members_stop(struct members *members)
{
	uint64_t lost;

	for (size_t i = 0; i < members->nr_events; i++)
		(void)ioctl(members->events[i], PERF_EVENT_IOC_DISABLE, 0); /* of an open event:
										 cannot fail */
	lost = read_lost(members);
	/* Threads that ended took theirs along. */
	members->lost = lost > members->lost_before ? lost - members->lost_before : 0;
}

uint64_t members_lost(const struct members *members)
{
	return members->lost;
}
