/* SPDX-License-Identifier: BSD-2-Clause */
/* comparable.c: what the sides say of themselves, laid beside each other. */
#include "diff/comparable.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "diff/separate.h"
#include "diff/stackshares.h"
#include "profile/tally.h"

#define LOST_MOST      0.01 /* of samples: more, and shares may be bent */
#define SHARES_MOST    0.02 /* unnamed, truncated, broken: a larger difference passes for a change */
#define BUSY_MOST      20.0 /* points between the machines' loads that are worth a word */
#define CORES_MOST     0.05
#define THROTTLED_MOST 10.0 /* points */
#define RATE_MOST      0.01 /* rates are rounded to whole nanoseconds */
#define RUNTIME_NOTED  0.05
#define TEXT_MAX       512
#define SAMPLES_MOST   ((uint64_t)1 << 62) /* of a comparison: sums stay far from wrapping */

static const char *const side_words[] = {"before", "after"};

static int find(struct comparable *comparable, enum finding_weight weight, const char *key,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

static int find(struct comparable *comparable, enum finding_weight weight, const char *key,
	const char *format, ...)
{
	struct comparable_finding *more;
	char text[TEXT_MAX];
	va_list list;

	va_start(list, format);
	(void)vsnprintf(text, sizeof(text), format, list); /* cut */
	va_end(list);
	more = reallocarray(
		comparable->findings, comparable->nr_findings + 1, sizeof(*comparable->findings));
	if (!more)
		return -ENOMEM;
	comparable->findings = more;
	more[comparable->nr_findings] =
		(struct comparable_finding){.weight = weight, .key = key, .text = strdup(text)};
	if (!more[comparable->nr_findings].text)
		return -ENOMEM;
	comparable->nr_findings++;
	return 0;
}

/* What all runs of a side say under a key; NULL: nothing, or not the same. */
static const char *same_fact(
	const struct stoke_profile *profile, const struct side *side, const char *key)
{
	const char *first = profile_fact_find(profile, side->first, key);

	for (uint32_t i = 1; first && i < side->nr_runs; i++) {
		const char *other = profile_fact_find(profile, side->first + i, key);

		if (!other || strcmp(first, other) != 0)
			return NULL;
	}
	return first;
}

static const char *same_event(const struct stoke_profile *profile, const struct side *side)
{
	uint32_t event = profile->runs[side->first].event;

	for (uint32_t i = 1; i < side->nr_runs; i++) {
		if (profile->runs[side->first + i].event != event)
			return "different events";
	}
	return event ? strings_text(&profile->strings, event) : NULL;
}

static void borrow(struct side *side, const struct stoke_profile *profile)
{
	side->event = same_event(profile, side);
	side->jvm = same_fact(profile, side, "jvm");
}

void comparable_rely_on(struct comparable *comparable, const struct stoke_profile *profile)
{
	for (size_t i = 0; i < ARRAY_SIZE(comparable->sides); i++)
		borrow(&comparable->sides[i], profile);
}

/* Samples a second of CPU time. */
static double same_rate(const struct tally *tally, const struct side *side)
{
	double rate = 1e9 / tally->period_ns[side->first];

	for (uint32_t i = 1; i < side->nr_runs; i++) {
		double other = 1e9 / tally->period_ns[side->first + i];

		if (!(fabs(other - rate) <= RATE_MOST * rate))
			return NAN;
	}
	return rate;
}

static double work_of(const struct stoke_profile *profile, const struct side *side)
{
	double sum = 0;

	for (uint32_t i = 0; i < side->nr_runs; i++) {
		const char *text = profile_fact_find(profile, side->first + i, "work");

		sum += text ? strtod(text, NULL) : NAN;
	}
	return sum > 0 ? sum : NAN;
}

static int name_side(const struct stoke_profile *profile, struct side *side)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%u runs", side->nr_runs); /* fits */
	side->name = strdup(side->nr_runs > 1 ? text
					      : strings_text(&profile->strings,
							profile->runs[side->first].name));
	return side->name ? 0 : -ENOMEM;
}

static int look_at_side(
	const struct stoke_profile *profile, const struct tally *tally, struct side *side)
{
	uint64_t taken = 0, lost = 0;

	for (uint32_t i = 0; i < side->nr_runs; i++) {
		const struct run *run = &profile->runs[side->first + i];
		const uint64_t *count = run->quality.count;

		if (!i || side->duration_ns)
			side->duration_ns =
				run->duration_ns ? side->duration_ns + run->duration_ns : 0;
		taken += count[QUALITY_SAMPLES];
		lost += count[QUALITY_LOST_RING] + count[QUALITY_LOST_BUSY] +
			count[QUALITY_LOST_LATE];
	}
	side->lost = taken + lost ? (double)lost / (double)(taken + lost) : 0;
	borrow(side, profile);
	side->frequency_hz = same_rate(tally, side);
	side->work = work_of(profile, side);
	return name_side(profile, side);
}

