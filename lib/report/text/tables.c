/* SPDX-License-Identifier: BSD-2-Clause */
/* tables.c: the flat tables on a page: whose threads, whose code, which functions, who calls. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "names/short.h"
#include "report/columns.h"
#include "report/text/page.h"

#define COUNTER	    8 /* columns of " (1,234)" and of a tid */
#define TABLE_SHARE 1000 /* a full table leaves out what is less than one part in so many */
#define GROUP_WIDTH 40 /* of a package in a line of several */

/* How many rows are shown: the limit given, or the usual one. */
static size_t nr_shown(const struct page *page, size_t nr, size_t usual)
{
	size_t limit = page->params->n ? (size_t)page->params->n : usual;

	return limit < nr ? limit : nr;
}

static size_t name_width(const struct page *page)
{
	return page->width - 2 - PAGE_AMOUNT - PAGE_FIGURE;
}

/* Cores where they are known, else the count itself, and the share. */
static void say_amount(const struct page *page, uint64_t part, uint64_t whole)
{
	char amount[32], share[32];

	if (page->cpu_ns && whole)
		(void)columns_quotient(amount, (uint64_t)((__uint128_t)page->cpu_ns * part / whole),
			page->duration_ns);
	else
		(void)text_count(amount, part);
	fprintf(page->out, "%*s%*s\n", PAGE_AMOUNT, amount, PAGE_FIGURE,
		columns_share(share, part, whole));
}

/* What the rows that are not shown add up to. */
static void say_rest(const struct page *page, const struct table *table, size_t from)
{
	uint64_t rest = 0;
	char line[48], number[32];

	if (from == table->nr)
		return;
	for (size_t i = from; i < table->nr; i++)
		rest += table->rows[i].total;
	(void)snprintf(line, sizeof(line), "  ... %s more", text_count(number, table->nr - from));
	fprintf(page->out, "%-*s", (int)name_width(page) + 2, line);
	say_amount(page, rest, table->sum);
}

static void say_thread(const struct page *page, const struct table *table,
	const struct table_row *row, enum table_of which)
{
	char text[48] = "", number[32];

	if (which == TABLE_POOLS && row->nr > 1)
		(void)snprintf(text, sizeof(text), "(%s)", text_count(number, row->nr));
	else if (which != TABLE_POOLS && row->id >= 0)
		(void)snprintf(text, sizeof(text), "%" PRIi64, row->id);
	fputs("  ", page->out);
	columns_name(
		page->out, row->name, row->name_size, name_width(page) - COUNTER, COLUMNS_CUT_END);
	fprintf(page->out, "%*s", COUNTER, text);
	say_amount(page, row->total, table->sum);
}

static int say_threads(const struct page *page, const char *word, enum table_of which, size_t usual)
{
	struct table *table = NULL;
	size_t nr;
	int r = table_threads(page->profile, page->profile->default_value, which, &table);

	if (r < 0)
		return r;
	nr = nr_shown(page, table->nr, usual);
	if (table->nr > (which == TABLE_PROCESSES ? 1 : 0)) {
		page_headline(page, word, page->cpu_ns ? "cores" : "samples", "share");
		for (size_t i = 0; i < nr; i++)
			say_thread(page, table, &table->rows[i], which);
		say_rest(page, table, nr);
	}
	table_free(table);
	return 0;
}

int page_say_processes(const struct page *page)
{
	return say_threads(page, "processes", TABLE_PROCESSES, PAGE_LINES);
}

int page_say_pools(const struct page *page)
{
	return say_threads(page, "threads", TABLE_POOLS, PAGE_LINES);
}

int page_say_threads(const struct page *page)
{
	return say_threads(page, "threads", TABLE_THREADS, SIZE_MAX);
}

static int has_packages(const struct table *groups)
{
	for (size_t i = 0; i < groups->nr; i++) {
		if (groups->rows[i].kind == FUNCTION_JIT)
			return 1;
	}
	return 0;
}

static const char *groups_word(const struct table *groups)
{
	return has_packages(groups) ? "packages" : "libraries";
}

/* Where there are packages, the libraries of their runtime would only fill the line. */
int page_say_groups(const struct page *page)
{
	struct table *table = NULL;
	int packages;
	size_t used;
	int r = table_groups(page->tree, &table);

	if (r < 0)
		return r;
	packages = has_packages(table);
	used = table->nr ? (size_t)fprintf(page->out, "%s (total) ", groups_word(table)) : 0;
	for (size_t i = 0; i < table->nr; i++) {
		const struct table_row *row = &table->rows[i];
		char text[COLUMNS_TEXT_BYTES], share[32];
		size_t columns;

		if (packages && row->kind != FUNCTION_JIT)
			continue;
		columns = columns_fit(
			text, row->name, row->name_size, GROUP_WIDTH, COLUMNS_CUT_START);
		columns += 4 + strlen(columns_share(share, row->total, table->sum));
		if (used + columns > page->width + PAGE_MORE)
			break;
		fprintf(page->out, "   %s %s", text, share);
		used += columns;
	}
	if (table->nr)
		fputs("\n", page->out);
	table_free(table);
	return 0;
}

