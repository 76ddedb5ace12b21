/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_HOTSPOT_EXPORTS_H
#define STOKE_HOTSPOT_EXPORTS_H

/*
 * What a shared object exports, read from the process that has it mapped, as its dynamic linker
 * left it: no path is followed and no file read, which may be gone or of another root.
 */

#include <stddef.h>
#include <stdint.h>

#include "process/memory.h"

struct hotspot_exports {
	uint8_t *symbols; /* Elf64_Sym each */
	size_t nr_symbols;
	char *names;
	size_t names_size; /* the last byte is NUL */
	uint64_t bias; /* from symbol values to addresses */
};

/* Of the object that has `offset` of its file mapped at `start`. 0, -ENOENT, or as memory_read().
 */
int hotspot_exports_read(
	const struct memory *memory, uint64_t start, uint64_t offset, struct hotspot_exports *ret);
void hotspot_exports_done(struct hotspot_exports *exports);
/* Its address in the process, or 0. */
uint64_t hotspot_exports_find(const struct hotspot_exports *exports, const char *name);

#endif
