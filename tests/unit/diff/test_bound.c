/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/bound.h"

#include <math.h>

#include "diff/evidence.h"
#include "diff/relabel.h"
#include "unit/diff/made.h"

TestSuite(bound, .fini = check_leaks);

struct subject {
	struct statistic statistic;
	struct labelling labelling;
	struct bound bound;
	double parts[64], sum;
};

static void subject_init(struct subject *s, const struct units *units, unsigned flags)
{
	cr_assert(eq(int, statistic_init(&s->statistic, units, flags), 0));
	cr_assert(eq(int, labelling_init(&s->labelling, &s->statistic), 0));
	cr_assert(eq(int, bound_init(&s->bound, &s->statistic, &s->labelling), 0));
}

static void subject_done(struct subject *s)
{
	bound_done(&s->bound);
	labelling_done(&s->labelling);
	statistic_done(&s->statistic);
}

/* How near the bound came, at most: 1 is met. */
static double check(const struct units *units, unsigned flags)
{
	struct subject s;
	double nearest = 0;

	subject_init(&s, units, flags);
	for (size_t h = 0; h < units->nr_hypotheses; h++) {
		struct relabel relabel;

		if (!(s.statistic.floor[h] > 0))
			continue;
		bound_parts(&s.bound, h, s.parts);
		cr_assert(eq(int,
			relabel_init(&relabel, units->nr, units->nr_before,
				flags & EVIDENCE_PAIRED ? RELABEL_PAIRED : 0, 1000, 999, 0),
			0));
		while (relabel_next(&relabel)) {
			double ratio, sum = 0;

			labelling_set(&s.labelling, &s.statistic, relabel.after);
			ratio = bound_ratio(&s.bound, &s.labelling);
			for (unsigned u = 0; u < units->nr; u++)
				sum += relabel.after[u] ? s.parts[u] : 0;
			for (unsigned d = 0; d < NR_DIRECTIONS; d++) {
				double t = statistic_of(&s.statistic, &s.labelling, h,
					(enum direction)d, -INFINITY);
				double least = t > 0 ? bound_above(&s.bound, ratio, t) : 0;
				double of = d == GREW ? sum : -sum;

				if (!(t > 0))
					continue;
				cr_assert(le(dbl, least, of * (1 + 1e-9) + 1e-12));
				nearest = least / of > nearest ? least / of : nearest;
			}
		}
		relabel_done(&relabel);
	}
	subject_done(&s);
	return nearest;
}

Test(bound, no_statistic_is_above_it)
{
	static const unsigned sizes[][2] = {{5, 5}, {3, 3}, {4, 6}, {2, 5}, {1, 7}};

	srand(5);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct units *units = units_family(sizes[i][0], sizes[i][1], 40);

		cr_assert(gt(dbl, check(units, 0), 0));
		cr_assert(gt(dbl, check(units, EVIDENCE_NO_DILUTION), 0));
		if (sizes[i][0] == sizes[i][1])
			check(units, EVIDENCE_PAIRED);
		units_drop(units);
	}
}

Test(bound, is_met_where_exposures_are_equal)
{
	struct units *units;

	srand(6);
	units = units_family(5, 5, 40);
	for (unsigned u = 0; u < 10; u++)
		units->exposures[u] = 10000;
	cr_assert(epsilon_eq(dbl, check(units, EVIDENCE_NO_DILUTION), 1, 1e-9));
	units_drop(units);
}

Test(bound, grows_with_the_statistic_and_is_nothing_below_it)
{
	struct units *units;
	struct subject s;
	double last = 0;

	srand(7);
	units = units_family(4, 4, 20);
	subject_init(&s, units, 0);
	cr_assert(eq(dbl, bound_above(&s.bound, 1, -1), 0));
	for (double t = 0.01; t < 1e6; t *= 2) {
		double above = bound_above(&s.bound, 1, t);

		cr_assert(gt(dbl, above, last));
		cr_assert(le(dbl, above, t));
		last = above;
	}
	subject_done(&s);
	units_drop(units);
}
