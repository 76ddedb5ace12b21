/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/statistic.h"

#include <math.h>

#include "diff/evidence.h"
#include "unit/diff/made.h"

TestSuite(statistic, .fini = check_leaks);

struct subject {
	struct units *units;
	struct statistic statistic;
	struct labelling labelling;
};

static void subject_init(struct subject *s, unsigned flags)
{
	cr_assert(eq(int, statistic_init(&s->statistic, s->units, flags), 0));
	cr_assert(eq(int, labelling_init(&s->labelling, &s->statistic), 0));
}

static void subject_done(struct subject *s)
{
	labelling_done(&s->labelling);
	statistic_done(&s->statistic);
	units_drop(s->units);
}

static void parse_counts(double *counts)
{
	static const int values[8] = {98, 104, 101, 97, 131, 127, 134, 129};

	for (unsigned u = 0; u < 8; u++)
		counts[u] = values[u];
}

Test(statistic, equals_a_sum_done_by_hand)
{
	struct subject s = {.units = units_new(4, 4, 1000)};
	struct rates rates;

	parse_counts(units_add(s.units, HYPOTHESIS_TOTAL, 1));
	subject_init(&s, EVIDENCE_NO_DILUTION);
	statistic_rates(&s.statistic, &s.labelling, 0, 1, &rates);

	/* V before = 4/3 (4 + 16 + 1 + 9) / 4000^2 and so on. */
	cr_assert(epsilon_eq(dbl, rates.variance_before, 2.5e-6, 1e-16));
	cr_assert(epsilon_eq(dbl, rates.variance_after, 26.75 * 4 / 3 / 16e6, 1e-16));
	cr_assert(epsilon_eq(dbl, s.statistic.floor[0], .115125 * .884875 * 2 / 4000, 1e-16));
	cr_assert(epsilon_eq(dbl, statistic_of(&s.statistic, &s.labelling, 0, GREW, -INFINITY),
		.03025 / sqrt(2.5e-6 + 26.75 * 4 / 3 / 16e6 + .115125 * .884875 * 2 / 4000), 1e-9));
	cr_assert(
		eq(dbl, statistic_of(&s.statistic, &s.labelling, 0, SHRANK, -INFINITY), -INFINITY));
	subject_done(&s);
}

Test(statistic, is_nothing_below_either_limit_or_what_was_reached)
{
	struct subject s = {.units = units_new(4, 4, 1000)};

	parse_counts(units_add(s.units, HYPOTHESIS_TOTAL, 1));
	parse_counts(units_add(s.units, HYPOTHESIS_TOTAL, 2));
	s.units->hypotheses[0].least = 0.0303;
	s.units->hypotheses[1].least_ratio = 0.303;
	subject_init(&s, EVIDENCE_NO_DILUTION);

	cr_assert(eq(dbl, statistic_of(&s.statistic, &s.labelling, 0, GREW, -INFINITY), -INFINITY));
	cr_assert(eq(dbl, statistic_of(&s.statistic, &s.labelling, 1, GREW, -INFINITY), -INFINITY));
	s.units->hypotheses[0].least = 0.0302;
	s.units->hypotheses[1].least_ratio = 0.302;
	cr_assert(gt(dbl, statistic_of(&s.statistic, &s.labelling, 0, GREW, -INFINITY), 4));
	cr_assert(gt(dbl, statistic_of(&s.statistic, &s.labelling, 1, GREW, -INFINITY), 4));
	cr_assert(eq(dbl, statistic_of(&s.statistic, &s.labelling, 0, GREW, 5), -INFINITY));
	subject_done(&s);
}

