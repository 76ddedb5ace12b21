/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unmet.c: which rules match nothing. Names count that are on a stack, however rare; what is
 * counted as a sum is there when any sample was counted.
 */
#include "diff/unmet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "diff/comparison.h"

/* Functions that are on any stack. */
static uint8_t *mark_functions(const struct stoke_profile *profile)
{
	const struct stacks *stacks = &profile->stacks;
	uint8_t *used = calloc(profile->nr_functions + 1, 1);

	for (size_t node = 1; used && node < stacks->nr; node++)
		used[frame_function(profile, &profile->frames[stacks->frame[node]], 0)] = 1;
	return used;
}

static int matches_any(const struct stoke_profile *profile, const uint8_t *used, const char *glob)
{
	for (size_t f = 1; f < profile->nr_functions; f++) {
		uint32_t name = profile->functions[f].name;

		if (used[f] && name &&
			budget_matches(glob, strings_text(&profile->strings, name),
				strings_size(&profile->strings, name)))
			return 1;
	}
	return 0;
}

/* The sum that a rule limits, or that an allowance names: 1 + its index; 0: there is none. */
static unsigned sum_of(const struct stoke_budget *budget, const struct rule *rule)
{
	if (rule->kind != RULE_ALLOW)
		return rule->sum;
	for (size_t i = 0; i < budget->nr_sums; i++) {
		if (strcmp(budget->sums[i].name, rule->name) == 0)
			return (unsigned)i + 1;
	}
	return 0;
}

static int is_counted(const struct units *units, unsigned sum)
{
	for (size_t h = 0; h < units->nr_hypotheses; h++) {
		for (unsigned u = 0; units->hypotheses[h].sum == sum && u < units->nr; u++) {
			if (units->counts[h * units->nr + u] > 0)
				return 1;
		}
	}
	return 0;
}

static int is_unmet(
	const struct stoke_comparison *comparison, const uint8_t *used, const struct rule *rule)
{
	unsigned sum;

	if (!rule->line || !rule->glob)
		return 0;
	sum = sum_of(comparison->budget, rule);
	if (sum)
		return !is_counted(comparison->units, sum);
	/* An allowance for a sum that no rule limits. */
	return rule->within || rule->name[0] == '@' ||
	       !matches_any(comparison->profile, used, rule->glob);
}

int unmet_find(const struct stoke_comparison *comparison, const struct rule ***ret, size_t *ret_nr)
{
	const struct stoke_budget *budget = comparison->budget;
	_cleanup_free_ uint8_t *used = mark_functions(comparison->profile);
	const struct rule **unmet = calloc(budget->nr_rules + 1, sizeof(*unmet));
	size_t nr = 0;

	if (!used || !unmet) {
		free(unmet);
		return -ENOMEM;
	}
	for (size_t i = 0; i < budget->nr_rules; i++) {
		if (is_unmet(comparison, used, &budget->rules[i]))
			unmet[nr++] = &budget->rules[i];
	}
	*ret = unmet;
	*ret_nr = nr;
	return 0;
}
