/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_JUDGE_H
#define STOKE_DIFF_JUDGE_H

/* How a rule of a budget is held against what a comparison found. */

#include <stddef.h>

#include "diff/budget.h"
#include "diff/verdict.h"

struct reading;
struct stoke_comparison;
struct judging;

/* A word that begins a line of a budget: how the line is read, and how it judges. */
struct rule_word {
	const char *word;
	int (*parse)(struct reading *reading);
	int (*judge)(struct judging *judging, const struct rule *rule); /* NULL: judges nothing */
};

/* What judges share. */
struct judging {
	const struct stoke_comparison *comparison;
	const struct stoke_budget *budget;
	const char *today; /* NULL: no allowance has expired */
	unsigned nr_ceilings; /* of them any may be wrong by chance */
	struct verdict *verdict; /* in the making: breaches in order of rules */
	size_t breaches_capacity, reasons_capacity, expired_capacity;
};

/* 0 or -ENOMEM. */
int judge_growth(struct judging *judging, const struct rule *rule);
int judge_frame(struct judging *judging, const struct rule *rule); /* growth, or a ceiling */
int judge_total_cpu(struct judging *judging, const struct rule *rule);
int judge_allowance(struct judging *judging, const struct rule *rule);

/* Why it cannot be told, and what would change that (NULL: nothing to say). Takes over both. */
int judging_reason(struct judging *judging, char *why, char *cure);

/* vasprintf() as a value; NULL: no memory. */
char *judging_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
