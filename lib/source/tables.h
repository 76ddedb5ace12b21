/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_SOURCE_TABLES_H
#define STOKE_SOURCE_TABLES_H

/* The memory of bpf/table.h that walks in the kernel read. Arrays are written through mappings, as
 * a call for each element would cost more, and samples. */

#include "bpf/javavm.h"
#include "bpf/table.h"
#include "source/source.h"

struct tables {
	struct objects *objects; /* borrowed */
	struct stoke_rule *rules;
	struct stoke_page *pages;
	struct stoke_mapping *mappings;
	struct stoke_java *javas;
	size_t max_rules, max_pages, max_mappings, max_javas;
	struct stoke_shard *shards[STOKE_MAX_SHARDS];
	size_t nr_shards;
};

/* Of objects that are open; without BPF, memory for walks over copies alone: no mappings. 0,
 * -ENOMEM, -errno: without them walks go by frame pointers. */
int tables_open(struct objects *objects, struct tables **ret);
/* Before objects_close(). Takes NULL. */
void tables_close(struct tables *tables);

/* Slots for struct store_memory and struct publisher_memory; arg is the tables. */
struct stoke_shard *tables_shard(void *arg, uint32_t index);
int tables_set_space(void *arg, uint32_t pid, const struct stoke_space *space);

#endif
