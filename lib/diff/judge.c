/* SPDX-License-Identifier: BSD-2-Clause */
/* judge.c: one rule against what was found. Which breaches matter is verdict.c's affair. */
#include "diff/judge.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "diff/comparison.h"
#include "diff/numbers.h"

#define NS_PER_S 1e9

char *judging_text(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return text;
}

int judging_reason(struct judging *judging, char *why, char *cure)
{
	struct verdict *verdict = judging->verdict;

	if (!why || array_reserve(&verdict->reasons, &judging->reasons_capacity,
			    verdict->nr_reasons, 1) < 0) {
		free(why);
		free(cure);
		return -ENOMEM;
	}
	verdict->reasons[verdict->nr_reasons++] = (struct reason){why, cure};
	return 0;
}

static int add_breach(struct judging *judging, const struct breach *breach)
{
	struct verdict *verdict = judging->verdict;

	if (array_reserve(
		    &verdict->breaches, &judging->breaches_capacity, verdict->nr_breaches, 1) < 0)
		return -ENOMEM;
	verdict->breaches[verdict->nr_breaches++] = *breach;
	return 0;
}

/* Is it this rule that limits the growth of a hypothesis? */
static int limits(
	const struct judging *judging, const struct rule *rule, const struct hypothesis *h)
{
	const struct strings *strings = &judging->comparison->profile->strings;

	if (h->sum || rule->sum)
		return h->sum == rule->sum;
	return budget_rule_of(judging->budget, h->kind, strings_text(strings, h->name),
		       strings_size(strings, h->name)) == rule;
}

