/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_SOURCE_PERF_H
#define STOKE_SOURCE_PERF_H

/*
 * An event a CPU that runs a BPF program at each overflow. Periods are fixed, never adapted by the
 * kernel, and redrawn about every 100 ms within 20 % either way, so that no task can stay in step
 * with them; the one in force is told to the program, as the weight of its samples.
 */

#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"
#include "stoke.h"

struct perf_events;

struct perf_events_options {
	uint32_t type; /* PERF_TYPE_* */
	uint64_t config; /* PERF_COUNT_* */
	uint64_t period; /* mean, in what the event counts */
	uint64_t period_ns; /* the same in time, when a CPU is busy */
	int clock; /* the event counts ns whether or not a CPU is busy */
	int exclude_idle;
	const unsigned *cpus;
	size_t nr_cpus;
	int program_fd;
	struct stoke_period *periods; /* of the program, a slot a possible CPU; borrowed */
};

/* Opens the events and attaches the program, not yet firing. CPUs that are offline are left out.
 * -errno of perf_event_open without a sentence, so that the caller may try something else. */
int perf_events_open(const struct perf_events_options *options, struct perf_events **ret);
/* Each CPU at a random phase. 0 or -errno. */
int perf_events_start(struct perf_events *events);
void perf_events_redraw(struct perf_events *events);
void perf_events_stop(struct perf_events *events);
void perf_events_close(struct perf_events *events);

/* 1 when this errno of perf_event_open says that the machine has no such event. */
int perf_event_absent(int code);

/* The period to draw around so that redrawing, which throws away half a period each time, leaves
 * the mean rate as asked for. */
uint64_t perf_mean_period(uint64_t period, uint64_t period_ns);
/* What has passed, at a redraw, of a period that is now thrown away. */
uint64_t perf_carry(uint64_t since_redraw_ns, uint64_t period);
/* Due at this time since the last redraw? A period must not be redrawn before it had many chances
 * to end. */
int perf_redraw_due(uint64_t since_redraw_ns, uint64_t period_ns);
/* Within 20 % of mean; random: any number. */
uint64_t perf_draw(uint64_t mean, uint64_t random);

/* perf_event_open() on a CPU for all tasks; raises the limit of open files once when that is what
 * is missing. An fd or -errno. */
struct perf_event_attr;
/* As many files as this process may open. 0, -EMFILE: it has no more to give. */
int perf_raise_file_limit(void);
int perf_open_cpu(struct perf_event_attr *attr, unsigned cpu);

#endif
