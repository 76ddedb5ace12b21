/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "diff/budget.h"
#include "unit/test.h"

TestSuite(budget, .fini = check_leaks);

static struct stoke_budget *parsed(const char *text)
{
	struct stoke_budget *budget = NULL;
	struct stoke_error err = {0};

	cr_assert(eq(int, stoke_budget_parse(text, strlen(text), "stoke.budget", &budget, &err), 0),
		"%s", err.text);
	return budget;
}

static void refuses(const char *text, const char *sentence)
{
	struct stoke_budget *budget = NULL;
	struct stoke_error err = {0};

	cr_expect(eq(int, stoke_budget_parse(text, strlen(text), "stoke.budget", &budget, &err),
		-EINVAL));
	cr_expect(eq(str, err.text, (char *)sentence));
	cr_expect(eq(ptr, budget, NULL));
}

Test(budget, no_file_means_half_a_point_and_a_twentieth)
{
	struct stoke_budget *budget = NULL;

	cr_assert(eq(int, stoke_budget_parse(NULL, 0, NULL, &budget, NULL), 0));
	cr_expect(eq(dbl, budget->alpha, 0.05));
	cr_expect(eq(u32, budget->repeats, 3));
	cr_expect(eq(int, budget->exposure, STOKE_EXPOSURE_AUTO));
	cr_assert(eq(sz, budget->nr_rules, 2));
	cr_expect(eq(str, budget->rules[0].text, "default total +0.5pp 5%"));
	cr_expect(eq(str, budget->rules[1].text, "default self +0.5pp 5%"));
	cr_expect(eq(u32, budget->rules[0].line, 0));
	stoke_budget_free(budget);
}

Test(budget, every_rule_is_read)
{
	struct stoke_budget *budget = parsed(
		"# stoke.budget\nversion 1\nalpha 0.01\nrepeats 4\nexposure work\n"
		"default total +1pp 10%\ndefault self +0.5pp\n"
		"group storage = \"db|query\"\n"
		"frame \"net.sf.json.*\" in \"Handling *\" max 10%\n"
		"frame \"*.parkNanos\" max 0.05cores\n"
		"frame @storage total +1pp\n"
		"total-cpu +5%\ntotal-cpu max 2.5cores\n"
		"allow \"parse\" self +5pp until 2027-03-31 reason \"PERF-1234: stricter\"\r\n"
		"ignore \"[unknown]\"");
	const struct rule *rule = budget->rules;

	cr_expect(eq(dbl, budget->alpha, 0.01));
	cr_expect(eq(u32, budget->repeats, 4));
	cr_expect(eq(int, budget->exposure, STOKE_EXPOSURE_WORK));
	cr_assert(eq(sz, budget->nr_rules, 9));
	cr_expect(eq(dbl, rule[0].growth, 0.01));
	cr_expect(eq(dbl, rule[0].ratio, 0.1));
	cr_expect(eq(dbl, rule[1].growth, 0.005));
	cr_expect(eq(dbl, rule[1].ratio, 0));
	cr_expect(eq(int, rule[2].kind, RULE_MAX));
	cr_expect(eq(str, rule[2].glob, "net.sf.json.*"));
	cr_expect(eq(str, rule[2].within, "Handling *"));
	cr_expect(eq(str, rule[2].name, "net.sf.json.* in Handling *"));
	cr_expect(eq(dbl, rule[2].max_share, 0.1));
	cr_expect(isnan(rule[2].max_cores));
	cr_expect(eq(u32, rule[2].line, 9));
	cr_expect(eq(dbl, rule[3].max_cores, 0.05));
	cr_expect(eq(str, rule[3].text, "frame *.parkNanos max 0.05cores"));
	cr_expect(eq(str, rule[4].glob, "db|query"));
	cr_expect(eq(str, rule[4].name, "@storage"));
	cr_expect(eq(int, rule[5].kind, RULE_TOTAL_CPU));
	cr_expect(eq(dbl, rule[5].ratio, 0.05));
	cr_expect(eq(int, rule[6].kind, RULE_TOTAL_MAX));
	cr_expect(eq(int, rule[7].kind, RULE_ALLOW));
	cr_expect(eq(int, rule[7].which, HYPOTHESIS_SELF));
	cr_expect(eq(str, (char *)rule[7].until, "2027-03-31"));
	cr_expect(eq(str, rule[7].reason, "PERF-1234: stricter"));
	cr_expect(eq(str, rule[7].text, "allow parse self +5pp until 2027-03-31"));
	cr_expect(eq(int, rule[8].kind, RULE_IGNORE));
	stoke_budget_free(budget);
}

Test(budget, one_default_holds_for_both_kinds)
{
	struct stoke_budget *budget = parsed("default total +2pp 10%\n");

	cr_assert(eq(sz, budget->nr_rules, 2));
	cr_expect(eq(str, budget->rules[1].text, "default self +2pp 10%"));
	cr_expect(eq(u32, budget->rules[1].line, 0));
	stoke_budget_free(budget);
}

Test(budget, unknown_words_are_errors_with_their_line)
{
	refuses("version 1\n\nfraem \"a\" total +1pp\n",
		"stoke.budget:3: unknown word fraem; a line begins with version, alpha, repeats, "
		"exposure, group, default, frame, total-cpu, allow, ignore");
	refuses("version 2", "stoke.budget:1: version 2 is unknown; this stoke reads version 1");
	refuses("frame \"a\" all +1pp", "stoke.budget:1: all where total or self is wanted");
	refuses("frame \"a\" total +1pp 5% more",
		"stoke.budget:1: more is too much: the rule was complete before it");
	refuses("frame @none total +1pp",
		"stoke.budget:1: no group is called none; a line above: group none = "
		"\"GLOB|GLOB\"");
}

