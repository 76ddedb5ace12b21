/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpu.c: time on CPU. By cycles where they are seen to count, since those tick in code that has
 * interrupts off too, else by the kernel's clock.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "bpf/event.h"
#include "bpf/tick.skel.h"
#include "source/features.h"
#include "source/objects.h"
#include "source/perf.h"
#include "source/source.h"

#define DEFAULT_HZ    99
#define MIN_CLOCK_NS  10000 /* the kernel's own limit for its clock events */
#define SECOND_NS     1000000000ull
#define SILENT_CYCLES "cycles opens but does not count on this machine (no hardware counters)"

extern const struct source source_cpu;

struct cpu_run {
	struct objects *objects; /* borrowed */
	struct tick_bpf *tick;
	struct stoke_period *periods;
	size_t periods_bytes;
	struct perf_events *events;
	char note[320];
};

enum cpu_event {
	CPU_ANY, /* cycles if they count */
	CPU_CLOCK,
	CPU_CYCLES,
};

/* What other profilers call it is taken too: fingers know those. */
static const struct {
	const char *word;
	enum cpu_event event;
} words[] = {
	{"cpu", CPU_ANY},
	{"cpu-clock", CPU_CLOCK},
	{"task-clock", CPU_CLOCK},
	{"cycles", CPU_CYCLES},
	{"cpu-cycles", CPU_CYCLES},
	{"itimer", CPU_ANY},
	{"ctimer", CPU_ANY},
};

static int find_word(const char *event)
{
	size_t size = strcspn(event, ":");

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].word) == size && strncmp(words[i].word, event, size) == 0)
			return (int)i;
	return -ENOENT;
}

static int cpu_claim(const char *event)
{
	return find_word(event) < 0 ? -ENOENT : 0;
}

static int load_program(struct cpu_run *run, struct stoke_error *err)
{
	int possible = libbpf_num_possible_cpus(), r;
	struct tick_bpf *tick;
	void *periods;

	tick = tick_bpf__open_opts(objects_open_options(run->objects));
	if (!tick)
		return refusal_explain("open BPF programs", -errno, err);
	run->tick = tick;
	memcpy((void *)&tick->rodata->config, objects_config(run->objects),
		sizeof(tick->rodata->config));
	(void)bpf_map__set_max_entries(tick->maps.periods, (uint32_t)possible);
	r = objects_load(run->objects, tick->obj, "tick", err);
	if (r < 0)
		return r;
	run->periods_bytes = (size_t)possible * sizeof(*run->periods);
	periods = mmap(NULL, run->periods_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		bpf_map__fd(tick->maps.periods), 0);
	if (periods == MAP_FAILED)
		return fail(err, -errno, "cannot map the periods of samples: %s", strerror(errno));
	run->periods = periods;
	return 0;
}

/* perf_event_max_sample_rate is counted a scheduler tick; what exceeds it is dropped unseen. */
static void check_rate(struct cpu_run *run, uint64_t hz)
{
	size_t used = strlen(run->note);
	int64_t limit;

	if (sysctl_read("kernel/perf_event_max_sample_rate", &limit) < 0 || limit <= 0 ||
		hz + hz / 3 < (uint64_t)limit) /* redrawn periods reach this rate */
		return;
	(void)snprintf(run->note + used, sizeof(run->note) - used,
		"%skernel.perf_event_max_sample_rate is %" PRId64
		": the kernel may drop samples at %" PRIu64 " Hz; sudo sysctl "
		"kernel.perf_event_max_sample_rate=%" PRIu64,
		used ? "; " : "", limit, hz, hz * 4);
}

static int open_clock(struct cpu_run *run, const struct source_setup *setup,
	struct source_state *state, struct stoke_error *err)
{
	uint64_t hz = setup->frequency_hz ? setup->frequency_hz : DEFAULT_HZ;
	uint64_t period = setup->count ? setup->count : SECOND_NS / hz;
	struct perf_events_options options = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.period = period,
		.period_ns = period,
		.clock = 1,
		.exclude_idle = setup->exclude_idle,
		.cpus = setup->cpus,
		.nr_cpus = setup->nr_cpus,
		.program_fd = bpf_program__fd(run->tick->progs.tick),
		.periods = run->periods,
	};
	int r;

	/* Drawn periods are up to a fifth shorter, and the mean is a little. */
	if (period < MIN_CLOCK_NS * 2)
		return fail(err, -EINVAL,
			"a sample each %" PRIu64 " ns is too many: at least %d ns of cpu-clock",
			period, MIN_CLOCK_NS * 2);
	r = perf_events_open(&options, &run->events);
	if (r < 0)
		return refusal_explain("open events", r, err);
	check_rate(run, SECOND_NS / period);
	state->event = "cpu-clock";
	state->unit = "nanoseconds";
	state->period = period;
	return 0;
}

