/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <string.h>

#include "diff/budget.h"
#include "unit/test.h"

TestSuite(asks, .fini = check_leaks);

static struct stoke_budget *parsed(const char *text)
{
	struct stoke_budget *budget = NULL;
	struct stoke_error err = {0};

	cr_assert(eq(int, stoke_budget_parse(text, strlen(text), "b", &budget, &err), 0), "%s",
		err.text);
	return budget;
}

Test(asks, defaults_limit_everything)
{
	struct stoke_budget *budget = parsed("");
	struct units_options options = {0};

	budget_ask(budget, &options);
	cr_assert(eq(sz, options.nr_limits, 2));
	cr_expect(eq(sz, options.nr_sums, 0));
	cr_expect(eq(sz, options.nr_conditions, 0));
	for (size_t i = 0; i < 2; i++) {
		cr_expect(eq(ptr, (void *)options.limits[i].glob, NULL));
		cr_expect(eq(dbl, options.limits[i].least, 0.005));
		cr_expect(eq(dbl, options.limits[i].least_ratio, 0.05));
	}
	cr_expect(ne(int, options.limits[0].kind, options.limits[1].kind));
	stoke_budget_free(budget);
}

Test(asks, a_frame_rule_limits_each_function_and_a_group_their_sum)
{
	struct stoke_budget *budget = parsed("frame \"a*\" self +2pp 10%\n"
					     "group g = b|c\n"
					     "frame @g total +1pp\n");
	struct units_options options = {0};

	budget_ask(budget, &options);
	cr_assert(eq(sz, options.nr_limits, 3));
	cr_expect(eq(str, (char *)options.limits[2].glob, "a*"));
	cr_expect(eq(int, options.limits[2].kind, HYPOTHESIS_SELF));
	cr_expect(eq(dbl, options.limits[2].least, 0.02));
	cr_expect(eq(dbl, options.limits[2].least_ratio, 0.10));
	cr_assert(eq(sz, options.nr_sums, 1));
	cr_expect(eq(str, (char *)options.sums[0].name, "@g"));
	cr_expect(eq(str, (char *)options.sums[0].glob, "b|c"));
	cr_expect(eq(dbl, options.sums[0].least, 0.01));
	cr_expect(eq(dbl, options.sums[0].least_ratio, 0));
	cr_expect(eq(u32, budget->rules[1].sum, 1));
	stoke_budget_free(budget);
}

Test(asks, a_ceiling_is_counted_but_no_change)
{
	struct stoke_budget *budget = parsed("frame \"a*\" max 10%\n");
	struct units_options options = {0};

	budget_ask(budget, &options);
	cr_expect(eq(sz, options.nr_limits, 2));
	cr_assert(eq(sz, options.nr_sums, 1));
	cr_expect(isinf(options.sums[0].least));
	stoke_budget_free(budget);
}

Test(asks, equal_conditions_are_one)
{
	struct stoke_budget *budget = parsed("frame a in \"T *\" max 10%\n"
					     "frame b in U total +1pp\n"
					     "frame c in \"T *\" total +1pp\n");
	struct units_options options = {0};

	budget_ask(budget, &options);
	cr_assert(eq(sz, options.nr_conditions, 2));
	cr_expect(eq(str, (char *)options.conditions[0].glob, "T *"));
	cr_assert(eq(sz, options.nr_sums, 3));
	cr_expect(eq(u32, options.sums[0].condition, 1));
	cr_expect(eq(u32, options.sums[1].condition, 2));
	cr_expect(eq(u32, options.sums[2].condition, 1));
	cr_expect(eq(str, (char *)options.sums[0].name, "a in T *"));
	stoke_budget_free(budget);
}

Test(asks, what_is_ignored_is_never_judged)
{
	struct stoke_budget *budget = parsed("frame \"*\" total +3pp\nignore \"x*\"\n");
	const struct rule *rule = budget_rule_of(budget, HYPOTHESIS_SELF, "xy", 2);
	struct units_options options = {0};

	cr_expect(eq(int, rule->kind, RULE_IGNORE));
	budget_ask(budget, &options);
	cr_expect(isinf(options.limits[options.nr_limits - 1].least));
	cr_expect(isinf(options.limits[options.nr_limits - 2].least));
	stoke_budget_free(budget);
}

Test(asks, the_last_rule_that_matches_holds)
{
	struct stoke_budget *budget = parsed("frame \"a*\" total +1pp\n"
					     "frame \"ab\" total +2pp\n"
					     "frame \"ab\" self +3pp\n"
					     "total-cpu +5%\n");

	cr_expect(eq(u32, budget_rule_of(budget, HYPOTHESIS_TOTAL, "ax", 2)->line, 1));
	cr_expect(eq(u32, budget_rule_of(budget, HYPOTHESIS_TOTAL, "ab", 2)->line, 2));
	cr_expect(eq(u32, budget_rule_of(budget, HYPOTHESIS_GROUP, "ab", 2)->line, 2));
	cr_expect(eq(u32, budget_rule_of(budget, HYPOTHESIS_SELF, "ab", 2)->line, 3));
	cr_expect(eq(u32, budget_rule_of(budget, HYPOTHESIS_TOTAL, "b", 1)->line, 0));
	cr_expect(eq(u32, budget_rule_of(budget, HYPOTHESIS_TOTAL, "", 0)->line, 4));
	stoke_budget_free(budget);
}