Test(budget, amounts_that_mean_nothing_are_errors)
{
	refuses("alpha 2", "stoke.budget:1: alpha 2: it is the chance of a false alarm, 0.0001 to "
			   "0.5; 0.05 is "
			   "usual");
	refuses("repeats 2.5",
		"stoke.budget:1: repeats 2.5: a whole number from 2 to 1000 is wanted");
	refuses("exposure cpu", "stoke.budget:1: exposure is one of share, work, time");
	refuses("frame a total 1pp",
		"stoke.budget:1: 1pp is no growth; points of all samples are written +0.5pp; +0pp "
		"5% is 5 % of what it was");
	refuses("frame a max 10", "stoke.budget:1: max 10: a ceiling is written 10% or 0.05cores");
	refuses("total-cpu 5%", "stoke.budget:1: total-cpu 5%: it is written +5% or max 2.5cores");
}

Test(budget, what_is_said_twice_is_an_error)
{
	refuses("alpha 0.05\nalpha 0.01", "stoke.budget:2: alpha was said before; once is enough");
	refuses("default self +1pp\ndefault self +2pp",
		"stoke.budget:2: default self is in line 1 already");
	refuses("group g = a\ngroup g = b",
		"stoke.budget:2: group g is there already; one name, one group");
}

Test(budget, an_allowance_needs_an_end_and_a_reason)
{
	refuses("allow a total +1pp reason \"x\"",
		"stoke.budget:1: an allowance ends some day: until YYYY-MM-DD");
	refuses("allow a total +1pp until 2027-02-28",
		"stoke.budget:1: an allowance has a reason \"...\", for whoever comes next");
	refuses("allow a total +1pp until 2027-02-28 reason \"\"",
		"stoke.budget:1: an allowance has a reason \"...\", for whoever comes next");
}

Test(budget, is_bounded)
{
	char *text = malloc(2 << 20);
	struct stoke_budget *budget = NULL;
	struct stoke_error err = {0};
	size_t size = 0;

	cr_assert(ne(ptr, text, NULL));
	for (int i = 0; i < 5000; i++)
		size += (size_t)snprintf(text + size, 32, "ignore a%d\n", i);
	cr_expect(eq(int, stoke_budget_parse(text, size, "b", &budget, &err), -EINVAL));
	cr_expect(eq(str, err.text, "b:4097: more than 4096 rules; globs take many names at once"));
	memset(text, '\n', 2 << 20);
	cr_expect(eq(int, stoke_budget_parse(text, 2 << 20, "b", &budget, &err), -EINVAL));
	free(text);
}

Test(budget, growth_of_more_than_all_there_was_can_be_allowed)
{
	static const char text[] = "allow main total +120.5pp until 2027-01-01 reason \"r\"\n";
	struct stoke_budget *budget;

	cr_assert(zero(int, stoke_budget_parse(text, strlen(text), "b", &budget, NULL)));
	cr_expect(lt(dbl, fabs(budget->rules[0].growth - 1.205), 1e-12));
	stoke_budget_free(budget);
}

Test(budget, begins_behind_a_byte_order_mark)
{
	struct stoke_budget *budget = parsed("\xef\xbb\xbfversion 1\n");

	stoke_budget_free(budget);
}

Test(budget, takes_no_day_and_no_glob_that_cannot_be)
{
	refuses("allow a total +1pp until 2027-02-31 reason \"r\"",
		"stoke.budget:1: an allowance ends some day: until YYYY-MM-DD, not 2027-02-31");
	refuses("frame \"a[b\" total +1pp",
		"stoke.budget:1: a[b: a [ is not closed; \\[ is one as it stands");
	refuses("frame a in \"b[\" total +1pp",
		"stoke.budget:1: b[: a [ is not closed; \\[ is one as it stands");
	refuses("group g = \"a|b[\"",
		"stoke.budget:1: a|b[: a [ is not closed; \\[ is one as it stands");
	refuses("ignore \"\"", "stoke.budget:1: : an empty glob means nothing");
}

Test(budget, allows_growth_of_all_samples_by_their_own_name)
{
	struct stoke_budget *budget = parsed(
		"allow total-cpu +12.5% until 2027-03-31 reason \"r\"\n"
		"allow total-cpu total +1pp until 2027-03-31 reason \"a function of that name\"\n");

	cr_expect(eq(ptr, budget->rules[0].glob, NULL));
	cr_expect(eq(dbl, budget->rules[0].ratio, 0.125));
	cr_expect(eq(str, budget->rules[1].glob, "total-cpu"));
	stoke_budget_free(budget);
}

/* The limit of a function's own code. */
static const char *self_rule(const struct stoke_budget *budget, const char *name)
{
	return budget_rule_of(budget, HYPOTHESIS_SELF, name, strlen(name))->text;
}

Test(budget, leaves_own_code_the_room_that_a_total_has)
{
	struct stoke_budget *budget = parsed("frame \"p*\" total +11pp\nframe page self +2pp\n"
					     "frame strict total +0.1pp\nframe out total +3pp\n"
					     "ignore out\n");

	cr_expect(eq(str, (char *)self_rule(budget, "parse"), "frame p* total +11pp"));
	cr_expect(eq(str, (char *)self_rule(budget, "page"), "frame page self +2pp"));
	cr_expect(eq(str, (char *)self_rule(budget, "strict"), "default self +0.5pp 5%"));
	cr_expect(eq(str, (char *)self_rule(budget, "other"), "default self +0.5pp 5%"));
	cr_expect(eq(str, (char *)self_rule(budget, "out"), "ignore out"));
	stoke_budget_free(budget);
}
