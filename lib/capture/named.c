/* SPDX-License-Identifier: BSD-2-Clause */
/* named.c: a profile makes a slice anew for each frame of several functions, so who asks for one
 * again is told here. Strings of symbols stay where they are until their runtime goes, so that
 * their addresses do for a key. */
#include "capture/named.h"

#include <errno.h>
#include <stdlib.h>

#include "base/strings.h"

#define FIRST_SLOTS 256

struct named_slot {
	uint64_t key; /* a hash with a secret seed: nobody can choose two alike */
	uint32_t frame; /* 0: free */
};

void named_forget(struct named *named)
{
	free(named->slots);
	*named = (struct named){0};
}

static uint64_t key_of(const struct frame *key, const struct symbol *symbols, size_t nr)
{
	uint64_t words[4] = {key->address, key->module, key->flags, nr}, sum;

	sum = bytes_hash(words, sizeof(words));
	for (size_t i = 0; i < nr; i++) {
		words[0] = sum;
		words[1] = (uintptr_t)symbols[i].name;
		words[2] = (uintptr_t)symbols[i].file;
		words[3] = symbols[i].line | (uint64_t)symbols[i].kind << 32;
		sum = bytes_hash(words, sizeof(words));
	}
	return sum;
}

static struct named_slot *slot_of(const struct named *named, uint64_t key)
{
	const size_t mask = named->nr_slots - 1;
	size_t i = (size_t)key & mask;

	while (named->slots[i].frame && named->slots[i].key != key)
		i = (i + 1) & mask;
	return &named->slots[i];
}

static int widen(struct named *named)
{
	struct named wider = {.nr_slots = named->nr_slots ? 2 * named->nr_slots : FIRST_SLOTS};

	wider.slots = calloc(wider.nr_slots, sizeof(*wider.slots));
	if (!wider.slots)
		return -ENOMEM;
	for (size_t i = 0; i < named->nr_slots; i++) {
		if (named->slots[i].frame)
			*slot_of(&wider, named->slots[i].key) = named->slots[i];
	}
	free(named->slots);
	named->slots = wider.slots;
	named->nr_slots = wider.nr_slots;
	return 0;
}

int named_frame(struct named *named, struct stoke_profile *profile, const struct frame *key,
	const struct symbol *symbols, size_t nr, uint32_t *ret)
{
	struct frame frame = *key;
	struct named_slot *slot = NULL;
	uint64_t hash = 0;
	int r = 0;

	if (nr > 1) {
		if (named->nr >= named->nr_slots / 2)
			r = widen(named);
		if (r < 0)
			return r;
		hash = key_of(key, symbols, nr);
		slot = slot_of(named, hash);
		if (slot->frame) {
			*ret = slot->frame;
			return 0;
		}
	}
	r = profile_symbols(profile, symbols, nr, &frame);
	if (r == 0)
		r = profile_frame(profile, &frame, ret);
	if (r == 0 && nr > 1) {
		*slot = (struct named_slot){hash, *ret};
		named->nr++;
	}
	return r;
}
