/* SPDX-License-Identifier: BSD-2-Clause */
/* Walks stacks of this very program by the tables that were made for it, and compares with what
 * libgcc's unwinder says; and follows children as they exec and end. No kernel is needed. */
#include "capture/unwinder.h"

#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

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
	struct stoke_space space;
	uint32_t pid; /* that it is of */
} kernel;

struct walk;

static inline int walk_read(const struct walk *walk, void *to, __u32 size, __u64 from)
{
	struct iovec here = {to, size}, there = {(void *)(uintptr_t)from, size};

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size ? 0 : -1;
}

static inline const struct stoke_mapping *walk_mapping_at(const struct walk *walk, __u32 index)
{
	return index < MAX_MAPPINGS ? &kernel.mappings[index] : NULL;
}

static inline const struct stoke_page *walk_page_at(const struct walk *walk, __u32 index)
{
	return index < STOKE_MAX_PAGES ? &kernel.pages[index] : NULL;
}

static inline const struct stoke_shard *walk_shard_at(const struct walk *walk, __u32 index)
{
	return index < kernel.nr_shards ? kernel.shards[index] : NULL;
}

static inline const struct stoke_rule *walk_rule_at(const struct walk *walk, __u32 index)
{
	return index < STOKE_MAX_RULES ? &kernel.rules[index] : NULL;
}

#include "bpf/walk.h"

static struct stoke_shard *give_shard(void *arg, uint32_t index)
{
	kernel.shards[index] = calloc(1, sizeof(struct stoke_shard));
	kernel.nr_shards++;
	return kernel.shards[index];
}

