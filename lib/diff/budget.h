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

enum rule_kind {
	RULE_DEFAULT, /* limits of every function */
	RULE_FRAME, /* limits of those that match */
	RULE_MAX, /* ceiling on after alone */
	RULE_TOTAL_CPU, /* growth or ceiling of all samples: work or time only */
	RULE_ALLOW, /* until a date */
	RULE_IGNORE,
};

struct rule {
	enum rule_kind kind;
	unsigned line; /* of the file */
	char *text; /* the rule as reports show it, without quotes round names; owned */
	char *glob; /* or the alternatives of an @group; owned, NULL where it has no meaning */
	char *within; /* "in GLOB": owned, NULL: everywhere */
	enum hypothesis_kind which; /* total or self */
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
	struct rule *rules; /* in order of the file; always one RULE_DEFAULT total and one self */
	size_t nr_rules;
	char *name; /* of the file, for messages; owned */
};

/* NULL text: the defaults. -EINVAL with name, line and cure in err. */
int budget_parse(const char *text, size_t size, const char *name, struct stoke_budget **ret,
	struct stoke_error *err);
void budget_free(struct stoke_budget *budget);
/* 1 when a glob ('*', '?', '[...]'; alternatives parted by '|') matches all of text. */
int budget_matches(const char *glob, const char *text, size_t size);

#endif
