/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_RUNTIME_HOTSPOT_OWNERS_H
#define STOKE_RUNTIME_HOTSPOT_OWNERS_H

/*
 * Who owned which address of a code cache when. A snapshot tells who is there; an owner is one
 * compilation at one place, named once, when it is first seen and still there after its name was
 * read.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/symbol.h"
#include "code/history.h"
#include "code/names.h"
#include "hotspot/codecache.h"
#include "process/pages.h"
#include "runtime/hotspot/chains.h"
#include "runtime/runtime.h"

#define OWNERS_MAX                                                                                 \
	1000000 /* in all of a recording; those behind have no names, and are counted              \
		 */

struct owner {
	struct code_blob blob;
	uint64_t first_ns; /* reading in which it was seen first */
	uint32_t name; /* of names; 0: not found yet */
};

struct owners {
	const struct memory *memory; /* both borrowed */
	const struct hotspot_structs *structs;
	struct code_names names;
	struct code_history history;
	struct owner *items; /* [0] is nobody */
	size_t nr, capacity;
	struct codecache now; /* of the last reading, */
	uint32_t *now_owners; /* and whose each of its blobs is */
	struct chains chains;
	struct pages pages; /* what was read of the VM since the last reading */
	uint64_t nr_refused;
};

void owners_init(
	struct owners *owners, const struct memory *memory, const struct hotspot_structs *structs);
void owners_done(struct owners *owners);

/* One reading. 1: something new, 0: as before, errors of codecache_read(). */
int owners_read(struct owners *owners, uint64_t now_ns);

/*
 * As runtime.lookup. An address that changed hands between the two readings around the sample is
 * not named after either: -ESTALE and a mark that says so. last: no reading comes any more.
 */
int owners_lookup(struct owners *owners, struct span when, uint64_t address, int last,
	struct symbol *ret, size_t max);
/*
 * As runtime.lookup_method. Read at first sight, a moment after the sample: methods go only with
 * their class loader. is_live: the VM's memory can still be read. 0: no method is there.
 */
int owners_lookup_method(struct owners *owners, uint64_t method, uint32_t index, int is_live,
	struct symbol *ret, size_t max);

#endif
