/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>

#include "unit/compared.h"

TestSuite(judge, .fini = check_leaks);

static const char lines[] = "main;parse %\nmain;draw %\nidle %\n";
static const unsigned before[] = {1000, 4000, 5000};
static const unsigned after[] = {1500, 4000, 4500};

/* The verdict's word under a budget. */
static int word(const char *budget)
{
	struct compared c = compared(5, lines, before, after, budget);
	int status = stoke_comparison_verdict(c.comparison);

	compared_done(&c);
	return status;
}

Test(judge, defaults_limit_points_and_percentage)
{
	cr_expect(eq(int, word("default total +4pp\n"), 1));
	cr_expect(eq(int, word("default total +6pp\n"), 0));
	cr_expect(eq(int, word("default total +0pp 40%\n"), 1));
	cr_expect(eq(int, word("default total +0pp 60%\n"), 0));
}

Test(judge, a_frame_has_limits_of_its_own)
{
	cr_expect(eq(int, word("default total +6pp\nframe parse total +4pp\n"), 1));
	cr_expect(eq(int, word("default total +6pp\nframe draw total +4pp\n"), 0));
	cr_expect(eq(int, word("default total +6pp\nframe parse self +4pp\n"), 1));
	cr_expect(eq(int, word("ignore parse\nframe main total +6pp\n"), 0));
}

Test(judge, a_group_is_judged_as_one)
{
	cr_expect(eq(
		int, word("default total +6pp\ngroup g = \"par*|x\"\nframe @g total +4pp\n"), 1));
	cr_expect(
		eq(int, word("default total +6pp\ngroup g = \"dr*|x\"\nframe @g total +4pp\n"), 0));
}

Test(judge, a_condition_divides_by_its_own_samples)
{
	/* parse is 20 % of main before, 27 % after */
	cr_expect(eq(int, word("default total +6pp\nframe parse in main total +7pp\n"), 1));
	cr_expect(eq(int, word("default total +6pp\nframe parse in main total +8pp\n"), 0));
	cr_expect(eq(int, word("default total +6pp\nframe parse in main max 26%\n"), 1));
	cr_expect(eq(int, word("default total +6pp\nframe parse in main max 28%\n"), 0));
}

Test(judge, a_ceiling_fails_by_its_lower_bound_and_warns_by_its_figure)
{
	struct compared c =
		compared(5, lines, before, after, "default total +6pp\nframe parse max 14.9%\n");
	const struct verdict *verdict = c.comparison->verdict;

	cr_expect(eq(int, stoke_comparison_verdict(c.comparison), 0));
	cr_assert(eq(sz, verdict->nr_breaches, 1));
	cr_expect(eq(int, verdict->breaches[0].outcome, OUTCOME_WARN));
	cr_expect(epsilon_eq(dbl, verdict->breaches[0].value, 0.15, 0.0005));
	cr_expect(lt(dbl, verdict->breaches[0].low, 0.149));
	compared_done(&c);
	cr_expect(eq(int, word("default total +6pp\nframe parse max 14%\n"), 1));
	cr_expect(eq(int, word("default total +6pp\nframe parse max 16%\n"), 0));
	cr_expect(eq(int, word("default total +6pp\nframe nothing max 1%\n"), 0));
}

Test(judge, more_ceilings_need_more_evidence)
{
	struct compared one =
		compared(5, lines, before, after, "default total +6pp\nframe parse max 14.9%\n");
	struct compared two = compared(5, lines, before, after,
		"default total +6pp\nframe parse max 14.9%\nframe draw max 90%\n");

	cr_expect(lt(dbl, two.comparison->verdict->breaches[0].low,
		one.comparison->verdict->breaches[0].low));
	compared_done(&one);
	compared_done(&two);
}

Test(judge, cores_need_runs_that_say_how_long_they_took)
{
	struct compared c =
		compared(5, lines, before, after, "default total +6pp\nframe parse max 0.1cores\n");

	cr_expect(eq(int, stoke_comparison_verdict(c.comparison), 3));
	cr_expect(eq(str, c.comparison->verdict->reasons[0].why,
		"stoke.budget:2: frame parse max 0.1cores cannot be judged here"));
	compared_done(&c);
	cr_expect(eq(int, word("default total +6pp\ntotal-cpu max 0.1cores\n"), 3));
}

Test(judge, all_samples_have_no_growth_in_shares)
{
	cr_expect(eq(int, word("default total +6pp\ntotal-cpu +5%\n"), 3));
}
