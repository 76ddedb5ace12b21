/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf.c: an event a CPU. The program is attached by PERF_EVENT_IOC_SET_BPF and not by a bpf_link:
 * a link would start the event at once, keep it alive beyond its fd, and cost a second fd a CPU.
 */
#include "source/perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#define REDRAW_NS 100000000ull
/* Between redraws a period should end this often: what a redraw throws away is then small. */
#define REDRAW_PERIODS 8
/* CPUs that fire at the same instant meet at one ring. */
#define MAX_PHASE_NS 2000000ull

struct perf_event {
	unsigned cpu;
	int fd;
	uint64_t period; /* in force */
	uint64_t redrawn_ns; /* since when */
};

struct perf_events {
	struct perf_events_options options;
	struct perf_event *events;
	size_t nr;
	uint64_t mean; /* to draw around */
	uint64_t random;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* xorshift64*: the numbers only have to be out of step with everything else. */
static uint64_t next_random(struct perf_events *events)
{
	events->random ^= events->random >> 12;
	events->random ^= events->random << 25;
	events->random ^= events->random >> 27;
	return events->random * 0x2545F4914F6CDD1Dull;
}

int perf_event_absent(int code)
{
	return code == -ENOENT || code == -ENODEV || code == -ENXIO || code == -EOPNOTSUPP;
}

static uint64_t redraw_interval(uint64_t period_ns)
{
	return period_ns * REDRAW_PERIODS > REDRAW_NS ? period_ns * REDRAW_PERIODS : REDRAW_NS;
}

uint64_t perf_mean_period(uint64_t period, uint64_t period_ns)
{
	/* floor(interval / period) ticks fall into an interval, half a tick less than the ratio. */
	double ticks = (double)redraw_interval(period_ns) / (double)period_ns;

	return (uint64_t)((double)period * ticks / (ticks + 0.5));
}

uint64_t perf_carry(uint64_t since_redraw_ns, uint64_t period)
{
	return period ? since_redraw_ns % period : 0;
}

int perf_redraw_due(uint64_t since_redraw_ns, uint64_t period_ns)
{
	/* The caller comes every 100 ms or so: a little early is on time. */
	return since_redraw_ns >= redraw_interval(period_ns) / 10 * 9;
}

uint64_t perf_draw(uint64_t mean, uint64_t random)
{
	uint64_t spread = mean / 5 * 2;
	uint64_t drawn = mean - mean / 5 + random % (spread + 1);

	return drawn ? drawn : 1;
}

int perf_raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= limit.rlim_max)
		return -EMFILE;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) < 0 ? -errno : 0;
}

int perf_open_cpu(struct perf_event_attr *attr, unsigned cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == EMFILE && perf_raise_file_limit() == 0)
		fd = (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_one(struct perf_events *events, unsigned cpu)
{
	const struct perf_events_options *options = &events->options;
	uint64_t period = perf_draw(events->mean, next_random(events));
	struct perf_event_attr attr = {
		.type = options->type,
		.size = sizeof(attr),
		.config = options->config,
		.sample_period = period,
		.disabled = 1,
		.exclude_idle = options->exclude_idle != 0,
		/* No PERF_SAMPLE_CALLCHAIN and no precise_ip: BPF takes the stack itself. */
	};
	_cleanup_close_ int fd = perf_open_cpu(&attr, cpu);

	if (fd == -ENODEV && events->nr > 0)
		return 0; /* went offline since the list was read */
	if (fd < 0)
		return fd;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, options->program_fd) < 0)
		return -errno;
	options->periods[cpu] = (struct stoke_period){.period = period};
	events->events[events->nr++] =
		(struct perf_event){.cpu = cpu, .fd = take_fd(fd), .period = period};
	return 0;
}

int perf_events_open(const struct perf_events_options *options, struct perf_events **ret)
{
	struct perf_events *events = calloc(1, sizeof(*events));
	int r = -ENOMEM;

	if (!events)
		return -ENOMEM;
	events->options = *options;
	events->mean = perf_mean_period(options->period, options->period_ns);
	if (getrandom(&events->random, sizeof(events->random), GRND_NONBLOCK) < 0)
		events->random = now_ns(); /* early at boot */
	events->random |= 1;
	events->events = calloc(options->nr_cpus, sizeof(*events->events));
	if (!events->events)
		goto fail;
	for (size_t i = 0; i < options->nr_cpus; i++) {
		r = open_one(events, options->cpus[i]);
		if (r < 0)
			goto fail;
	}
	*ret = events;
	return 0;
fail:
	perf_events_close(events);
	return r;
}

/* Each CPU starts this much later than the one before, so that all phases are spread over one
 * period or MAX_PHASE_NS; redrawing takes it from there. */
static void wait_for_phase(struct perf_events *events)
{
	uint64_t spread = events->options.period_ns;
	struct timespec pause = {0};

	if (spread > MAX_PHASE_NS)
		spread = MAX_PHASE_NS;
	pause.tv_nsec = (long)(next_random(events) % (2 * spread / events->nr + 1));
	(void)nanosleep(&pause, NULL); /* a shorter sleep is as random */
}

int perf_events_start(struct perf_events *events)
{
	for (size_t i = 0; i < events->nr; i++) {
		struct perf_event *event = &events->events[i];

		wait_for_phase(events);
		if (ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
			return -errno;
		event->redrawn_ns = now_ns();
	}
	return 0;
}

static void redraw(struct perf_events *events, struct perf_event *event)
{
	struct stoke_period *slot = &events->options.periods[event->cpu];
	uint64_t period = perf_draw(events->mean, next_random(events)), carry = 0;
	uint64_t now;

	if (ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period) < 0)
		return; /* the old one stays in force: nothing is wrong with its samples */
	now = now_ns();
	/* The new period starts from zero. The first tick comes when it has passed once. */
	if (events->options.clock)
		carry = perf_carry(now - event->redrawn_ns, event->period);
	__atomic_store_n(&slot->carry, carry, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->period, period, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->carry_until_ns, now + period + period / 2, __ATOMIC_RELEASE);
	event->period = period;
	event->redrawn_ns = now;
}

void perf_events_redraw(struct perf_events *events)
{
	for (size_t i = 0; i < events->nr; i++) {
		struct perf_event *event = &events->events[i];
		uint64_t since_ns = now_ns() - event->redrawn_ns;

		if (perf_redraw_due(since_ns, events->options.period_ns))
			redraw(events, event);
	}
}

void perf_events_stop(struct perf_events *events)
{
	for (size_t i = 0; i < events->nr; i++)
		(void)ioctl(events->events[i].fd, PERF_EVENT_IOC_DISABLE, 0); /* of an open event:
										 cannot fail */
}

void perf_events_close(struct perf_events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < events->nr; i++)
		(void)close(events->events[i].fd); /* nothing was written through it */
	free(events->events);
	free(events);
}
