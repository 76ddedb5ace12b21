/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_RUNTIME_HOTSPOT_INTERPRETED_H
#define STOKE_RUNTIME_HOTSPOT_INTERPRETED_H

/*
 * Methods that were seen being interpreted, by the VM's address of each. Read at first sight, a
 * moment after the sample: methods go only with their class loader.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/symbol.h"
#include "code/names.h"
#include "hotspot/structs.h"
#include "process/pages.h"

#define INTERPRETED_MAX 200000 /* methods in all of a recording; those behind have no names */

struct interpreted {
	const struct hotspot_structs *structs; /* borrowed */
	struct pages pages;
	struct code_names names;
	struct interpreted_method *slots; /* by address, open addressing */
	size_t nr, nr_slots; /* a power of two */
};

void interpreted_init(struct interpreted *interpreted, const struct memory *memory,
	const struct hotspot_structs *structs);
void interpreted_done(struct interpreted *interpreted);
/* is_live: its memory can still be read. 1; 0: no method is there, or none that can be read any
 * more; -ENOMEM. */
int interpreted_lookup(
	struct interpreted *interpreted, uint64_t method, int is_live, struct symbol *ret);

#endif
