/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_VERDICT_H
#define STOKE_DIFF_VERDICT_H

/* What a budget says of a comparison. The numbers are exit statuses of `stoke check`. */

#include <stddef.h>
#include <stdint.h>

#include "diff/budget.h"

struct stoke_comparison;

enum verdict_word { VERDICT_PASS = 0, VERDICT_REGRESSION = 1, VERDICT_CANNOT_TELL = 3 };
enum outcome {
	OUTCOME_FAIL,
	OUTCOME_WARN,
	OUTCOME_ALLOWED, /* by its name */
	OUTCOME_CARRIED, /* the growth of what is allowed, seen in a caller, callee or package */
};

#define BREACH_OWN    SIZE_MAX /* struct breach.of */
#define NO_HYPOTHESIS SIZE_MAX

struct breach { /* a rule and what it met */
	const struct rule *rule;
	enum outcome outcome;
	size_t hypothesis; /* index of units->hypotheses; NO_HYPOTHESIS: all samples of after */
	double value, low; /* ceilings: the rate after, and its lower bound; else NAN */
	/* NULL, or the allowance that covers it; of a failure the one that has expired or is too
	 * small for it */
	const struct rule *allowed_by;
	double allowed; /* how much of its growth is the growth of what is allowed */
	size_t of; /* the breach whose growth this one's is, by position; BREACH_OWN */
};

struct reason {
	char *why, *cure; /* owned; cure NULL: it stands in why */
};

struct verdict {
	enum verdict_word word;
	struct breach *breaches; /* failures, own ones first; warnings; allowed; carried */
	size_t nr_breaches;
	size_t nr_failures; /* own ones: what people would call regressions */
	size_t nr_rules, nr_functions; /* judged: those of verdict_counts() */
	const struct rule **expired; /* allowances that today is past */
	size_t nr_expired;
	const struct rule **unmet; /* rules that match nothing here: mistyped, or of the past */
	size_t nr_unmet;
	struct reason *reasons; /* why it cannot tell */
	size_t nr_reasons;
};

/* Today, "2026-11-30", decides which allowances are in force. -ENOMEM. */
int verdict_find(
	const struct stoke_comparison *comparison, const char *today, struct verdict **ret);
void verdict_free(struct verdict *verdict);
/* 1: a rule that reports count and list: those of the file, and built-in ones where they matter. */
int verdict_counts(
	const struct verdict *verdict, const struct stoke_budget *budget, const struct rule *rule);
/* 1 when an allowance is past its date. today NULL: it is not. */
int rule_has_expired(const struct rule *rule, const char *today);

#endif
