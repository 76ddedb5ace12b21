/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/table.h"

#include "unit/test.h"

TestSuite(table, .fini = check_leaks);

static struct unwind_row row(uint64_t address, int32_t cfa_offset)
{
	struct unwind_row made = {.address = address};

	if (cfa_offset)
		made.rule = (struct unwind_rule){
			.cfa = UNWIND_CFA_SP, .cfa_offset = cfa_offset, .ra_offset = -8};
	return made;
}

/* The CFA's offset at an address, by the table; 0: none. Searches as walks do. */
static int32_t look_up(const struct unwind_table *table, uint64_t address)
{
	uint64_t index = (address >> STOKE_PAGE_BITS) - table->first_page;
	uint32_t key = (uint32_t)address << STOKE_RULE_BITS | STOKE_RULE_MASK;
	const struct stoke_page *page;
	uint32_t at;

	if (index >= table->nr_pages || !table->pages[index].nr)
		return 0;
	page = &table->pages[index];
	at = page->first;
	for (uint32_t i = page->first; i < page->first + page->nr; i++)
		if (table->rows[i] <= key)
			at = i;
	return table->rules.items[table->rows[at] & STOKE_RULE_MASK].cfa_offset;
}

static void expect_same(const struct unwind_rows *rows, uint64_t from, uint64_t to)
{
	struct unwind_table table = {0};

	cr_assert(eq(int, unwind_table_add(&table, rows->items, rows->nr), 0));
	for (uint64_t address = from; address < to; address++) {
		const struct unwind_row *want = unwind_rows_find(rows, address);

		cr_assert(eq(i32, look_up(&table, address), want ? want->rule.cfa_offset : 0),
			"at %llx", (unsigned long long)address);
	}
	unwind_table_done(&table);
}

Test(table, says_what_the_rows_say_at_every_address)
{
	struct unwind_row items[] = {row(0x1010, 8), row(0x1011, 16), row(0x1ff0, 24),
		row(0x2000, 32), row(0x2fff, 40), row(0x6001, 0), row(0x8000, 48), row(0x8010, 0)};
	struct unwind_rows rows = {.items = items, .nr = ARRAY_SIZE(items)};

	expect_same(&rows, 0xf00, 0xa000);
}

Test(table, holds_a_row_at_every_byte_of_a_page)
{
	static struct unwind_row items[4200];
	struct unwind_rows rows = {.items = items, .nr = ARRAY_SIZE(items)};
	struct unwind_table table = {0};

	for (size_t i = 0; i < rows.nr; i++)
		items[i] = row(0x3ffe + i, 8 + (int)(i % 2) * 8);
	items[rows.nr - 1].rule = (struct unwind_rule){0};
	expect_same(&rows, 0x3ff0, 0x6000);
	cr_assert(eq(int, unwind_table_add(&table, rows.items, rows.nr), 0));
	for (size_t i = 0; i < table.nr_pages; i++)
		cr_assert(le(u32, table.pages[i].nr, STOKE_PAGE_MASK + 1));
	unwind_table_done(&table);
}

Test(table, needs_no_rows_where_nothing_is_known)
{
	struct unwind_row items[] = {
		row(0x1000, 8), row(0x1100, 0), row(0x90000, 8), row(0x90010, 0)};
	struct unwind_rows rows = {.items = items, .nr = ARRAY_SIZE(items)};
	struct unwind_table table = {0};

	cr_assert(eq(int, unwind_table_add(&table, rows.items, rows.nr), 0));
	cr_assert(eq(sz, table.nr_rows, 4));
	cr_assert(eq(sz, table.nr_pages, 0x90));
	unwind_table_done(&table);
}

Test(table, of_no_rows_is_empty)
{
	struct unwind_rows rows = {0};
	struct unwind_table table = {0};

	cr_assert(eq(int, unwind_table_add(&table, rows.items, rows.nr), 0));
	cr_assert(eq(sz, table.nr_pages, 0));
	unwind_table_done(&table);
}

Test(table, counts_what_lies_beyond_its_bound)
{
	struct unwind_row items[] = {
		row(0x1000, 8), row(0x1010, 0), row(1ull << 60, 8), row((1ull << 60) + 1, 0)};
	struct unwind_rows rows = {.items = items, .nr = ARRAY_SIZE(items)};
	struct unwind_table table = {0};

	cr_assert(eq(int, unwind_table_add(&table, rows.items, rows.nr), 0));
	cr_assert(eq(sz, table.nr_pages, TABLE_MAX_PAGES));
	cr_assert(eq(u64, table.nr_left_out, 2));
	cr_assert(eq(i32, look_up(&table, 0x100f), 8));
	cr_assert(eq(i32, look_up(&table, 1ull << 60), 0));
	unwind_table_done(&table);
}
