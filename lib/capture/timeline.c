/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timeline.c: the order in which things happened. A ring that looks empty proves nothing: its
 * writer may hold a reserved record, and another CPU's record of an earlier time may come a moment
 * later (15 of 60,000 were seen to, by at most 0.5 us). One round of delay, 100 ms, covers both.
 */
#include "capture/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

#define MAX_COPIED_BYTES (32u << 20) /* 1,000 stacks */

struct entry {
	uint64_t time_ns;
	uint64_t sequence; /* of coming, so that sorting is stable */
	struct item *item; /* own copy */
};

struct timeline {
	struct entry *entries;
	size_t nr, capacity;
	uint64_t sequence;
	uint64_t round_start_ns; /* of the round before */
	uint64_t before_ns; /* what the round at hand hands on is older */
	uint64_t handed_on_ns; /* time of the newest item that left */
	size_t copied_bytes; /* of stacks, in items that wait */
	uint64_t nr_late;
};

int timeline_new(struct timeline **ret)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline)
		return -ENOMEM;
	*ret = timeline;
	return 0;
}

void timeline_free(struct timeline *timeline)
{
	if (!timeline)
		return;
	for (size_t i = 0; i < timeline->nr; i++)
		free(timeline->entries[i].item);
	free(timeline->entries);
	free(timeline);
}

uint64_t timeline_late(const struct timeline *timeline)
{
	return timeline->nr_late;
}

static size_t copy_bytes(const struct item *item)
{
	if (item->kind != ITEM_SAMPLE || !item->sample.copy)
		return 0;
	return sizeof(*item->sample.copy) + item->sample.copy->bytes;
}

/* Room for the item and what it points to, in one piece. */
static struct item *copy_sample(const struct item *item)
{
	const struct stoke_sample *record = item->sample.record;
	size_t frames = ((size_t)record->nr_kernel + record->nr_user) * sizeof(uint64_t);
	size_t stack = copy_bytes(item);
	struct item *copy = malloc(sizeof(*copy) + sizeof(*record) + frames + stack);
	char *behind;

	if (!copy)
		return NULL;
	*copy = *item;
	behind = (char *)(copy + 1);
	memcpy(behind, record, sizeof(*record));
	copy->sample.record = (const struct stoke_sample *)behind;
	behind += sizeof(*record);
	memcpy(behind, item->sample.frames, frames);
	copy->sample.frames = (const uint64_t *)behind;
	if (stack) {
		behind += frames;
		memcpy(behind, item->sample.copy, stack);
		copy->sample.copy = (const struct stoke_copy *)behind;
	}
	return copy;
}

static struct item *copy_with_text(
	const struct item *item, const char *text, size_t size, const char **ret_text)
{
	struct item *copy = malloc(sizeof(*copy) + size + 1);
	char *behind;

	if (!copy)
		return NULL;
	*copy = *item;
	behind = (char *)(copy + 1);
	memcpy(behind, text, size);
	behind[size] = '\0';
	*ret_text = behind;
	return copy;
}

static struct item *copy_item(const struct item *item)
{
	struct item *copy;
	const char *text = NULL;

	switch (item->kind) {
	case ITEM_SAMPLE:
		return copy_sample(item);
	case ITEM_MMAP:
		copy = copy_with_text(item, item->mmap.path, item->mmap.path_size, &text);
		if (copy)
			copy->mmap.path = text;
		return copy;
	case ITEM_COMM:
		copy = copy_with_text(item, item->comm.comm, strlen(item->comm.comm), &text);
		if (copy)
			copy->comm.comm = text;
		return copy;
	case ITEM_FORK:
	case ITEM_EXIT:
	case ITEM_KERNEL_CODE:
		return copy_with_text(item, "", 0, &text);
	}
	return NULL;
}

int timeline_add(struct timeline *timeline, const struct item *item)
{
	struct entry entry = {.time_ns = item->time_ns, .sequence = timeline->sequence};
	struct item without = *item;
	int r;

	r = array_reserve(&timeline->entries, &timeline->capacity, timeline->nr, 1);
	if (r < 0)
		return r;
	if (copy_bytes(item) && timeline->copied_bytes > MAX_COPIED_BYTES) {
		/* It counts all the same, with as much of its stack as the kernel knew. */
		without.sample.copy = NULL;
		item = &without;
	}
	entry.item = copy_item(item);
	if (!entry.item)
		return -ENOMEM;
	timeline->copied_bytes += copy_bytes(item);
	if (item->time_ns < timeline->handed_on_ns)
		timeline->nr_late++;
	timeline->entries[timeline->nr++] = entry;
	timeline->sequence++;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->sequence < y->sequence ? -1 : 1;
}

static int hand_on(struct timeline *timeline, uint64_t before_ns, timeline_take *take, void *arg)
{
	size_t taken = 0;
	int r = 0;

	if (timeline->nr)
		qsort(timeline->entries, timeline->nr, sizeof(*timeline->entries), by_time);
	while (taken < timeline->nr && timeline->entries[taken].time_ns < before_ns) {
		struct entry *entry = &timeline->entries[taken];

		r = take(arg, entry->item);
		if (r < 0)
			break;
		if (timeline->handed_on_ns < entry->time_ns)
			timeline->handed_on_ns = entry->time_ns;
		timeline->copied_bytes -= copy_bytes(entry->item);
		free(entry->item);
		taken++;
	}
	timeline->nr -= taken;
	if (taken)
		memmove(timeline->entries, timeline->entries + taken,
			timeline->nr * sizeof(*timeline->entries));
	return r < 0 ? r : 0;
}

int timeline_round(struct timeline *timeline, uint64_t start_ns, timeline_take *take, void *arg)
{
	timeline->before_ns = timeline->round_start_ns;
	timeline->round_start_ns = start_ns;
	return timeline_resume(timeline, take, arg);
}

int timeline_resume(struct timeline *timeline, timeline_take *take, void *arg)
{
	return hand_on(timeline, timeline->before_ns, take, arg);
}

int timeline_flush(struct timeline *timeline, timeline_take *take, void *arg)
{
	return hand_on(timeline, UINT64_MAX, take, arg);
}
