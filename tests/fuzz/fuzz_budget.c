/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_budget.c: a file of rules, whoever wrote it, and its globs on any names. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "diff/budget.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct stoke_budget *budget = NULL;
	struct units_options options = {0};
	struct stoke_error err = {0};
	size_t part = size < 256 ? size : 256;

	if (stoke_budget_parse(text, size, "fuzz", &budget, &err) < 0) {
		REQUIRE(err.code < 0 && err.text[0]);
		return 0;
	}
	budget_ask(budget, &options);
	REQUIRE(options.nr_limits >= 2);
	REQUIRE(options.nr_conditions <= options.nr_sums);
	for (size_t i = 0; i < budget->nr_rules; i++) {
		const struct rule *rule = &budget->rules[i];

		REQUIRE(rule->text && rule->word);
		REQUIRE(rule->sum <= options.nr_sums);
		if (rule->glob)
			(void)budget_matches(rule->glob, text, part);
		if (rule->glob && !strpbrk(rule->glob, "|\\"))
			REQUIRE(budget_matches(rule->glob, rule->glob, strlen(rule->glob)));
	}
	REQUIRE(budget_rule_of(budget, HYPOTHESIS_SELF, text, part) != NULL);
	stoke_budget_free(budget);
	return 0;
}
