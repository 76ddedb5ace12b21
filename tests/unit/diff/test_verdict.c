/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>

#include "unit/compared.h"

TestSuite(verdict, .fini = check_leaks);

static const char lines[] = "main;list;parse;next %\nmain;list;parse %\nmain;draw %\nidle %\n";
static const unsigned same[] = {1000, 1000, 4000, 4000};
static const unsigned grown[] = {1500, 1000, 4000, 3500};

static const struct verdict *verdict_of(const struct compared *c)
{
	return c->comparison->verdict;
}

Test(verdict, what_did_not_change_passes)
{
	struct compared c = compared(5, lines, same, same, "");

	cr_expect(eq(int, stoke_comparison_verdict(c.comparison), 0));
	cr_expect(eq(sz, verdict_of(&c)->nr_breaches, 0));
	cr_expect(eq(sz, verdict_of(&c)->nr_rules, 2));
	cr_expect(verdict_of(&c)->nr_functions >= 5);
	compared_done(&c);
}

Test(verdict, a_growth_is_one_regression_with_all_that_grew_with_it)
{
	struct compared c = compared(5, lines, same, grown, "");
	const struct verdict *verdict = verdict_of(&c);

	cr_expect(eq(int, stoke_comparison_verdict(c.comparison), 1));
	cr_assert(eq(sz, verdict->nr_failures, 1));
	cr_expect(eq(
		sz, verdict->breaches[0].hypothesis, compared_find(&c, "next", HYPOTHESIS_TOTAL)));
	cr_expect(verdict->nr_breaches >= 4);
	for (size_t i = 1; i < verdict->nr_breaches; i++)
		cr_expect(eq(sz, verdict->breaches[i].of, 0));
	compared_done(&c);
}

Test(verdict, two_runs_a_side_tell_nothing)
{
	struct compared c = compared(2, lines, same, grown, "");

	cr_expect(eq(int, stoke_comparison_verdict(c.comparison), 3));
	cr_assert(eq(sz, verdict_of(&c)->nr_reasons, 1));
	cr_expect(eq(str, verdict_of(&c)->reasons[0].why,
		"2 runs before and 2 after; 3 a side are the least"));
	compared_done(&c);
}

Test(verdict, too_few_relabellings_tell_nothing_though_the_budget_takes_them)
{
	struct compared c = compared(2, lines, same, grown, "repeats 2\n");

	cr_expect(eq(int, stoke_comparison_verdict(c.comparison), 3));
	cr_expect(eq(str, verdict_of(&c)->reasons[0].why,
		"2 and 2 runs: no change could have been told from chance at alpha 0.05"));
	compared_done(&c);
}

Test(verdict, few_samples_tell_nothing)
{
	struct compared c = compared(
		5, lines, (unsigned[]){100, 100, 400, 300}, (unsigned[]){100, 100, 400, 300}, "");

	cr_expect(eq(int, stoke_comparison_verdict(c.comparison), 3));
	cr_expect(eq(str, verdict_of(&c)->reasons[0].cure,
		"longer runs, or more samples a second: -F 199"));
	compared_done(&c);
}

Test(verdict, an_allowance_covers_what_grows_with_it)
{
	struct compared c = compared(
		5, lines, same, grown, "allow next total +6pp until 2027-01-01 reason \"r\"\n");
	const struct verdict *verdict = verdict_of(&c);

	cr_expect(eq(int, stoke_comparison_verdict(c.comparison), 0));
	cr_expect(verdict->nr_breaches >= 4);
	cr_expect(eq(int, verdict->breaches[0].outcome, OUTCOME_ALLOWED));
	for (size_t i = 1; i < verdict->nr_breaches; i++)
		cr_expect(eq(int, verdict->breaches[i].outcome, OUTCOME_CARRIED));
	compared_done(&c);
}

Test(verdict, an_allowance_for_a_caller_covers_what_it_calls)
{
	struct compared c = compared(
		5, lines, same, grown, "allow list total +6pp until 2027-01-01 reason \"r\"\n");

	cr_expect(eq(int, stoke_comparison_verdict(c.comparison), 0));
	compared_done(&c);
}

Test(verdict, an_allowance_covers_no_other_growth)
{
	struct compared c = compared(5, "main;a %\nmain;b %\nidle %\n",
		(unsigned[]){1000, 1000, 8000}, (unsigned[]){1500, 1500, 7000},
		"allow a total +6pp until 2027-01-01 reason \"r\"\n");

	cr_expect(eq(int, stoke_comparison_verdict(c.comparison), 1));
	cr_assert(eq(sz, verdict_of(&c)->nr_failures, 1));
	cr_expect(eq(sz, verdict_of(&c)->breaches[0].hypothesis,
		compared_find(&c, "b", HYPOTHESIS_TOTAL)));
	compared_done(&c);
}

Test(verdict, an_allowance_of_self_covers_no_callers)
{
	struct compared c = compared(
		5, lines, same, grown, "allow next self +6pp until 2027-01-01 reason \"r\"\n");

	cr_expect(eq(int, stoke_comparison_verdict(c.comparison), 1));
	compared_done(&c);
}

Test(verdict, an_allowance_that_is_too_small_or_over_is_none)
{
	struct compared c = compared(
		5, lines, same, grown, "allow next total +4pp until 2027-01-01 reason \"r\"\n");

	cr_expect(eq(int, stoke_comparison_verdict(c.comparison), 1));
	cr_expect(ne(ptr, (void *)verdict_of(&c)->breaches[0].allowed_by, NULL));
	compared_done(&c);
	c = compared(
		5, lines, same, grown, "allow next total +6pp until 2026-11-30 reason \"r\"\n");
	cr_expect(eq(int, stoke_comparison_verdict(c.comparison), 1));
	cr_expect(eq(sz, verdict_of(&c)->nr_expired, 1));
	compared_done(&c);
	c = compared(
		5, lines, same, grown, "allow next total +6pp until 2026-12-01 reason \"r\"\n");
	cr_expect(eq(int, stoke_comparison_verdict(c.comparison), 0));
	compared_done(&c);
}
