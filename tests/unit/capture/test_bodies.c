/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of the files that this very program has mapped. */
#include "capture/bodies.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/host.h"
#include "unit/test.h"

#define MAX_PAGES 65536

static struct {
	struct stoke_rule rules[STOKE_MAX_RULES];
	struct stoke_page pages[MAX_PAGES];
	struct stoke_shard *shards[STOKE_MAX_SHARDS];
	size_t nr_shards;
} memory;

static struct host host;
static struct processes *processes;
static struct store *store;
static struct bodies *bodies;
static struct mapping *mappings;
static size_t nr_mappings;
static uint32_t told[64];
static size_t nr_told;

static struct stoke_shard *give_shard(void *arg, uint32_t index)
{
	memory.shards[index] = calloc(1, sizeof(struct stoke_shard));
	memory.nr_shards++;
	return memory.shards[index];
}

static void tell(void *arg, uint32_t module)
{
	if (nr_told < ARRAY_SIZE(told))
		told[nr_told++] = module;
}

static void begin(size_t max_pages)
{
	const struct store_memory wanted = {.rules = memory.rules,
		.max_rules = STOKE_MAX_RULES,
		.pages = memory.pages,
		.max_pages = max_pages,
		.max_shards = STOKE_MAX_SHARDS,
		.shard = give_shard};

	cr_assert(eq(int, host_open(NULL, NULL, &host), 0));
	cr_assert(eq(int, processes_new(&host, &processes), 0));
	cr_assert(eq(int, store_new(&wanted, &store), 0));
	cr_assert(eq(int, bodies_new(processes, &bodies), 0));
	bodies_attach(bodies, store);
	cr_assert(eq(int, processes_mapped(processes, getpid(), &mappings, &nr_mappings), 0));
}

static void teardown(void)
{
	bodies_free(bodies);
	store_free(store);
	processes_free(processes);
	host_close(&host);
	free(mappings);
	for (size_t i = 0; i < memory.nr_shards; i++)
		free(memory.shards[i]);
	check_leaks();
}

TestSuite(bodies, .fini = teardown);

/* Files of this program, each once; the vDSO too. */
static size_t want_all(uint32_t *ret, size_t room)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_mappings; i++) {
		int known = mappings[i].kind != MAPPING_FILE && mappings[i].kind != MAPPING_VDSO;

		for (size_t j = 0; j < nr; j++)
			known |= ret[j] == mappings[i].module;
		if (known || nr == room)
			continue;
		cr_assert(eq(int, (int)bodies_want(bodies, mappings[i].module), BODY_WAITS));
		ret[nr++] = mappings[i].module;
	}
	return nr;
}

static void finish(void)
{
	while (bodies_work(bodies, 100, tell, NULL))
		;
}

Test(bodies, are_made_once_each_and_told_of_once)
{
	uint32_t modules[64];
	struct store_counts counts;
	size_t nr;

	begin(MAX_PAGES);
	nr = want_all(modules, ARRAY_SIZE(modules));
	cr_assert(gt(sz, nr, 3));
	cr_assert(eq(int, (int)bodies_want(bodies, modules[0]), BODY_WAITS), "asked twice");
	finish();
	cr_assert(eq(sz, nr_told, nr));
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < i; j++)
			cr_assert(ne(u32, told[i], told[j]));
	for (size_t i = 0; i < nr; i++)
		cr_assert(ge(int, (int)bodies_want(bodies, modules[i]), BODY_READY));
	store_counts(store, &counts);
	cr_assert(gt(u64, counts.files, 2));
	finish();
	cr_assert(eq(sz, nr_told, nr), "nothing is made again");
}

Test(bodies, that_samples_wait_for_come_first)
{
	uint32_t modules[64];
	size_t nr;

	begin(MAX_PAGES);
	nr = want_all(modules, ARRAY_SIZE(modules));
	bodies_hurry(bodies, modules[nr - 1]);
	cr_assert(bodies_soon(bodies, modules[nr - 1], UINT64_MAX));
	cr_assert(not(bodies_soon(bodies, modules[nr - 1], 0)), "nobody waits for ever");
	finish();
	cr_assert(eq(u32, told[0], modules[nr - 1]));
	cr_assert(not(bodies_soon(bodies, modules[nr - 1], UINT64_MAX)), "it is there");
}

