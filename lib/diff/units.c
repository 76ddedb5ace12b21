/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * units.c: from rows to counts. Everything is counted once for all units together, to see what can
 * matter at all; only that gets a place in the matrix, which then is filled unit by unit.
 */
#include "diff/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "diff/budget.h"
#include "diff/count.h"
#include "diff/separate.h"
#include "diff/sums.h"
#include "profile/tally.h"

#define DEFAULT_LEAST	    0.005
#define DEFAULT_LEAST_RATIO 0.05
#define DILUTION_LEAST	    0.002 /* of all: a function whose self tells dilution */

/* A hypothesis in the making: where it is counted. */
struct candidate {
	struct hypothesis hypothesis;
	const uint64_t *count; /* of the counter, after a unit was finished; NULL: all samples */
};

struct making {
	struct stoke_profile *profile;
	const struct units_options *options;
	struct units *units;
	struct counter counter;
	struct samples samples;
	struct candidate *candidates;
	size_t nr, capacity;
	uint64_t
		*application; /* [unit] samples without the JVM's own threads: what shares are of */
	double side[2]; /* exposures of the sides */
	double rate; /* of all samples of both sides; 1 for shares */
	double least; /* the smallest limit that any of them may have */
};

static void making_done(struct making *m)
{
	counter_done(&m->counter);
	free(m->application);
	free(m->samples.unit);
	free(m->samples.count);
	free(m->candidates);
	units_free(m->units);
}

void units_free(struct units *units)
{
	if (!units)
		return;
	free(units->samples);
	free(units->part);
	free(units->exposures);
	free(units->hypotheses);
	free(units->counts);
	free(units);
}

double units_rate(const struct units *units)
{
	double samples = 0, exposure = 0;

	if (units->exposure == STOKE_EXPOSURE_SHARE)
		return 1;
	for (unsigned unit = 0; unit < units->nr; unit++) {
		samples += (double)units->samples[unit];
		exposure += units->exposures[unit];
	}
	return exposure > 0 ? samples / exposure : 1;
}

static unsigned side_of(const struct units *units, unsigned unit)
{
	return unit >= units->nr_before;
}

/* How many slices each of the two runs has; 0: they can't be cut. */
static int find_slices(const struct making *m, uint64_t slices[2])
{
	const struct stoke_profile *profile = m->profile;
	const struct rows *rows = &profile->rows;

	if (profile->nr_runs != 2 || m->options->nr_before != 1)
		return 0;
	slices[0] = slices[1] = 0;
	for (size_t i = 0; i < rows->nr; i++) {
		if (rows->slice[i] + 1ull > slices[rows->run[i]])
			slices[rows->run[i]] = rows->slice[i] + 1ull;
	}
	for (unsigned run = 0; run < 2; run++) {
		const struct run *of = &profile->runs[run];

		if (!of->slice_ns)
			return 0;
		/* The last slices may have no samples, and are time all the same. */
		if (of->duration_ns / of->slice_ns > slices[run])
			slices[run] = of->duration_ns / of->slice_ns;
		if (slices[run] < UNITS_BLOCKS_PER_RUN)
			return 0;
	}
	return 1;
}

/* No slice is left out: what is counted in blocks is all that trees and pictures have, too. */
static uint64_t block_of(uint64_t slice, uint64_t slices)
{
	return (uint64_t)((unsigned __int128)slice * UNITS_BLOCKS_PER_RUN / slices);
}

static uint64_t first_slice(uint64_t block, uint64_t slices)
{
	return (uint64_t)(((unsigned __int128)block * slices + UNITS_BLOCKS_PER_RUN - 1) /
			  UNITS_BLOCKS_PER_RUN);
}

