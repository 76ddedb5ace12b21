/* SPDX-License-Identifier: BSD-2-Clause */
/* publish.c: slices of one array, and the space that leads to each. */
#include "unwind/publish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/places.h"

struct slice {
	uint32_t pid; /* 0: free slot */
	uint32_t first, nr; /* with its head */
	uint32_t java; /* as its head says */
};

struct publisher {
	struct publisher_memory memory;
	struct places places;
	struct slice *slots; /* by pid, open addressing */
	size_t nr_slots; /* a power of two */
	uint32_t generation;
	struct publisher_counts counts;
};

int publisher_new(const struct publisher_memory *memory, struct publisher **ret)
{
	struct publisher *publisher = calloc(1, sizeof(*publisher));

	if (!publisher)
		return -ENOMEM;
	publisher->memory = *memory;
	publisher->nr_slots = 64;
	publisher->slots = calloc(publisher->nr_slots, sizeof(*publisher->slots));
	if (!publisher->slots ||
		places_init(&publisher->places, (uint32_t)memory->max_mappings) < 0) {
		publisher_free(publisher);
		return -ENOMEM;
	}
	*ret = publisher;
	return 0;
}

void publisher_free(struct publisher *publisher)
{
	if (!publisher)
		return;
	places_done(&publisher->places);
	free(publisher->slots);
	free(publisher);
}

static size_t place_of(const struct publisher *publisher, uint32_t pid)
{
	return (pid * 0x9e3779b1u) & (publisher->nr_slots - 1);
}

static struct slice *slot_of(const struct publisher *publisher, uint32_t pid)
{
	size_t i = place_of(publisher, pid);

	while (publisher->slots[i].pid && publisher->slots[i].pid != pid)
		i = (i + 1) & (publisher->nr_slots - 1);
	return &publisher->slots[i];
}

static int grow(struct publisher *publisher)
{
	struct publisher wider = *publisher;

	wider.nr_slots *= 2;
	wider.slots = calloc(wider.nr_slots, sizeof(*wider.slots));
	if (!wider.slots)
		return -ENOMEM;
	for (size_t i = 0; i < publisher->nr_slots; i++) {
		if (publisher->slots[i].pid)
			*slot_of(&wider, publisher->slots[i].pid) = publisher->slots[i];
	}
	free(publisher->slots);
	*publisher = wider;
	return 0;
}

/* Takes a slot out and closes the gap in its chain. */
static void forget(struct publisher *publisher, struct slice *slice)
{
	size_t mask = publisher->nr_slots - 1, hole = (size_t)(slice - publisher->slots);

	for (size_t i = (hole + 1) & mask; publisher->slots[i].pid; i = (i + 1) & mask) {
		size_t home = place_of(publisher, publisher->slots[i].pid);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue; /* it would come before its home */
		publisher->slots[hole] = publisher->slots[i];
		hole = i;
	}
	publisher->slots[hole].pid = 0;
}

static void leave(struct publisher *publisher, const struct slice *slice, uint64_t free_ns)
{
	/* References that outlive it lead to no generation. */
	publisher->memory.mappings[slice->first].start = 0;
	places_leave(&publisher->places, slice->first, slice->nr, free_ns);
	publisher->counts.mappings -= slice->nr - 1;
}

/* Whatever happens next, each slice can become a hole of its own. */
static int reserve(struct publisher *publisher)
{
	int r = places_reserve(&publisher->places, publisher->counts.spaces + 2);

	if (r == 0 && publisher->counts.spaces >= publisher->nr_slots / 2)
		r = grow(publisher);
	return r < 0 ? -ENOMEM : 0;
}

static void write_slice(struct publisher *publisher, const struct slice *slice, uint32_t generation,
	const struct stoke_mapping *mappings)
{
	struct stoke_mapping *to = &publisher->memory.mappings[slice->first];

	memcpy(to + 1, mappings, (slice->nr - 1) * sizeof(*to));
	to[0] = (struct stoke_mapping){
		.start = generation, .page = slice->java, .kind = STOKE_MAPPING_HEAD};
}