/* Samples and cores, over all rows. -ERANGE: too many. */
static int sum_sides(const struct stoke_profile *profile, const struct tally *tally,
	struct comparable *comparable)
{
	const struct rows *rows = &profile->rows;
	double busy_ns[2] = {0};
	uint64_t all = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		struct side *side = &comparable->sides[rows->run[i] >= comparable->sides[1].first];
		uint64_t samples = tally_of(tally, i);

		if (samples > SAMPLES_MOST || (all += samples) > SAMPLES_MOST)
			return -ERANGE;
		side->samples += samples;
		busy_ns[side == &comparable->sides[1]] +=
			(double)samples * tally_sample_ns(tally, rows->run[i]);
	}
	for (int i = 0; i < 2; i++) {
		struct side *side = &comparable->sides[i];

		side->cores = side->duration_ns ? busy_ns[i] / (double)side->duration_ns : NAN;
	}
	return 0;
}

static int compare_events(struct comparable *comparable)
{
	const struct side *a = &comparable->sides[0], *b = &comparable->sides[1];

	if (!a->event && !b->event)
		return 0;
	if (!a->event || !b->event)
		return find(comparable, FINDING_NOTE, "event",
			"%s does not say its event; the other is %s", side_words[a->event != NULL],
			a->event ? a->event : b->event);
	if (strcmp(a->event, b->event) == 0)
		return find(comparable, FINDING_SAME, "event", "event");
	return find(comparable, FINDING_REFUSAL, "event",
		"before has %s, after %s: not comparable. Record both with -e cpu-clock", a->event,
		b->event);
}

static int compare_rates(struct comparable *comparable)
{
	double a = comparable->sides[0].frequency_hz, b = comparable->sides[1].frequency_hz;

	if (isnan(a) || isnan(b))
		return 0;
	if (fabs(a - b) <= RATE_MOST * a)
		return find(comparable, FINDING_SAME, "rate", "rate");
	return find(comparable, FINDING_REFUSAL, "rate",
		"before was sampled at %.0f Hz, after at %.0f: not comparable. Record both with -F "
		"%.0f",
		a, b, a > b ? a : b);
}

static int compare_scopes(const struct stoke_profile *profile, struct comparable *comparable)
{
	const char *a = same_fact(profile, &comparable->sides[0], "scope");
	const char *b = same_fact(profile, &comparable->sides[1], "scope");

	if (!a && !b) /* text, or both whole */
		return 0;
	if (a && b && strcmp(a, b) == 0)
		return find(comparable, FINDING_SAME, "scope", "scope");
	return find(comparable, FINDING_REFUSAL, "scope",
		"before has %s, after %s: not comparable. Record both the same way (-U, -K)",
		a ? a : "user and kernel code", b ? b : "user and kernel code");
}

/* A share of bad stacks that differs looks like a change of what is good. */
static int compare_shares(struct comparable *comparable, const char *key, const char *what,
	double a, double b, const char *cure)
{
	if (fabs(a - b) <= SHARES_MOST)
		return 0;
	return find(comparable, FINDING_REFUSAL, key,
		"%s: %.1f %% before, %.1f %% after, and that passes for a change; %s", what,
		a * 100, b * 100, cure);
}

static int compare_quality(struct comparable *comparable)
{
	const struct side *a = &comparable->sides[0], *b = &comparable->sides[1];
	int r = 0;

	for (int i = 0; r >= 0 && i < 2; i++) {
		if (comparable->sides[i].lost > LOST_MOST)
			r = find(comparable, FINDING_REFUSAL, "lost",
				"%s lost %.1f %% of its samples: shares may be bent; record with a "
				"lower -F",
				side_words[i], comparable->sides[i].lost * 100);
	}
	if (r >= 0)
		r = compare_shares(comparable, "unnamed", "frames without names", a->unnamed,
			b->unnamed, "give both their symbols or perf map");
	if (r >= 0)
		r = compare_shares(comparable, "truncated", "stacks cut at the limit", a->truncated,
			b->truncated, "record less recursion, or both alike");
	if (r >= 0)
		r = compare_shares(comparable, "broken", "stacks that end before their root",
			a->broken, b->broken, "build both the same way");
	return r;
}

