/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_UNWIND_STORE_H
#define STOKE_UNWIND_STORE_H

/*
 * All tables in the memory that walks read (bpf/table.h): rules of all files in one dictionary,
 * rows in shards, pages in one array. A file is compiled once however often it is mapped, and what
 * nobody maps any more gives way where room is short; what finds none is counted.
 */

#include "unwind/table.h"

struct store;

/* Zeroed memory, shared with whoever walks. */
struct store_memory {
	struct stoke_rule *rules;
	size_t max_rules;
	struct stoke_page *pages;
	size_t max_pages;
	size_t max_shards;
	/* A new shard of that index, when the ones before are full; NULL: no memory. */
	struct stoke_shard *(*shard)(void *arg, uint32_t index);
	void *arg;
};

struct store_counts {
	uint64_t files, rows, pages, rules, shards;
	uint64_t refused; /* files for which there was no room */
	uint64_t given_way; /* files that gave way for others */
};

int store_new(const struct store_memory *memory, struct store **ret);
void store_free(struct store *store);

/* Where a file's pages are: what stoke_mapping of it says. */
struct stored {
	uint32_t page, first, nr;
	uint32_t first_row, nr_rows;
};

/* Puts a table in. 0, -ENOMEM; -ENOSPC: a bound was met. */
int store_add(
	struct store *store, const struct unwind_table *table, uint64_t now_ns, struct stored *ret);
/* No mapping refers to it any more: others may have its place, once no walk can be in it. */
void store_remove(struct store *store, const struct stored *stored, uint64_t now_ns);
/* There was no room, and will be none. */
void store_refuse(struct store *store);
/* Is little room left? */
int store_is_short(const struct store *store);
/* The number of a rule, for UNIFORM mappings. Results as above. */
int store_rule(struct store *store, const struct unwind_rule *rule, uint32_t *ret);
/* What walks read, NULL: nothing is there. */
const struct stoke_page *store_page(const struct store *store, uint32_t index);
const struct stoke_shard *store_shard(const struct store *store, uint32_t index);
const struct stoke_rule *store_rule_at(const struct store *store, uint32_t index);
void store_counts(const struct store *store, struct store_counts *ret);

#endif
