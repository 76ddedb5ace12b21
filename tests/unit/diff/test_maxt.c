/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/maxt.h"

#include <math.h>
#include <stdlib.h>

#include "diff/evidence.h"
#include "unit/diff/made.h"

TestSuite(maxt, .fini = check_leaks);

/* The definition, without any of the bounds. */
static void brute(const struct statistic *statistic, const double *observed, enum direction d,
	struct relabel *relabel, double *p)
{
	size_t nr = statistic->units->nr_hypotheses, nr_order = 0;
	size_t *order = calloc(nr, sizeof(*order));
	uint64_t *counts = calloc(nr, sizeof(*counts));
	struct labelling labelling;
	double above = 0;

	cr_assert(eq(int, labelling_init(&labelling, statistic), 0));
	for (size_t h = 0; h < nr; h++) {
		size_t at = nr_order;

		p[h] = 1;
		if (!(statistic->floor[h] > 0))
			continue;
		for (; at > 0 && observed[order[at - 1]] > observed[h]; at--)
			order[at] = order[at - 1];
		order[at] = h;
		nr_order++;
	}
	while (relabel_next(relabel)) {
		double max = -INFINITY;

		labelling_set(&labelling, statistic, relabel->after);
		for (size_t i = 0; i < nr_order; i++) {
			double t = statistic_of(statistic, &labelling, order[i], d, -INFINITY);

			max = t > max ? t : max;
			counts[order[i]] += max >= observed[order[i]] - 1e-12;
		}
	}
	for (size_t i = nr_order; i-- > 0;) {
		double of = (double)counts[order[i]] / (double)relabel->total;

		if (observed[order[i]] == -INFINITY)
			break;
		above = of > above ? of : above;
		p[order[i]] = above;
	}
	labelling_done(&labelling);
	free(order);
	free(counts);
}

static void check(const struct units *units, unsigned flags, uint64_t max_exact)
{
	size_t nr = units->nr_hypotheses;
	unsigned pairs = flags & EVIDENCE_PAIRED ? RELABEL_PAIRED : 0, nr_small = 0;
	double *t[2], *p[2], *wanted = calloc(nr, sizeof(double));
	struct statistic statistic;
	struct labelling labelling;
	struct relabel relabel;

	cr_assert(eq(int, statistic_init(&statistic, units, flags), 0));
	cr_assert(eq(int, labelling_init(&labelling, &statistic), 0));
	for (unsigned d = 0; d < 2; d++) {
		t[d] = calloc(nr, sizeof(double));
		p[d] = calloc(nr, sizeof(double));
		for (size_t h = 0; h < nr; h++)
			t[d][h] = statistic.floor[h] > 0 ? statistic_of(&statistic, &labelling, h,
								   (enum direction)d, -INFINITY)
							 : -INFINITY;
	}
	cr_assert(eq(int,
		relabel_init(&relabel, units->nr, units->nr_before, pairs, max_exact, 300, 7), 0));
	cr_assert(eq(int,
		maxt_run(&statistic, (const double *const[]){t[0], t[1]}, &relabel,
			(double *const[]){p[0], p[1]}),
		0));
	relabel_done(&relabel);
	for (unsigned d = 0; d < 2; d++) {
		cr_assert(eq(int,
			relabel_init(
				&relabel, units->nr, units->nr_before, pairs, max_exact, 300, 7),
			0));
		brute(&statistic, t[d], (enum direction)d, &relabel, wanted);
		relabel_done(&relabel);
		for (size_t h = 0; h < nr; h++) {
			cr_assert(eq(dbl, p[d][h], wanted[h]), "%u: hypothesis %zu", d, h);
			nr_small += p[d][h] < 0.5;
		}
		free(t[d]);
		free(p[d]);
	}
	cr_assert(gt(u32, nr_small, 0));
	free(wanted);
	labelling_done(&labelling);
	statistic_done(&statistic);
}

Test(maxt, equals_its_definition_whatever_is_skipped, .timeout = 100)
{
	static const unsigned sizes[][3] = {
		{5, 5, 150}, {3, 3, 40}, {4, 5, 97}, {2, 6, 64}, {1, 8, 33}};

	srand(3);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct units *units = units_family(sizes[i][0], sizes[i][1], sizes[i][2]);

		check(units, 0, 200000);
		check(units, EVIDENCE_NO_DILUTION, 200000);
		units_drop(units);
	}
}

Test(maxt, equals_its_definition_for_pairs_and_for_draws, .timeout = 100)
{
	struct units *units;

	srand(4);
	units = units_family(6, 6, 120);
	check(units, EVIDENCE_PAIRED, 200000);
	check(units, 0, 100); /* 924 ways: drawn */
	check(units, EVIDENCE_PAIRED, 10);
	units_drop(units);
}

Test(maxt, with_nothing_observed_looks_at_nothing)
{
	struct units *units = units_new(3, 3, 1000);
	double *counts = units_add(units, HYPOTHESIS_TOTAL, 1), t = -INFINITY, p[2] = {0, 0};
	struct statistic statistic;
	struct relabel relabel;

	for (unsigned u = 0; u < 6; u++)
		counts[u] = 100;
	cr_assert(eq(int, statistic_init(&statistic, units, 0), 0));
	cr_assert(eq(int, relabel_init(&relabel, 6, 3, 0, 100, 99, 0), 0));
	cr_assert(eq(int,
		maxt_run(&statistic, (const double *const[]){&t, &t}, &relabel,
			(double *const[]){&p[0], &p[1]}),
		0));
	cr_assert(eq(dbl, p[0], 1));
	cr_assert(eq(u64, relabel.nr_given, 0));
	relabel_done(&relabel);
	statistic_done(&statistic);
	units_drop(units);
}