static int compare_fact(const struct stoke_profile *profile, struct comparable *comparable,
	enum finding_weight weight, const char *key, const char *what)
{
	const char *a = same_fact(profile, &comparable->sides[0], key);
	const char *b = same_fact(profile, &comparable->sides[1], key);

	if (!a || !b || strcmp(a, b) == 0)
		return 0;
	return find(comparable, weight, key, "%s: %.80s before, %.80s after", what, a, b);
}

static int compare_hosts(const struct stoke_profile *profile, struct comparable *comparable)
{
	int r = compare_fact(
		profile, comparable, FINDING_WARNING, "processor", "different processors");

	if (r >= 0)
		r = compare_fact(profile, comparable, FINDING_NOTE, "cpus", "CPUs");
	if (r >= 0)
		r = compare_fact(profile, comparable, FINDING_NOTE, "kernel", "kernels");
	return r;
}

/* The number behind a word of a fact, meant of a side's runs; `without` where a run's fact lacks
 * the word. NAN: a run says nothing. */
static double mean_of(const struct stoke_profile *profile, const struct side *side, const char *key,
	const char *word, double without)
{
	double sum = 0;

	for (uint32_t i = 0; i < side->nr_runs; i++) {
		const char *text = profile_fact_find(profile, side->first + i, key);
		const char *at = text ? strstr(text, word) : NULL;

		sum += at ? strtod(at + strlen(word), NULL) : text ? without : NAN;
	}
	return sum / side->nr_runs;
}

/* What capture/load.h makes the runs say of the machine and of the target's limit. */
static int compare_loads(const struct stoke_profile *profile, struct comparable *comparable)
{
	const struct side *a = &comparable->sides[0], *b = &comparable->sides[1];
	const double busy[2] = {mean_of(profile, a, "machine", ", ", NAN),
		mean_of(profile, b, "machine", ", ", NAN)};
	const double cores[2] = {
		mean_of(profile, a, "limit", "", NAN), mean_of(profile, b, "limit", "", NAN)};
	const double throttled[2] = {mean_of(profile, a, "limit", "throttled in ", 0),
		mean_of(profile, b, "limit", "throttled in ", 0)};
	int r = 0;

	if (isnan(busy[0]) || isnan(busy[1]))
		return 0; /* one of them could not look */
	if (fabs(busy[0] - busy[1]) > BUSY_MOST)
		r = find(comparable, FINDING_NOTE, "machine",
			"the machine was %.0f %% busy before, %.0f %% after", busy[0], busy[1]);
	if (r >= 0 && isnan(cores[0]) != isnan(cores[1]))
		r = find(comparable, FINDING_WARNING, "limit",
			"a CPU limit of %.1f cores %s, none %s: record both with the same",
			isnan(cores[0]) ? cores[1] : cores[0], side_words[isnan(cores[0])],
			side_words[!isnan(cores[0])]);
	else if (r >= 0 && fabs(cores[0] - cores[1]) > CORES_MOST * cores[0])
		r = find(comparable, FINDING_WARNING, "limit",
			"CPU limits: %.1f cores before, %.1f after", cores[0], cores[1]);
	if (r >= 0 && fabs(throttled[0] - throttled[1]) > THROTTLED_MOST)
		r = find(comparable, FINDING_WARNING, "throttled",
			"throttled in %.0f %% of the periods before, %.0f %% after: shares hold, "
			"cores and times do not",
			throttled[0], throttled[1]);
	return r;
}

/* "1.8.0_202" -> 8, "17.0.15+6" -> 17; 0: no number. */
static long feature_release(const char *version)
{
	long first;
	char *end;

	first = strtol(version, &end, 10);
	return first == 1 && *end == '.' ? strtol(end + 1, NULL, 10) : first;
}

static int compare_jvms(struct comparable *comparable)
{
	const char *a = comparable->sides[0].jvm, *b = comparable->sides[1].jvm;

	if (!a || !b || strcmp(a, b) == 0)
		return 0;
	comparable->jvms_differ = feature_release(a) != feature_release(b);
	return find(comparable, FINDING_NOTE, "jvm", "JDK %.60s before, %.60s after", a, b);
}

