/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plain.c: time on CPU without BPF, for whoever may not load programs: the owner of a process, or
 * one whom a seccomp filter forbids it. What comes is the same, later: the kernel copies stacks,
 * and they are walked by the reader.
 */

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "source/features.h"
#include "source/members.h"
#include "source/objects.h"
#include "source/perf.h"
#include "source/source.h"

#define DEFAULT_HZ   99
#define MIN_CLOCK_NS 10000 /* the kernel's own limit for its clock events */
#define SECOND_NS    1000000000ull

extern const struct source source_plain;

struct plain_run {
	struct objects *objects; /* borrowed */
	struct members *members;
	char note[320];
};

/* 1: cycles, 0: the clock. */
static int wants_cycles(const char *event)
{
	return strcmp(event, "cycles") == 0 || strcmp(event, "cpu-cycles") == 0;
}

static int choose_event(const struct source_setup *setup, const char *event,
	struct members_options *options, struct source_state *state, struct stoke_error *err)
{
	uint64_t hz = setup->frequency_hz ? setup->frequency_hz : DEFAULT_HZ;
	int64_t per_second = SECOND_NS;

	options->type = PERF_TYPE_SOFTWARE;
	options->config = PERF_COUNT_SW_CPU_CLOCK;
	state->event = "cpu-clock";
	state->unit = "nanoseconds";
	if (wants_cycles(event)) {
		per_second = cycles_per_second();
		if (per_second == 0 || perf_event_absent((int)per_second))
			return fail(err, -EOPNOTSUPP,
				"this machine has no cycles event that counts (no hardware "
				"counters); -e cpu-clock works");
		if (per_second < 0)
			return refusal_explain("open events", (int)per_second, err);
		options->type = PERF_TYPE_HARDWARE;
		options->config = PERF_COUNT_HW_CPU_CYCLES;
		state->event = "cycles";
		state->unit = "events";
	}
	options->period = setup->count ? setup->count : (uint64_t)per_second / hz;
	options->period_ns = (uint64_t)((double)options->period * 1e9 / (double)per_second);
	if (options->period_ns < MIN_CLOCK_NS * 2)
		return fail(err, -EINVAL,
			"a sample each %" PRIu64 " ns is too many: at least %d ns",
			options->period_ns, MIN_CLOCK_NS * 2);
	state->period = options->period;
	return 0;
}

/* What this way cannot do, and why it is gone: said, never left to be found out. */
static void explain(struct plain_run *run, const struct source_setup *setup,
	const struct members_options *options)
{
	const struct plain_rings *rings = members_rings(run->members);
	int sees = members_see_kernel(run->members), used;

	used = snprintf(run->note, sizeof(run->note), "no BPF here (%s)%s%s",
		setup->why ? setup->why : "--no-bpf",
		options->kernel && !sees ? ": user code only, the kernel is not seen" : "",
		options->user ? "" : "; ");
	if (options->user)
		(void)snprintf(run->note + used, sizeof(run->note) - (size_t)used,
			"%s at most %u KiB of each stack%s", options->kernel && !sees ? "," : ":",
			rings->stack_bytes / 1024,
			options->all ? "" : ", and threads that use little CPU are hardly seen");
}

static void plain_close(void *data)
{
	struct plain_run *run = data;

	if (!run)
		return;
	objects_use_members(run->objects, NULL);
	members_close(run->members);
	free(run);
}

static int plain_open(const struct source_setup *setup, const char *event, const void *params,
	void **ret_run, struct source_state *ret_state, struct stoke_error *err)
{
	const struct objects_options *wanted = objects_wanted(setup->objects);
	struct members_options options = {
		.all = wanted->all,
		.children = wanted->children,
		.user = wanted->user,
		.kernel = wanted->kernel,
		.cpus = setup->cpus,
		.nr_cpus = setup->nr_cpus,
	};
	struct source_state state = {0};
	struct plain_run *run;
	int r = choose_event(setup, event, &options, &state, err);

	if (r < 0)
		return r;
	run = calloc(1, sizeof(*run));
	if (!run)
		return fail(err, -ENOMEM, "out of memory");
	run->objects = setup->objects;
	r = members_open(&options, &run->members, err);
	if (r == 0 && !options.user && !members_see_kernel(run->members))
		r = refusal_explain("look into the kernel", -EACCES, err);
	if (r < 0) {
		plain_close(run);
		return r;
	}
	objects_use_members(run->objects, run->members);
	explain(run, setup, &options);
	state.note = run->note;
	state.user_only = !members_see_kernel(run->members);
	*ret_run = run;
	*ret_state = state;
	return 0;
}

/* Events fire since their threads were added. */
static int plain_start(void *data, struct stoke_error *err)
{
	struct plain_run *run = data;

	members_begin(run->members);
	return 0;
}

/* Each event has a period of its own, for good: nothing is due. */
static void plain_tick(void *data)
{
}

static void plain_stop(void *data)
{
	struct plain_run *run = data;

	members_stop(run->members);
}

static const struct plain_rings *plain_rings_of(const void *data)
{
	const struct plain_run *run = data;

	return members_rings(run->members);
}

const struct source source_plain = {
	.name = "plain",
	.summary = "time on CPU without BPF, as -e cpu does by itself where that is not permitted",
	.open = plain_open,
	.start = plain_start,
	.tick = plain_tick,
	.stop = plain_stop,
	.close = plain_close,
	.rings = plain_rings_of,
};
