/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_TESTS_UNIT_COMPARED_H
#define STOKE_TESTS_UNIT_COMPARED_H

/* Comparisons for tests, from folded lines: five runs a side, or as many as there are. */

#include "diff/comparison.h"
#include "report/report.h"
#include "unit/folded.h"

/* What is compared, and by which rules. */
struct compared {
	struct stoke_profile *profile;
	struct stoke_budget *budget;
	struct stoke_comparison *comparison;
};

/*
 * nr runs a side. lines: the stacks of a run, "main;f %", each % for the next of the counts before
 * or after, a little apart from run to run.
 */
static inline struct compared compared(unsigned nr, const char *lines, const unsigned *before,
	const unsigned *after, const char *budget)
{
	static const int noise[] = {0, 3, -2, 4, -5, 1, -1, 2, -3, 5};
	struct compared c = {0};
	struct stoke_error err = {0};
	struct stoke_compare_options options = {.today = "2026-12-01"};

	cr_assert(eq(int, stoke_profile_new(&c.profile), 0));
	for (unsigned run = 0; run < 2 * nr; run++) {
		const unsigned *counts = run < nr ? before : after;
		char *text = NULL;
		size_t size = 0, i = 0;
		FILE *out = open_memstream(&text, &size);

		cr_assert(ne(ptr, out, NULL));
		for (const char *p = lines; *p; p++) {
			if (*p != '%') {
				fputc(*p, out);
				continue;
			}
			int count = (int)counts[i] + noise[run % 10] * (i % 2 ? -1 : 1);

			fprintf(out, "%d", count > 0 ? count : 0);
			i++;
		}
		cr_assert(eq(int, fclose(out), 0));
		folded_add(c.profile, text);
		free(text);
	}
	if (budget)
		cr_assert(eq(int,
				  stoke_budget_parse(
					  budget, strlen(budget), "stoke.budget", &c.budget, &err),
				  0),
			"%s", err.text);
	options.budget = c.budget;
	cr_assert(eq(int, stoke_compare(c.profile, nr, &options, &c.comparison, &err), 0), "%s",
		err.text);
	return c;
}

static inline void compared_done(struct compared *c)
{
	stoke_comparison_free(c->comparison);
	stoke_budget_free(c->budget);
	stoke_profile_free(c->profile);
}

/* What a report says of it. Freed by the caller. */
static inline char *compared_report(const struct compared *c, const char *report)
{
	char *text = NULL;
	size_t size = 0;
	struct stoke_error err = {0};
	FILE *out = open_memstream(&text, &size);

	cr_assert(ne(ptr, out, NULL));
	cr_assert(eq(int, stoke_comparison_report(c->comparison, report, out, &err), 0), "%s",
		err.text);
	cr_assert(eq(int, fclose(out), 0));
	return text;
}

/* Position of a change, by the function's name and kind. */
static inline size_t compared_find(
	const struct compared *c, const char *name, enum hypothesis_kind kind)
{
	const struct units *units = c->comparison->units;

	for (size_t i = 0; i < units->nr_hypotheses; i++) {
		const struct hypothesis *h = &units->hypotheses[i];

		if (h->kind == kind && !h->sum &&
			strcmp(strings_text(&c->comparison->profile->strings, h->name), name) == 0)
			return i;
	}
	cr_assert(0, "no hypothesis is called %s", name);
	return 0;
}

#endif
