/* SPDX-License-Identifier: BSD-2-Clause */
/* convert.c: one profile format into another. */
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
	struct amount frequency, duration;
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
		.help = "instead of the one that FILE's suffix says; alone: to standard output"},
	{.name = "freq",
		.letter = 'F',
		.type = OPTION_NUMBER,
		.value = "HZ",
		.min = 1,
		.max = 1000000,
		.offset = offsetof(struct values, frequency),
		.help = "folded text was sampled at this rate: makes CPU time of its counts"},
	{.name = "duration",
		.letter = 'd',
		.type = OPTION_TIME,
		.value = "TIME",
		.offset = offsetof(struct values, duration),
		.help = "and for this long"},
	{.type = OPTION_TABLE, .table = filter_options, .offset = offsetof(struct values, filters)},
	{.type = OPTION_TABLE, .table = naming_options, .offset = offsetof(struct values, naming)},
	OPTIONS_END,
};

static int convert_run(const struct call *call)
{
	struct values *values = call->values;
	_cleanup_profile_ struct stoke_profile *profile = NULL;
	_cleanup_results_ struct results *results = NULL;
	const struct stoke_read_options how = {
		.frequency_hz = values->frequency.value, .duration_ns = values->duration.value};
	int status = STATUS_DONE;

	if (!call->nr_operands)
		return say_error(&call->voice, STATUS_USAGE,
			"convert needs a FILE, or - for standard input");
	if (!values->outputs.nr && !values->format)
		return say_error(&call->voice, STATUS_USAGE, "convert needs -o FILE, or -f FORMAT");
	if (results_new(NULL, &results) < 0)
		return say_error(&call->voice, STATUS_USAGE, "out of memory");
	for (size_t i = 0; i < values->outputs.nr && !status; i++)
		status = results_add(
			results, &call->voice, values->outputs.items[i], values->format, 0);
	if (!status && !values->outputs.nr)
		status = results_add(results, &call->voice, "-", values->format, 0);
	if (!status)
		status = inputs_read(call, &how, &profile);
	if (!status)
		status = naming_apply(&call->voice, &values->naming, &profile);
	if (!status)
		status = filters_apply(&call->voice, &values->filters, &profile);
	if (!status)
		warnings_say(&call->voice, profile);
	if (!status)
		status = results_write(results, &call->voice, profile, NULL);
	if (!status && !call->voice.quiet)
		results_list(results, stderr);
	return status;
}

const struct command cmd_convert = {
	.name = "convert",
	.summary = "turn profiles into another format",
	.usage = "convert FILE... -o FILE",
	.about = "Reads the files, whatever their formats, and writes what they hold, taken "
		 "together.",
	.options = options,
	.values_size = sizeof(struct values),
	.run = convert_run,
};
