/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * maxt.c: made for hundreds of thousands of relabellings of thousands of hypotheses. What a unit
 * adds to the change of each hypothesis is kept as integers; a relabelling moves a unit or two, so
 * sums follow by additions, exactly. bound.c says what T a sum allows at most, in both directions
 * at once, and as only a new maximum counts, T itself is taken a few times in each.
 */
#include "diff/maxt.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "diff/bound.h"

#define BLOCK	  32 /* places whose largest and smallest sum are known */
#define ROUNDING  1e-12 /* statistics of equal relabellings may differ by it */
#define SCALE_MAX 0x1p30 /* sums of all units stay below */

/* A hypothesis with an observed statistic. */
struct ranked {
	uint32_t place;
	double observed;
	uint64_t count;
};

struct direction_state {
	size_t first, end; /* its places: those observed, the smallest first */
	struct ranked *ranked; /* in that order */
	double lowest; /* statistics that are no larger count for nothing */
};

struct maxt {
	const struct statistic *statistic;
	const double *const *observed;
	uint32_t *order; /* place -> hypothesis: neither, shrank, grew */
	size_t nr, nr_padded; /* places; filled up to whole blocks */
	int32_t *parts; /* [unit * nr_padded + place] */
	int32_t *sums; /* [place] of the units called after */
	int32_t *high, *low; /* of each block */
	struct labelling labelling;
	double scale; /* of parts: 1 of the bound */
	struct bound bound;
	double ratio; /* of this relabelling, bound_ratio() */
	struct direction_state direction[NR_DIRECTIONS];
};

static void maxt_done(struct maxt *m)
{
	free(m->order);
	free(m->parts);
	free(m->sums);
	free(m->high);
	free(m->low);
	bound_done(&m->bound);
	for (unsigned d = 0; d < NR_DIRECTIONS; d++)
		free(m->direction[d].ranked);
	labelling_done(&m->labelling);
}

static int is_seen(double observed)
{
	return observed > -INFINITY;
}

static int by_observed(const void *a, const void *b, void *of)
{
	const struct maxt *m = of;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double x_grew = m->observed[GREW][x], y_grew = m->observed[GREW][y];
	double x_shrank = m->observed[SHRANK][x], y_shrank = m->observed[SHRANK][y];
	int x_group = is_seen(x_grew) ? 2 : is_seen(x_shrank);
	int y_group = is_seen(y_grew) ? 2 : is_seen(y_shrank);

	if (x_group != y_group)
		return x_group < y_group ? -1 : 1;
	if (x_grew != y_grew)
		return x_grew < y_grew ? -1 : 1;
	if (x_shrank != y_shrank)
		return x_shrank < y_shrank ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int rank(struct maxt *m)
{
	size_t nr[3] = {0, 0, 0}, at = 0;

	for (size_t h = 0; h < m->statistic->units->nr_hypotheses; h++) {
		if (!(m->statistic->floor[h] > 0))
			continue;
		m->order[m->nr++] = (uint32_t)h;
		nr[is_seen(m->observed[GREW][h]) ? 2 : is_seen(m->observed[SHRANK][h]) ? 1 : 0]++;
	}
	qsort_r(m->order, m->nr, sizeof(*m->order), by_observed, m);
	at = nr[0];
	for (unsigned d = NR_DIRECTIONS; d-- > 0;) {
		struct direction_state *state = &m->direction[d];

		state->first = at;
		state->end = at += d == GREW ? nr[2] : nr[1];
		state->ranked = calloc(state->end - state->first + 1, sizeof(*state->ranked));
		if (!state->ranked)
			return -ENOMEM;
		for (size_t i = state->first; i < state->end; i++)
			state->ranked[i - state->first] = (struct ranked){
				.place = (uint32_t)i,
				.observed = m->observed[d][m->order[i]],
			};
		state->lowest = state->first < state->end ? state->ranked[0].observed - 1e-6 : 0;
	}
	return 0;
}

/* Parts as integers: whatever they are added to in whatever order, a sum is the same. */
static int fill_parts(struct maxt *m)
{
	const struct units *units = m->statistic->units;
	_cleanup_free_ double *parts = calloc(units->nr, sizeof(*parts));
	double largest = 0;

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < m->nr; i++) {
		double whole = 0;

		bound_parts(&m->bound, m->order[i], parts);
		for (unsigned u = 0; u < units->nr; u++)
			whole += fabs(parts[u]);
		if (whole > largest)
			largest = whole;
	}
	m->scale = largest > 0 ? SCALE_MAX / largest : 1;
	for (size_t i = 0; i < m->nr; i++) {
		bound_parts(&m->bound, m->order[i], parts);
		for (unsigned u = 0; u < units->nr; u++)
			m->parts[u * m->nr_padded + i] = (int32_t)lrint(parts[u] * m->scale);
	}
	return 0;
}

