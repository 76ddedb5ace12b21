/* SPDX-License-Identifier: BSD-2-Clause */
/* store.c: tables side by side. Rules first, then rows, then pages: nothing refers to a place that
 * is not written yet, and no mapping refers to pages before store_add() has returned. */
#include "unwind/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "unwind/places.h"

#define SHORT_SHARE 8 /* less than that part left is little */

struct store {
	struct store_memory memory;
	struct rules rules;
	size_t nr_written; /* rules that are in memory */
	struct places rows, pages;
	uint64_t nr_pages; /* that were ever used */
	uint64_t rows_taken, pages_taken; /* now, the ends of shards that were left out too */
	struct stoke_shard *shards[STOKE_MAX_SHARDS];
	size_t nr_shards;
	struct store_counts counts;
};

int store_new(const struct store_memory *memory, struct store **ret)
{
	struct store *store = calloc(1, sizeof(*store));

	if (!store)
		return -ENOMEM;
	store->memory = *memory;
	if (store->memory.max_shards > STOKE_MAX_SHARDS)
		store->memory.max_shards = STOKE_MAX_SHARDS;
	store->rules.max = memory->max_rules;
	if (places_init(&store->rows, (uint32_t)store->memory.max_shards << STOKE_SHARD_BITS) < 0 ||
		places_init(&store->pages, (uint32_t)memory->max_pages) < 0) {
		store_free(store);
		return -ENOMEM;
	}
	*ret = store;
	return 0;
}

void store_free(struct store *store)
{
	if (!store)
		return;
	rules_done(&store->rules);
	places_done(&store->rows);
	places_done(&store->pages);
	free(store);
}

static void write_rules(struct store *store)
{
	for (; store->nr_written < store->rules.nr; store->nr_written++)
		store->memory.rules[store->nr_written].rule = store->rules.items[store->nr_written];
}

int store_rule(struct store *store, const struct unwind_rule *rule, uint32_t *ret)
{
	int r = rules_add(&store->rules, rule, ret);

	write_rules(store);
	return r;
}

/* Numbers of the table's rules among all. */
static int number_rules(struct store *store, const struct unwind_table *table, uint32_t *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < table->rules.nr; i++)
		r = rules_add(&store->rules, &table->rules.items[i], &ret[i]);
	write_rules(store);
	return r;
}

static int have_shard(struct store *store, uint64_t index)
{
	while (store->nr_shards <= index) {
		struct stoke_shard *shard;

		if (store->nr_shards >= store->memory.max_shards)
			return -ENOSPC;
		shard = store->memory.shard(store->memory.arg, (uint32_t)store->nr_shards);
		if (!shard)
			return -ENOSPC;
		store->shards[store->nr_shards++] = shard;
	}
	return 0;
}

/* Where the table's rows go: a page's rows lie in one shard, at whose end there may be some left.
 */
static int take_rows(struct store *store, const struct unwind_table *table, uint64_t now_ns,
	struct stored *place)
{
	uint64_t nr = table->nr_rows, crossed;
	int r;

	for (;;) {
		if (nr > UINT32_MAX)
			return -ENOSPC;
		r = places_take(&store->rows, (uint32_t)nr, now_ns, &place->first_row);
		if (r < 0 || nr > table->nr_rows || nr == 0)
			break;
		crossed = ((place->first_row + nr - 1) >> STOKE_SHARD_BITS) -
			  (place->first_row >> STOKE_SHARD_BITS);
		if (!crossed)
			break;
		places_leave(&store->rows, place->first_row, (uint32_t)nr, 0);
		nr += ((nr >> STOKE_SHARD_BITS) + 2) << STOKE_PAGE_BITS;
	}
	place->nr_rows = (uint32_t)nr;
	return r;
}

/* Writes the rows of one page; *at moves on. */
static int put_page(struct store *store, const struct unwind_table *table,
	const struct stoke_page *page, const uint32_t *numbers, uint64_t *at,
	struct stoke_page *ret)
{
	uint64_t first = *at;
	uint32_t *to;
	int r;

