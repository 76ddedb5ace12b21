/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.c: the answer before the picture. How much CPU, whose threads, whose code, which functions,
 * how far everything goes one way, and what the figures are worth: a machine without a browser is
 * no obstacle.
 */
#include <stddef.h>

#include "base/cleanup.h"
#include "report/report.h"
#include "report/text/page.h"
#include "report/text/sheet.h"

static const struct param text_params[] = {
	{"summary", PARAM_FLAG, offsetof(struct text_params, summary), NULL,
		"the summary, also when more is asked for, without what was recorded and warnings",
		0, 0},
	{"tree", PARAM_FLAG, offsetof(struct text_params, tree), NULL,
		"the call tree, without what is under 1 %", 0, 0},
	{"threads", PARAM_FLAG, offsetof(struct text_params, threads), NULL,
		"every thread instead of pools", 0, 0},
	{"packages", PARAM_FLAG, offsetof(struct text_params, packages), NULL,
		"all packages and libraries, total and self", 0, 0},
	{"callers", PARAM_TEXT, offsetof(struct text_params, callers), NULL,
		"who calls this function: its name, the end of it, or a glob", 0, 0},
	{"n", PARAM_NUMBER, offsetof(struct text_params, n), NULL,
		"lines a table; 8, or all from 0.1 % where everything is asked for", 1, 100000},
	{"width", PARAM_NUMBER, offsetof(struct text_params, width), "80", "columns of a line", 60,
		400},
	{"all", PARAM_FLAG, offsetof(struct text_params, all), NULL,
		"of a comparison: every change, a line each", 0, 0},
	{"plan", PARAM_FLAG, offsetof(struct text_params, plan), NULL,
		"of a comparison: the repeats that would see a growth", 0, 0},
	{"sides", PARAM_TEXT, offsetof(struct text_params, sides), NULL,
		"of a comparison: its files, as they would stand behind stoke diff", 0, 0},
	{"options", PARAM_TEXT, offsetof(struct text_params, options), NULL,
		"of a comparison: what else would stand there", 0, 0},
	{"budget", PARAM_TEXT, offsetof(struct text_params, budget), NULL,
		"of a comparison: its budget, as it would stand behind stoke check --budget", 0, 0},
	{0},
};

static int say_summary(const struct page *page)
{
	static int (*const sections[])(const struct page *) = {
		page_say_processes,
		page_say_pools,
		page_say_groups,
		page_say_functions,
		page_say_path,
	};

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		int r = sections[i](page);

		if (r < 0)
			return r;
	}
	return 0;
}

static int say_page(const struct page *page)
{
	const struct text_params *params = page->params;
	int asked = params->tree || params->threads || params->packages || params->callers;
	int r = 0;

	if (!asked || params->summary)
		r = say_summary(page);
	if (r >= 0 && params->threads)
		r = page_say_threads(page);
	if (r >= 0 && params->packages)
		r = page_say_all_groups(page);
	if (r >= 0 && params->callers)
		r = page_say_callers(page);
	if (r >= 0 && params->tree)
		r = page_say_tree(page);
	return r;
}

static int text_profile(const struct stoke_profile *profile, const void *params, FILE *out)
{
	_cleanup_(page_done) struct page page = {0};
	int r = page_init(&page, profile, params, out);

	if (r < 0)
		return r;
	page_say_what(&page);
	page_say_process(&page);
	page_say_load(&page);
	if (page.tree->total[0][0] > 0)
		r = say_page(&page);
	return r < 0 ? r : page_say_quality(&page);
}

static int text_comparison(const struct stoke_comparison *comparison, const void *params, FILE *out)
{
	struct sheet sheet = {.comparison = comparison, .params = params, .out = out};
	int r = 0;

	sheet.width = (size_t)sheet.params->width;
	said_scale(comparison, &sheet.scale);
	if (sheet.params->plan) {
		sheet_say_plan(&sheet);
		return 0;
	}
	if (comparison->verdict)
		r = sheet_say_verdict(&sheet);
	else
		sheet_say_head(&sheet);
	if (r < 0 || (comparison->verdict && !sheet.params->all))
		return r;
	return sheet.params->all ? sheet_say_all(&sheet) : sheet_say_changes(&sheet);
}

const struct report report_text = {
	.name = "text",
	.summary = "the answer as text: threads, packages, functions, path, quality",
	.suffixes = ".txt",
	.params = text_params,
	.params_size = sizeof(struct text_params),
	.profile = text_profile,
	.comparison = text_comparison,
};
