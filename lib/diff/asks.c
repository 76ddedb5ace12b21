/* SPDX-License-Identifier: BSD-2-Clause */
/* asks.c: what has to be counted so that the rules of a budget can be judged. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff/budget.h"

/* Rules that speak of one sum, and not of each function that matches. */
static int wants_sum(const struct rule *rule)
{
	if (rule->kind == RULE_MAX)
		return 1;
	return rule->kind == RULE_FRAME && (rule->within || rule->name[0] == '@');
}

static const struct rule *default_of(const struct stoke_budget *budget, enum hypothesis_kind which)
{
	const struct rule *found = NULL;

	for (size_t i = 0; i < budget->nr_rules; i++) {
		if (budget->rules[i].kind == RULE_DEFAULT && budget->rules[i].which == which)
			found = &budget->rules[i];
	}
	return found;
}

static double least_of(const struct rule *rule)
{
	if (rule->kind == RULE_IGNORE || rule->kind == RULE_MAX)
		return INFINITY;
	return isnan(rule->growth) ? 0 : rule->growth;
}

/* A rule without a percentage means its points alone. */
static double ratio_of(const struct rule *rule)
{
	return isnan(rule->ratio) ? 0 : rule->ratio;
}

/* What matches `rule` is limited as `as` says. */
static void add_limit(struct stoke_budget *budget, const struct rule *rule, const struct rule *as,
	enum hypothesis_kind kind)
{
	budget->limits[budget->nr_limits++] = (struct units_limit){
		/* The total of all samples is the one without a name. */
		.glob = rule->kind == RULE_TOTAL_CPU ? "" : rule->glob,
		.kind = kind,
		.least = least_of(as),
		.least_ratio = ratio_of(as),
	};
}

/* Who may grow in total may do so by code of its own: the limit of that, where the rule for totals
 * is what speaks of a function. */
static const struct rule *self_limit(const struct stoke_budget *budget, const struct rule *rule)
{
	const struct rule *usual = default_of(budget, HYPOTHESIS_SELF);
	double growth = least_of(rule), least = least_of(usual);

	return growth > least || (!(growth < least) && ratio_of(rule) > ratio_of(usual)) ? rule
											 : usual;
}

static int is_of_totals(const struct rule *rule)
{
	return rule->kind == RULE_FRAME && !rule->sum && rule->which == HYPOTHESIS_TOTAL;
}

/* In order, since the last that matches holds: defaults, then what the file says one by one. */
static void ask_limits(struct stoke_budget *budget)
{
	const struct rule *total = default_of(budget, HYPOTHESIS_TOTAL);
	const struct rule *self = default_of(budget, HYPOTHESIS_SELF);

	add_limit(budget, total, total, HYPOTHESIS_TOTAL);
	add_limit(budget, self, self, HYPOTHESIS_SELF);
	for (size_t i = 0; i < budget->nr_rules; i++) {
		const struct rule *rule = &budget->rules[i];

		if (is_of_totals(rule))
			add_limit(budget, rule, self_limit(budget, rule), HYPOTHESIS_SELF);
	}
	for (size_t i = 0; i < budget->nr_rules; i++) {
		const struct rule *rule = &budget->rules[i];

		if (rule->kind == RULE_IGNORE || rule->kind == RULE_TOTAL_CPU ||
			(rule->kind == RULE_FRAME && !rule->sum))
			add_limit(budget, rule, rule, rule->which);
		if (rule->kind == RULE_IGNORE)
			add_limit(budget, rule, rule, HYPOTHESIS_SELF);
	}
}

/* The condition "in GLOB": the same one for all rules that say the same. */
static unsigned condition_of(struct stoke_budget *budget, const char *within)
{
	size_t i = 0;

	if (!within)
		return 0;
	while (i < budget->nr_conditions && strcmp(budget->conditions[i].glob, within) != 0)
		i++;
	if (i == budget->nr_conditions)
		budget->conditions[budget->nr_conditions++].glob = within;
	return (unsigned)i + 1;
}

int budget_prepare(struct stoke_budget *budget)
{
	size_t nr = budget->nr_rules + 1;

	budget->conditions = calloc(nr, sizeof(*budget->conditions));
	budget->sums = calloc(nr, sizeof(*budget->sums));
	budget->limits = calloc(2 * nr, sizeof(*budget->limits)); /* at most two a rule */
	if (!budget->conditions || !budget->sums || !budget->limits)
		return -ENOMEM;
	for (size_t i = 0; i < budget->nr_rules; i++) {
		struct rule *rule = &budget->rules[i];

		if (!wants_sum(rule))
			continue;
		budget->sums[budget->nr_sums++] = (struct units_sum){
			.name = rule->name,
			.glob = rule->glob,
			.condition = condition_of(budget, rule->within),
			.kind = rule->which,
			.least = least_of(rule),
			.least_ratio = ratio_of(rule),
		};
		rule->sum = (unsigned)budget->nr_sums;
	}
	ask_limits(budget);
	return 0;
}

void budget_ask(const struct stoke_budget *budget, struct units_options *options)
{
	options->limits = budget->limits;
	options->nr_limits = budget->nr_limits;
	options->sums = budget->sums;
	options->nr_sums = budget->nr_sums;
	options->conditions = budget->conditions;
	options->nr_conditions = budget->nr_conditions;
}

const struct rule *budget_rule_of(
	const struct stoke_budget *budget, enum hypothesis_kind kind, const char *name, size_t size)
{
	enum hypothesis_kind which = kind == HYPOTHESIS_SELF ? kind : HYPOTHESIS_TOTAL;
	const struct rule *found = default_of(budget, which);

	for (size_t i = 0; which == HYPOTHESIS_SELF && size && i < budget->nr_rules; i++) {
		if (is_of_totals(&budget->rules[i]) &&
			budget_matches(budget->rules[i].glob, name, size))
			found = self_limit(budget, &budget->rules[i]);
	}
	for (size_t i = 0; i < budget->nr_rules; i++) {
		const struct rule *rule = &budget->rules[i];

		if (rule->kind == RULE_TOTAL_CPU && size == 0 && kind == HYPOTHESIS_TOTAL)
			found = rule;
		else if (rule->kind == RULE_IGNORE && size &&
			 budget_matches(rule->glob, name, size))
			found = rule;
		else if (rule->kind == RULE_FRAME && size && !rule->sum && rule->which == which &&
			 budget_matches(rule->glob, name, size))
			found = rule;
	}
	return found;
}
