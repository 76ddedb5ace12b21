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
	cr_expect(eq(sz, verdict_of(&c)->nr_rules, 1));
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

Test(verdict, a_rule_that_cannot_be_judged_hides_no_regression)
{
	struct compared c = compared(5, lines, same, grown, "frame next max 0.01cores\n");

	cr_expect(eq(int, stoke_comparison_verdict(c.comparison), 1));
	cr_expect(eq(sz, verdict_of(&c)->nr_reasons, 1));
	cr_expect(eq(sz, verdict_of(&c)->nr_failures, 1));
	compared_done(&c);
	c = compared(5, lines, same, same, "frame next max 0.01cores\n");
	cr_expect(eq(int, stoke_comparison_verdict(c.comparison), 3));
	compared_done(&c);
}

/* The verdict on evidence that was changed by hand. */
static void expect_word(const struct compared *c, int word)
{
	struct verdict *verdict;

	cr_assert(zero(int, verdict_find(c->comparison, "2026-12-01", &verdict)));
	cr_expect(eq(int, (int)verdict->word, word));
	verdict_free(verdict);
}

Test(verdict, few_functions_that_happen_to_vary_more_are_no_noisy_side)
{
	/* One function, whose runs vary some ten times as much after: chance does that. */
	struct compared c = compared(
		5, "main;a %\nidle %\n", (unsigned[]){1000, 9000}, (unsigned[]){1000, 9000}, "");
	struct change *changes = c.comparison->evidence->changes;

	for (size_t i = 0; i < c.comparison->evidence->nr; i++) {
		changes[i].flags |= CHANGE_TESTED;
		changes[i].variance_before = 1e-6;
		changes[i].variance_after = 1e-5;
	}
	c.comparison->evidence->noise_ratio = 10;
	expect_word(&c, 0);
	c.comparison->evidence->noise_ratio = 100;
	for (size_t i = 0; i < c.comparison->evidence->nr; i++)
		changes[i].variance_after = 1e-4;
	expect_word(&c, 3);
	/* Ten times slower runs vary ten times as much, and are as good as before. */
	for (size_t i = 0; i < c.comparison->evidence->nr; i++)
		changes[i].after = changes[i].before * 10;
	expect_word(&c, 0);
	compared_done(&c);
}

Test(verdict, what_is_ignored_is_not_all_samples)
{
	static const char rules[] = "exposure work\ntotal-cpu +5%\nignore *\n";
	struct compared c = compared(
		5, "main;a %\nidle %\n", (unsigned[]){1000, 4000}, (unsigned[]){2000, 8000}, NULL);
	struct stoke_compare_options options = {.today = "2026-12-01"};

	stoke_comparison_free(c.comparison);
	cr_assert(zero(int, stoke_profile_set_work(c.profile, 100, NULL)));
	cr_assert(zero(int, stoke_budget_parse(rules, strlen(rules), "b", &c.budget, NULL)));
	options.budget = c.budget;
	cr_assert(zero(int, stoke_compare(c.profile, 5, &options, &c.comparison, NULL)));
	cr_expect(eq(int, stoke_comparison_verdict(c.comparison), 1));
	compared_done(&c);
}

/* Runs of one stack file each, named as given: letters are files. */
static void copies(const char *before, const char *after, const char *word)
{
	static const char *const files[] = {
		"main;a 1000\nidle 9000\n", "main;a 1010\nidle 8990\n", "main;a 1900\nidle 8100\n"};
	struct stoke_compare_options options = {.today = "2026-12-01"};
	struct stoke_comparison *comparison;
	struct stoke_profile *profile;
	struct stoke_budget *budget;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, stoke_budget_parse("", 0, NULL, &budget, NULL)));
	for (const char *side = before; side; side = side == before ? after : NULL) {
		for (const char *p = side; *p; p++)
			folded_add(profile, files[*p - 'a']);
	}
	options.budget = budget;
	cr_assert(zero(int,
		stoke_compare(profile, (uint32_t)strlen(before), &options, &comparison, NULL)));
	if (!word)
		cr_expect(eq(sz, comparison->verdict->nr_reasons, 0), "%s %s", before, after);
	else
		cr_expect(ne(ptr, strstr(comparison->verdict->reasons[0].why, word), NULL), "%s",
			comparison->verdict->reasons[0].why);
	stoke_comparison_free(comparison);
	stoke_budget_free(budget);
	stoke_profile_free(profile);
}

Test(verdict, copies_of_one_run_are_no_repeats)
{
	copies("aaa", "ccc", "runs \"before\" are all the same, sample by sample");
	copies("aba", "ccc", "runs \"after\" are all the same, sample by sample");
	copies("aaa", "aba", "runs \"before\" are all the same, sample by sample");
	copies("aab", "aba", NULL);
}

Test(verdict, no_side_varies_infinitely_more)
{
	for (int side = 0; side < 2; side++) {
		struct compared c = compared(5, "main;a %\nidle %\n", (unsigned[]){1000, 9000},
			(unsigned[]){1000, 9000}, "");
		struct evidence *evidence = c.comparison->evidence;

		for (size_t i = 0; i < evidence->nr; i++) {
			evidence->changes[i].flags |= CHANGE_TESTED;
			evidence->changes[i].variance_before = side ? 1e-6 : 1e-33;
			evidence->changes[i].variance_after = side ? 1e-33 : 1e-6;
		}
		evidence->noise_ratio = side ? 1e-27 : 1e27;
		expect_word(&c, 0);
		evidence->noise_ratio = side ? 0 : INFINITY;
		expect_word(&c, 0);
		compared_done(&c);
	}
}