static int maxt_init(struct maxt *m)
{
	const struct units *units = m->statistic->units;
	size_t cells;
	int r;

	m->order = calloc(units->nr_hypotheses + 1, sizeof(*m->order));
	if (!m->order)
		return -ENOMEM;
	r = labelling_init(&m->labelling, m->statistic);
	if (r < 0)
		return r;
	r = rank(m);
	if (r < 0)
		return r;
	m->nr_padded = (m->nr + BLOCK - 1) / BLOCK * BLOCK;
	r = size_multiply(m->nr_padded, units->nr, &cells);
	if (r < 0)
		return r;
	m->parts = calloc(cells + 1, sizeof(*m->parts));
	m->sums = calloc(m->nr_padded + 1, sizeof(*m->sums));
	m->high = calloc(m->nr_padded / BLOCK + 1, sizeof(*m->high));
	m->low = calloc(m->nr_padded / BLOCK + 1, sizeof(*m->low));
	if (!m->parts || !m->sums || !m->high || !m->low)
		return -ENOMEM;
	r = bound_init(&m->bound, m->statistic, &m->labelling);
	if (r < 0)
		return r;
	r = fill_parts(m);
	if (r < 0)
		return r;
	for (unsigned u = units->nr_before; u < units->nr; u++) {
		for (size_t i = 0; i < m->nr_padded; i++)
			m->sums[i] += m->parts[u * m->nr_padded + i];
	}
	return 0;
}

/* One unit leaves, one joins, in one pass. */
static void exchange_parts(struct maxt *m, unsigned leaves, unsigned joins)
{
	const int32_t *minus = m->parts + leaves * m->nr_padded;
	const int32_t *plus = m->parts + joins * m->nr_padded;

	for (size_t i = 0; i < m->nr_padded; i++)
		m->sums[i] += plus[i] - minus[i];
}

static void find_extremes(struct maxt *m)
{
	for (size_t b = 0; b < m->nr_padded / BLOCK; b++) {
		const int32_t *sums = m->sums + b * BLOCK;
		int32_t high = INT32_MIN, low = INT32_MAX;

		for (size_t i = 0; i < BLOCK; i++) {
			high = sums[i] > high ? sums[i] : high;
			low = sums[i] < low ? sums[i] : low;
		}
		m->high[b] = high;
		m->low[b] = low;
	}
}

/* Brings sums to these labels. As many units leave as join. */
static void follow(struct maxt *m, const uint8_t *after)
{
	const struct units *units = m->statistic->units;
	const uint8_t *now = m->labelling.after;
	unsigned leaves = 0, joins = 0;

	for (;; leaves++, joins++) {
		while (leaves < units->nr && now[leaves] <= after[leaves])
			leaves++;
		while (joins < units->nr && now[joins] >= after[joins])
			joins++;
		if (leaves >= units->nr || joins >= units->nr)
			break;
		exchange_parts(m, leaves, joins);
	}
	labelling_set(&m->labelling, m->statistic, after);
	m->ratio = bound_ratio(&m->bound, &m->labelling);
	find_extremes(m);
}

/* The least sum that could stand for a T above this. */
static int32_t sum_above(const struct maxt *m, double t)
{
	double sum = bound_above(&m->bound, m->ratio, t) * m->scale;

	/* Each unit's part was rounded. */
	sum -= m->statistic->units->nr + 2;
	if (!(sum > INT32_MIN))
		return INT32_MIN;
	return sum < INT32_MAX ? (int32_t)sum : INT32_MAX;
}

