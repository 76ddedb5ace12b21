/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check.c: a gate. 0 pass, 1 regression, 2 wrong usage or input, 3 cannot tell; what makes a gate
 * worth having is that 1 is seldom wrong and 3 is never 0 by itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "cmd/baseline.h"
#include "cmd/comparing.h"

#define BUDGET_FILE	 "stoke.budget"
#define BUDGET_MAX_BYTES (1u << 20)
#define KEEP		 10

enum { PLAN = 1, UPDATE = 2, SHOW_ALL = 4 };

static const char *const inconclusive_words[] = {"fail", "pass", NULL};

struct values {
	struct comparing comparing;
	struct texts baselines, outs;
	const char *budget, *commit;
	struct numbers inconclusive;
	struct amount keep;
	unsigned flags;
};

static const struct option options[] = {
	{.name = "baseline",
		.type = OPTION_TEXTS,
		.value = "PATH",
		.offset = offsetof(struct values, baselines),
		.help = "a file or directory before; may be repeated: then all FILEs are after"},
	{.name = "budget",
		.type = OPTION_TEXT,
		.value = "FILE",
		.offset = offsetof(struct values, budget),
		.help = "rules; " BUDGET_FILE " in this directory if it is there"},
	{.name = "out",
		.type = OPTION_TEXTS,
		.value = "FORMAT=FILE",
		.offset = offsetof(struct values, outs),
		.help = "text, md, json, junit, github or svg; - is standard output; may be "
			"repeated"},
	{.name = "inconclusive",
		.type = OPTION_WORDS,
		.value = "HOW",
		.words = inconclusive_words,
		.offset = offsetof(struct values, inconclusive),
		.help = "\"cannot tell\" is to fail (exit 3, the default) or to pass (0)"},
	{.name = "all",
		.type = OPTION_FLAG,
		.bits = SHOW_ALL,
		.offset = offsetof(struct values, flags),
		.help = "every change too, a line each"},
	{.name = "plan",
		.type = OPTION_FLAG,
		.bits = PLAN,
		.offset = offsetof(struct values, flags),
		.help = "judge nothing; say how many repeats would see which growth"},
	{.name = "update",
		.type = OPTION_FLAG,
		.bits = UPDATE,
		.offset = offsetof(struct values, flags),
		.help = "judge nothing; add the FILEs to the baseline directory"},
	{.name = "commit",
		.type = OPTION_TEXT,
		.value = "ID",
		.offset = offsetof(struct values, commit),
		.help = "with --update: what the FILEs were made of"},
	{.name = "keep",
		.type = OPTION_NUMBER,
		.value = "N",
		.min = 1,
		.max = 1000,
		.offset = offsetof(struct values, keep),
		.help = "with --update: the newest N stay (10)"},
	COMPARING_OPTIONS(struct values, comparing),
	OPTIONS_END,
};

static void free_budget(struct stoke_budget **budget)
{
	stoke_budget_free(*budget);
}

/* --budget, or the file of its usual name, or what is built in. Before any input is read. */
static int read_budget(const struct call *call, struct stoke_budget **ret)
{
	const struct values *values = call->values;
	const char *name = values->budget ? values->budget : BUDGET_FILE;
	_cleanup_free_ char *text = NULL;
	struct stoke_error err = {0};
	size_t size = 0;
	int r = file_read_text(AT_FDCWD, name, BUDGET_MAX_BYTES, &text, &size);

	if (r == -ENOENT && !values->budget) {
		name = NULL;
		say(&call->voice,
			"no " BUDGET_FILE " here: nothing may grow by 0.5 points and 5 %%");
	} else if (r < 0) {
		return say_error(&call->voice, STATUS_USAGE, "cannot read %s: %s", name,
			r == -ENOENT  ? "no such file"
			: r == -E2BIG ? "it is too large"
				      : strerror(-r));
	}
	if (stoke_budget_parse(text, size, name, ret, &err) < 0)
		return say_error(&call->voice, STATUS_USAGE, "%s", err.text);
	return STATUS_DONE;
}

/* "junit=stoke.xml" */
static int add_out(const struct call *call, const char *out, const struct spelling *spelling,
	struct results *results)
{
	const struct values *values = call->values;
	const char *equals = strrchr(out, '=');
	_cleanup_free_ char *format = equals ? strndup(out, (size_t)(equals - out)) : NULL;

	if (!equals || equals == out || !equals[1])
		return say_error(&call->voice, STATUS_USAGE,
			"--out %s: FORMAT=FILE is wanted, as junit=stoke.xml or github=-", out);
	if (!format)
		return say_error(&call->voice, STATUS_USAGE, "out of memory");
	return comparing_output(call, &values->comparing, equals + 1, format, spelling, results);
}

