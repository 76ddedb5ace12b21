/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_BUDGET_H
#define STOKE_DIFF_BUDGET_H

/*
 * stoke.budget: what may change and how much there may be. One rule a line; unknown words are
 * errors with their line number. Parsed before any input is read.
 */

#include <stddef.h>
#include <stdint.h>

#include "diff/units.h"
#include "stoke.h"

struct rule_word;

/* What holds where a file says nothing. */
#define BUDGET_ALPHA   0.05
#define BUDGET_REPEATS 3
#define BUDGET_GROWTH  0.005
#define BUDGET_RATIO   0.05

enum rule_kind {
	RULE_DEFAULT, /* limits of every function */
	RULE_FRAME, /* limits of those that match */
	RULE_MAX, /* ceiling on after alone */
	RULE_TOTAL_CPU, /* growth of all samples; work or time only */
	RULE_TOTAL_MAX, /* ceiling on all samples, in cores */
	RULE_ALLOW, /* until a date; without a glob: of all samples */
	RULE_IGNORE,
};

struct rule {
	enum rule_kind kind;
	const struct rule_word *word; /* its row of rules[] */
	unsigned line; /* of the file; 0: built in */
	char *text; /* the rule as reports show it, without quotes and reason; owned */
	char *name; /* "net.sf.json.*", "@storage", with " in Handling *"; owned, NULL: of all */
	char *glob; /* or the alternatives of an @group; owned, NULL where it has no meaning */
	char *within; /* "in GLOB": owned, NULL: everywhere */
	enum hypothesis_kind which; /* total or self */
	unsigned sum; /* 1 + its index in sums, as hypothesis.sum; 0: none, its functions are
			 judged one by one */
	double growth; /* "+0.5pp": 0.005; NAN: none given */
	double ratio; /* "5%": 0.05; NAN */
	double max_share, max_cores; /* ceilings; NAN */
	char until[11]; /* "2027-03-31" */
	char *reason; /* owned */
};

struct stoke_budget {
	double alpha; /* 0.05 */
	unsigned repeats; /* least a side: 3 */
	enum stoke_exposure exposure;
	struct rule *rules; /* in order of the file, then the built-in defaults that it leaves
			       open: always a RULE_DEFAULT total and a self */
	size_t nr_rules;
	/* What it asks of units_make(). */
	struct units_condition *conditions;
	size_t nr_conditions;
	struct units_limit *limits;
	size_t nr_limits;
	struct units_sum *sums;
	size_t nr_sums;
	char *name; /* of the file, for messages; owned, NULL: built in */
};

/* Made by stoke_budget_parse(), freed by stoke_budget_free(). */
/* Fills conditions, limits and sums: the last step of parsing. -ENOMEM. */
int budget_prepare(struct stoke_budget *budget);
/* Fills limits, conditions and sums of options; they stay the budget's. */
void budget_ask(const struct stoke_budget *budget, struct units_options *options);
/* The rule that limits the growth of a plain hypothesis of this name. Never NULL. */
const struct rule *budget_rule_of(const struct stoke_budget *budget, enum hypothesis_kind kind,
	const char *name, size_t size);
/* 1 when a glob matches all of text: '*', '?', '[a-z]', '\' before what is meant as it stands;
 * alternatives parted by '|'. An alternative that is the text itself matches, too. */
int budget_matches(const char *glob, const char *text, size_t size);
/* NULL, or what is wrong with a glob: a constant. */
const char *budget_glob_complaint(const char *glob);

#endif