/* Which part of its run each unit is. */
static void measure_units(struct units *units, const uint64_t slices[2])
{
	for (unsigned u = 0; u < units->nr; u++) {
		uint64_t block = u % UNITS_BLOCKS_PER_RUN, of = slices[u >= units->nr_before];

		units->part[u] =
			units->blocks
				? (double)(first_slice(block + 1, of) - first_slice(block, of)) /
					  (double)of
				: 1;
	}
}

static int assign_rows(struct making *m, const uint64_t slices[2])
{
	const struct stoke_profile *profile = m->profile;
	const struct rows *rows = &profile->rows;
	_cleanup_(tally_done) struct tally tally = {0};
	int r = tally_init(&tally, profile);

	m->samples.unit = array_new(rows->nr + 1, sizeof(*m->samples.unit));
	m->samples.count = array_new(rows->nr + 1, sizeof(*m->samples.count));
	if (r < 0 || !m->samples.unit || !m->samples.count)
		return -ENOMEM;
	for (size_t i = 0; i < rows->nr; i++) {
		uint32_t run = rows->run[i];

		m->samples.unit[i] = run;
		if (m->units->blocks)
			m->samples.unit[i] = run * UNITS_BLOCKS_PER_RUN +
					     (uint32_t)block_of(rows->slice[i], slices[run]);
		m->samples.count[i] = tally_of(&tally, i);
	}
	return 0;
}

/* The function of the innermost frame of a row's stack, 0: it has none. */
static uint32_t top_function(const struct stoke_profile *profile, size_t row)
{
	uint32_t node = profile->rows.stack[row];

	return frame_function(profile, &profile->frames[profile->stacks.frame[node]], 0);
}

static int cut(struct making *m)
{
	struct units *units = m->units;
	uint64_t slices[2] = {1, 1};
	size_t cells;
	int r;

	units->blocks = find_slices(m, slices);
	units->nr = (unsigned)m->profile->nr_runs * (units->blocks ? UNITS_BLOCKS_PER_RUN : 1);
	units->nr_before = m->options->nr_before * (units->blocks ? UNITS_BLOCKS_PER_RUN : 1);
	units->exposure = m->options->exposure;
	units->nr_exposures = 1 + m->options->nr_conditions;
	r = size_multiply(units->nr_exposures, units->nr, &cells);
	if (r < 0)
		return r;
	units->samples = calloc(units->nr, sizeof(*units->samples));
	units->exposures = calloc(cells, sizeof(*units->exposures));
	units->part = calloc(units->nr, sizeof(*units->part));
	if (!units->samples || !units->exposures || !units->part)
		return -ENOMEM;
	measure_units(units, slices);
	r = assign_rows(m, slices);
	if (r < 0)
		return r;
	m->application = calloc(units->nr, sizeof(*m->application));
	if (!m->application)
		return -ENOMEM;
	for (size_t i = 0; i < m->profile->rows.nr; i++) {
		uint32_t unit = m->samples.unit[i];

		units->samples[unit] += m->samples.count[i];
		if (!separate_is_mark(m->profile, top_function(m->profile, i)))
			m->application[unit] += m->samples.count[i];
	}
	return 0;
}

/* Of a whole run; a unit has its part. NAN: not known. */
static double exposure_of_run(const struct making *m, size_t run)
{
	const struct stoke_profile *profile = m->profile;
	const struct run *of = &profile->runs[run];
	const char *unit = strings_text(&profile->strings, of->period_type.unit);

	if (m->options->exposure == STOKE_EXPOSURE_WORK)
		return m->options->work && m->options->work[run] > 0 ? m->options->work[run] : NAN;
	if (!of->duration_ns || !of->period || strcmp(unit, "nanoseconds") != 0)
		return NAN;
	return (double)of->duration_ns / (double)of->period;
}

