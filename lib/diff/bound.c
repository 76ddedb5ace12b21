/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bound.c: T^2 = D^2 / (V + F). Dilution only lowers T, so let it be 1. With e what a unit counts
 * beyond the pooled rate and g = e / exposure, centred, each side's V is at least w times its sum
 * of (g - mean g)^2, as a mean is where squares are least, and both sides' sums together are G, of
 * all units, less what is between the sides, k (sum of g after)^2. So with N = F + w G, Z the sum
 * of e after over sqrt(N), and Y that of g:  T^2 <= Z^2 / (1 - Y^2). Were exposures equal Y would
 *be l Z; as they are it is at most l |Z| + r. What is above t then has
 *
 *	Z^2 + t^2 (l |Z| + r)^2 > t^2
 */
#include "diff/bound.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "diff/evidence.h"

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* w of all ways to call nr of the units one side: the largest exposures make it least. */
static double side_least(const double *sorted, unsigned nr_units, unsigned nr)
{
	double exposure = 0;

	if (nr < 2)
		return 0;
	for (unsigned u = nr_units - nr; u < nr_units; u++)
		exposure += sorted[u];
	return nr / ((nr - 1) * exposure * exposure);
}

static int find_least(struct bound *bound)
{
	const struct units *units = bound->statistic->units;
	unsigned before = units->nr_before, after = units->nr - before;
	_cleanup_free_ double *sorted = calloc(units->nr, sizeof(*sorted));
	double one, other, mean = 0;

	if (!sorted)
		return -ENOMEM;
	/* Pairs have another V. */
	if (bound->statistic->flags & EVIDENCE_PAIRED)
		return 0;
	for (unsigned u = 0; u < units->nr; u++) {
		sorted[u] = units->exposures[u];
		mean += sorted[u] / units->nr;
	}
	qsort(sorted, units->nr, sizeof(*sorted), by_size);
	one = side_least(sorted, units->nr, before);
	other = side_least(sorted, units->nr, after);
	bound->least = (one < other ? one : other) * sorted[0] * sorted[0];
	bound->between =
		sqrt(bound->least * (1.0 / before + 1.0 / after)) / (mean * bound->reach[0]);
	return 0;
}

/* e of each unit, and g where it has a use. */
static void spread_of(const struct bound *bound, size_t h, double *e, double *g)
{
	const struct units *units = bound->statistic->units;
	const double *counts = units->counts + h * units->nr;
	unsigned condition = units->hypotheses[h].condition;
	const double *exposures = units->exposures + (size_t)condition * units->nr;
	double count = 0, exposure = 0, mean = 0;

	for (unsigned u = 0; u < units->nr; u++) {
		count += counts[u];
		exposure += exposures[u];
	}
	for (unsigned u = 0; u < units->nr; u++)
		e[u] = counts[u] - count / exposure * exposures[u];
	if (!g)
		return;
	for (unsigned u = 0; u < units->nr; u++) {
		g[u] = bound->least > 0 && !condition ? e[u] / exposures[u] : 0;
		mean += g[u] / units->nr;
	}
	for (unsigned u = 0; u < units->nr; u++)
		g[u] -= mean;
}

static void measure(struct bound *bound, size_t h, double *e, double *g)
{
	const struct units *units = bound->statistic->units;
	double kinds = 1.0 / units->nr_before + 1.0 / (units->nr - units->nr_before);
	double squares = 0, more = 0, less = 0, norm;

	spread_of(bound, h, e, g);
	for (unsigned u = 0; u < units->nr; u++)
		squares += g[u] * g[u];
	norm = sqrt(bound->statistic->floor[h] + bound->least * squares);
	bound->norm[h] = norm;
	if (units->hypotheses[h].condition)
		return;
	for (unsigned u = 0; u < units->nr; u++) {
		double rest = g[u] * sqrt(bound->least * kinds) / norm -
			      bound->between * e[u] * bound->reach[0] / norm;

		*(rest > 0 ? &more : &less) += fabs(rest);
	}
	more = more > less ? more : less;
	bound->uneven = more > bound->uneven ? more : bound->uneven;
}

static int bound_fill(struct bound *bound)
{
	const struct units *units = bound->statistic->units;
	_cleanup_free_ double *e = calloc(units->nr, sizeof(*e));
	_cleanup_free_ double *g = calloc(units->nr, sizeof(*g));

	if (!e || !g || find_least(bound) < 0)
		return -ENOMEM;
	for (size_t h = 0; h < units->nr_hypotheses; h++) {
		if (bound->statistic->floor[h] > 0)
			measure(bound, h, e, g);
	}
	return 0;
}

int bound_init(
	struct bound *bound, const struct statistic *statistic, const struct labelling *labelling)
{
	const struct units *units = statistic->units;
	struct bound new = {.statistic = statistic};

	new.reach = calloc(units->nr_exposures, sizeof(*new.reach));
	new.norm = calloc(units->nr_hypotheses + 1, sizeof(*new.norm));
	for (size_t c = 0; new.reach &&c < units->nr_exposures; c++)
		new.reach[c] = 1 / labelling->exposure[0][c] + 1 / labelling->exposure[1][c];
	if (!new.reach || !new.norm || bound_fill(&new) < 0) {
		bound_done(&new);
		return -ENOMEM;
	}
	*bound = new;
	return 0;
}

void bound_done(struct bound *bound)
{
	free(bound->reach);
	free(bound->norm);
	*bound = (struct bound){0};
}

void bound_parts(const struct bound *bound, size_t hypothesis, double *ret)
{
	const struct units *units = bound->statistic->units;
	double reach = bound->reach[units->hypotheses[hypothesis].condition];

	spread_of(bound, hypothesis, ret, NULL);
	for (unsigned u = 0; u < units->nr; u++)
		ret[u] *= reach / bound->norm[hypothesis];
}

double bound_ratio(const struct bound *bound, const struct labelling *labelling)
{
	double ratio = 0;

	for (size_t c = 0; c < bound->statistic->units->nr_exposures; c++) {
		double reach = 1 / labelling->exposure[0][c] + 1 / labelling->exposure[1][c];

		/* No exposure on one side: no statistic there, so nothing to bound. */
		if (reach < INFINITY && bound->reach[c] < INFINITY &&
			reach / bound->reach[c] > ratio)
			ratio = reach / bound->reach[c];
	}
	return ratio;
}

double bound_above(const struct bound *bound, double ratio, double t)
{
	double l = bound->between / ratio, r = bound->uneven, a, b;

	/* Statistics are of changes in their direction. */
	if (!(t > 0) || r >= 1)
		return 0;
	a = 1 / (t * t) + l * l;
	b = l * r;
	return (sqrt(b * b + a * (1 - r * r)) - b) / a / ratio;
}
