/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/timeline.h"

#include <errno.h>
#include <string.h>

#include "unit/test.h"

TestSuite(timeline, .fini = check_leaks);

struct seen {
	uint64_t times[16];
	pid_t pids[16];
	size_t nr;
	int refuse;
};

static int see(void *arg, const struct item *item)
{
	struct seen *seen = arg;

	if (seen->refuse)
		return -EIO;
	seen->times[seen->nr] = item->time_ns;
	seen->pids[seen->nr++] = item->task.pid;
	return 0;
}

static void add_fork(struct timeline *timeline, uint64_t time_ns, pid_t pid)
{
	const struct item item = {.kind = ITEM_FORK, .time_ns = time_ns, .task = {.pid = pid}};

	cr_assert(eq(int, timeline_add(timeline, &item), 0));
}

Test(timeline, holds_back_what_the_round_before_could_not_have_seen)
{
	struct timeline *timeline = NULL;
	struct seen seen = {0};

	cr_assert(eq(int, timeline_new(&timeline), 0));
	add_fork(timeline, 90, 1);
	add_fork(timeline, 40, 2);
	cr_assert(eq(int, timeline_round(timeline, 100, see, &seen), 0));
	cr_assert(eq(sz, seen.nr, 0), "nothing may leave in the first round");

	add_fork(timeline, 150, 3);
	add_fork(timeline, 60, 4);
	cr_assert(eq(int, timeline_round(timeline, 200, see, &seen), 0));
	cr_assert(eq(sz, seen.nr, 3));
	cr_assert(eq(u64, seen.times[0], 40));
	cr_assert(eq(u64, seen.times[1], 60));
	cr_assert(eq(u64, seen.times[2], 90));

	cr_assert(eq(int, timeline_flush(timeline, see, &seen), 0));
	cr_assert(eq(u64, seen.times[3], 150));
	cr_assert(eq(u64, timeline_late(timeline), 0));
	timeline_free(timeline);
}

Test(timeline, keeps_the_order_of_coming_at_equal_times)
{
	struct timeline *timeline = NULL;
	struct seen seen = {0};

	cr_assert(eq(int, timeline_new(&timeline), 0));
	for (pid_t pid = 0; pid < 10; pid++)
		add_fork(timeline, 7, pid);
	cr_assert(eq(int, timeline_flush(timeline, see, &seen), 0));
	for (pid_t pid = 0; pid < 10; pid++)
		cr_assert(eq(int, seen.pids[pid], pid));
	timeline_free(timeline);
}

Test(timeline, counts_what_comes_too_late_and_hands_it_on_all_the_same)
{
	struct timeline *timeline = NULL;
	struct seen seen = {0};

	cr_assert(eq(int, timeline_new(&timeline), 0));
	add_fork(timeline, 500, 1);
	cr_assert(eq(int, timeline_flush(timeline, see, &seen), 0));
	add_fork(timeline, 499, 2);
	cr_assert(eq(int, timeline_flush(timeline, see, &seen), 0));
	cr_assert(eq(u64, timeline_late(timeline), 1));
	cr_assert(eq(sz, seen.nr, 2));
	timeline_free(timeline);
}

Test(timeline, keeps_items_that_were_refused)
{
	struct timeline *timeline = NULL;
	struct seen seen = {.refuse = 1};

	cr_assert(eq(int, timeline_new(&timeline), 0));
	add_fork(timeline, 1, 1);
	cr_assert(eq(int, timeline_flush(timeline, see, &seen), -EIO));
	seen.refuse = 0;
	cr_assert(eq(int, timeline_flush(timeline, see, &seen), 0));
	cr_assert(eq(sz, seen.nr, 1));
	timeline_free(timeline);
}

static int see_copies(void *arg, const struct item *item)
{
	int *nr = arg;

	if (item->kind == ITEM_MMAP) {
		cr_assert(eq(str, (char *)item->mmap.path, "/lib/a.so"));
	} else if (item->kind == ITEM_COMM) {
		cr_assert(eq(str, (char *)item->comm.comm, "worker"));
	} else {
		cr_assert(eq(u16, item->sample.record->nr_user, 2));
		cr_assert(eq(u64, item->sample.frames[2], 0x30));
	}
	(*nr)++;
	return 0;
}