	if ((first & (STOKE_SHARD_ROWS - 1)) + page->nr > STOKE_SHARD_ROWS)
		first = (first | (STOKE_SHARD_ROWS - 1)) + 1;
	r = have_shard(store, first >> STOKE_SHARD_BITS);
	if (r < 0)
		return r;
	to = &store->shards[first >> STOKE_SHARD_BITS]->rows[first & (STOKE_SHARD_ROWS - 1)];
	for (uint32_t i = 0; i < page->nr; i++) {
		uint32_t row = table->rows[page->first + i];

		to[i] = (row & ~STOKE_RULE_MASK) | numbers[row & STOKE_RULE_MASK];
	}
	*ret = (struct stoke_page){.first = (uint32_t)first, .nr = page->nr};
	*at = first + page->nr;
	return 0;
}

static int put_pages(struct store *store, const struct unwind_table *table, const uint32_t *numbers,
	const struct stored *place)
{
	uint64_t at = place->first_row;
	int r = 0;

	for (size_t i = 0; r == 0 && i < table->nr_pages; i++) {
		struct stoke_page *page = &store->memory.pages[place->first + i];

		*page = (struct stoke_page){0};
		if (table->pages[i].nr)
			r = put_page(store, table, &table->pages[i], numbers, &at, page);
	}
	return r;
}

static int take_place(struct store *store, const struct unwind_table *table, uint64_t now_ns,
	struct stored *place)
{
	size_t files = store->counts.files + 2;
	int r;

	if (places_reserve(&store->rows, files + 1) < 0 || places_reserve(&store->pages, files) < 0)
		return -ENOMEM;
	r = places_take(&store->pages, (uint32_t)table->nr_pages, now_ns, &place->first);
	if (r < 0)
		return r;
	place->nr = (uint32_t)table->nr_pages;
	r = take_rows(store, table, now_ns, place);
	if (r < 0)
		places_leave(&store->pages, place->first, place->nr, 0);
	return r;
}

int store_add(
	struct store *store, const struct unwind_table *table, uint64_t now_ns, struct stored *ret)
{
	_cleanup_free_ uint32_t *numbers = calloc(table->rules.nr + 1, sizeof(*numbers));
	struct stored place;
	int r;

	if (!numbers)
		return -ENOMEM;
	r = number_rules(store, table, numbers);
	if (r == 0)
		r = take_place(store, table, now_ns, &place);
	if (r < 0)
		return r;
	place.page = (uint32_t)(place.first - table->first_page);
	r = put_pages(store, table, numbers, &place);
	if (r < 0) {
		/* Nobody was told of these places. */
		places_leave(&store->rows, place.first_row, place.nr_rows, 0);
		places_leave(&store->pages, place.first, place.nr, 0);
		return r;
	}
	if (store->nr_pages < (uint64_t)place.first + place.nr)
		store->nr_pages = (uint64_t)place.first + place.nr;
	store->rows_taken += place.nr_rows;
	store->pages_taken += place.nr;
	store->counts.rows += place.nr_rows;
	store->counts.files++;
	*ret = place;
	return 0;
}

void store_remove(struct store *store, const struct stored *stored, uint64_t now_ns)
{
	places_leave(&store->rows, stored->first_row, stored->nr_rows, now_ns + PLACES_GRACE_NS);
	places_leave(&store->pages, stored->first, stored->nr, now_ns + PLACES_GRACE_NS);
	store->rows_taken -= stored->nr_rows;
	store->pages_taken -= stored->nr;
	store->counts.rows -= stored->nr_rows;
	store->counts.files--;
	store->counts.given_way++;
}

void store_refuse(struct store *store)
{
	store->counts.refused++;
}

int store_is_short(const struct store *store)
{
	uint64_t rows = (uint64_t)store->memory.max_shards << STOKE_SHARD_BITS;

	return store->rows_taken > rows - rows / SHORT_SHARE ||
	       store->pages_taken > store->memory.max_pages - store->memory.max_pages / SHORT_SHARE;
}

const struct stoke_page *store_page(const struct store *store, uint32_t index)
{
	return index < store->nr_pages ? &store->memory.pages[index] : NULL;
}

const struct stoke_shard *store_shard(const struct store *store, uint32_t index)
{
	return index < store->nr_shards ? store->shards[index] : NULL;
}

const struct stoke_rule *store_rule_at(const struct store *store, uint32_t index)
{
	return index < store->nr_written ? &store->memory.rules[index] : NULL;
}

void store_counts(const struct store *store, struct store_counts *ret)
{
	*ret = store->counts;
	ret->pages = store->pages_taken;
	ret->rules = store->rules.nr;
	ret->shards = store->nr_shards;
}
