/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/store.h"

#include <errno.h>
#include <stdlib.h>

#include "unit/test.h"

TestSuite(store, .fini = check_leaks);

#define MAX_PAGES 1024

static struct {
	struct stoke_rule rules[64];
	struct stoke_page pages[MAX_PAGES];
	struct stoke_shard *shards[STOKE_MAX_SHARDS];
	size_t nr_shards;
} kernel;

static struct stoke_shard *make_shard(void *arg, uint32_t index)
{
	cr_assert(eq(sz, index, kernel.nr_shards));
	kernel.shards[index] = calloc(1, sizeof(*kernel.shards[index]));
	kernel.nr_shards++;
	return kernel.shards[index];
}

static struct store *make(size_t max_rules, size_t max_pages, size_t max_shards)
{
	const struct store_memory memory = {
		.rules = kernel.rules,
		.max_rules = max_rules,
		.pages = kernel.pages,
		.max_pages = max_pages,
		.max_shards = max_shards,
		.shard = make_shard,
	};
	struct store *store;

	cr_assert(eq(int, store_new(&memory, &store), 0));
	return store;
}

static void done(struct store *store)
{
	store_free(store);
	for (size_t i = 0; i < kernel.nr_shards; i++)
		free(kernel.shards[i]);
}

/* A table of nr rows 16 bytes apart from an address on, whose rules begin with one. */
static struct unwind_table table_of(uint64_t address, size_t nr, int32_t first_offset)
{
	struct unwind_row *items = calloc(nr + 1, sizeof(*items));
	struct unwind_rows rows = {.items = items, .nr = nr + 1};
	struct unwind_table table = {0};

	for (size_t i = 0; i <= nr; i++) {
		items[i].address = address + i * 16;
		if (i < nr)
			items[i].rule = (struct unwind_rule){.cfa = UNWIND_CFA_SP,
				.cfa_offset = first_offset + (int32_t)(i % 3) * 8,
				.ra_offset = -8};
	}
	cr_assert(eq(int, unwind_table_add(&table, rows.items, rows.nr), 0));
	free(items);
	return table;
}

/* What a walk would find at an address of the file that is stored there. */
static int32_t look_up(const struct stored *stored, uint64_t address)
{
	uint32_t index = stored->page + (uint32_t)(address >> STOKE_PAGE_BITS), at;
	uint32_t key = (uint32_t)address << STOKE_RULE_BITS | STOKE_RULE_MASK;
	const struct stoke_page *page;
	const uint32_t *rows;

	if (index - stored->first >= stored->nr)
		return 0;
	page = &kernel.pages[index];
	if (!page->nr)
		return 0;
	cr_assert(eq(u32, page->first >> STOKE_SHARD_BITS,
		(page->first + page->nr - 1) >> STOKE_SHARD_BITS));
	rows = kernel.shards[page->first >> STOKE_SHARD_BITS]->rows;
	at = page->first;
	for (uint32_t i = page->first; i < page->first + page->nr; i++)
		if (rows[i & (STOKE_SHARD_ROWS - 1)] <= key)
			at = i;
	return kernel.rules[rows[at & (STOKE_SHARD_ROWS - 1)] & STOKE_RULE_MASK].rule.cfa_offset;
}

static void expect_stored(const struct stored *stored, uint64_t address, size_t nr, int32_t offset)
{
	for (size_t i = 0; i < nr; i++)
		cr_assert(eq(
			i32, look_up(stored, address + i * 16 + 5), offset + (int32_t)(i % 3) * 8));
	cr_assert(eq(i32, look_up(stored, address + nr * 16), 0));
}

Test(store, keeps_files_apart_that_share_their_rules)
{
	struct store *store = make(64, MAX_PAGES, 4);
	struct unwind_table a = table_of(0x1000, 900, 8), b = table_of(0x400800, 600, 16);
	struct stored first, second;
	struct store_counts counts;

	cr_assert(eq(int, store_add(store, &a, 1, &first), 0));
	cr_assert(eq(int, store_add(store, &b, 1, &second), 0));
	expect_stored(&first, 0x1000, 900, 8);
	expect_stored(&second, 0x400800, 600, 16);
	/* Beyond its own pages a file sees none of its neighbour's. */
	cr_assert(eq(i32, look_up(&first, 0x1000 + 5 * 4096), 0));
	cr_assert(eq(i32, look_up(&second, 0x3ff000), 0));
	store_counts(store, &counts);
	cr_assert(eq(u64, counts.files, 2));
	cr_assert(eq(u64, counts.rules, 5)); /* none, 8, 16, 24, 32 */
	cr_assert(eq(u64, counts.shards, 1));
	unwind_table_done(&a);
	unwind_table_done(&b);
	done(store);
}

