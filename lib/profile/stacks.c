/* SPDX-License-Identifier: BSD-2-Clause */
/* stacks.c: nodes whose parent has the smaller id, and the index that finds a child again. */
#include "profile/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int stacks_init(struct stacks *stacks)
{
	uint32_t root;
	int r;

	*stacks = (struct stacks){0};
	r = stacks_append(stacks, 0, 0, &root);
	if (r < 0)
		stacks_done(stacks);
	return r;
}

void stacks_done(struct stacks *stacks)
{
	free(stacks->parent);
	free(stacks->frame);
	free(stacks->slots);
	*stacks = (struct stacks){0};
}

int stacks_reserve(struct stacks *stacks, size_t extra)
{
	int r = array_reserve(&stacks->parent, &stacks->capacity, stacks->nr, extra);

	return r < 0 ? r
		     : array_reserve(&stacks->frame, &stacks->frame_capacity, stacks->nr, extra);
}

int stacks_append(struct stacks *stacks, uint32_t parent, uint32_t frame, uint32_t *ret)
{
	int r;

	if (stacks->nr >= stacks->capacity || stacks->nr >= stacks->frame_capacity) {
		r = array_reserve(&stacks->parent, &stacks->capacity, stacks->nr, 1);
		if (r < 0)
			return r;
		r = array_reserve(&stacks->frame, &stacks->frame_capacity, stacks->nr, 1);
		if (r < 0)
			return r;
	}
	stacks->parent[stacks->nr] = parent;
	stacks->frame[stacks->nr] = frame;
	*ret = (uint32_t)stacks->nr++;
	return 0;
}

/* Ids are dense and ours: a multiplication spreads them, nobody can choose them. */
static uint32_t hash_of(uint32_t parent, uint32_t frame)
{
	uint64_t x = ((uint64_t)parent << 32 | frame) * 0x9e3779b97f4a7c15;

	return (uint32_t)(x >> 32);
}

static uint32_t *slot_of(const struct stacks *stacks, uint32_t parent, uint32_t frame)
{
	uint32_t mask = stacks->nr_slots - 1;

	for (uint32_t i = hash_of(parent, frame) & mask;; i = (i + 1) & mask) {
		uint32_t node = stacks->slots[i];

		if (!node || (stacks->parent[node] == parent && stacks->frame[node] == frame))
			return &stacks->slots[i];
	}
}

/* Takes in nodes that were appended since, and makes room for one more. */
static int index_catch_up(struct stacks *stacks)
{
	size_t want = stacks->nr + 1;
	uint32_t nr_slots = stacks->nr_slots ? stacks->nr_slots : 64;

	while (nr_slots < want + want / 2) {
		if (nr_slots > UINT32_MAX / 2)
			return -E2BIG;
		nr_slots *= 2;
	}
	if (nr_slots != stacks->nr_slots) {
		uint32_t *slots = array_new(nr_slots, sizeof(*slots));

		if (!slots)
			return -ENOMEM;
		free(stacks->slots);
		stacks->slots = slots;
		stacks->nr_slots = nr_slots;
		stacks->nr_indexed = 1;
	}
	for (; stacks->nr_indexed < stacks->nr; stacks->nr_indexed++) {
		uint32_t node = stacks->nr_indexed;
		uint32_t *slot = slot_of(stacks, stacks->parent[node], stacks->frame[node]);

		if (!*slot)
			*slot = node;
	}
	return 0;
}

int stacks_child(struct stacks *stacks, uint32_t parent, uint32_t frame, uint32_t *ret)
{
	uint32_t *slot, node;
	int r;

	r = index_catch_up(stacks);
	if (r < 0)
		return r;
	slot = slot_of(stacks, parent, frame);
	if (*slot) {
		*ret = *slot;
		return 0;
	}
	r = stacks_append(stacks, parent, frame, &node);
	if (r < 0)
		return r;
	*slot = node;
	stacks->nr_indexed = (uint32_t)stacks->nr;
	*ret = node;
	return 0;
}

void stacks_renumbered(struct stacks *stacks)
{
	free(stacks->slots);
	stacks->slots = NULL;
	stacks->nr_slots = stacks->nr_indexed = 0;
}
