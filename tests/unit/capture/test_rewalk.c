/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies the stack of this very program as the kernel's part does, and compares what the walk over
 * it finds with what libgcc's unwinder says. No kernel is needed. */
#include "capture/rewalk.h"

#include <errno.h>
#include <execinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "capture/unwinder.h"
#include "process/host.h"
#include "unit/test.h"

#define MAX_FRAMES   64
#define MAX_MAPPINGS 8192

static struct {
	struct stoke_rule rules[STOKE_MAX_RULES];
	struct stoke_page pages[STOKE_MAX_PAGES];
	struct stoke_mapping mappings[MAX_MAPPINGS];
	struct stoke_shard *shards[STOKE_MAX_SHARDS];
	size_t nr_shards;
} kernel;

static struct stoke_shard *give_shard(void *arg, uint32_t index)
{
	kernel.shards[index] = calloc(1, sizeof(struct stoke_shard));
	kernel.nr_shards++;
	return kernel.shards[index];
}

static int take_space(void *arg, uint32_t pid, const struct stoke_space *space)
{
	return 0;
}

static struct host host;
static struct processes *processes;
static struct unwinder *unwinder;

static void setup(void)
{
	const struct store_memory store = {.rules = kernel.rules,
		.max_rules = STOKE_MAX_RULES,
		.pages = kernel.pages,
		.max_pages = STOKE_MAX_PAGES,
		.max_shards = STOKE_MAX_SHARDS,
		.shard = give_shard};
	const struct publisher_memory publisher = {
		.mappings = kernel.mappings, .max_mappings = MAX_MAPPINGS, .set = take_space};

	cr_assert(eq(int, host_open(NULL, NULL, &host), 0));
	cr_assert(eq(int, processes_new(&host, &processes), 0));
	cr_assert(eq(int, unwinder_new(processes, &unwinder), 0));
	cr_assert(eq(int, unwinder_attach(unwinder, &store, &publisher), 0));
	cr_assert(eq(int, processes_scan(processes, getpid()), 0));
}

static void teardown(void)
{
	unwinder_free(unwinder);
	processes_free(processes);
	host_close(&host);
	for (size_t i = 0; i < kernel.nr_shards; i++)
		free(kernel.shards[i]);
	check_leaks();
}

TestSuite(rewalk, .init = setup, .fini = teardown);

/* A sample of this thread with its copy, beside what libgcc says. */
static struct {
	struct stoke_sample record;
	uint64_t frames[3]; /* of the kernel one, of the program what it got to */
	union {
		struct stoke_copy head;
		uint8_t bytes[sizeof(struct stoke_copy) + STOKE_COPY_BYTES];
	} copy;
	void *truth[MAX_FRAMES];
	int nr_truth;
} taken;

static __attribute__((noinline)) void take_here(void)
{
	uint64_t ip, sp, fp;

	__asm__ volatile("lea 0(%%rip), %0; mov %%rsp, %1; mov %%rbp, %2"
			 : "=&r"(ip), "=&r"(sp), "=&r"(fp));
	taken.record = (struct stoke_sample){.type = STOKE_RECORD_SAMPLE,
		.walk_end = STOKE_WALK_PENDING,
		.nr_kernel = 1,
		.nr_user = 1,
		.pid = (uint32_t)getpid(),
		.flags = STOKE_SAMPLE_COPIED,
		.ip = ip,
		.sp = sp,
		.fp = fp};
	taken.frames[0] = 0xffffffff81000000;
	taken.frames[1] = ip;
	taken.copy.head = (struct stoke_copy){
		.type = STOKE_RECORD_COPY, .start = sp & ~(uint64_t)(STOKE_COPY_PAGE_BYTES - 1)};
	for (unsigned i = 0; i < STOKE_COPY_PAGES; i++) {
		struct iovec here = {
			taken.copy.bytes + sizeof(struct stoke_copy) + i * STOKE_COPY_PAGE_BYTES,
			STOKE_COPY_PAGE_BYTES};
		struct iovec there = {
			(void *)(uintptr_t)(taken.copy.head.start + i * STOKE_COPY_PAGE_BYTES),
			STOKE_COPY_PAGE_BYTES};

		if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != STOKE_COPY_PAGE_BYTES)
			break;
		taken.copy.head.bytes += STOKE_COPY_PAGE_BYTES;
	}
	taken.copy.head.cut = taken.copy.head.bytes == STOKE_COPY_BYTES;
	taken.nr_truth = backtrace(taken.truth, MAX_FRAMES);
}