/* The last of one side may not begin after the first of the other. */
static int compare_order(const struct stoke_profile *profile, struct comparable *comparable)
{
	const struct side *a = &comparable->sides[0], *b = &comparable->sides[1];
	uint64_t first_before = UINT64_MAX, last_after = 0;

	for (uint32_t run = 0; run < profile->nr_runs; run++) {
		uint64_t start = profile->runs[run].start_ns;

		if (!start)
			return 0;
		if (run < b->first && start < first_before)
			first_before = start;
		if (run >= b->first && start > last_after)
			last_after = start;
	}
	if (last_after >= first_before)
		return 0;
	return find(comparable, FINDING_WARNING, "order",
		"before (%.80s) was recorded after after (%.80s): exchanged? Nothing is assumed; "
		"swap "
		"the operands if so",
		a->name, b->name);
}

static int compare_runtimes(struct comparable *comparable)
{
	const struct side *a = &comparable->sides[0], *b = &comparable->sides[1];

	if (fabs(a->jit - b->jit) > RUNTIME_NOTED || fabs(a->gc - b->gc) > RUNTIME_NOTED)
		return find(comparable, FINDING_NOTE, "runtime",
			"JIT %.0f %% of samples before, %.0f after; GC %.0f before, %.0f after: "
			"kept apart from the application",
			a->jit * 100, b->jit * 100, a->gc * 100, b->gc * 100);
	return 0;
}

static int by_weight(const void *a, const void *b)
{
	const struct comparable_finding *x = a, *y = b;

	return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1) : 0;
}

/* Insertion keeps the order among equals, which qsort() does not promise. */
static void sort_findings(struct comparable *comparable)
{
	struct comparable_finding *findings = comparable->findings;

	for (size_t i = 1; i < comparable->nr_findings; i++) {
		for (size_t j = i; j && by_weight(&findings[j - 1], &findings[j]) > 0; j--) {
			struct comparable_finding other = findings[j];

			findings[j] = findings[j - 1];
			findings[j - 1] = other;
		}
	}
}

static int look(const struct stoke_profile *profile, struct comparable *comparable)
{
	_cleanup_(tally_done) struct tally tally = {0};
	struct side *sides = comparable->sides;
	double jit[2], gc[2];
	int r = tally_init(&tally, profile);

	for (int i = 0; r >= 0 && i < 2; i++)
		r = look_at_side(profile, &tally, &sides[i]);
	if (r >= 0)
		r = sum_sides(profile, &tally, comparable);
	if (r >= 0)
		r = separate_shares(profile, sides[1].first, &tally, jit, gc);
	if (r >= 0)
		r = stackshares_look(profile, &tally, sides);
	for (int i = 0; r >= 0 && i < 2; i++) {
		sides[i].jit = jit[i];
		sides[i].gc = gc[i];
	}
	if (r >= 0)
		r = compare_events(comparable);
	if (r >= 0)
		r = compare_rates(comparable);
	if (r >= 0)
		r = compare_scopes(profile, comparable);
	if (r >= 0)
		r = compare_quality(comparable);
	if (r >= 0)
		r = compare_order(profile, comparable);
	if (r >= 0)
		r = compare_hosts(profile, comparable);
	if (r >= 0)
		r = compare_loads(profile, comparable);
	if (r >= 0)
		r = compare_jvms(comparable);
	if (r >= 0)
		r = compare_runtimes(comparable);
	sort_findings(comparable);
	return r;
}

int comparable_look(const struct stoke_profile *profile, uint32_t nr_before,
	struct comparable **ret, struct stoke_error *err)
{
	struct comparable *comparable;
	int r;

	if (!nr_before || nr_before >= profile->nr_runs)
		return fail(
			err, -ENODATA, "one side has no files: give some before and some after");
	comparable = calloc(1, sizeof(*comparable));
	if (!comparable)
		return fail(err, -ENOMEM, "out of memory");
	comparable->sides[0].nr_runs = nr_before;
	comparable->sides[1].first = nr_before;
	comparable->sides[1].nr_runs = (uint32_t)profile->nr_runs - nr_before;
	r = look(profile, comparable);
	if (r < 0) {
		comparable_free(comparable);
		if (r == -ERANGE)
			return fail(err, r,
				"the samples of both sides add up to more than 2^62, which no "
				"profile has: are the numbers behind the stacks counts?");
		return fail(err, r, "out of memory");
	}
	*ret = comparable;
	return 0;
}

void comparable_free(struct comparable *comparable)
{
	if (!comparable)
		return;
	for (size_t i = 0; i < comparable->nr_findings; i++)
		free(comparable->findings[i].text);
	free(comparable->findings);
	free(comparable->sides[0].name);
	free(comparable->sides[1].name);
	free(comparable);
}

int comparable_worst(const struct comparable *comparable, enum finding_weight weight)
{
	return comparable->nr_findings && comparable->findings[0].weight >= weight;
}
