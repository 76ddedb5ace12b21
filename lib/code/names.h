/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CODE_NAMES_H
#define STOKE_CODE_NAMES_H

/* Names that stay where they are until all go at once: symbols point at them. */

#include <stddef.h>
#include <stdint.h>

struct code_name {
	const char *text;
	uint32_t size;
	uint32_t hash;
};

struct code_names {
	struct code_name *items; /* items[0] is nobody's */
	size_t nr, capacity;
	uint32_t *slots;
	size_t nr_slots; /* a power of two */
	char **blocks;
	size_t nr_blocks, blocks_capacity;
	size_t block_used, block_size; /* of the last block */
	size_t nr_bytes;
};

void code_names_done(struct code_names *names);
/* The same bytes are the same id, from 1 on. 0, -ENOMEM, -E2BIG. */
int code_names_add(struct code_names *names, const char *text, size_t size, uint32_t *ret);

#endif