int page_say_all_groups(const struct page *page)
{
	struct table *table = NULL;
	size_t nr;
	int r = table_groups(page->tree, &table);

	if (r < 0)
		return r;
	nr = nr_shown(page, table->nr, table->nr);
	if (nr > 0)
		page_headline(page, groups_word(table), "total", "self");
	for (size_t i = 0; i < nr; i++) {
		const struct table_row *row = &table->rows[i];

		if (!page->params->n && row->total < table->sum / TABLE_SHARE)
			break;
		fputs("  ", page->out);
		columns_name(
			page->out, row->name, row->name_size, name_width(page), COLUMNS_CUT_START);
		page_shares(page, row->total, row->self, table->sum);
	}
	table_free(table);
	return 0;
}

static int compare_self(const void *left, const void *right)
{
	const struct table_row *const *a = left, *const *b = right;

	if ((*a)->self != (*b)->self)
		return (*a)->self < (*b)->self ? 1 : -1;
	/* Rows of one table, which is in order already. */
	return (*a > *b) - (*a < *b);
}

static int say_functions(const struct page *page, const struct table *table)
{
	_cleanup_free_ const struct table_row **rows = calloc(table->nr + 1, sizeof(*rows));
	size_t nr = 0, limit;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < table->nr; i++) {
		if (table->rows[i].kind != FUNCTION_MARK && table->rows[i].kind != FUNCTION_ROOT)
			rows[nr++] = &table->rows[i];
	}
	if (nr == 0)
		return 0;
	qsort(rows, nr, sizeof(*rows), compare_self);
	limit = nr_shown(page, nr, PAGE_LINES);
	page_headline(page, "functions", "total", "self");
	for (size_t i = 0; i < limit && (i == 0 || rows[i]->self > 0); i++) {
		fputs("  ", page->out);
		page_function(
			page, rows[i]->name, rows[i]->name_size, rows[i]->kind, name_width(page));
		page_shares(page, rows[i]->total, rows[i]->self, table->sum);
	}
	return 0;
}

/* By self: sorted by total, main() would say nothing eight times over. */
int page_say_functions(const struct page *page)
{
	struct table *table = NULL;
	int r = table_functions(page->tree, &table);

	if (r < 0)
		return r;
	r = say_functions(page, table);
	table_free(table);
	return r;
}

static int ends_in(const char *name, size_t size, const char *end)
{
	size_t n = strlen(end);
	char before = size > n ? name[size - n - 1] : '\0';

	return size >= n && memcmp(name + size - n, end, n) == 0 &&
	       (size == n || before == '.' || before == ':' || before == '$');
}

/* "baz", "Bar.baz", "com.foo.Bar.baz", the name as it stands in the file, or a glob. */
static int is_called(const char *name, size_t size, unsigned kind, const char *wanted)
{
	char text[COLUMNS_NAME_BYTES + 1];
	size_t n = short_name(name, size, (enum function_kind)kind, text, sizeof(text) - 1);

	text[n] = '\0';
	if (size == strlen(wanted) && memcmp(name, wanted, size) == 0)
		return 1;
	if (strpbrk(wanted, "*?"))
		return fnmatch(wanted, text, 0) == 0;
	return ends_in(text, n, wanted);
}

int page_say_callers(const struct page *page)
{
	const struct tree *tree = page->tree;
	const char *wanted = page->params->callers;
	_cleanup_free_ uint8_t *marks = calloc(tree->nr_names + 1, sizeof(*marks));
	struct table *table = NULL;
	size_t nr;
	int r;

	if (!marks)
		return -ENOMEM;
	for (uint32_t i = 1; i < tree->nr_names; i++) {
		size_t size;
		const char *name = tree_text(tree, i, &size);

		marks[i] = is_called(name, size, tree->names[i].kind, wanted) != 0;
	}
	r = table_callers(tree, marks, &table);
	if (r < 0)
		return r;
	nr = nr_shown(page, table->nr, table->nr);
	fputs("callers of ", page->out);
	columns_name(page->out, wanted, strlen(wanted), name_width(page) - 9, COLUMNS_CUT_START);
	fprintf(page->out, "%*s%*s\n", PAGE_AMOUNT, "of all", PAGE_FIGURE, "of it");
	if (nr == 0)
		fputs("  no stack holds a function of this name\n", page->out);
	for (size_t i = 0; i < nr; i++) {
		const struct table_row *row = &table->rows[i];
		char share[32];

		fputs("  ", page->out);
		page_function(page, row->name, row->name_size, row->kind, name_width(page));
		fprintf(page->out, "%*s", PAGE_AMOUNT,
			columns_share(share, row->total, tree->total[0][0]));
		fprintf(page->out, "%*s\n", PAGE_FIGURE,
			columns_share(share, row->total, table->sum));
	}
	table_free(table);
	return 0;
}
