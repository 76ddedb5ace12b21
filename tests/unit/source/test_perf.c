/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/perf.h"

#include <errno.h>

#include "unit/test.h"

TestSuite(perf, .fini = check_leaks);

#define MS 1000000ull

Test(perf, draws_within_a_fifth_either_way)
{
	uint64_t least = UINT64_MAX, most = 0, random = 88172645463325252ull;
	double sum = 0;

	for (int i = 0; i < 100000; i++) {
		uint64_t drawn;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		drawn = perf_draw(10000000, random);
		least = drawn < least ? drawn : least;
		most = drawn > most ? drawn : most;
		sum += (double)drawn;
	}
	cr_assert(ge(u64, least, 8000000));
	cr_assert(le(u64, most, 12000000));
	cr_assert(lt(u64, least, 8001000), "uses the whole width");
	cr_assert(gt(u64, most, 11999000));
	cr_assert(lt(dbl, sum / 100000 / 10000000, 1.002));
	cr_assert(gt(dbl, sum / 100000 / 10000000, 0.998));
}

Test(perf, never_draws_a_period_of_zero)
{
	for (uint64_t mean = 0; mean < 10; mean++)
		for (uint64_t random = 0; random < 10; random++)
			cr_assert(gt(u64, perf_draw(mean, random), 0));
}

/* Ticks that fall into intervals between redraws, each of which begins a new period, as the kernel
 * does it. */
static double ticks_a_second(double hz)
{
	uint64_t period = (uint64_t)(1e9 / hz), mean = perf_mean_period(period, period);
	uint64_t random = 88172645463325252ull, now = 0, redrawn = 0, drawn = mean, ticks = 0;

	while (now < 2000000 * MS) {
		now += 100 * MS;
		if (!perf_redraw_due(now - redrawn, period))
			continue;
		ticks += (now - redrawn) / drawn;
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		drawn = perf_draw(mean, random);
		redrawn = now;
	}
	return (double)ticks / ((double)redrawn / 1e9);
}

/* Within 3 %: with five ticks between redraws, whole ticks alone are worth 2.4 % at 49 Hz. Weights
 * are exact all the same, since what a redraw throws away is carried. */
Test(perf, keeps_the_rate_that_was_asked_for)
{
	static const double rates[] = {1, 7, 49, 99, 499, 999, 9999};

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		double ratio = ticks_a_second(rates[i]) / rates[i];

		cr_assert(gt(dbl, ratio, 0.97), "%f Hz", rates[i]);
		cr_assert(lt(dbl, ratio, 1.03), "%f Hz", rates[i]);
	}
}

Test(perf, carries_what_a_redraw_throws_away)
{
	cr_assert(eq(u64, perf_carry(100 * MS, 30 * MS), 10 * MS));
	cr_assert(eq(u64, perf_carry(90 * MS, 30 * MS), 0));
	cr_assert(eq(u64, perf_carry(5, 30 * MS), 5));
	cr_assert(eq(u64, perf_carry(5, 0), 0));
}

Test(perf, lets_long_periods_end_before_it_redraws)
{
	cr_assert(eq(int, perf_redraw_due(100 * MS, MS), 1));
	cr_assert(eq(int, perf_redraw_due(50 * MS, MS), 0));
	cr_assert(eq(int, perf_redraw_due(1000 * MS, 1000 * MS), 0), "1 Hz");
	cr_assert(eq(int, perf_redraw_due(8000 * MS, 1000 * MS), 1));
}

Test(perf, knows_which_answers_mean_that_there_is_no_such_event)
{
	cr_assert(eq(int, perf_event_absent(-ENOENT), 1));
	cr_assert(eq(int, perf_event_absent(-ENODEV), 1));
	cr_assert(eq(int, perf_event_absent(-ENXIO), 1));
	cr_assert(eq(int, perf_event_absent(-EOPNOTSUPP), 1));
	cr_assert(eq(int, perf_event_absent(-EACCES), 0));
	cr_assert(eq(int, perf_event_absent(-EPERM), 0));
	cr_assert(eq(int, perf_event_absent(0), 0));
}
