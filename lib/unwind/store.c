/* SPDX-License-Identifier: BSD-2-Clause */
/* store.c: tables side by side. Rules first, then rows, then pages: nothing refers to a place that
 * is not written yet, and no mapping refers to pages before store_add() has returned. */
#include "unwind/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

struct store {
	struct store_memory memory;
	struct rules rules;
	size_t nr_written; /* rules that are in memory */
	uint64_t nr_rows; /* taken, the ends of shards that were left out too */
	uint64_t nr_pages;
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
	*ret = store;
	return 0;
}

void store_free(struct store *store)
{
	if (!store)
		return;
	rules_done(&store->rules);
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

/* The rows of one page, which lie in one shard: at its end there may be some left. */
static int put_page(struct store *store, const struct unwind_table *table,
	const struct stoke_page *page, const uint32_t *numbers, struct stoke_page *ret)
{
	uint64_t first = store->nr_rows;
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
	store->nr_rows = first + page->nr;
	store->counts.rows += page->nr;
	return 0;
}

int store_add(struct store *store, const struct unwind_table *table, struct stored *ret)
{
	_cleanup_free_ uint32_t *numbers = calloc(table->rules.nr + 1, sizeof(*numbers));
	uint64_t first = store->nr_pages, rows = store->nr_rows, counted = store->counts.rows;
	int r;

	if (!numbers)
		return -ENOMEM;
	if (table->nr_pages > store->memory.max_pages - first) {
		store->counts.refused++;
		return -ENOSPC;
	}
	r = number_rules(store, table, numbers);
	for (size_t i = 0; r == 0 && i < table->nr_pages; i++) {
		if (table->pages[i].nr)
			r = put_page(store, table, &table->pages[i], numbers,
				&store->memory.pages[first + i]);
	}
	if (r < 0) {
		/* Nobody was told of these pages: the next table takes their place. */
		memset(&store->memory.pages[first], 0,
			table->nr_pages * sizeof(*store->memory.pages));
		store->nr_rows = rows;
		store->counts.rows = counted;
		store->counts.refused += r == -ENOSPC;
		return r;
	}
	store->nr_pages += table->nr_pages;
	store->counts.files++;
	*ret = (struct stored){
		.page = (uint32_t)(first - table->first_page),
		.first = (uint32_t)first,
		.nr = (uint32_t)table->nr_pages,
	};
	return 0;
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
	ret->pages = store->nr_pages;
	ret->rules = store->rules.nr;
	ret->shards = store->nr_shards;
}
