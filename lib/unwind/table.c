/* SPDX-License-Identifier: BSD-2-Clause */
/* table.c: rows -> pages of 4-byte rows. A page repeats the row that holds where it begins. */
#include "unwind/table.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

void unwind_table_done(struct unwind_table *table)
{
	free(table->rows);
	free(table->pages);
	rules_done(&table->rules);
	*table = (struct unwind_table){0};
}

static int add_row(struct unwind_table *table, uint64_t address, uint32_t rule)
{
	int r = array_reserve(&table->rows, &table->rows_capacity, table->nr_rows, 1);

	if (r < 0)
		return r;
	table->rows[table->nr_rows++] =
		((uint32_t)address & STOKE_PAGE_MASK) << STOKE_RULE_BITS | rule;
	return 0;
}

/* Numbers of rules; one too many is as good as none. */
static int number_rule(struct unwind_table *table, const struct unwind_rule *rule, uint32_t *ret)
{
	int r = rules_add(&table->rules, rule, ret);

	if (r == -ENOSPC) {
		table->nr_left_out++;
		*ret = 0;
		return 0;
	}
	return r;
}

/* One page: from rows->items[*at] on; *rule holds where it begins, and then where it ends. */
static int make_page(struct unwind_table *table, const struct unwind_rows *rows, uint64_t page,
	size_t *at, uint32_t *rule)
{
	struct stoke_page *made = &table->pages[page - table->first_page];
	uint64_t start = page << STOKE_PAGE_BITS;
	size_t first = table->nr_rows;
	int r = 0;

	if (*rule && (*at == rows->nr || rows->items[*at].address > start))
		r = add_row(table, start, *rule);
	while (r == 0 && *at < rows->nr && rows->items[*at].address >> STOKE_PAGE_BITS == page) {
		const struct unwind_row *row = &rows->items[*at];

		/* Before the first row of a page there is nothing: a search ends at that row. */
		if (table->nr_rows == first && row->address != start)
			r = add_row(table, start, 0);
		if (r == 0)
			r = number_rule(table, &row->rule, rule);
		if (r == 0)
			r = add_row(table, row->address, *rule);
		++*at;
	}
	if (r < 0)
		return r;
	made->first = (uint32_t)first;
	made->nr = (uint32_t)(table->nr_rows - first);
	return 0;
}

int unwind_table_make(const struct unwind_rows *rows, struct unwind_table *ret)
{
	struct unwind_table table = {.rules.max = STOKE_MAX_RULES};
	uint64_t last_page;
	uint32_t rule = 0;
	size_t at = 0;
	int r = 0;

	if (rows->nr == 0) {
		*ret = table;
		return 0;
	}
	table.first_page = rows->items[0].address >> STOKE_PAGE_BITS;
	last_page = rows->items[rows->nr - 1].address >> STOKE_PAGE_BITS;
	if (last_page - table.first_page >= TABLE_MAX_PAGES)
		last_page = table.first_page + TABLE_MAX_PAGES - 1;
	table.nr_pages = last_page - table.first_page + 1;
	table.pages = calloc(table.nr_pages, sizeof(*table.pages));
	if (!table.pages)
		return -ENOMEM;
	/* Most of what will be needed, so that it is not moved while it grows. */
	r = array_reserve(&table.rows, &table.rows_capacity, 0, rows->nr);
	for (uint64_t page = table.first_page; r == 0 && page <= last_page; page++)
		r = make_page(&table, rows, page, &at, &rule);
	if (r < 0) {
		unwind_table_done(&table);
		return r == -E2BIG ? -ENOMEM : r;
	}
	table.nr_left_out += rows->nr - at;
	*ret = table;
	return 0;
}