Test(bodies, say_by_a_descriptor_that_a_worker_is_done)
{
	struct pollfd wait = {.events = POLLIN};
	uint32_t modules[64];

	begin(MAX_PAGES);
	(void)want_all(modules, ARRAY_SIZE(modules));
	wait.fd = bodies_fd(bodies);
	cr_assert(eq(int, poll(&wait, 1, 0), 0));
	bodies_begin(bodies, tell, NULL);
	cr_assert(eq(int, poll(&wait, 1, 60000), 1));
	finish();
}

Test(bodies, for_which_there_is_no_room_are_bare_and_counted)
{
	uint32_t modules[64];
	struct store_counts counts;
	size_t nr, bare = 0;

	begin(1); /* page of code */
	nr = want_all(modules, ARRAY_SIZE(modules));
	finish();
	for (size_t i = 0; i < nr; i++)
		bare += bodies_want(bodies, modules[i]) == BODY_BARE;
	store_counts(store, &counts);
	cr_assert(ge(sz, bare, nr - 1), "%zu of %zu", bare, nr);
	cr_assert(gt(u64, counts.refused, 0));
}

Test(bodies, know_where_a_mapping_of_theirs_lies)
{
	uint32_t modules[64];
	int checked = 0;

	begin(MAX_PAGES);
	(void)want_all(modules, ARRAY_SIZE(modules));
	finish();
	for (size_t i = 0; i < nr_mappings; i++) {
		struct mapping nowhere = mappings[i];
		struct stored stored;
		uint64_t bias = 0;

		if (mappings[i].kind != MAPPING_FILE ||
			bodies_want(bodies, mappings[i].module) != BODY_READY)
			continue;
		cr_assert(eq(int,
			bodies_place(bodies, mappings[i].module, &mappings[i], &stored, &bias), 0));
		cr_assert(gt(u32, stored.nr, 0));
		cr_assert(le(u64, bias, mappings[i].start));
		nowhere.offset = 1ull << 50;
		cr_assert(
			lt(int, bodies_place(bodies, nowhere.module, &nowhere, &stored, &bias), 0));
		checked++;
	}
	cr_assert(gt(int, checked, 2));
}

/* The modules that are READY, as bytes. */
static size_t ready(const uint32_t *modules, size_t nr, uint8_t *ret)
{
	size_t found = 0;

	memset(ret, 0, 256);
	for (size_t i = 0; i < nr; i++) {
		if (modules[i] < 256 && bodies_want(bodies, modules[i]) == BODY_READY) {
			ret[modules[i]] = 1;
			found++;
		}
	}
	return found;
}

Test(bodies, that_nobody_has_mapped_give_way_and_are_made_again)
{
	uint32_t modules[64], moves;
	struct store_counts counts;
	uint8_t used[256];
	size_t nr, found, pages;

	begin(MAX_PAGES);
	nr = want_all(modules, ARRAY_SIZE(modules));
	finish();
	found = ready(modules, nr, used);
	cr_assert(gt(sz, found, 2));
	store_counts(store, &counts);
	pages = counts.pages;
	cr_assert(not(bodies_lack_room(bodies)));
	bodies_give_way(bodies, NULL, 0, host_now_ns());
	cr_assert(eq(sz, ready(modules, nr, used), found), "there is room");
	teardown();
	memory.nr_shards = nr_told = 0;

	/* The same with little room. */
	begin(pages + pages / 16);
	nr = want_all(modules, ARRAY_SIZE(modules));
	finish();
	cr_assert(eq(sz, ready(modules, nr, used), found));
	cr_assert(bodies_lack_room(bodies));
	moves = bodies_moves(bodies);
	bodies_give_way(bodies, used, sizeof(used), host_now_ns());
	store_counts(store, &counts);
	cr_assert(eq(u64, counts.given_way, 0), "all are in use");
	cr_assert(eq(u32, bodies_moves(bodies), moves));
	bodies_give_way(bodies, NULL, 0, host_now_ns());
	store_counts(store, &counts);
	cr_assert(gt(u64, counts.given_way, 0));
	cr_assert(lt(u64, counts.files, found));
	cr_assert(ne(u32, bodies_moves(bodies), moves));
	cr_assert(not(bodies_lack_room(bodies)));
	(void)ready(modules, nr, used); /* asks for those that are gone */
	while (ready(modules, nr, used) < found)
		(void)bodies_work(bodies, 100, tell, NULL);
	store_counts(store, &counts);
	cr_assert(eq(u64, counts.refused, 0), "it only took until their place was free");
}
