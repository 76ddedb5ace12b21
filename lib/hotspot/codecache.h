/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_HOTSPOT_CODECACHE_H
#define STOKE_HOTSPOT_CODECACHE_H

/*
 * What stands in HotSpot's code cache at a moment: a snapshot that never changes once it is taken.
 * The VM goes on meanwhile, so each header is checked for itself, and who was half written is left
 * out until the next snapshot.
 */

#include <stddef.h>
#include <stdint.h>

#include "hotspot/structs.h"
#include "process/memory.h"

#define CODECACHE_MAX_HEAPS 8
#define CODECACHE_MAX_BLOBS 500000 /* those behind are left out, and counted */

struct code_heap {
	uint64_t low, high; /* in use so far */
	uint64_t low_limit, high_limit; /* reserved */
	uint64_t segments; /* address of a byte a segment: 0 is where a block starts */
	uint8_t log2_segment;
};

enum blob_kind {
	BLOB_OTHER, /* code of the runtime: exceptions, safepoints, slow paths */
	BLOB_METHOD, /* a compiled method */
	BLOB_NATIVE, /* the wrapper of a native method */
	BLOB_INTERPRETER,
	BLOB_STUBS, /* StubRoutines: among them where native code calls Java */
	BLOB_VTABLE,
	BLOB_ADAPTER
};

struct code_blob {
	uint64_t start; /* of its header */
	uint64_t code; /* where its code begins */
	uint64_t name; /* address of the string that says what it is */
	uint64_t method; /* Method *; 0: none */
	uint32_t code_size;
	uint32_t compile_id; /* 0: none. Unique among methods at one address */
	uint32_t frame_bytes;
	int32_t frame_complete; /* offset in the code; -1: never */
	uint8_t kind; /* enum blob_kind */
	int8_t level; /* 1 to 3: C1, 4: C2; 0 */
	int8_t state; /* of a method; those that are dead are left out */
};

struct codecache {
	struct code_heap heaps[CODECACHE_MAX_HEAPS];
	size_t nr_heaps;
	struct code_blob *blobs; /* sorted by code, disjoint */
	size_t nr_blobs, capacity;
	uint64_t nr_bad; /* headers that made no sense */
	uint64_t nr_left_out; /* no room */
};

/* 0 with *ret_nr 0 while the VM starts; -EINVAL: what is there makes no sense; errors of memory. */
int code_heaps_read(const struct memory *memory, const struct hotspot_structs *structs,
	struct code_heap ret[CODECACHE_MAX_HEAPS], size_t *ret_nr);
/* Same errors, and -ENOMEM. */
int codecache_read(
	const struct memory *memory, const struct hotspot_structs *structs, struct codecache *ret);
void codecache_done(struct codecache *codecache);

/* Whose code holds the address, or NULL. */
const struct code_blob *codecache_find(const struct codecache *codecache, uint64_t address);

#endif
