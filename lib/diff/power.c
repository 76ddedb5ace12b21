/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power.c: how small a growth would have been found 9 times in 10. A rule of thumb, fitted to
 * simulations of the step-down test over some 300 functions (docs/ci.md): the change stands at
 * (c + 1.28) standard errors, c by the number of repeats.
 */
#include "diff/power.h"

#include <math.h>

#define SHARE	    0.10
#define POWER_90    1.28 /* normal quantile of 0.9 */
#define MAX_REPEATS 100

/* Where the run-wide test of that many repeats a side begins to say yes, in standard errors. */
static double critical(unsigned repeats)
{
	return repeats <= 3 ? 4.8 : repeats == 4 ? 4.2 : 3.8;
}

static double detectable(double deviation, double share, double samples, unsigned repeats)
{
	double variance =
		(deviation * deviation + share * (1 - share) / samples) * 2 / (double)repeats;

	return (critical(repeats) + POWER_90) * sqrt(variance);
}

/* How many times binomial the units vary, the two sides together; 1 where that is not known. */
static double overdispersion(const struct evidence *evidence)
{
	double sum = 0;
	unsigned nr = 0;

	for (int side = 0; side < 2; side++) {
		if (isfinite(evidence->variation[side])) {
			sum += evidence->variation[side];
			nr++;
		}
	}
	return nr && sum / nr > 1 ? sum / nr : 1;
}

void power_of(const struct units *units, const struct evidence *evidence, struct power *ret)
{
	unsigned nr_after = units->nr - units->nr_before;
	unsigned repeats = units->nr_before < nr_after ? units->nr_before : nr_after;
	double samples = 0;

	for (unsigned unit = 0; unit < units->nr; unit++)
		samples += (double)units->samples[unit];
	samples /= units->nr ? units->nr : 1;
	*ret = (struct power){.share = SHARE, .repeats = repeats, .detectable = NAN};
	if (!repeats || samples <= 0)
		return;
	ret->run_deviation = sqrt((overdispersion(evidence) - 1) * SHARE * (1 - SHARE) / samples);
	if (repeats > 1)
		ret->detectable = detectable(ret->run_deviation, SHARE, samples, repeats);
}

unsigned power_repeats(const struct power *power, double change, double share, double samples)
{
	/* what varies between runs is taken to grow with the frame as sampling error does */
	double deviation = power->run_deviation *
			   sqrt(share * (1 - share) / (power->share * (1 - power->share)));

	for (unsigned repeats = 3; repeats <= MAX_REPEATS; repeats++) {
		if (detectable(deviation, share, samples, repeats) <= change)
			return repeats;
	}
	return 0;
}