int publisher_set(struct publisher *publisher, uint32_t pid, uint64_t memory,
	const struct stoke_mapping *mappings, size_t nr, uint64_t now_ns, uint32_t *ret_generation)
{
	struct slice slice = {.pid = pid, .nr = (uint32_t)nr + 1};
	struct stoke_space space = {.memory = memory, .nr = (uint32_t)nr};
	struct slice *slot;
	int r;

	r = reserve(publisher);
	if (r < 0)
		return r;
	if (nr > STOKE_MAX_SPACE_ENTRIES ||
		places_take(&publisher->places, slice.nr, now_ns, &slice.first) < 0) {
		publisher->counts.refused++;
		return -ENOSPC;
	}
	publisher->generation += publisher->generation == UINT32_MAX ? 2 : 1;
	space.first = slice.first;
	slot = slot_of(publisher, pid);
	slice.java = slot->pid ? slot->java : 0;
	space.generation = publisher->generation;
	publisher->counts.mappings += nr;
	write_slice(publisher, &slice, space.generation, mappings);
	r = publisher->memory.set(publisher->memory.arg, pid, &space);
	if (r < 0) {
		publisher->counts.refused += r == -E2BIG;
		leave(publisher, &slice, now_ns); /* nobody has seen it */
		return r == -E2BIG ? -ENOSPC : r;
	}
	if (slot->pid)
		leave(publisher, slot, now_ns + PLACES_GRACE_NS);
	else
		publisher->counts.spaces++;
	*slot = slice;
	*ret_generation = space.generation;
	return 0;
}

void publisher_drop(struct publisher *publisher, uint32_t pid, uint64_t now_ns)
{
	struct slice *slot = slot_of(publisher, pid);

	if (!slot->pid)
		return;
	/* If it cannot be taken out, its generation still ends here. */
	(void)publisher->memory.set(publisher->memory.arg, pid, NULL);
	leave(publisher, slot, now_ns + PLACES_GRACE_NS);
	forget(publisher, slot);
	publisher->counts.spaces--;
}

void publisher_java(struct publisher *publisher, uint32_t pid, uint32_t java)
{
	struct slice *slot = slot_of(publisher, pid);

	if (!slot->pid || slot->java == java)
		return;
	slot->java = java;
	__atomic_store_n(&publisher->memory.mappings[slot->first].page, java, __ATOMIC_RELEASE);
}

static struct stoke_mapping *pending(const struct publisher *publisher, uint32_t pid, size_t i)
{
	const struct slice *slot = slot_of(publisher, pid);
	struct stoke_mapping *mapping;

	if (!slot->pid || i + 1 >= slot->nr)
		return NULL;
	mapping = &publisher->memory.mappings[slot->first + 1 + i];
	return mapping->kind == STOKE_MAPPING_PENDING ? mapping : NULL;
}

void publisher_upgrade(struct publisher *publisher, uint32_t pid, size_t i,
	const struct stored *stored, uint64_t bias)
{
	struct stoke_mapping *mapping = pending(publisher, pid, i);

	if (!mapping)
		return;
	mapping->bias = bias;
	mapping->page = stored->page;
	mapping->first = stored->first;
	mapping->nr = stored->nr;
	__atomic_store_n(&mapping->kind, STOKE_MAPPING_TABLE, __ATOMIC_RELEASE);
}

void publisher_settle(struct publisher *publisher, uint32_t pid, size_t i)
{
	struct stoke_mapping *mapping = pending(publisher, pid, i);

	if (mapping)
		__atomic_store_n(&mapping->kind, STOKE_MAPPING_BARE, __ATOMIC_RELEASE);
}

void publisher_counts(const struct publisher *publisher, struct publisher_counts *ret)
{
	*ret = publisher->counts;
}