Test(store, starts_a_new_shard_where_a_page_would_not_fit)
{
	struct store *store = make(64, MAX_PAGES, 4);
	struct stored stored;
	struct store_counts counts;

	/* 250 rows a page, in pages of their own: the shard's end falls into one. */
	for (int i = 0; i < 2 * (int)(STOKE_SHARD_ROWS / 65536); i++) {
		struct unwind_table table = table_of(0x1000, 256, 8);

		free(table.rows);
		table.nr_rows = 40010;
		table.rows = calloc(table.nr_rows, sizeof(*table.rows));
		free(table.pages);
		table.nr_pages = 10;
		table.pages = calloc(table.nr_pages, sizeof(*table.pages));
		for (uint32_t page = 0; page < 10; page++)
			table.pages[page] = (struct stoke_page){page * 4001, 4001};
		cr_assert(eq(int, store_add(store, &table, 1, &stored), 0));
		for (uint32_t page = stored.first; page < stored.first + 10; page++)
			cr_assert(eq(u32, kernel.pages[page].first >> STOKE_SHARD_BITS,
				(kernel.pages[page].first + 4000) >> STOKE_SHARD_BITS));
		cr_assert(le(u32, kernel.pages[stored.first + 9].first + 4001,
			stored.first_row + stored.nr_rows));
		unwind_table_done(&table);
	}
	store_counts(store, &counts);
	cr_assert(eq(u64, counts.shards, 2));
	done(store);
}

Test(store, refuses_what_finds_no_room)
{
	struct store *store = make(5, 8, 1);
	struct unwind_table small = table_of(0x1000, 300, 8), wide = table_of(0x1000, 2000, 8),
			    odd = table_of(0x1000, 30, 800);
	struct stored stored;
	struct store_counts counts;

	cr_assert(eq(int, store_add(store, &small, 1, &stored), 0));
	cr_assert(eq(int, store_add(store, &wide, 1, &stored), -ENOSPC)); /* pages */
	cr_assert(eq(int, store_add(store, &odd, 1, &stored), -ENOSPC)); /* rules */
	store_counts(store, &counts);
	cr_assert(eq(u64, counts.refused, 0), "whether that is the end others know");
	cr_assert(eq(u64, counts.files, 1));
	/* What was there before still holds, and there is room for what fits. */
	cr_assert(eq(int, store_add(store, &small, 1, &stored), 0));
	expect_stored(&stored, 0x1000, 300, 8);
	unwind_table_done(&small);
	unwind_table_done(&wide);
	unwind_table_done(&odd);
	done(store);
}

Test(store, gives_the_place_of_what_was_removed_to_others_late)
{
	struct store *store = make(64, 8, 1);
	struct unwind_table old = table_of(0x1000, 1500, 8), small = table_of(0x1000, 300, 8),
			    other = table_of(0x1000, 1500, 16);
	struct stored first, second, third;
	struct store_counts counts;
	const uint64_t grace_ns = 1000000000;

	cr_assert(eq(int, store_add(store, &old, 1, &first), 0));
	cr_assert(not(store_is_short(store)));
	cr_assert(eq(int, store_add(store, &small, 1, &second), 0));
	cr_assert(store_is_short(store));
	store_remove(store, &first, 5);
	expect_stored(&first, 0x1000, 1500, 8); /* for walks that are in it */
	cr_assert(eq(int, store_add(store, &other, 5 + grace_ns - 1, &third), -ENOSPC));
	expect_stored(&first, 0x1000, 1500, 8);
	cr_assert(eq(int, store_add(store, &other, 5 + grace_ns, &third), 0));
	cr_assert(eq(u32, third.first, first.first));
	cr_assert(eq(u32, third.first_row, first.first_row));
	expect_stored(&third, 0x1000, 1500, 16);
	expect_stored(&second, 0x1000, 300, 8);
	store_refuse(store);
	store_counts(store, &counts);
	cr_assert(eq(u64, counts.files, 2));
	cr_assert(eq(u64, counts.given_way, 1));
	cr_assert(eq(u64, counts.refused, 1));
	unwind_table_done(&old);
	unwind_table_done(&small);
	unwind_table_done(&other);
	done(store);
}