static int expose(struct making *m, struct stoke_error *err)
{
	struct units *units = m->units;
	uint64_t samples[2] = {0, 0};
	unsigned per_run = units->blocks ? UNITS_BLOCKS_PER_RUN : 1;

	for (unsigned u = 0; u < units->nr; u++) {
		double exposure = (double)m->application[u];

		if (units->exposure != STOKE_EXPOSURE_SHARE)
			exposure = exposure_of_run(m, u / per_run) * units->part[u];
		if (isnan(exposure))
			return fail(err, -EINVAL,
				units->exposure == STOKE_EXPOSURE_WORK
					? "the work done in run %u is not known; give it for "
					  "each run, or compare shares"
					: "how long run %u took, or the CPU time of a sample, is "
					  "not known; compare shares",
				u / per_run + 1);
		units->exposures[u] = exposure;
		samples[side_of(units, u)] += units->samples[u];
		m->side[side_of(units, u)] += exposure;
	}
	if (!samples[0] || !samples[1])
		return fail(
			err, -ENODATA, "there are no samples %s", samples[0] ? "after" : "before");
	m->rate = units->exposure == STOKE_EXPOSURE_SHARE
			  ? 1
			  : (double)(samples[0] + samples[1]) / (m->side[0] + m->side[1]);
	return 0;
}

/* Counts what `unit` has, or all of a side, or all. */
static void count(struct making *m, unsigned first, unsigned end)
{
	const struct rows *rows = &m->profile->rows;

	counter_begin(&m->counter);
	for (size_t i = 0; i < rows->nr; i++) {
		uint32_t unit = m->samples.unit[i];

		if (unit >= first && unit < end && m->samples.count[i])
			counter_add(&m->counter, rows->stack[i], m->samples.count[i]);
	}
}

/* Half of what the shares of self moved, over all functions. */
static int find_difference(struct making *m)
{
	struct units *units = m->units;
	_cleanup_free_ uint64_t *before = calloc(m->counter.nr_functions, sizeof(*before));
	double whole[2] = {0, 0}, moved = 0;

	if (!before)
		return -ENOMEM;
	for (unsigned u = 0; u < units->nr; u++)
		whole[side_of(units, u)] += (double)units->samples[u];
	count(m, 0, units->nr_before);
	memcpy(before, m->counter.self, m->counter.nr_functions * sizeof(*before));
	count(m, units->nr_before, units->nr);
	for (size_t f = 0; f < m->counter.nr_functions; f++)
		moved += fabs((double)m->counter.self[f] / whole[1] - (double)before[f] / whole[0]);
	units->difference = moved / 2;
	return 0;
}

static void find_limit(const struct making *m, struct hypothesis *hypothesis)
{
	const struct units_options *options = m->options;
	enum hypothesis_kind kind =
		hypothesis->kind == HYPOTHESIS_SELF ? HYPOTHESIS_SELF : HYPOTHESIS_TOTAL;
	const char *name = strings_text(&m->profile->strings, hypothesis->name);
	size_t size = strings_size(&m->profile->strings, hypothesis->name);

	hypothesis->least = DEFAULT_LEAST * m->rate;
	hypothesis->least_ratio = DEFAULT_LEAST_RATIO;
	for (size_t i = options->nr_limits; i-- > 0;) {
		const struct units_limit *limit = &options->limits[i];

		/* All samples are no function: a glob that matches everything does not mean them.
		 */
		if (limit->kind != kind || (limit->glob && limit->glob[0] && !size) ||
			(limit->glob && !budget_matches(limit->glob, name, size)))
			continue;
		hypothesis->least = limit->least * m->rate;
		hypothesis->least_ratio = limit->least_ratio;
		return;
	}
}

/* Could a function with so many samples, had they all been on one side, change by that much? */
static int can_reach(const struct making *m, uint64_t samples, double least)
{
	double smaller = m->side[0] < m->side[1] ? m->side[0] : m->side[1];

	return samples > 0 && (double)samples / smaller >= least;
}

