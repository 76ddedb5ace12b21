/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/sums.h"

#include "unit/folded.h"

TestSuite(sums, .fini = check_leaks);

Test(sums, a_sample_counts_once_and_only_within_its_condition)
{
	struct stoke_profile *profile =
		folded_profile("in;db;query 3\ndb;db 4\nin;x 5\n[left out]_[m] 7\n");
	uint32_t unit[] = {0, 1, 1, 1};
	uint64_t count[] = {3, 4, 5, 7};
	const struct samples samples = {unit, count};
	const struct units_condition within = {"in"};
	const struct units_sum sums[] = {
		{.glob = "db|query", .kind = HYPOTHESIS_TOTAL},
		{.glob = "db|query", .kind = HYPOTHESIS_TOTAL, .condition = 1},
		{.glob = "db", .kind = HYPOTHESIS_SELF},
	};
	const struct units_options options = {
		.conditions = &within, .nr_conditions = 1, .sums = sums, .nr_sums = 3};
	double exposures[4] = {3, 9, 1, 1}, counts[6] = {0};
	struct hypothesis hypotheses[3] = {0};
	struct units units = {
		.nr = 2,
		.nr_before = 1,
		.exposure = STOKE_EXPOSURE_SHARE,
		.exposures = exposures,
		.nr_exposures = 2,
		.hypotheses = hypotheses,
		.nr_hypotheses = 3,
		.counts = counts,
	};

	cr_assert(eq(int, sums_fill(profile, &samples, &options, &units), 0));
	cr_assert(eq(dbl, exposures[2], 3));
	cr_assert(eq(dbl, exposures[3], 5));
	cr_assert(eq(dbl, counts[0], 3));
	cr_assert(eq(dbl, counts[1], 4));
	cr_assert(eq(dbl, counts[2], 3));
	cr_assert(eq(dbl, counts[3], 0));
	cr_assert(eq(dbl, counts[4], 0));
	cr_assert(eq(dbl, counts[5], 4));

	/* For work and time a condition is no exposure of its own. */
	units.exposure = STOKE_EXPOSURE_WORK;
	for (unsigned i = 0; i < 6; i++)
		counts[i] = 0;
	cr_assert(eq(int, sums_fill(profile, &samples, &options, &units), 0));
	cr_assert(eq(dbl, exposures[3], 9));
	stoke_profile_free(profile);
}