int judge_growth(struct judging *judging, const struct rule *rule)
{
	const struct units *units = judging->comparison->units;
	const struct evidence *evidence = judging->comparison->evidence;

	for (size_t i = 0; evidence && i < units->nr_hypotheses; i++) {
		const struct breach breach = {
			.rule = rule,
			.outcome = OUTCOME_FAIL,
			.hypothesis = i,
			.value = NAN,
			.low = NAN,
			.of = BREACH_OWN,
		};

		if (!(evidence->changes[i].flags & CHANGE_GREW) ||
			!limits(judging, rule, &units->hypotheses[i]))
			continue;
		if (add_breach(judging, &breach) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Wall time of a unit times samples a CPU second, so that a count by it is cores. NAN: not known.
 */
static double cores_exposure(const struct stoke_comparison *comparison, unsigned unit)
{
	const struct units *units = comparison->units;
	const struct stoke_profile *profile = comparison->profile;
	const struct run *run;
	double part = 1;

	if (units->exposure == STOKE_EXPOSURE_TIME)
		return units->exposures[unit];
	if (units->blocks) {
		part = units->part[unit];
		unit = unit >= units->nr_before;
	}
	if (unit >= profile->nr_runs)
		return NAN;
	run = &profile->runs[unit];
	if (!run->duration_ns || !run->period ||
		strcmp(strings_text(&profile->strings, run->period_type.unit), "nanoseconds") != 0)
		return NAN;
	return (double)run->duration_ns / (double)run->period * part;
}

/* What a ceiling divides counts by, in one unit. NAN: this comparison does not know. */
static double ceiling_exposure(
	const struct stoke_comparison *comparison, const struct rule *rule, unsigned unit)
{
	const struct units *units = comparison->units;
	size_t condition = rule->sum ? comparison->budget->sums[rule->sum - 1].condition : 0;

	if (!isnan(rule->max_cores))
		return cores_exposure(comparison, unit);
	if (units->exposure == STOKE_EXPOSURE_SHARE)
		return units->exposures[condition * units->nr + unit];
	return condition ? NAN : (double)units->samples[unit];
}

static double count_of(const struct stoke_comparison *comparison, size_t hypothesis, unsigned unit)
{
	const struct units *units = comparison->units;

	if (hypothesis == NO_HYPOTHESIS)
		return (double)units->samples[unit];
	return units->counts[hypothesis * units->nr + unit];
}

/* Rate after and its lower bound, one-sided, at alpha by the number of ceilings. NAN: not known. */
static void measure_ceiling(const struct judging *judging, struct breach *breach)
{
	const struct stoke_comparison *comparison = judging->comparison;
	const struct units *units = comparison->units;
	double k = units->nr - units->nr_before, count = 0, exposure = 0, squares = 0;
	double rate, variance, floor, alpha = judging->budget->alpha / judging->nr_ceilings;

	for (unsigned u = units->nr_before; u < units->nr; u++) {
		count += count_of(comparison, breach->hypothesis, u);
		exposure += ceiling_exposure(comparison, breach->rule, u);
	}
	if (isnan(exposure))
		return;
	rate = exposure > 0 ? count / exposure : 0;
	for (unsigned u = units->nr_before; u < units->nr; u++) {
		double rest = count_of(comparison, breach->hypothesis, u) -
			      rate * ceiling_exposure(comparison, breach->rule, u);

		squares += rest * rest;
	}
	variance = k > 1 && exposure > 0 ? k / (k - 1) * squares / exposure / exposure : 0;
	floor = isnan(breach->rule->max_share) ? rate : rate * (1 - rate);
	floor = exposure > 0 ? floor / exposure : 0;
	breach->value = rate;
	breach->low = rate - (k > 1 ? t_quantile(1 - alpha, k - 1) : normal_quantile(1 - alpha)) *
				     sqrt(variance > floor ? variance : floor);
	breach->low = fmax(breach->low, 0);
}

static size_t hypothesis_of_sum(const struct units *units, unsigned sum)
{
	for (size_t i = 0; i < units->nr_hypotheses; i++) {
		if (units->hypotheses[i].sum == sum)
			return i;
	}
	return NO_HYPOTHESIS;
}

static int judge_ceiling(struct judging *judging, const struct rule *rule)
{
	double limit = isnan(rule->max_share) ? rule->max_cores : rule->max_share;
	struct breach breach = {
		.rule = rule,
		.hypothesis = NO_HYPOTHESIS,
		.value = NAN,
		.low = NAN,
		.of = BREACH_OWN,
	};

	if (rule->sum) {
		breach.hypothesis = hypothesis_of_sum(judging->comparison->units, rule->sum);
		if (breach.hypothesis == NO_HYPOTHESIS)
			return 0; /* nothing of that name anywhere */
	}
	measure_ceiling(judging, &breach);
	if (isnan(breach.value))
		return judging_reason(judging,
			judging_text("%s:%u: %s cannot be judged here",
				judging->budget->name ? judging->budget->name : "budget",
				rule->line, rule->text),
			judging_text(isnan(rule->max_share)
					     ? "runs that say how long they took and how often "
					       "they sampled: those of stoke record do"
					     : "exposure share, or the rule without \"in\""));
	breach.outcome = breach.low > limit ? OUTCOME_FAIL : OUTCOME_WARN;
	return breach.value > limit ? add_breach(judging, &breach) : 0;
}

int judge_frame(struct judging *judging, const struct rule *rule)
{
	return rule->kind == RULE_MAX ? judge_ceiling(judging, rule) : judge_growth(judging, rule);
}

int judge_total_cpu(struct judging *judging, const struct rule *rule)
{
	if (rule->kind == RULE_TOTAL_MAX)
		return judge_ceiling(judging, rule);
	if (judging->comparison->units->exposure == STOKE_EXPOSURE_SHARE)
		return judging_reason(judging,
			judging_text("%s:%u: %s: a share of samples does not tell how much all of "
				     "it takes",
				judging->budget->name ? judging->budget->name : "budget",
				rule->line, rule->text),
			judging_text("record with --work N, give --work-before and --work-after, "
				     "or \"exposure time\" in the budget"));
	return judge_growth(judging, rule);
}

int rule_has_expired(const struct rule *rule, const char *today)
{
	return rule->kind == RULE_ALLOW && today && strcmp(today, rule->until) > 0;
}

int judge_allowance(struct judging *judging, const struct rule *rule)
{
	struct verdict *verdict = judging->verdict;

	if (!rule_has_expired(rule, judging->today))
		return 0;
	if (array_reserve(&verdict->expired, &judging->expired_capacity, verdict->nr_expired, 1) <
		0)
		return -ENOMEM;
	verdict->expired[verdict->nr_expired++] = rule;
	return 0;
}
