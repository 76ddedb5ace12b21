/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_RUNTIME_HOTSPOT_CHAINS_H
#define STOKE_RUNTIME_HOTSPOT_CHAINS_H

/*
 * Methods that stand at one place, innermost first, with files and lines: found once, then known.
 * A key is whatever its owner says is one place for good.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/symbol.h"
#include "code/names.h"
#include "hotspot/scopes.h"
#include "hotspot/structs.h"
#include "process/pages.h"

#define CHAINS_MAX	 400000 /* places; then all are found anew */
#define CHAIN_MAX_FRAMES 64

struct chain_key {
	uint64_t address;
	uint64_t owner;
};

struct chain;
struct chain_frame;

struct chains {
	struct chain *items;
	size_t nr, capacity;
	struct chain_frame *frames;
	size_t nr_frames, frames_capacity;
	uint32_t *slots; /* item + 1, or 0 */
	size_t nr_slots;
};

void chains_done(struct chains *chains);

/* How many symbols the chain of that key has, all or only its last in ret; 0: not known yet. */
int chains_find(const struct chains *chains, const struct code_names *names,
	const struct chain_key *key, struct symbol *ret, size_t max);

/*
 * Reads what there is to know of these methods and keeps it. The last is of kind `kind`, those
 * inlined into it are inlined. How many; 0: a name makes no sense, nothing is kept; errors of pages
 * but -EFAULT, -ENOMEM.
 */
int chains_add(struct chains *chains, struct code_names *names, struct pages *pages,
	const struct hotspot_structs *structs, const struct chain_key *key,
	const struct scope *scopes, size_t nr, enum function_kind kind);

#endif