static int open_outputs(const struct call *call, const struct sides *sides,
	const struct spelling *spelling, struct results *results)
{
	const struct values *values = call->values;
	int status = comparing_outputs(call, &values->comparing, spelling, results);

	for (size_t i = 0; i < values->outs.nr && !status; i++)
		status = add_out(call, values->outs.items[i], spelling, results);
	return status ? status : comparing_spares(call, sides, results);
}

/* Sides of unequal size make the test say too much: the newest of the larger one count. */
static void trim(const struct call *call, struct sides *sides)
{
	size_t before = sides->before.nr, after = sides->after.nr;

	if (sides_trim(sides))
		say(&call->voice, "%zu file%s before, %zu after: the last %zu of %s count%s",
			before, before == 1 ? "" : "s", after, sides->before.nr,
			before > after ? "before" : "after", sides->before.nr == 1 ? "s" : "");
}

static int update(const struct call *call)
{
	const struct values *values = call->values;
	const struct baseline_options how = {
		.commit = values->commit,
		.keep = values->keep.given ? (size_t)values->keep.value : KEEP,
	};
	_cleanup_(paths_done) struct paths files = {0};
	int status = STATUS_DONE;

	if (values->baselines.nr != 1 || !call->nr_operands || call->is_parted)
		return say_error(&call->voice, STATUS_USAGE,
			"--update takes one --baseline DIRECTORY and the FILEs to add");
	for (size_t i = 0; i < call->nr_operands && !status; i++)
		status = paths_add(&files, &call->voice, call->operands[i]);
	return status ? status
		      : baseline_update(&call->voice, values->baselines.items[0], &files, &how);
}

static int is_inconclusive_pass(const struct values *values)
{
	size_t nr = values->inconclusive.nr;

	return nr && values->inconclusive.items[nr - 1] == 1;
}

static int answer(const struct call *call, const struct stoke_comparison *comparison)
{
	const struct values *values = call->values;
	int status = stoke_comparison_verdict(comparison);

	if (values->flags & PLAN)
		return STATUS_DONE;
	if (status == STATUS_CANNOT_TELL && is_inconclusive_pass(values)) {
		say(&call->voice, "it cannot be told, and --inconclusive pass lets it pass");
		return STATUS_DONE;
	}
	return status;
}

static int judge(const struct call *call, struct sides *sides, const struct stoke_budget *budget)
{
	struct values *values = call->values;
	_cleanup_(cleanup_comparison) struct stoke_comparison *comparison = NULL;
	_cleanup_(spelling_done) struct spelling spelling = {0};
	_cleanup_results_ struct results *results = NULL;
	const struct telling telling = {
		.spelling = &spelling,
		.more = values->flags & PLAN	   ? "plan"
			: values->flags & SHOW_ALL ? "all"
						   : "",
		.always = 1,
	};
	int status;

	if (results_new(NULL, &results) < 0)
		return say_error(&call->voice, STATUS_USAGE, "out of memory");
	trim(call, sides);
	status = comparing_spell(
		call, &values->comparing, &values->baselines, sides, values->budget, &spelling);
	if (!status)
		status = open_outputs(call, sides, &spelling, results);
	if (!status)
		status = comparing_run(call, &values->comparing, sides, budget, &comparison);
	if (!status)
		status = comparing_tell(call, comparison, &telling, results);
	return status ? status : answer(call, comparison);
}

static int check_run(const struct call *call)
{
	struct values *values = call->values;
	_cleanup_(free_budget) struct stoke_budget *budget = NULL;
	_cleanup_(sides_done) struct sides sides = {0};
	int status;

	if (values->flags & UPDATE)
		return update(call);
	status = read_budget(call, &budget);
	if (!status)
		status = sides_find(call, &values->baselines, &sides);
	return status ? status : judge(call, &sides, budget);
}

const struct command cmd_check = {
	.name = "check",
	.summary = "fail when something grew: a gate for CI",
	.usage = "check BEFORE AFTER [--out FORMAT=FILE]...\n"
		 "check BEFORE... -- AFTER...\n"
		 "check --baseline PATH AFTER...\n"
		 "check --baseline DIRECTORY --update FILE...",
	.about = "Judges a comparison by the rules of a budget. Exits with 0: pass, 1: regression, "
		 "2: "
		 "wrong\nusage or input, 3: cannot tell (too few repeats, not comparable, too "
		 "noisy).",
	.options = options,
	.values_size = sizeof(struct values),
	.has_sides = 1,
	.run = check_run,
};
