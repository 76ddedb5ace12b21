/* SPDX-License-Identifier: BSD-2-Clause */
/* flamegraph.c: profiles in, one picture out; a pipe in the middle works. */
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cmd/command.h"
#include "cmd/inputs.h"
#include "cmd/naming.h"
#include "cmd/results.h"

struct values {
	struct filters filters;
	struct naming naming;
	struct texts outputs;
	const char *format;
	unsigned threads;
};

static const struct option options[] = {
	{.name = "output",
		.letter = 'o',
		.type = OPTION_TEXTS,
		.value = "FILE",
		.offset = offsetof(struct values, outputs),
		.help = "write here (- is standard output); may be repeated"},
	{.name = "format",
		.letter = 'f',
		.type = OPTION_TEXT,
		.value = "NAME",
		.offset = offsetof(struct values, format),
		.help = "instead of the one that FILE's suffix says; options behind a colon: "
			"svg:width=800"},
	{.type = OPTION_TABLE, .table = filter_options, .offset = offsetof(struct values, filters)},
	{.name = "threads",
		.type = OPTION_FLAG,
		.bits = 1,
		.offset = offsetof(struct values, threads),
		.help = "same as --by thread"},
	{.type = OPTION_TABLE, .table = naming_options, .offset = offsetof(struct values, naming)},
	OPTIONS_END,
};

/* "dir/x.pb.gz" -> "dir/x.svg"; to be freed. */
static char *picture_name(const char *path)
{
	static const char *const suffixes[] = {
		".pb.gz", ".pprof", ".folded.gz", ".folded", ".collapsed", ".txt", ".gz"};
	size_t size = strlen(path);
	char *name;

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		size_t end = strlen(suffixes[i]);

		if (size > end && !strcmp(path + size - end, suffixes[i])) {
			size -= end;
			break;
		}
	}
	return asprintf(&name, "%.*s.svg", (int)size, path) < 0 ? NULL : name;
}

/* Without -o: into the pipe if there is one, else beside the first file. */
static int add_default(struct results *results, const struct call *call, const char *format)
{
	_cleanup_free_ char *name = NULL;

	if (!isatty(STDOUT_FILENO))
		return results_add(results, &call->voice, "-", format ? format : "svg", 0);
	name = strcmp(call->operands[0], "-") ? picture_name(call->operands[0])
					      : strdup("stoke.svg");
	if (!name)
		return say_error(&call->voice, STATUS_USAGE, "out of memory");
	if (!strcmp(name, call->operands[0]))
		return say_error(
			&call->voice, STATUS_USAGE, "%s would be written over: -o FILE", name);
	return results_add(results, &call->voice, name, format ? format : "svg", 0);
}

/*
 * A third of a pixel, a hundred times enlarged: of a large file that much does not fit into the
 * picture's budget anyway, and memory need not follow its size.
 */
#define MIN_SHARE 0.00003

/* Not with filters, which may be after just that, nor with names of which small parts may become
 * one, nor for outputs that are no pictures. */
static double choose_min_share(const struct values *values)
{
	if (!filters_are_empty(&values->filters) || !naming_is_empty(&values->naming) ||
		(values->format && strncmp(values->format, "svg", 3) != 0))
		return 0;
	for (size_t i = 0; !values->format && i < values->outputs.nr; i++) {
		const char *format =
			stoke_output_for(values->outputs.items[i], STOKE_OUTPUT_FORMAT);

		if (format && strcmp(format, "svg") != 0)
			return 0;
	}
	return MIN_SHARE;
}

static int flamegraph_run(const struct call *call)
{
	struct values *values = call->values;
	_cleanup_profile_ struct stoke_profile *profile = NULL;
	_cleanup_results_ struct results *results = NULL;
	const struct stoke_read_options how = {.min_share = choose_min_share(values)};
	unsigned thread = STOKE_BY_THREAD - 1;
	struct filters filters = values->filters;
	int status = STATUS_DONE;

	if (!call->nr_operands)
		return say_error(&call->voice, STATUS_USAGE,
			"flamegraph needs a FILE, or - for standard input");
	if (results_new(NULL, &results) < 0)
		return say_error(&call->voice, STATUS_USAGE, "out of memory");
	for (size_t i = 0; i < values->outputs.nr && !status; i++)
		status = results_add(results, &call->voice, values->outputs.items[i],
			values->format ? values->format
				       : (strcmp(values->outputs.items[i], "-") ? NULL : "svg"),
			0);
	if (!status && !values->outputs.nr)
		status = add_default(results, call, values->format);
	if (!status)
		status = inputs_read(call, &how, &profile);
	if (!status && values->threads && !filters.by.nr)
		filters.by = (struct numbers){&thread, 1, 1};
	if (!status)
		status = naming_apply(&call->voice, &values->naming, &profile);
	if (!status)
		status = filters_apply(&call->voice, &filters, &profile);
	if (!status)
		warnings_say(&call->voice, profile);
	if (!status)
		status = results_write(results, &call->voice, profile, NULL);
	if (!status && !call->voice.quiet)
		results_list(results, stderr);
	return status;
}

const struct command cmd_flamegraph = {
	.name = "flamegraph",
	.summary = "draw profiles as a flame graph",
	.usage = "flamegraph FILE... [-o FILE]",
	.about = "Draws what the files hold, taken together, as one interactive SVG. Without -o it "
		 "goes "
		 "to\nstandard output when that is redirected, else beside the first FILE, as "
		 "FILE.svg.",
	.options = options,
	.values_size = sizeof(struct values),
	.run = flamegraph_run,
};