static __attribute__((noinline)) void recurse(unsigned depth, size_t room)
{
	volatile char *local = __builtin_alloca(room);

	local[depth] = 1;
	if (depth)
		recurse(depth - 1, room);
	else
		take_here();
	local[depth]++;
}

static struct item item_of(const struct stoke_copy *copy)
{
	return (struct item){.kind = ITEM_SAMPLE,
		.sample = {.record = &taken.record, .frames = taken.frames, .copy = copy}};
}

/* As the recorder does: what has to wait is asked again. */
static struct walked finish(const struct item *item)
{
	struct walked walked;
	int r;

	while ((r = unwinder_finish(unwinder, item, &walked)) == -EAGAIN)
		cr_assert(eq(int, unwinder_settle(unwinder, 1000), 0));
	cr_assert(eq(int, r, 0));
	return walked;
}

static uint64_t finished(void)
{
	struct unwinder_counts counts;

	unwinder_counts(unwinder, &counts);
	return counts.finished;
}

Test(rewalk, leads_to_the_first_frame_once_the_tables_are_made)
{
	struct walked walked;
	struct item item;
	int more;

	recurse(20, 100);
	item = item_of(&taken.copy.head);
	walked = finish(&item);
	cr_assert(eq(u32, walked.record->walk_end, STOKE_WALK_FIRST));
	cr_assert(eq(u32, walked.record->nr_kernel, 1));
	cr_assert(eq(u64, walked.frames[0], 0xffffffff81000000));
	/* With sanitizers, backtrace() is a frame of its own. */
	more = taken.nr_truth - (int)walked.record->nr_user;
	cr_assert(ge(int, more, 0));
	cr_assert(le(int, more, 1));
	for (int i = 1; i < walked.record->nr_user; i++)
		cr_assert(eq(u64, walked.frames[1 + i], (uint64_t)(uintptr_t)taken.truth[i + more]),
			"frame %d", i);
	cr_assert(eq(u64, finished(), 1));
}

Test(rewalk, says_that_a_stack_is_deeper_than_its_copy)
{
	struct walked walked;
	struct item item;

	recurse(20, 4000);
	item = item_of(&taken.copy.head);
	cr_assert(eq(u32, taken.copy.head.bytes, STOKE_COPY_BYTES));
	walked = finish(&item);
	cr_assert(eq(u32, walked.record->walk_end, STOKE_WALK_DEPTH));
	cr_assert(gt(u32, walked.record->nr_user, 4));
}

Test(rewalk, ends_where_a_copy_ends)
{
	struct walked walked;
	struct item item;

	recurse(20, 1000);
	taken.copy.head.bytes = 2 * STOKE_COPY_PAGE_BYTES; /* the first may be its last few bytes */
	taken.copy.head.cut = 0;
	item = item_of(&taken.copy.head);
	walked = finish(&item);
	cr_assert(eq(u32, walked.record->walk_end, STOKE_WALK_UNREADABLE));
	cr_assert(lt(u32, walked.record->nr_user, 14));
}

Test(rewalk, leaves_a_sample_without_a_copy_as_it_is)
{
	struct walked walked;
	struct item item;

	recurse(1, 100);
	item = item_of(NULL);
	walked = finish(&item);
	cr_assert(eq(ptr, (void *)walked.record, &taken.record));
	cr_assert(eq(ptr, (void *)walked.frames, taken.frames));
	cr_assert(eq(u64, finished(), 0));
}

Test(rewalk, keeps_what_the_kernel_found_where_it_gets_no_further)
{
	struct walked walked;
	struct item item;

	recurse(1, 100);
	taken.record.sp = taken.record.fp = 0x1000; /* in no copy */
	taken.record.walk_end = STOKE_WALK_NO_MAPPING;
	item = item_of(&taken.copy.head);
	walked = finish(&item);
	cr_assert(eq(ptr, (void *)walked.record, &taken.record));
	cr_assert(eq(u32, walked.record->walk_end, STOKE_WALK_NO_MAPPING));
	cr_assert(eq(u64, finished(), 0));
}
