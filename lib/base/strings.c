/* SPDX-License-Identifier: BSD-2-Clause */
/* strings.c: bytes -> u32, once. One arena, one table, freed as a whole. */
#include "base/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/array.h"

/* The kernel gives each process 16 random bytes (AT_RANDOM, getauxval(3)): names come from
 * targets, which shall not be able to pick names that all fall into one slot. */
static uint64_t seed(void)
{
	static const uint64_t fixed[2] = {0x9e3779b97f4a7c15, 0};
	const void *bytes = (const void *)getauxval(AT_RANDOM); /* NOLINT: an address by ABI */
	uint64_t value;

	memcpy(&value, bytes ? bytes : fixed, sizeof(value));
	return value | 1;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t bytes_hash(const void *bytes, size_t size)
{
	const unsigned char *p = bytes;
	uint64_t hash = seed() ^ size, word;

	for (; size >= 8; size -= 8, p += 8) {
		memcpy(&word, p, 8);
		hash = mix(hash ^ word, 0xa0761d6478bd642f);
	}
	word = 0;
	if (size)
		memcpy(&word, p, size);
	hash = mix(hash ^ word, 0xe7037ed1a0b428db);
	return mix(hash, 0x8ebc6af09c88c6e3);
}

int strings_init(struct strings *strings)
{
	uint32_t id;

	*strings = (struct strings){0};
	return strings_add(strings, "", 0, &id);
}

void strings_done(struct strings *strings)
{
	free(strings->bytes);
	free(strings->start);
	free(strings->slots);
	free(strings->hashes);
	*strings = (struct strings){0};
}

const char *strings_text(const struct strings *strings, uint32_t id)
{
	return strings->bytes + strings->start[id];
}

size_t strings_size(const struct strings *strings, uint32_t id)
{
	return strings->start[id + 1] - strings->start[id] - 1;
}

static uint32_t *slot_of(
	const struct strings *strings, const char *text, size_t size, uint32_t hash)
{
	uint32_t mask = strings->nr_slots - 1;

	for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
		uint32_t id = strings->slots[i];

		if (!id)
			return &strings->slots[i];
		id--;
		if (strings->hashes[id] == hash && strings_size(strings, id) == size &&
			memcmp(strings_text(strings, id), text, size) == 0)
			return &strings->slots[i];
	}
}

uint32_t strings_find(const struct strings *strings, const char *text, size_t size)
{
	uint32_t *slot;

	if (!strings->nr_slots)
		return UINT32_MAX;
	slot = slot_of(strings, text, size, (uint32_t)bytes_hash(text, size));
	return *slot ? *slot - 1 : UINT32_MAX;
}

static int rehash(struct strings *strings)
{
	uint32_t nr_slots = strings->nr_slots ? strings->nr_slots * 2 : 64;
	uint32_t *slots;

	if (nr_slots < strings->nr_slots)
		return -E2BIG;
	slots = calloc(nr_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint32_t id = 0; id < strings->nr; id++) {
		uint32_t i = strings->hashes[id] & (nr_slots - 1);

		while (slots[i])
			i = (i + 1) & (nr_slots - 1);
		slots[i] = id + 1;
	}
	free(strings->slots);
	strings->slots = slots;
	strings->nr_slots = nr_slots;
	return 0;
}

int strings_add(struct strings *strings, const char *text, size_t size, uint32_t *ret)
{
	uint32_t hash = (uint32_t)bytes_hash(text, size), *slot;
	size_t need = strings->nr_bytes + size + 1, room = strings->bytes_capacity;
	int r;

	if (strings->nr >= strings->nr_slots / 2) {
		r = rehash(strings);
		if (r < 0)
			return r;
	}
	slot = slot_of(strings, text, size, hash);
	if (*slot) {
		*ret = *slot - 1;
		return 0;
	}
	if (need < size)
		return -E2BIG;
	if (need > room) { /* bytes may pass 4 GiB where ids may not, so not by array_reserve() */
		char *grown;

		room += room / 2;
		if (room < need)
			room = need + 4096;
		grown = realloc(strings->bytes, room);
		if (!grown)
			return -ENOMEM;
		strings->bytes = grown;
		strings->bytes_capacity = room;
	}
	r = array_reserve(&strings->start, &strings->start_capacity, strings->nr, 2);
	if (r < 0)
		return r;
	r = array_reserve(&strings->hashes, &strings->hashes_capacity, strings->nr, 1);
	if (r < 0)
		return r;
	if (size)
		memcpy(strings->bytes + strings->nr_bytes, text, size);
	strings->bytes[need - 1] = '\0';
	strings->start[strings->nr] = strings->nr_bytes;
	strings->start[strings->nr + 1] = need;
	strings->hashes[strings->nr] = hash;
	strings->nr_bytes = need;
	*ret = strings->nr++;
	*slot = *ret + 1;
	return 0;
}
