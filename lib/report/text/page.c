/* SPDX-License-Identifier: BSD-2-Clause */
/* page.c: how a page is laid out, and the lines that speak of the whole profile. */
#include "report/text/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "names/short.h"
#include "report/columns.h"

#define TITLE 10

static int is_type(
	const struct stoke_profile *profile, unsigned i, const char *type, const char *unit)
{
	const struct value_type *value = &profile->values[i];

	return strcmp(strings_text(&profile->strings, value->type), type) == 0 &&
	       strcmp(strings_text(&profile->strings, value->unit), unit) == 0;
}

/* The column of a value type, or PROFILE_MAX_VALUES. */
static unsigned find_value(const struct stoke_profile *profile, const char *type, const char *unit)
{
	for (unsigned i = 0; i < profile->nr_values; i++) {
		if (is_type(profile, i, type, unit))
			return i;
	}
	return PROFILE_MAX_VALUES;
}

/* CPU time that the samples stand for, and over how long. */
static void measure_time(struct page *page)
{
	const struct stoke_profile *profile = page->profile;
	unsigned cpu = find_value(profile, "cpu", "nanoseconds");
	unsigned samples = find_value(profile, "samples", "count");
	const struct run *run = profile->runs;

	for (size_t i = 0; i < profile->nr_runs; i++)
		page->duration_ns += profile->runs[i].duration_ns;
	if (cpu < PROFILE_MAX_VALUES) {
		page->cpu_ns = profile_total(profile, cpu);
	} else if (samples < PROFILE_MAX_VALUES && profile->nr_runs == 1 && run->period &&
		   strcmp(strings_text(&profile->strings, run->period_type.unit), "nanoseconds") ==
			   0 &&
		   __builtin_mul_overflow(
			   profile_total(profile, samples), run->period, &page->cpu_ns)) {
		page->cpu_ns = 0;
	}
	if (!page->duration_ns)
		page->cpu_ns = 0;
}

int page_init(struct page *page, const struct stoke_profile *profile,
	const struct text_params *params, FILE *out)
{
	*page = (struct page){
		.profile = profile, .params = params, .out = out, .width = (size_t)params->width};
	measure_time(page);
	return tree_build(
		profile, &(struct tree_options){.value = profile->default_value}, &page->tree);
}

void page_done(struct page *page)
{
	tree_free(page->tree);
}

void page_title(const struct page *page, const char *word)
{
	fprintf(page->out, "%-*s", TITLE, word);
}

void page_headline(const struct page *page, const char *word, const char *first, const char *second)
{
	fprintf(page->out, "%-*s%*s%*s\n", (int)page->width - PAGE_AMOUNT - PAGE_FIGURE, word,
		PAGE_AMOUNT, first, PAGE_FIGURE, second);
}

void page_shares(const struct page *page, uint64_t first, uint64_t second, uint64_t whole)
{
	char text[32];

	fprintf(page->out, "%*s", PAGE_AMOUNT, columns_share(text, first, whole));
	fprintf(page->out, "%*s\n", PAGE_FIGURE, columns_share(text, second, whole));
}

void page_function(
	const struct page *page, const char *name, size_t size, unsigned kind, size_t width)
{
	char text[COLUMNS_NAME_BYTES];
	size_t n = short_name(name, size, (enum function_kind)kind, text, sizeof(text));

	columns_name(page->out, text, n, width, COLUMNS_CUT_START);
}

/* What was recorded, as its facts say. */
void page_say_what(const struct page *page)
{
	static const char *const keys[] = {"target", "event", "rate", "kernel"};
	const struct stoke_profile *profile = page->profile;
	int nr = 0;

	for (size_t run = 0; run < profile->nr_runs && !page->params->summary; run++) {
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			const char *value = profile_fact_find(profile, (uint32_t)run, keys[i]);
			char text[COLUMNS_TEXT_BYTES];

			if (!value)
				continue;
			if (nr++ == 0)
				page_title(page, "profile");
			else
				fputs("; ", page->out);
			(void)columns_fit(text, value, strlen(value), SIZE_MAX, COLUMNS_CUT_END);
			fputs(text, page->out);
		}
		if (nr > 0) {
			fputs("\n", page->out);
			nr = 0;
		}
	}
}

/* Weight in kernel code; *ret_known: does the profile tell kernel from user at all? */
static uint64_t kernel_weight(const struct page *page, int *ret_known)
{
	const struct tree *tree = page->tree;
	uint64_t kernel = 0;

	*ret_known = 0;
	for (size_t i = 1; i < tree->nr; i++) {
		const struct tree_name *name = &tree->names[tree->name[i]];

		if (name->class == TREE_KERNEL)
			kernel += tree->self[0][i];
		if (name->kind != FUNCTION_UNKNOWN && name->class != TREE_MARK)
			*ret_known = 1;
	}
	return kernel;
}

void page_say_process(const struct page *page)
{
	const struct stoke_profile *profile = page->profile;
	unsigned samples = find_value(profile, "samples", "count");
	uint64_t total = page->tree->total[0][0];
	char number[32], user_share[32], kernel_share[32];
	int known;
	uint64_t kernel = kernel_weight(page, &known);

	if (samples == PROFILE_MAX_VALUES)
		samples = profile->default_value;
	if (page->cpu_ns) {
		page_title(page, "process");
		fprintf(page->out, "%s cores",
			columns_quotient(number, page->cpu_ns, page->duration_ns));
	} else {
		page_title(page, "samples");
		fputs(text_count(number, profile_total(profile, samples)), page->out);
	}
	if (known)
		fprintf(page->out, " (user %s, kernel %s)",
			columns_share(user_share, total - kernel, total),
			columns_share(kernel_share, kernel, total));
	if (page->cpu_ns)
		fprintf(page->out, "    %s samples",
			text_count(number, profile_total(profile, samples)));
	if (page->duration_ns)
		fprintf(page->out, " in %" PRIu64 ".%" PRIu64 " s", page->duration_ns / 1000000000,
			page->duration_ns / 100000000 % 10);
	fputs("\n", page->out);
}

void page_say_load(const struct page *page)
{
	static const char *const keys[] = {"machine", "limit"};

	/* Several runs had each their own: none of them is what the figures are of. */
	for (size_t i = 0; i < ARRAY_SIZE(keys) && page->profile->nr_runs == 1; i++) {
		const char *value = profile_fact_find(page->profile, 0, keys[i]);
		char text[COLUMNS_TEXT_BYTES];

		if (!value)
			continue;
		(void)columns_fit(text, value, strlen(value), SIZE_MAX, COLUMNS_CUT_END);
		page_title(page, keys[i]);
		fprintf(page->out, "%s\n", text);
	}
}

int page_say_quality(const struct page *page)
{
	_cleanup_free_ struct quality_text *text = malloc(sizeof(*text));
	int r;

	if (!text)
		return -ENOMEM;
	r = quality_say(page->profile, text);
	if (r < 0)
		return r;
	page_title(page, "quality");
	fprintf(page->out, "%s\n", text->line);
	for (size_t i = 0; i < text->nr && !page->params->summary; i++) {
		page_title(page, "warning");
		fprintf(page->out, "%s\n", text->sentence[i]);
	}
	return 0;
}
