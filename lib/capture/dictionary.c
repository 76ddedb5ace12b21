/* SPDX-License-Identifier: BSD-2-Clause */
/* dictionary.c: half of all samples repeat a stack; looking 40 frames up again would be waste. */
#include "capture/dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/strings.h"

struct slot {
	struct stack_hash hash; /* both 0: free */
	struct assembled assembled;
};

struct dictionary {
	struct slot *slots;
	size_t nr_slots, nr, max;
};

int dictionary_new(size_t max, struct dictionary **ret)
{
	struct dictionary *dictionary = calloc(1, sizeof(*dictionary));

	if (!dictionary)
		return -ENOMEM;
	dictionary->nr_slots = 64;
	while (dictionary->nr_slots < max * 2)
		dictionary->nr_slots *= 2;
	dictionary->max = max;
	dictionary->slots = calloc(dictionary->nr_slots, sizeof(*dictionary->slots));
	if (!dictionary->slots) {
		free(dictionary);
		return -ENOMEM;
	}
	*ret = dictionary;
	return 0;
}

void dictionary_free(struct dictionary *dictionary)
{
	if (!dictionary)
		return;
	free(dictionary->slots);
	free(dictionary);
}

void dictionary_clear(struct dictionary *dictionary)
{
	if (!dictionary->nr)
		return; /* megabytes that may never be touched stay so */
	memset(dictionary->slots, 0, dictionary->nr_slots * sizeof(*dictionary->slots));
	dictionary->nr = 0;
}

struct stack_hash stack_hash(const uint64_t *key, size_t nr_key, const uint64_t *frames, size_t nr)
{
	uint64_t low = bytes_hash(frames, nr * sizeof(*frames)), high = low;

	low ^= bytes_hash(key, nr_key * sizeof(*key));
	/* A second function of the same bytes: each word multiplied by its place. */
	for (size_t i = 0; i < nr; i++)
		high = (high ^ frames[i]) * 0x9fb21c651e98df25 + i;
	for (size_t i = 0; i < nr_key; i++)
		high = (high ^ key[i]) * 0xd6e8feb86659fd93 + i;
	return (struct stack_hash){.low = low, .high = high | 1}; /* never both 0 */
}

static struct slot *slot_of(const struct dictionary *dictionary, const struct stack_hash *hash)
{
	size_t mask = dictionary->nr_slots - 1;

	for (size_t i = hash->low & mask;; i = (i + 1) & mask) {
		struct slot *slot = &dictionary->slots[i];

		if (!slot->hash.high ||
			(slot->hash.low == hash->low && slot->hash.high == hash->high))
			return slot;
	}
}

const struct assembled *dictionary_find(
	const struct dictionary *dictionary, const struct stack_hash *hash)
{
	const struct slot *slot = slot_of(dictionary, hash);

	return slot->hash.high ? &slot->assembled : NULL;
}

void dictionary_add(struct dictionary *dictionary, const struct stack_hash *hash,
	const struct assembled *assembled)
{
	struct slot *slot;

	if (dictionary->nr >= dictionary->max)
		dictionary_clear(dictionary);
	slot = slot_of(dictionary, hash);
	if (!slot->hash.high)
		dictionary->nr++;
	slot->hash = *hash;
	slot->assembled = *assembled;
}
