/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_VERDICT_H
#define STOKE_DIFF_VERDICT_H

/* What a budget says of a comparison. The numbers are exit statuses of `stoke check`. */

#include <stddef.h>
#include <stdint.h>

#include "diff/budget.h"

struct stoke_comparison;

enum verdict_word { VERDICT_PASS = 0, VERDICT_REGRESSION = 1, VERDICT_CANNOT_TELL = 3 };
enum outcome { OUTCOME_PASS, OUTCOME_FAIL, OUTCOME_WARN, OUTCOME_ALLOWED, OUTCOME_EXPIRED };

struct breach { /* a rule and what it met */
	const struct rule *rule;
	enum outcome outcome;
	size_t hypothesis; /* index of units->hypotheses */
	double value, low; /* ceilings: the rate after, and its lower bound */
	const struct rule *allowed_by; /* NULL, or the allowance in force or expired */
};

struct verdict {
	enum verdict_word word;
	struct breach *breaches; /* failures first, then warnings, then what was allowed */
	size_t nr_breaches;
	size_t nr_rules, nr_functions; /* judged */
	char **reasons; /* why it cannot tell, with cures; owned */
	size_t nr_reasons;
};

/* Today, "2026-11-30", decides which allowances are in force. -ENOMEM. */
int verdict_find(
	const struct stoke_comparison *comparison, const char *today, struct verdict **ret);
void verdict_free(struct verdict *verdict);

#endif
