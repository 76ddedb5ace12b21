/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/power.h"

#include <math.h>

#include "unit/test.h"

TestSuite(power, .fini = check_leaks);

static struct power power_for(unsigned repeats, uint64_t samples, double variation)
{
	uint64_t each[20];
	struct units units = {.nr = repeats * 2, .nr_before = repeats, .samples = each};
	struct evidence evidence = {.variation = {variation, variation}};
	struct power power;

	for (unsigned i = 0; i < units.nr; i++)
		each[i] = samples;
	power_of(&units, &evidence, &power);
	return power;
}

static void near(double value, double expected)
{
	cr_assert(lt(dbl, fabs(value - expected), 1e-9), "%.12g, not %.12g", value, expected);
}

Test(power, sampling_alone_leaves_the_square_root_of_all_samples)
{
	/* 5 runs of 10,000: 5.08 standard errors of sqrt(2 * 0.09 / 50000) */
	near(power_for(5, 10000, 1).detectable, 5.08 * sqrt(2 * 0.09 / 50000));
	near(power_for(3, 10000, 1).detectable, 6.08 * sqrt(2 * 0.09 / 30000));
	near(power_for(4, 10000, 1).detectable, 5.48 * sqrt(2 * 0.09 / 40000));
}

Test(power, runs_that_vary_more_than_sampling_hide_more)
{
	struct power power = power_for(5, 10000, 4);

	near(power.run_deviation, sqrt(3 * 0.09 / 10000));
	near(power.detectable, 2 * power_for(5, 10000, 1).detectable);
}

Test(power, what_varies_less_than_chance_is_taken_for_chance)
{
	near(power_for(5, 10000, 0.2).detectable, power_for(5, 10000, 1).detectable);
	near(power_for(5, 10000, NAN).detectable, power_for(5, 10000, 1).detectable);
}

Test(power, one_unit_a_side_tells_nothing)
{
	cr_assert(isnan(power_for(1, 10000, NAN).detectable));
}

Test(power, repeats_are_the_fewest_that_find_the_change)
{
	struct power power = power_for(5, 10000, 2);
	unsigned repeats = power_repeats(&power, 0.01, 0.10, 10000);

	cr_assert(gt(uint, repeats, 5));
	cr_assert(le(dbl, power_for(repeats, 10000, 2).detectable, 0.01));
	cr_assert(gt(dbl, power_for(repeats - 1, 10000, 2).detectable, 0.01));
	cr_assert(zero(uint, power_repeats(&power, 0.0001, 0.10, 10000)), "more than 100");
}
