/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CMD_COMPARING_H
#define STOKE_CMD_COMPARING_H

/* What diff, check and bench share: options, the comparison itself, its outputs. */

#include "cmd/command.h"
#include "cmd/inputs.h"
#include "cmd/naming.h"
#include "cmd/results.h"
#include "cmd/sides.h"
#include "stoke.h"

struct comparing {
	struct filters filters;
	struct naming naming;
	struct numbers exposure, widths; /* positions in their words */
	const char *work_before, *work_after;
	struct amount frequency, duration; /* of folded text */
	unsigned flags; /* of stoke_compare_options */
	unsigned swap;
	struct texts outputs;
	const char *format;
	char today[16]; /* filled when it is compared: the comparison borrows it */
};

/* A row {.type = OPTION_TABLE, .table = comparing_options} takes them; filters and naming are
 * tables of their own. */
extern const struct option comparing_options[];

/* Each -o, text on standard output where none of them is. sides: "base/ new/". An exit status. */
int comparing_outputs(const struct call *call, const struct comparing *comparing, const char *sides,
	struct results *results);
/* Reads both sides and compares them. budget: NULL, or what makes it a check. An exit status. */
int comparing_run(const struct call *call, struct comparing *comparing, const struct sides *sides,
	const struct stoke_budget *budget, struct stoke_comparison **ret);
/* "text:sides=base/ new/,width=120" for a stream; to be freed, NULL: no memory. */
char *comparing_text(FILE *out, const char *sides, const char *more);
/* Says it as text. An exit status. */
int comparing_tell(const struct call *call, const struct stoke_comparison *comparison,
	const char *text, FILE *out);
/* What a format's options become with --swap and --widths. To be freed; NULL: no memory. */
char *comparing_format(const struct comparing *comparing, const char *format, const char *sides);

static inline void cleanup_comparison(struct stoke_comparison **comparison)
{
	stoke_comparison_free(*comparison);
}

#endif