static int open_cycles(struct cpu_run *run, const struct source_setup *setup, int64_t per_second,
	struct source_state *state)
{
	uint64_t hz = setup->frequency_hz ? setup->frequency_hz : DEFAULT_HZ;
	uint64_t period = setup->count ? setup->count : (uint64_t)per_second / hz;
	struct perf_events_options options = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.period = period,
		.period_ns = (uint64_t)((double)period * 1e9 / (double)per_second),
		.exclude_idle = setup->exclude_idle,
		.cpus = setup->cpus,
		.nr_cpus = setup->nr_cpus,
		.program_fd = bpf_program__fd(run->tick->progs.tick),
		.periods = run->periods,
	};
	int r;

	if (options.period_ns == 0)
		options.period_ns = 1;
	r = perf_events_open(&options, &run->events);
	if (r < 0)
		return r;
	check_rate(run, SECOND_NS / options.period_ns);
	state->event = "cycles";
	state->unit = "events";
	state->period = period;
	return 0;
}

/* Cycles, or -EOPNOTSUPP when this machine has none that count; *ret_opens when they open. */
static int try_cycles(struct cpu_run *run, const struct source_setup *setup,
	struct source_state *state, int *ret_opens)
{
	int64_t per_second = cycles_per_second();
	int r;

	*ret_opens = per_second >= 0;
	if (per_second == 0)
		return -EOPNOTSUPP;
	r = per_second < 0 ? (int)per_second : open_cycles(run, setup, per_second, state);
	return perf_event_absent(r) ? -EOPNOTSUPP : r;
}

static int open_events(struct cpu_run *run, const struct source_setup *setup, enum cpu_event event,
	struct source_state *state, struct stoke_error *err)
{
	int opens = 0, r;

	if (event == CPU_CLOCK)
		return open_clock(run, setup, state, err);
	r = try_cycles(run, setup, state, &opens);
	if (r == 0)
		return 0;
	if (event == CPU_CYCLES) {
		if (r != -EOPNOTSUPP)
			return refusal_explain("open events", r, err);
		return fail(err, -EOPNOTSUPP, "%s; -e cpu-clock works",
			opens ? SILENT_CYCLES
			      : "this machine has no cycles event (no hardware counters)");
	}
	/* Whatever refused cycles: if it is rights, the clock says so in its turn. */
	if (opens)
		(void)snprintf(run->note, sizeof(run->note), "%s; using cpu-clock", SILENT_CYCLES);
	return open_clock(run, setup, state, err);
}

static void cpu_close(void *data)
{
	struct cpu_run *run = data;

	if (!run)
		return;
	perf_events_close(run->events);
	if (run->periods)
		(void)munmap(run->periods, run->periods_bytes); /* its own mapping: cannot fail */
	if (run->tick)
		objects_unload(run->objects, run->tick->obj);
	tick_bpf__destroy(run->tick);
	free(run);
}

static int cpu_open(const struct source_setup *setup, const char *event, const void *params,
	void **ret_run, struct source_state *ret_state, struct stoke_error *err)
{
	struct source_state state = {0};
	struct cpu_run *run;
	int word = find_word(event), r;

	if (word < 0)
		return fail(err, -EINVAL, "unknown event \"%.40s\"", event);
	run = calloc(1, sizeof(*run));
	if (!run)
		return fail(err, -ENOMEM, "out of memory");
	run->objects = setup->objects;
	r = load_program(run, err);
	if (r < 0)
		goto fail;
	r = open_events(run, setup, words[word].event, &state, err);
	if (r < 0)
		goto fail;
	state.note = run->note[0] ? run->note : NULL;
	*ret_run = run;
	*ret_state = state;
	return 0;
fail:
	cpu_close(run);
	return r;
}

static int cpu_start(void *data, struct stoke_error *err)
{
	struct cpu_run *run = data;
	int r = perf_events_start(run->events);

	return r < 0 ? refusal_explain("start events", r, err) : 0;
}

static void cpu_tick(void *data)
{
	struct cpu_run *run = data;

	perf_events_redraw(run->events);
}

static void cpu_stop(void *data)
{
	struct cpu_run *run = data;

	perf_events_stop(run->events);
}

const struct source source_cpu = {
	.name = "cpu",
	.summary = "time on CPU: cycles where they count, else the kernel's clock",
	.claim = cpu_claim,
	.open = cpu_open,
	.start = cpu_start,
	.tick = cpu_tick,
	.stop = cpu_stop,
	.close = cpu_close,
};