static int take_space(void *arg, uint32_t pid, const struct stoke_space *space)
{
	kernel.space = space ? *space : (struct stoke_space){0};
	kernel.pid = space ? pid : 0;
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

TestSuite(unwinder, .init = setup, .fini = teardown);

/* Where a walk of this program's stack comes to, beside what libgcc says. */
static struct {
	uint64_t frames[MAX_FRAMES];
	unsigned nr, end;
	void *truth[MAX_FRAMES];
	int nr_truth;
} walked;

static __attribute__((noinline)) void walk_here(void)
{
	static struct walk walk;
	uint64_t ip, sp, fp;

	__asm__ volatile("lea 0(%%rip), %0; mov %%rsp, %1; mov %%rbp, %2"
			 : "=&r"(ip), "=&r"(sp), "=&r"(fp));
	walk_begin(&walk, ip, sp, fp);
	cr_assert(walk_use(&walk, &kernel.space));
	walked.nr = 0;
	do {
		if (walked.nr < MAX_FRAMES)
			walked.frames[walked.nr++] = walk.ip;
	} while (!walk_step(&walk));
	walked.end = walk.end;
	walked.nr_truth = backtrace(walked.truth, MAX_FRAMES);
}

static void expect_truth(void)
{
	/* With sanitizers, backtrace() is a frame of its own. */
	int more = walked.nr_truth - (int)walked.nr;

	cr_assert(eq(uint, walked.end, STOKE_WALK_FIRST));
	cr_assert(ge(int, more, 0));
	cr_assert(le(int, more, 1));
	/* The innermost are two places of one function. */
	for (unsigned i = 1; i < walked.nr; i++)
		cr_assert(eq(u64, walked.frames[i],
				  (uint64_t)(uintptr_t)walked.truth[i + (unsigned)more]),
			"frame %u of %u", i, walked.nr);
}

static void have_tables(void)
{
	cr_assert(eq(int, unwinder_expect(unwinder, getpid()), 0));
	cr_assert(eq(int, unwinder_settle(unwinder, 60000), 0));
	cr_assert(eq(u32, kernel.pid, (uint32_t)getpid()));
	for (uint32_t i = 1; i <= kernel.space.nr; i++)
		cr_assert(ne(
			u32, kernel.mappings[kernel.space.first + i].kind, STOKE_MAPPING_PENDING));
}

Test(unwinder, makes_tables_that_lead_to_the_first_frame)
{
	struct unwinder_counts counts;

	have_tables();
	walk_here();
	expect_truth();
	unwinder_counts(unwinder, &counts);
	cr_assert(gt(u64, counts.store.files, 3));
	cr_assert(gt(u64, counts.store.rows, 10000));
	cr_assert(eq(u64, counts.store.refused, 0));
}

static int compare(const void *a, const void *b)
{
	walk_here();
	return *(const int *)a - *(const int *)b;
}

Test(unwinder, leads_through_callbacks_of_the_c_library)
{
	int numbers[] = {3, 1, 2};

	have_tables();
	qsort(numbers, ARRAY_SIZE(numbers), sizeof(numbers[0]), compare);
	expect_truth();
}

static void on_signal(int number)
{
	walk_here();
}

Test(unwinder, leads_through_signal_handlers)
{
	have_tables();
	(void)signal(SIGUSR1, on_signal);
	(void)raise(SIGUSR1);
	expect_truth();
}

static __attribute__((noinline)) void recurse(unsigned depth)
{
	volatile char room[100];

	room[depth] = 1;
	if (depth)
		recurse(depth - 1);
	else
		walk_here();
	room[depth]++;
}

Test(unwinder, leads_through_recursion)
{
	have_tables();
	recurse(30);
	expect_truth();
}

/* A child that waits in another program: in it already. */
static pid_t sleeper(void)
{
	int ends[2];
	char byte;
	pid_t pid;

	cr_assert(eq(int, pipe2(ends, O_CLOEXEC), 0));
	pid = fork();
	if (pid == 0) {
		(void)execl("/bin/sleep", "sleep", "60", NULL);
		_exit(127);
	}
	(void)close(ends[1]);
	(void)!read(ends[0], &byte, 1); /* ends with the exec */
	(void)close(ends[0]);
	return pid;
}

/* Its libraries may be still on their way: until two readings in a row agree. */
static void settled(pid_t pid)
{
	size_t before = 0, nr = 0;

	do {
		struct mapping *mappings = NULL;

		before = nr;
		(void)usleep(20000);
		cr_assert(eq(int, processes_mapped(processes, pid, &mappings, &nr), 0));
		free(mappings);
	} while (nr < 3 || nr != before);
}

static void sample(pid_t pid, uint64_t memory, uint32_t generation, unsigned end)
{
	struct {
		struct stoke_sample record;
		uint64_t frame;
	} sample = {.record = {.type = STOKE_RECORD_SAMPLE,
			    .pid = (uint32_t)pid,
			    .memory = memory,
			    .generation = generation,
			    .walk_end = (uint8_t)end,
			    .nr_user = 1},
		.frame = 0x1234};
	const struct item item = {
		.kind = ITEM_SAMPLE, .sample = {.record = &sample.record, .frames = &sample.frame}};

	cr_assert(eq(int, unwinder_note(unwinder, &item), 0));
}

static void end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	cr_assert(eq(int, waitpid(pid, NULL, 0), pid));
}

Test(unwinder, gives_tables_to_whom_a_sample_shows_and_to_no_other_address_space)
{
	pid_t pid = sleeper();
	struct unwinder_counts counts;
	uint32_t generation;

	settled(pid);
	sample(pid, 77, 0, STOKE_WALK_BAD_FP);
	cr_assert(eq(int, unwinder_work(unwinder, 1000000000), 0));
	cr_assert(eq(u32, kernel.pid, (uint32_t)pid));
	cr_assert(eq(u64, kernel.space.memory, 77));
	generation = kernel.space.generation;
	/* One more that was taken before that: nothing new to read. */
	sample(pid, 77, 0, STOKE_WALK_BAD_FP);
	cr_assert(eq(int, unwinder_work(unwinder, 9000000000), 0));
	cr_assert(eq(u32, kernel.space.generation, generation));
	/* It has made an exec: another address space. */
	sample(pid, 78, 0, STOKE_WALK_BAD_FP);
	cr_assert(eq(int, unwinder_work(unwinder, 20000000000), 0));
	cr_assert(eq(u64, kernel.space.memory, 78));
	cr_assert(ne(u32, kernel.space.generation, generation));
	unwinder_counts(unwinder, &counts);
	cr_assert(eq(u64, counts.readings, 2));
	cr_assert(eq(u64, counts.early, 3));
	end(pid);
}

