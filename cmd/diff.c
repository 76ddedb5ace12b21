/* SPDX-License-Identifier: BSD-2-Clause */
/* diff.c: what changed between two sides, whether that is chance, and where it began. */
#include <string.h>

#include "base/cleanup.h"
#include "cmd/comparing.h"

enum { SHOW_ALL = 1, EXIT_CODE = 2 };

struct values {
	struct comparing comparing;
	unsigned flags;
};

static const struct option options[] = {
	{.name = "all",
		.type = OPTION_FLAG,
		.bits = SHOW_ALL,
		.offset = offsetof(struct values, flags),
		.help = "every change, a line each, not only those that explain the others"},
	EXIT_CODE_OPTION(struct values, EXIT_CODE),
	COMPARING_OPTIONS(struct values, comparing),
	OPTIONS_END,
};

static int diff_run(const struct call *call)
{
	struct values *values = call->values;
	_cleanup_(sides_done) struct sides sides = {0};
	_cleanup_(spelling_done) struct spelling spelling = {0};
	_cleanup_(cleanup_comparison) struct stoke_comparison *comparison = NULL;
	_cleanup_results_ struct results *results = NULL;
	const struct telling telling = {
		.spelling = &spelling, .more = values->flags & SHOW_ALL ? "all" : ""};
	int status;

	if (results_new(NULL, &results) < 0)
		return say_error(&call->voice, STATUS_USAGE, "out of memory");
	status = sides_find(call, NULL, &sides);
	if (!status)
		status = comparing_spell(call, &values->comparing, NULL, &sides, NULL, &spelling);
	if (!status)
		status = comparing_outputs(call, &values->comparing, &spelling, results);
	if (!status)
		status = comparing_spares(call, &sides, results);
	if (!status)
		status = comparing_run(call, &values->comparing, &sides, NULL, &comparison);
	if (!status)
		status = comparing_tell(call, comparison, &telling, results);
	if (status || !(values->flags & EXIT_CODE))
		return status;
	return comparing_status(call, comparison);
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "say what changed between two sides, and whether it is chance",
	.usage = "diff BEFORE AFTER [-o FILE]...\n"
		 "diff BEFORE... -- AFTER... [-o FILE]...",
	.about = "Compares profiles: files that stoke reads, or directories of them. Several files "
		 "a side are\nrepeats, and 5 a side tell change from chance.",
	.options = options,
	.values_size = sizeof(struct values),
	.has_sides = 1,
	.run = diff_run,
};