/* How far this place may have moved in the direction, as a sum. */
static int32_t extent(int32_t sum, enum direction d)
{
	return d == GREW ? sum : -sum;
}

static void try_place(struct maxt *m, enum direction d, size_t i, double *max, int32_t *least)
{
	double t;

	if (extent(m->sums[i], d) < *least)
		return;
	t = statistic_of(m->statistic, &m->labelling, m->order[i], d, *max);
	if (t > *max) {
		*max = t;
		*least = sum_above(m, t);
	}
}

static int32_t extreme(const struct maxt *m, enum direction d, size_t block)
{
	return d == GREW ? m->high[block] : -m->low[block];
}

/* Near the largest sum is the largest statistic, mostly: looked at first, it leaves little to be
 * looked at elsewhere. Ranked places have to wait for their turn. */
static void try_best(struct maxt *m, enum direction d, double *max, int32_t *least)
{
	const struct direction_state *state = &m->direction[d];
	size_t best = 0;

	for (size_t b = 1; b < m->nr_padded / BLOCK; b++) {
		if (extreme(m, d, b) > extreme(m, d, best))
			best = b;
	}
	for (size_t i = best * BLOCK; i < (best + 1) * BLOCK && i < m->nr; i++) {
		if (i < state->first || i >= state->end)
			try_place(m, d, i, max, least);
	}
}

/* The maximum over places of no rank in this direction. */
static void try_places(
	struct maxt *m, enum direction d, size_t first, size_t end, double *max, int32_t *least)
{
	for (size_t i = first; i < end;) {
		size_t block = i / BLOCK, stop = (block + 1) * BLOCK;

		stop = stop < end ? stop : end;
		if (extreme(m, d, block) < *least) {
			i = stop;
			continue;
		}
		for (; i < stop; i++)
			try_place(m, d, i, max, least);
	}
}

/* Walks from the smallest observed statistic up and counts those that this relabelling reaches. */
static void step_down(struct maxt *m, enum direction d)
{
	struct direction_state *state = &m->direction[d];
	double max = state->lowest;
	int32_t least;

	if (state->first == state->end || m->ratio <= 0)
		return;
	least = sum_above(m, max);
	try_best(m, d, &max, &least);
	try_places(m, d, 0, state->first, &max, &least);
	try_places(m, d, state->end, m->nr, &max, &least);
	for (size_t i = 0; i < state->end - state->first; i++) {
		struct ranked *ranked = &state->ranked[i];

		try_place(m, d, ranked->place, &max, &least);
		ranked->count += max >= ranked->observed - ROUNDING;
	}
}

static void conclude(const struct maxt *m, enum direction d, uint64_t total, double *ret_p)
{
	const struct direction_state *state = &m->direction[d];
	double p = 0;

	for (size_t h = 0; h < m->statistic->units->nr_hypotheses; h++)
		ret_p[h] = 1;
	for (size_t i = state->end - state->first; i-- > 0;) {
		double of = (double)state->ranked[i].count / (double)total;

		p = of > p ? of : p;
		ret_p[m->order[state->ranked[i].place]] = p;
	}
}

int maxt_run(const struct statistic *statistic, const double *const observed[NR_DIRECTIONS],
	struct relabel *relabel, double *const ret_p[NR_DIRECTIONS])
{
	_cleanup_(maxt_done) struct maxt m = {.statistic = statistic, .observed = observed};
	int r, any;

	r = maxt_init(&m);
	if (r < 0)
		return r;
	any = m.direction[GREW].first < m.direction[GREW].end ||
	      m.direction[SHRANK].first < m.direction[SHRANK].end;
	while (any && relabel_next(relabel)) {
		follow(&m, relabel->after);
		step_down(&m, GREW);
		step_down(&m, SHRANK);
	}
	conclude(&m, GREW, relabel->total, ret_p[GREW]);
	conclude(&m, SHRANK, relabel->total, ret_p[SHRANK]);
	return 0;
}