static int propose(struct making *m, const struct counted *item, enum hypothesis_kind kind,
	const uint64_t *samples)
{
	struct candidate new = {
		.hypothesis = {.name = item->name, .kind = (uint8_t)kind, .class = item->class},
		.count = samples,
	};
	int dilutes = kind == HYPOTHESIS_SELF && m->units->exposure == STOKE_EXPOSURE_SHARE &&
		      (double)*samples >= DILUTION_LEAST * (m->side[0] + m->side[1]);
	int r;

	if (!dilutes && !can_reach(m, *samples, m->least))
		return 0;
	find_limit(m, &new.hypothesis);
	/* What is not to be judged is shown where any other would be. */
	if (!dilutes && !can_reach(m, *samples,
				new.hypothesis.least < INFINITY ? new.hypothesis.least
								: DEFAULT_LEAST * m->rate))
		return 0;
	r = array_reserve(&m->candidates, &m->capacity, m->nr, 1);
	if (r < 0)
		return r;
	m->candidates[m->nr++] = new;
	return 0;
}

static int propose_all(struct making *m)
{
	struct counter *counter = &m->counter;
	int r = 0;

	m->least = DEFAULT_LEAST * m->rate;
	for (size_t i = 0; i < m->options->nr_limits; i++) {
		if (m->options->limits[i].least * m->rate < m->least)
			m->least = m->options->limits[i].least * m->rate;
	}
	count(m, 0, m->units->nr);
	counter_finish(counter);
	for (size_t f = 1; r >= 0 && f < counter->nr_functions; f++) {
		const struct counted *item = &counter->functions[f];

		if (item->skip)
			continue;
		r = propose(m, item, HYPOTHESIS_SELF, &counter->self[f]);
		if (r >= 0)
			r = propose(m, item, HYPOTHESIS_TOTAL, &counter->total[f]);
	}
	for (size_t g = 1; r >= 0 && g < counter->nr_groups; g++)
		r = propose(m, &counter->groups[g], HYPOTHESIS_GROUP, &counter->of_group[g]);
	return r;
}

static int by_kind_and_text(const void *a, const void *b, void *of)
{
	const struct hypothesis *x = &((const struct candidate *)a)->hypothesis;
	const struct hypothesis *y = &((const struct candidate *)b)->hypothesis;
	const struct strings *strings = of;
	size_t x_size, y_size;
	int r;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	x_size = strings_size(strings, x->name);
	y_size = strings_size(strings, y->name);
	r = memcmp(strings_text(strings, x->name), strings_text(strings, y->name),
		x_size < y_size ? x_size : y_size);
	if (r)
		return r;
	if (x_size != y_size)
		return x_size < y_size ? -1 : 1;
	return x->class < y->class ? -1 : x->class > y->class;
}

static int has_total(const struct making *m)
{
	return m->units->exposure != STOKE_EXPOSURE_SHARE;
}

static int units_reserve(struct making *m)
{
	struct units *units = m->units;
	size_t nr = (size_t)has_total(m) + m->nr + m->options->nr_sums, cells;
	int r = size_multiply(nr, units->nr, &cells);

	if (r < 0)
		return r;
	units->hypotheses = calloc(nr + 1, sizeof(*units->hypotheses));
	units->counts = calloc(cells + 1, sizeof(*units->counts));
	return units->hypotheses && units->counts ? 0 : -ENOMEM;
}

static int fill_matrix(struct making *m)
{
	struct units *units = m->units;
	struct hypothesis *plain;
	int r = units_reserve(m);

	if (r < 0)
		return r;
	if (has_total(m)) {
		struct hypothesis *total = &units->hypotheses[units->nr_hypotheses++];

		*total = (struct hypothesis){.kind = HYPOTHESIS_TOTAL, .class = TREE_MARK};
		find_limit(m, total);
		for (unsigned u = 0; u < units->nr; u++)
			units->counts[u] = (double)units->samples[u];
	}
	plain = units->hypotheses + units->nr_hypotheses;
	for (size_t i = 0; i < m->nr; i++)
		plain[i] = m->candidates[i].hypothesis;
	for (unsigned u = 0; u < units->nr; u++) {
		count(m, u, u + 1);
		counter_finish(&m->counter);
		for (size_t i = 0; i < m->nr; i++)
			units->counts[(units->nr_hypotheses + i) * units->nr + u] =
				(double)*m->candidates[i].count;
	}
	units->nr_hypotheses += m->nr;
	return 0;
}