Test(unwinder, takes_back_what_a_process_that_ended_had)
{
	pid_t pid = sleeper();
	struct unwinder_counts counts;
	const struct item item = {.kind = ITEM_EXIT, .task = {.pid = pid, .tid = pid}};

	sample(pid, 77, 0, STOKE_WALK_BAD_FP);
	cr_assert(eq(int, unwinder_work(unwinder, 1000000000), 0));
	end(pid);
	cr_assert(eq(int, unwinder_note(unwinder, &item), 0));
	cr_assert(eq(int, unwinder_work(unwinder, 9000000000), 0));
	cr_assert(eq(u32, kernel.pid, 0));
	unwinder_counts(unwinder, &counts);
	cr_assert(eq(u64, counts.publisher.spaces, 0));
	cr_assert(eq(u64, counts.publisher.mappings, 0));
}

Test(unwinder, finds_processes_that_ended_unseen)
{
	pid_t pid = sleeper();

	sample(pid, 77, 0, STOKE_WALK_BAD_FP);
	cr_assert(eq(int, unwinder_work(unwinder, 1000000000), 0));
	cr_assert(eq(u32, kernel.pid, (uint32_t)pid));
	end(pid);
	for (uint64_t now = 2; now < 8 && kernel.pid; now++)
		cr_assert(eq(int, unwinder_work(unwinder, now * 1000000000), 0));
	cr_assert(eq(u32, kernel.pid, 0));
}

Test(unwinder, asks_less_and_less_for_addresses_that_nothing_explains)
{
	pid_t pid = sleeper();
	struct unwinder_counts counts;
	uint64_t now = 1000000000;

	settled(pid);
	sample(pid, 77, 0, STOKE_WALK_BAD_FP);
	for (int i = 0; i < 1000; i++, now += 10000000) { /* ten seconds */
		cr_assert(eq(int, unwinder_work(unwinder, now), 0));
		sample(pid, 77, kernel.space.generation, STOKE_WALK_NO_MAPPING);
	}
	unwinder_counts(unwinder, &counts);
	cr_assert(ge(u64, counts.readings, 5));
	cr_assert(le(u64, counts.readings, 16));
	end(pid);
}

Test(unwinder, agrees_with_a_mapping_that_it_published_and_with_no_other)
{
	struct mapping mapping = {.start = 0, .kind = MAPPING_FILE, .module = 99999};
	_cleanup_free_ struct mapping *mine = NULL;
	uint64_t here = (uint64_t)(uintptr_t)walk_here;
	uint32_t generation;
	size_t nr;

	have_tables();
	generation = kernel.space.generation;
	cr_assert(eq(int, processes_mapped(processes, getpid(), &mine, &nr), 0));
	for (size_t i = 0; i < nr; i++)
		if (here - mine[i].start < mine[i].end - mine[i].start)
			mapping = mine[i];
	cr_assert(ne(u32, mapping.module, 99999));
	cr_assert(unwinder_agrees(unwinder, generation, here, &mapping));
	mapping.module++;
	cr_assert(not(unwinder_agrees(unwinder, generation, here, &mapping)));
	mapping.module--;
	mapping.offset += 0x1000;
	cr_assert(not(unwinder_agrees(unwinder, generation, here, &mapping)));
	mapping.kind = MAPPING_ANONYMOUS;
	cr_assert(not(unwinder_agrees(unwinder, generation, here, &mapping)));
	cr_assert(unwinder_agrees(unwinder, generation + 1, here, &mapping), "nothing is known");
}