Test(statistic, what_is_always_there_or_never_matters_is_not_in_the_family)
{
	struct subject s = {.units = units_new(4, 4, 1000)};
	double *root = units_add(s.units, HYPOTHESIS_TOTAL, 1);
	double *small = units_add(s.units, HYPOTHESIS_TOTAL, 2);

	for (unsigned u = 0; u < 8; u++) {
		root[u] = 1000;
		small[u] = u < 4 ? 2 : 3; /* could not reach 5 of 1000 on one side alone */
	}
	s.units->counts[1 * 8] = 1;
	parse_counts(units_add(s.units, HYPOTHESIS_TOTAL, 3));
	s.units->hypotheses[2].least = INFINITY;
	subject_init(&s, 0);

	cr_assert(eq(dbl, s.statistic.floor[0], 0));
	cr_assert(eq(dbl, s.statistic.floor[1], 0));
	cr_assert(eq(dbl, s.statistic.floor[2], 0));
	subject_done(&s);
}

Test(statistic, what_shrank_does_not_make_the_rest_grow)
{
	struct subject s = {.units = units_new(2, 2, 1000)};
	double *gone = units_add(s.units, HYPOTHESIS_SELF, 1);
	double *rest = units_add(s.units, HYPOTHESIS_SELF, 2);

	gone[0] = gone[1] = 400;
	rest[0] = rest[1] = 600;
	rest[2] = rest[3] = 1000;
	subject_init(&s, 0);

	cr_assert(epsilon_eq(
		dbl, statistic_dilution(&s.statistic, &s.labelling, GREW), 1 / 0.6, 1e-12));
	cr_assert(eq(dbl, statistic_dilution(&s.statistic, &s.labelling, SHRANK), 1));
	cr_assert(eq(dbl, statistic_of(&s.statistic, &s.labelling, 1, GREW, -INFINITY), -INFINITY));
	cr_assert(gt(dbl, statistic_of(&s.statistic, &s.labelling, 0, SHRANK, -INFINITY), 20));

	/* Labels the other way round: what grew from nothing makes nothing else shrink. */
	labelling_set(&s.labelling, &s.statistic, (const uint8_t[]){1, 1, 0, 0});
	cr_assert(epsilon_eq(
		dbl, statistic_dilution(&s.statistic, &s.labelling, SHRANK), 0.6, 1e-12));
	cr_assert(
		eq(dbl, statistic_of(&s.statistic, &s.labelling, 1, SHRANK, -INFINITY), -INFINITY));
	subject_done(&s);
}

Test(statistic, what_both_of_a_pair_share_is_no_noise)
{
	struct subject s = {.units = units_new(5, 5, 10000)};
	double *counts = units_add(s.units, HYPOTHESIS_TOTAL, 1);
	struct rates paired, apart;

	/* Machines of very different speed, each 2 points slower after. */
	for (unsigned u = 0; u < 5; u++) {
		counts[u] = 500 + 300 * u;
		counts[5 + u] = counts[u] + 200;
	}
	subject_init(&s, EVIDENCE_PAIRED | EVIDENCE_NO_DILUTION);
	statistic_rates(&s.statistic, &s.labelling, 0, 1, &paired);
	s.statistic.flags &= ~EVIDENCE_PAIRED;
	statistic_rates(&s.statistic, &s.labelling, 0, 1, &apart);

	cr_assert(epsilon_eq(dbl, paired.variance, 0, 1e-20));
	cr_assert(gt(dbl, apart.variance, 1e-4));
	subject_done(&s);
}

Test(statistic, a_side_without_exposure_has_none)
{
	struct subject s = {.units = units_new(2, 2, 1000)};
	double *counts = units_add(s.units, HYPOTHESIS_TOTAL, 1);

	counts[0] = counts[2] = 100;
	s.units->exposures[1] = 0; /* the thread was not there in this run */
	subject_init(&s, 0);
	labelling_set(&s.labelling, &s.statistic, (const uint8_t[]){1, 0, 1, 1});

	cr_assert(eq(dbl, statistic_of(&s.statistic, &s.labelling, 0, GREW, -INFINITY), -INFINITY));
	subject_done(&s);
}