Test(timeline, copies_what_items_point_to)
{
	struct timeline *timeline = NULL;
	struct stoke_sample record = {.type = STOKE_RECORD_SAMPLE, .nr_kernel = 1, .nr_user = 2};
	uint64_t frames[3] = {0x10, 0x20, 0x30};
	char path[] = "/lib/a.so", comm[] = "worker";
	struct item item = {.kind = ITEM_MMAP, .mmap = {.path = path, .path_size = strlen(path)}};
	int nr = 0;

	cr_assert(eq(int, timeline_new(&timeline), 0));
	cr_assert(eq(int, timeline_add(timeline, &item), 0));
	item = (struct item){.kind = ITEM_COMM, .comm = {.comm = comm}};
	cr_assert(eq(int, timeline_add(timeline, &item), 0));
	item = (struct item){.kind = ITEM_SAMPLE, .sample = {.record = &record, .frames = frames}};
	cr_assert(eq(int, timeline_add(timeline, &item), 0));
	memset(path, 'x', sizeof(path));
	memset(comm, 'x', sizeof(comm));
	memset(&record, 0, sizeof(record));
	memset(frames, 0, sizeof(frames));

	cr_assert(eq(int, timeline_flush(timeline, see_copies, &nr), 0));
	cr_assert(eq(int, nr, 3));
	timeline_free(timeline);
}

static int refuse_samples(void *arg, const struct item *item)
{
	int *waits = arg;

	if (item->kind == ITEM_SAMPLE && *waits)
		return -EAGAIN;
	return 0;
}

Test(timeline, goes_on_where_a_round_had_to_wait)
{
	const struct stoke_sample record = {.type = STOKE_RECORD_SAMPLE, .time_ns = 50};
	const uint64_t frames[1] = {0};
	const struct item item = {.kind = ITEM_SAMPLE,
		.time_ns = 50,
		.sample = {.record = &record, .frames = frames}};
	struct timeline *timeline = NULL;
	struct seen seen = {0};
	int waits = 1;

	cr_assert(eq(int, timeline_new(&timeline), 0));
	add_fork(timeline, 40, 1);
	cr_assert(eq(int, timeline_add(timeline, &item), 0));
	add_fork(timeline, 60, 2);
	add_fork(timeline, 120, 3);
	cr_assert(eq(int, timeline_round(timeline, 100, refuse_samples, &waits), 0));
	cr_assert(eq(int, timeline_round(timeline, 200, refuse_samples, &waits), -EAGAIN));
	cr_assert(eq(int, timeline_resume(timeline, refuse_samples, &waits), -EAGAIN));
	waits = 0;
	cr_assert(eq(int, timeline_resume(timeline, refuse_samples, &waits), 0));
	cr_assert(eq(int, timeline_flush(timeline, see, &seen), 0));
	cr_assert(eq(sz, seen.nr, 1), "what the round did not reach stays for the next");
	cr_assert(eq(u64, seen.times[0], 120));
	timeline_free(timeline);
}

static int count_copies(void *arg, const struct item *item)
{
	uint64_t *sums = arg;

	sums[0]++;
	if (item->sample.copy) {
		const uint8_t *memory = (const uint8_t *)(item->sample.copy + 1);

		sums[1]++;
		cr_assert(eq(u8, memory[item->sample.copy->bytes - 1], 0xab));
	}
	return 0;
}

Test(timeline, keeps_copies_of_stacks_within_bounds_and_samples_without)
{
	static struct {
		struct stoke_copy head;
		uint8_t memory[STOKE_COPY_BYTES];
	} copy = {.head = {.type = STOKE_RECORD_COPY, .bytes = STOKE_COPY_BYTES}};
	const struct stoke_sample record = {.type = STOKE_RECORD_SAMPLE, .time_ns = 50};
	const uint64_t frames[1] = {0};
	const struct item item = {.kind = ITEM_SAMPLE,
		.time_ns = 50,
		.sample = {.record = &record, .frames = frames, .copy = &copy.head}};
	struct timeline *timeline = NULL;
	uint64_t sums[2] = {0};

	memset(copy.memory, 0xab, sizeof(copy.memory));
	cr_assert(eq(int, timeline_new(&timeline), 0));
	for (int i = 0; i < 3000; i++)
		cr_assert(eq(int, timeline_add(timeline, &item), 0));
	cr_assert(eq(int, timeline_flush(timeline, count_copies, sums), 0));
	cr_assert(eq(u64, sums[0], 3000));
	cr_assert(gt(u64, sums[1], 1000));
	cr_assert(lt(u64, sums[1], 1300));
	/* What has left makes room. */
	cr_assert(eq(int, timeline_add(timeline, &item), 0));
	sums[1] = 0;
	cr_assert(eq(int, timeline_flush(timeline, count_copies, sums), 0));
	cr_assert(eq(u64, sums[1], 1));
	timeline_free(timeline);
}
