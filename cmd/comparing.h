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

extern const struct option comparing_options[];

/* Rows that take them, in a struct that has a struct comparing as its member. */
#define COMPARING_OPTIONS(in, member)                                                              \
	{.type = OPTION_TABLE, .table = comparing_options, .offset = offsetof(in, member)},        \
		{.type = OPTION_TABLE,                                                             \
			.table = naming_options,                                                   \
			.offset = offsetof(in, member.naming)},                                    \
	{                                                                                          \
		.type = OPTION_TABLE, .table = filter_options,                                     \
		.offset = offsetof(in, member.filters)                                             \
	}

/* --exit-code into bits of a struct with unsigned flags: what comparing_status() answers. */
#define EXIT_CODE_OPTION(in, bits_)                                                                \
	{                                                                                          \
		.name = "exit-code", .type = OPTION_FLAG, .bits = (bits_),                         \
		.offset = offsetof(in, flags),                                                     \
		.help = "exit with 1 when something grew, 3 when that cannot be told"              \
	}

/* A comparison as it was asked for, for commands to paste: "base/ new/", "--exposure work", and of
 * a check its budget. Owned; NULL: nothing to say. */
struct spelling {
	char *operands, *options, *budget;
};

/* budget: as given, NULL: none was. An exit status. */
int comparing_spell(const struct call *call, const struct comparing *comparing,
	const struct texts *baselines, const struct sides *sides, const char *budget,
	struct spelling *ret);
void spelling_done(struct spelling *spelling);

/* Each -o, text on standard output where none of them is. An exit status. */
int comparing_outputs(const struct call *call, const struct comparing *comparing,
	const struct spelling *spelling, struct results *results);
/* One more, as results_add_comparison() takes it. An exit status. */
int comparing_output(const struct call *call, const struct comparing *comparing, const char *path,
	const char *format, const struct spelling *spelling, struct results *results);
/* Would an output replace what is compared? An exit status: what is wrong has been said. */
int comparing_spares(
	const struct call *call, const struct sides *sides, const struct results *results);
/* Reads both sides and compares them. budget: NULL, or what makes it a check. An exit status. */
int comparing_run(const struct call *call, struct comparing *comparing, const struct sides *sides,
	const struct stoke_budget *budget, struct stoke_comparison **ret);

/* How it is told. */
struct telling {
	const struct spelling *spelling; /* NULL: unknown */
	const char *more; /* options of the text: "all", "plan", "" */
	int always; /* 1: the text is the answer, even when quiet or with data on standard output */
};

/* The text, or what it warns of where nobody reads it; every output; what was written. An exit
 * status. */
int comparing_tell(const struct call *call, const struct stoke_comparison *comparison,
	const struct telling *telling, struct results *results);
/* What --exit-code answers, and why where that is "cannot tell". */
int comparing_status(const struct call *call, const struct stoke_comparison *comparison);

static inline void cleanup_comparison(struct stoke_comparison **comparison)
{
	stoke_comparison_free(*comparison);
}

#endif
