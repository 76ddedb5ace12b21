/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/publish.h"

#include <errno.h>
#include <string.h>

#include "unit/test.h"

TestSuite(publish, .fini = check_leaks);

#define MAX_PIDS 4096
#define SECOND	 1000000000ull

static struct {
	struct stoke_mapping mappings[256];
	struct stoke_space spaces[MAX_PIDS]; /* generation 0: none */
	size_t max_spaces, nr_spaces;
} kernel;

static int set(void *arg, uint32_t pid, const struct stoke_space *space)
{
	struct stoke_space *it = &kernel.spaces[pid];

	if (!space) {
		kernel.nr_spaces -= it->generation != 0;
		*it = (struct stoke_space){0};
		return 0;
	}
	if (!it->generation && kernel.max_spaces && kernel.nr_spaces >= kernel.max_spaces)
		return -E2BIG;
	kernel.nr_spaces += it->generation == 0;
	*it = *space;
	return 0;
}

static struct publisher *make(size_t max_mappings)
{
	const struct publisher_memory memory = {
		.mappings = kernel.mappings, .max_mappings = max_mappings, .set = set};
	struct publisher *publisher;

	cr_assert(eq(int, publisher_new(&memory, &publisher), 0));
	return publisher;
}

static struct stoke_mapping mapping(uint64_t start, uint32_t kind)
{
	return (struct stoke_mapping){.start = start, .end = start + 0x1000, .kind = kind};
}

/* nr mappings for pid from an address on; the generation. */
static uint32_t give(
	struct publisher *publisher, uint32_t pid, size_t nr, uint64_t at, uint64_t now)
{
	struct stoke_mapping all[64];
	uint32_t generation = 0;

	for (size_t i = 0; i < nr; i++)
		all[i] = mapping(at + i * 0x1000, STOKE_MAPPING_PENDING);
	cr_assert(eq(int, publisher_set(publisher, pid, 7, all, nr, now, &generation), 0));
	cr_assert(ne(u32, generation, 0));
	return generation;
}

/* Does a walk that holds this reference find its head, and the mappings from `at` on behind? */
static int holds(const struct stoke_space *space, uint64_t at)
{
	const struct stoke_mapping *head = &kernel.mappings[space->first];

	if (!space->generation || head->kind != STOKE_MAPPING_HEAD ||
		head->start != space->generation)
		return 0;
	for (uint32_t i = 0; i < space->nr; i++)
		if (head[1 + i].start != at + i * 0x1000)
			return 0;
	return 1;
}

Test(publish, gives_each_process_its_own_mappings)
{
	struct publisher *publisher = make(256);

	for (uint32_t pid = 1; pid <= 20; pid++)
		(void)give(publisher, pid, pid % 8 + 1, pid * 0x100000, 1);
	for (uint32_t pid = 1; pid <= 20; pid++) {
		cr_assert(holds(&kernel.spaces[pid], pid * 0x100000));
		cr_assert(eq(u32, kernel.spaces[pid].nr, pid % 8 + 1));
		cr_assert(eq(u64, kernel.spaces[pid].memory, 7));
	}
	publisher_free(publisher);
}

Test(publish, leaves_a_slice_untouched_while_a_walk_may_be_in_it)
{
	struct publisher *publisher = make(16);
	struct stoke_mapping before[4], more[8] = {0};
	struct stoke_space old;
	uint32_t generation;

	(void)give(publisher, 1, 4, 0x100000, SECOND);
	old = kernel.spaces[1];
	memcpy(before, &kernel.mappings[old.first + 1], sizeof(before));
	(void)give(publisher, 1, 4, 0x200000, SECOND);
	cr_assert(ne(u32, kernel.spaces[1].first, old.first));
	(void)give(publisher, 2, 4, 0x300000, SECOND);
	cr_assert(eq(int, memcmp(before, &kernel.mappings[old.first + 1], sizeof(before)), 0));
	/* Its place is taken by nobody before a second has passed, even if there is no other. */
	for (size_t i = 0; i < 4; i++)
		more[i] = mapping(0x400000 + i * 0x1000, STOKE_MAPPING_BARE);
	cr_assert(
		eq(int, publisher_set(publisher, 3, 0, more, 4, SECOND + 1, &generation), -ENOSPC));
	cr_assert(eq(int, publisher_set(publisher, 3, 0, more, 4, 3 * SECOND, &generation), 0));
	cr_assert(holds(&kernel.spaces[3], 0x400000));
	publisher_free(publisher);
}

