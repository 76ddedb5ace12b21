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
	{.name = "exit-code",
		.type = OPTION_FLAG,
		.bits = EXIT_CODE,
		.offset = offsetof(struct values, flags),
		.help = "exit with 1 when something grew"},
	{.type = OPTION_TABLE,
		.table = comparing_options,
		.offset = offsetof(struct values, comparing)},
	{.type = OPTION_TABLE,
		.table = naming_options,
		.offset = offsetof(struct values, comparing.naming)},
	{.type = OPTION_TABLE,
		.table = filter_options,
		.offset = offsetof(struct values, comparing.filters)},
	OPTIONS_END,
};

static int tell(const struct call *call, const struct stoke_comparison *comparison,
	const char *spelled, struct results *results)
{
	const struct values *values = call->values;
	FILE *out = results_use_stdout(results) ? stderr : stdout;
	_cleanup_free_ char *text =
		comparing_text(out, spelled, values->flags & SHOW_ALL ? "all" : "");
	int status = STATUS_DONE, written;

	/* Who asks for data on standard output has no use for the text. */
	if (!results_use_stdout(results))
		status = comparing_tell(call, comparison, text, out);
	written = results_write_comparison(results, &call->voice, comparison);
	if (!call->voice.quiet)
		results_list(results, stderr);
	if (status || written)
		return status ? status : written;
	return values->flags & EXIT_CODE ? stoke_comparison_verdict(comparison) : STATUS_DONE;
}

static int diff_run(const struct call *call)
{
	struct values *values = call->values;
	_cleanup_(sides_done) struct sides sides = {0};
	_cleanup_(cleanup_comparison) struct stoke_comparison *comparison = NULL;
	_cleanup_results_ struct results *results = NULL;
	_cleanup_free_ char *spelled = sides_spelled(call, NULL);
	int status;

	if (!spelled || results_new(NULL, &results) < 0)
		return say_error(&call->voice, STATUS_USAGE, "out of memory");
	status = sides_find(call, NULL, &sides);
	if (!status)
		status = comparing_outputs(call, &values->comparing, spelled, results);
	if (!status)
		status = comparing_run(call, &values->comparing, &sides, NULL, &comparison);
	return status ? status : tell(call, comparison, spelled, results);
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
