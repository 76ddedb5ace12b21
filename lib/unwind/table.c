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

/* In the last page. */
static int add_row(struct unwind_table *table, uint64_t address, uint32_t rule)
{
	int r = array_reserve(&table->rows, &table->rows_capacity, table->nr_rows, 1);

	if (r < 0)
		return r;
	table->rows[table->nr_rows++] =
		((uint32_t)address & STOKE_PAGE_MASK) << STOKE_RULE_BITS | rule;
	table->pages[table->nr_pages - 1].nr++;
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

/* The next page, which begins with what held where the last one ends; unless a row of its own will
 * say what holds there. */
static int begin_page(struct unwind_table *table, const struct unwind_row *next)
{
	uint64_t start = (table->first_page + table->nr_pages) << STOKE_PAGE_BITS;
	int r = array_reserve(&table->pages, &table->pages_capacity, table->nr_pages, 1);

	if (r < 0)
		return r;
	table->pages[table->nr_pages++] = (struct stoke_page){.first = (uint32_t)table->nr_rows};
	return table->rule && next->address > start ? add_row(table, start, table->rule) : 0;
}

/* 0, 1: it lies behind the last page there may be; -errno. */
static int move_to(struct unwind_table *table, const struct unwind_row *row)
{
	uint64_t page = row->address >> STOKE_PAGE_BITS;
	int r = 0;

	if (!table->nr_pages)
		table->first_page = page;
	while (r == 0 && page - table->first_page >= table->nr_pages) {
		if (table->nr_pages == TABLE_MAX_PAGES)
			return 1;
		r = begin_page(table, row);
	}
	/* Before the first row of a page there is nothing: a search ends at that row. */
	if (r == 0 && table->nr_rows == table->pages[table->nr_pages - 1].first &&
		(row->address & STOKE_PAGE_MASK))
		r = add_row(table, page << STOKE_PAGE_BITS, 0);
	return r;
}

int unwind_table_add(struct unwind_table *table, const struct unwind_row *items, size_t nr)
{
	int r = 0;

	table->rules.max = STOKE_MAX_RULES;
	for (size_t i = 0; r == 0 && i < nr; i++) {
		r = move_to(table, &items[i]);
		if (r > 0) {
			table->nr_left_out += nr - i;
			return 0;
		}
		if (r == 0)
			r = number_rule(table, &items[i].rule, &table->rule);
		if (r == 0)
			r = add_row(table, items[i].address, table->rule);
	}
	return r == -E2BIG ? -ENOMEM : r;
}
