/* SPDX-License-Identifier: BSD-2-Clause */
/* rules.c: a dictionary of rules. A million rows of all files on a machine share some thousand. */
#include "unwind/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define MIN_SLOTS 256

void rules_done(struct rules *rules)
{
	free(rules->items);
	free(rules->slots);
	*rules = (struct rules){.max = rules->max};
}

/* Chosen collisions only make their own file slow, within its limits; bytes_hash() would make all
 * of them slow. */
static uint64_t hash_of(const struct unwind_rule *rule)
{
	uint64_t low;
	uint32_t high;

	memcpy(&low, rule, sizeof(low));
	memcpy(&high, (const char *)rule + sizeof(low), sizeof(high));
	return ((low ^ (uint64_t)high << 17) * 0x9e3779b97f4a7c15ull) >> 32;
}

static uint32_t *slot_of(const struct rules *rules, const struct unwind_rule *rule)
{
	size_t mask = rules->nr_slots - 1;

	for (size_t i = hash_of(rule) & mask;; i = (i + 1) & mask) {
		uint32_t *slot = &rules->slots[i];

		if (!*slot || memcmp(&rules->items[*slot - 1], rule, sizeof(*rule)) == 0)
			return slot;
	}
}

static int grow(struct rules *rules)
{
	size_t nr_slots = rules->nr_slots ? rules->nr_slots * 2 : MIN_SLOTS;
	uint32_t *slots = calloc(nr_slots, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(rules->slots);
	rules->slots = slots;
	rules->nr_slots = nr_slots;
	for (size_t i = 0; i < rules->nr; i++)
		*slot_of(rules, &rules->items[i]) = (uint32_t)i + 1;
	return 0;
}

static int append(struct rules *rules, const struct unwind_rule *rule)
{
	int r;

	if (rules->nr >= rules->max)
		return -ENOSPC;
	r = array_reserve(&rules->items, &rules->capacity, rules->nr, 1);
	if (r == 0 && rules->nr >= rules->nr_slots / 2)
		r = grow(rules);
	if (r < 0)
		return r;
	rules->items[rules->nr++] = *rule;
	*slot_of(rules, rule) = (uint32_t)rules->nr;
	return 0;
}

int rules_add(struct rules *rules, const struct unwind_rule *rule, uint32_t *ret)
{
	static const struct unwind_rule none = {0};
	uint32_t *slot;
	int r;

	if (!rules->nr) {
		r = append(rules, &none);
		if (r < 0)
			return r;
	}
	slot = slot_of(rules, rule);
	if (*slot) {
		*ret = *slot - 1;
		return 0;
	}
	r = append(rules, rule);
	if (r < 0)
		return r;
	*ret = (uint32_t)rules->nr - 1;
	return 0;
}
