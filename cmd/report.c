/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c: the answer as text: where the time went. */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "cmd/command.h"
#include "cmd/inputs.h"
#include "cmd/naming.h"
#include "cmd/results.h"

enum { SHOW_TREE = 1, SHOW_THREADS = 2, SHOW_PACKAGES = 4 };

struct values {
	struct filters filters;
	struct naming naming;
	struct texts outputs;
	const char *format, *callers;
	struct amount lines;
	unsigned show;
};

static const struct option options[] = {
	{.type = OPTION_HEADING, .help = "What to show:"},
	{.name = "tree",
		.type = OPTION_FLAG,
		.bits = SHOW_TREE,
		.offset = offsetof(struct values, show),
		.help = "who calls whom; what is under 1 % is folded"},
	{.name = "threads",
		.type = OPTION_FLAG,
		.bits = SHOW_THREADS,
		.offset = offsetof(struct values, show),
		.help = "threads"},
	{.name = "packages",
		.type = OPTION_FLAG,
		.bits = SHOW_PACKAGES,
		.offset = offsetof(struct values, show),
		.help = "packages and libraries"},
	{.name = "callers",
		.type = OPTION_TEXT,
		.value = "FUNCTION",
		.offset = offsetof(struct values, callers),
		.help = "who calls FUNCTION"},
	{.name = "lines",
		.letter = 'n',
		.type = OPTION_NUMBER,
		.value = "N",
		.offset = offsetof(struct values, lines),
		.min = 1,
		.max = 1000000,
		.help = "at most N lines a table"},
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
		.help = "text or json, instead of the one that FILE's suffix says"},
	{.type = OPTION_TABLE, .table = filter_options, .offset = offsetof(struct values, filters)},
	{.type = OPTION_TABLE, .table = naming_options, .offset = offsetof(struct values, naming)},
	OPTIONS_END,
};

/* The options as the report's own parameters: "text:tree,n=20"; to be freed, NULL: no memory. */
static char *spelled(const struct values *values, const char *format)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	const char *before = strchr(format, ':') ? "," : ":";

	if (!out)
		return NULL;
	fputs(format, out);
	for (int i = 0; i < 3; i++) {
		static const char *const words[] = {"tree", "threads", "packages"};

		if (values->show & (1u << i)) {
			fprintf(out, "%s%s", before, words[i]);
			before = ",";
		}
	}
	if (values->lines.given) {
		fprintf(out, "%sn=%" PRIu64, before, values->lines.value);
		before = ",";
	}
	if (values->callers) {
		fprintf(out, "%scallers=", before);
		/* A comma would begin the next parameter. */
		for (const char *p = values->callers; *p; p++)
			fprintf(out, "%s%c", *p == ',' || *p == '\\' ? "\\" : "", *p);
	}
	if (fclose(out) == EOF) {
		free(text);
		return NULL;
	}
	return text;
}

static int add_output(
	struct results *results, const struct call *call, const char *path, const char *format)
{
	const struct values *values = call->values;
	_cleanup_free_ char *full = NULL;

	if (!format && strcmp(path, "-"))
		format = stoke_output_for(path, STOKE_OUTPUT_REPORT);
	full = spelled(values, format ? format : "text");
	if (!full)
		return say_error(&call->voice, STATUS_USAGE, "out of memory");
	return results_add(results, &call->voice, path, full, 0);
}

static int report_run(const struct call *call)
{
	struct values *values = call->values;
	_cleanup_profile_ struct stoke_profile *profile = NULL;
	_cleanup_results_ struct results *results = NULL;
	int status = STATUS_DONE;

	if (!call->nr_operands)
		return say_error(
			&call->voice, STATUS_USAGE, "report needs a FILE, or - for standard input");
	if (results_new(NULL, &results) < 0)
		return say_error(&call->voice, STATUS_USAGE, "out of memory");
	for (size_t i = 0; i < values->outputs.nr && !status; i++)
		status = add_output(results, call, values->outputs.items[i], values->format);
	if (!status && !values->outputs.nr)
		status = add_output(results, call, "-", values->format);
	if (!status)
		status = inputs_read(call, &(struct stoke_read_options){0}, &profile);
	if (!status)
		status = naming_apply(&call->voice, &values->naming, &profile);
	if (!status)
		status = filters_apply(&call->voice, &values->filters, &profile);
	if (!status)
		status = results_write(results, &call->voice, profile, NULL);
	if (!status && !call->voice.quiet)
		results_list(results, stderr);
	return status;
}

const struct command cmd_report = {
	.name = "report",
	.summary = "say where the time went",
	.usage = "report FILE... [--tree] [--threads] [--packages] [--callers FUNCTION] [-n N]",
	.about = "Says what the files hold, taken together: functions, packages, threads, quality.",
	.options = options,
	.values_size = sizeof(struct values),
	.run = report_run,
};
