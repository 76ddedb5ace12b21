/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c: up to half of a map's names repeat (one method at several tiers), and none may move. */
#include "code/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/strings.h"

/* The first block is enough for a small map. Later ones are huge pages: a page fault in a virtual
 * machine costs as much as a hundred names. */
#define FIRST_BLOCK_BYTES (256 * 1024)
#define LATER_BLOCK_BYTES (2 * 1024 * 1024)
#define MAX_BYTES	  (128u * 1024 * 1024)

void code_names_done(struct code_names *names)
{
	for (size_t i = 0; i < names->nr_blocks; i++)
		free(names->blocks[i]);
	free(names->blocks);
	free(names->items);
	free(names->slots);
	*names = (struct code_names){0};
}

static uint32_t *slot_of(
	const struct code_names *names, const char *text, size_t size, uint32_t hash)
{
	size_t mask = names->nr_slots - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		uint32_t id = names->slots[i];
		const struct code_name *name = &names->items[id];

		if (!id || (name->hash == hash && name->size == size &&
				   memcmp(name->text, text, size) == 0))
			return &names->slots[i];
	}
}

static int widen(struct code_names *names)
{
	size_t nr_slots = names->nr_slots ? names->nr_slots * 2 : 256;
	uint32_t *slots = calloc(nr_slots, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t id = 1; id < names->nr; id++) {
		size_t i = names->items[id].hash & (nr_slots - 1);

		while (slots[i])
			i = (i + 1) & (nr_slots - 1);
		slots[i] = (uint32_t)id;
	}
	free(names->slots);
	names->slots = slots;
	names->nr_slots = nr_slots;
	return 0;
}

static char *keep(struct code_names *names, const char *text, size_t size)
{
	char *kept;

	if (!names->nr_blocks || names->block_size - names->block_used < size) {
		size_t block_size = names->nr_blocks ? LATER_BLOCK_BYTES : FIRST_BLOCK_BYTES;

		if (array_reserve(&names->blocks, &names->blocks_capacity, names->nr_blocks, 1) < 0)
			return NULL;
		kept = aligned_alloc(block_size, block_size);
		if (!kept)
			return NULL;
		if (block_size == LATER_BLOCK_BYTES)
			(void)madvise(kept, block_size, MADV_HUGEPAGE); /* faster, no more */
		names->blocks[names->nr_blocks++] = kept;
		names->block_size = block_size;
		names->block_used = 0;
	}
	kept = names->blocks[names->nr_blocks - 1] + names->block_used;
	memcpy(kept, text, size);
	names->block_used += size;
	names->nr_bytes += size;
	return kept;
}

int code_names_add(struct code_names *names, const char *text, size_t size, uint32_t *ret)
{
	uint32_t hash = (uint32_t)bytes_hash(text, size), *slot;
	struct code_name name = {.size = (uint32_t)size, .hash = hash};
	int r;

	if (!names->nr || names->nr >= names->nr_slots / 2) {
		r = widen(names);
		if (r < 0)
			return r;
	}
	r = array_reserve(&names->items, &names->capacity, names->nr, 2);
	if (r < 0)
		return r;
	if (!names->nr)
		names->items[names->nr++] = (struct code_name){.text = ""};
	slot = slot_of(names, text, size, hash);
	if (*slot) {
		*ret = *slot;
		return 0;
	}
	if (names->nr_bytes + size > MAX_BYTES)
		return -E2BIG;
	name.text = keep(names, text, size);
	if (!name.text)
		return -ENOMEM;
	names->items[names->nr] = name;
	*slot = *ret = (uint32_t)names->nr++;
	return 0;
}