/* A group that is nothing but one function, by its name or by its counts, says nothing new. */
static int is_doubled(const struct units *units, size_t group)
{
	const struct hypothesis *of = &units->hypotheses[group];
	const double *counts = units->counts + group * units->nr;

	for (size_t h = 0; h < units->nr_hypotheses; h++) {
		const struct hypothesis *other = &units->hypotheses[h];

		if (other->kind != HYPOTHESIS_TOTAL || !other->name)
			continue;
		if (other->name == of->name ||
			(other->class == of->class && memcmp(counts, units->counts + h * units->nr,
							      units->nr * sizeof(*counts)) == 0))
			return 1;
	}
	return 0;
}

static void drop_doubled(struct units *units)
{
	size_t kept = 0;

	for (size_t h = 0; h < units->nr_hypotheses; h++) {
		if (units->hypotheses[h].kind == HYPOTHESIS_GROUP && is_doubled(units, h))
			continue;
		if (kept != h) {
			units->hypotheses[kept] = units->hypotheses[h];
			memcpy(units->counts + kept * units->nr, units->counts + h * units->nr,
				units->nr * sizeof(*units->counts));
		}
		kept++;
	}
	units->nr_hypotheses = kept;
}

static int add_sums(struct making *m)
{
	struct units *units = m->units;

	for (size_t i = 0; i < m->options->nr_sums; i++) {
		const struct units_sum *sum = &m->options->sums[i];

		memset(units->counts + units->nr_hypotheses * units->nr, 0,
			units->nr * sizeof(*units->counts));
		units->hypotheses[units->nr_hypotheses++] = (struct hypothesis){
			.sum = (uint32_t)i + 1,
			.kind = (uint8_t)sum->kind,
			.class = TREE_MARK,
			.condition = (uint16_t)sum->condition,
			.least = sum->least * m->rate,
			.least_ratio = sum->least_ratio,
		};
	}
	return sums_fill(m->profile, &m->samples, m->options, units);
}

static int make(struct making *m, struct stoke_error *err)
{
	int r = cut(m);

	if (r >= 0)
		r = expose(m, err);
	if (r >= 0)
		r = counter_init(&m->counter, m->profile);
	if (r >= 0)
		r = find_difference(m);
	if (r >= 0)
		r = propose_all(m);
	if (r < 0)
		return r;
	if (m->nr)
		qsort_r(m->candidates, m->nr, sizeof(*m->candidates), by_kind_and_text,
			&m->profile->strings);
	r = fill_matrix(m);
	if (r < 0)
		return r;
	drop_doubled(m->units);
	return add_sums(m);
}

int units_make(struct stoke_profile *profile, const struct units_options *options,
	struct units **ret, struct stoke_error *err)
{
	_cleanup_(making_done) struct making m = {.profile = profile, .options = options};
	int r;

	if (!options->nr_before || options->nr_before >= profile->nr_runs)
		return fail(err, -ENODATA, "there are no runs %s",
			options->nr_before ? "after" : "before");
	if (options->nr_conditions >= UINT16_MAX)
		return fail(err, -E2BIG, "more than %d conditions", UINT16_MAX - 1);
	m.units = calloc(1, sizeof(*m.units));
	r = m.units ? make(&m, err) : -ENOMEM;
	if (r == -ENODATA || r == -EINVAL)
		return r;
	if (r < 0)
		return fail(err, r, "cannot count the samples: out of memory");
	*ret = take_pointer(m.units);
	return 0;
}