Test(publish, makes_references_to_what_is_gone_harmless)
{
	struct publisher *publisher = make(16);
	struct stoke_space old;

	(void)give(publisher, 1, 4, 0x100000, SECOND);
	old = kernel.spaces[1];
	publisher_drop(publisher, 1, SECOND);
	cr_assert(eq(u32, kernel.spaces[1].generation, 0));
	cr_assert(not(holds(&old, 0x100000)));
	(void)give(publisher, 2, 4, 0x100000, 5 * SECOND); /* alike, at the same place */
	cr_assert(not(holds(&old, 0x100000)));
	cr_assert(holds(&kernel.spaces[2], 0x100000));
	publisher_free(publisher);
}

Test(publish, leaks_no_place_in_a_storm_of_processes)
{
	struct publisher *publisher = make(256);
	struct publisher_counts counts;
	uint64_t now = SECOND;

	for (uint32_t round = 0; round < 20000; round++) {
		uint32_t pid = 1 + round % (MAX_PIDS - 1);

		(void)give(publisher, pid, 1 + round % 7, 0x1000ull * round, now);
		cr_assert(holds(&kernel.spaces[pid], 0x1000ull * round));
		if (round % 3)
			(void)give(publisher, pid, 1 + round % 5, 0x1000ull * round, now);
		now += SECOND / 2;
		publisher_drop(publisher, pid, now);
	}
	publisher_counts(publisher, &counts);
	cr_assert(eq(u64, counts.spaces, 0));
	cr_assert(eq(u64, counts.mappings, 0));
	cr_assert(eq(u64, counts.refused, 0));
	cr_assert(eq(sz, kernel.nr_spaces, 0));
	/* All of it is one piece again. */
	struct stoke_mapping all[255] = {0};
	uint32_t generation;

	for (size_t i = 0; i < 255; i++)
		all[i] = mapping(i * 0x1000, STOKE_MAPPING_BARE);
	cr_assert(eq(
		int, publisher_set(publisher, 1, 0, all, 255, now + 9 * SECOND, &generation), 0));
	publisher_free(publisher);
}

Test(publish, counts_those_for_whom_there_is_no_room)
{
	struct publisher *publisher = make(256);
	struct publisher_counts counts;
	struct stoke_mapping one = mapping(0x1000, STOKE_MAPPING_BARE);
	uint32_t generation = 0;

	kernel.max_spaces = 2;
	(void)give(publisher, 1, 1, 0x1000, 1);
	(void)give(publisher, 2, 1, 0x1000, 1);
	cr_assert(eq(int, publisher_set(publisher, 3, 0, &one, 1, 1, &generation), -ENOSPC));
	cr_assert(eq(u32, generation, 0));
	publisher_counts(publisher, &counts);
	cr_assert(eq(u64, counts.refused, 1));
	cr_assert(eq(u64, counts.spaces, 2));
	cr_assert(eq(u64, counts.mappings, 2));
	publisher_free(publisher);
}

Test(publish, upgrades_what_was_pending_and_nothing_else)
{
	struct publisher *publisher = make(256);
	const struct stored stored = {.page = 5, .first = 3, .nr = 9};
	const struct stoke_mapping *at;

	(void)give(publisher, 1, 3, 0x100000, 1);
	at = &kernel.mappings[kernel.spaces[1].first + 1];
	publisher_upgrade(publisher, 1, 1, &stored, 0xb1a5);
	cr_assert(eq(u32, at[1].kind, STOKE_MAPPING_TABLE));
	cr_assert(eq(u32, at[1].page, 5));
	cr_assert(eq(u32, at[1].first, 3));
	cr_assert(eq(u32, at[1].nr, 9));
	cr_assert(eq(u64, at[1].bias, 0xb1a5));
	cr_assert(eq(u32, at[0].kind, STOKE_MAPPING_PENDING));
	publisher_settle(publisher, 1, 0);
	cr_assert(eq(u32, at[0].kind, STOKE_MAPPING_BARE));
	publisher_settle(publisher, 1, 1);
	cr_assert(eq(u32, at[1].kind, STOKE_MAPPING_TABLE));
	publisher_upgrade(publisher, 1, 3, &stored, 0); /* there is no fourth */
	publisher_upgrade(publisher, 2, 0, &stored, 0); /* nor such a process */
	publisher_free(publisher);
}
