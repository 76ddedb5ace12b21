/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf/walk.h, as the kernel runs it, over memory made here. */
#include <linux/types.h>
#include <stdint.h>
#include <string.h>

#include "unit/test.h"

#define STACK_WORDS 16384

/* A stack that is readable from its lowest address up to `readable` bytes. */
static struct {
	uint64_t start;
	uint64_t readable;
	unsigned reads;
	uint64_t words[STACK_WORDS];
} memory;

struct walk;

static inline int walk_read(const struct walk *walk, void *to, __u32 size, __u64 from)
{
	memory.reads++;
	if (from < memory.start || from - memory.start > memory.readable ||
		memory.readable - (from - memory.start) < size)
		return -1;
	memcpy(to, (const uint8_t *)memory.words + (from - memory.start), size);
	return 0;
}

/* No tables: tests of those are in test_tables.c. */
#include "bpf/table.h"

#define NO_TABLE(type, name)                                                                       \
	static inline const struct type *name(const struct walk *walk, __u32 index)                \
	{                                                                                          \
		return NULL;                                                                       \
	}
NO_TABLE(stoke_mapping, walk_mapping_at)
NO_TABLE(stoke_page, walk_page_at)
NO_TABLE(stoke_shard, walk_shard_at)
NO_TABLE(stoke_rule, walk_rule_at)

#include "bpf/walk.h"

#define BASE 0x7ffc00000000ull

TestSuite(walk, .fini = check_leaks);

static void clear(void)
{
	memset(&memory, 0, sizeof(memory));
	memory.start = BASE;
	memory.readable = sizeof(memory.words);
}

/* A frame at that word, whose caller's frame is at another (0: none). */
static void frame(size_t at, size_t caller, uint64_t return_address)
{
	memory.words[at] = caller ? BASE + caller * 8 : 0;
	memory.words[at + 1] = return_address;
}

/* Walks to the end; the frames into ret, which holds `room`. */
static unsigned walk_all(struct walk *walk, uint64_t sp, uint64_t fp, uint64_t *ret, unsigned room)
{
	walk_begin(walk, 0x1000, sp, fp);
	for (;;) {
		if (walk->nr <= room)
			ret[walk->nr - 1] = walk->ip;
		if (walk_step(walk))
			return walk->nr;
	}
}

Test(walk, follows_a_good_chain_to_its_root)
{
	struct walk walk;
	uint64_t frames[8];

	clear();
	frame(4, 10, 0x2000);
	frame(10, 40, 0x3000);
	frame(40, 0, 0x4000);
	cr_assert(eq(uint, walk_all(&walk, BASE, BASE + 32, frames, 8), 4));
	cr_assert(eq(u64, frames[0], 0x1000));
	cr_assert(eq(u64, frames[1], 0x2000));
	cr_assert(eq(u64, frames[2], 0x3000));
	cr_assert(eq(u64, frames[3], 0x4000));
	cr_assert(eq(u32, walk.end, STOKE_WALK_ROOT));
}

Test(walk, ends_at_a_return_address_of_zero)
{
	struct walk walk;
	uint64_t frames[8];

	clear();
	frame(4, 10, 0x2000);
	frame(10, 40, 0);
	cr_assert(eq(uint, walk_all(&walk, BASE, BASE + 32, frames, 8), 2));
	cr_assert(eq(u32, walk.end, STOKE_WALK_ROOT));
}

Test(walk, does_not_take_zero_in_the_sampled_frame_for_a_root)
{
	struct walk walk;
	uint64_t frames[8];

	clear();
	cr_assert(eq(uint, walk_all(&walk, BASE, 0, frames, 8), 1));
	cr_assert(eq(u32, walk.end, STOKE_WALK_BAD_FP));
}

Test(walk, stops_where_memory_is_cut)
{
	struct walk walk;
	uint64_t frames[8];

	clear();
	frame(4, 10, 0x2000);
	frame(10, 40, 0x3000);
	frame(40, 0, 0x4000);
	memory.readable = 41 * 8; /* half of the last frame's record */
	cr_assert(eq(uint, walk_all(&walk, BASE, BASE + 32, frames, 8), 3));
	cr_assert(eq(u32, walk.end, STOKE_WALK_UNREADABLE));
}

Test(walk, reads_the_last_words_before_the_end_of_memory)
{
	struct walk walk;
	uint64_t frames[8];

	clear();
	frame(4, 10, 0x2000);
	frame(10, 40, 0x3000);
	frame(40, 0, 0x4000);
	memory.readable = 42 * 8; /* no whole window fits anywhere */
	cr_assert(eq(uint, walk_all(&walk, BASE, BASE + 32, frames, 8), 4));
	cr_assert(eq(u32, walk.end, STOKE_WALK_ROOT));
}

Test(walk, refuses_an_unaligned_frame_pointer)
{
	struct walk walk;
	uint64_t frames[8];

	clear();
	frame(4, 10, 0x2000);
	memory.words[4] += 4;
	cr_assert(eq(uint, walk_all(&walk, BASE, BASE + 32, frames, 8), 2));
	cr_assert(eq(u32, walk.end, STOKE_WALK_BAD_FP));
}

Test(walk, never_goes_down)
{
	struct walk walk;
	uint64_t frames[8];

	clear();
	frame(40, 10, 0x2000);
	frame(10, 60, 0x3000);
	cr_assert(eq(uint, walk_all(&walk, BASE, BASE + 320, frames, 8), 2));
	cr_assert(eq(u32, walk.end, STOKE_WALK_BAD_FP));
}

Test(walk, ends_in_a_loop)
{
	struct walk walk;
	uint64_t frames[8];

	clear();
	frame(4, 4, 0x2000); /* its own caller */
	cr_assert(eq(uint, walk_all(&walk, BASE, BASE + 32, frames, 8), 2));
	cr_assert(eq(u32, walk.end, STOKE_WALK_BAD_FP));
}

Test(walk, refuses_a_frame_below_the_stack_pointer_or_too_far_up)
{
	struct walk walk;
	uint64_t frames[8];

	clear();
	frame(4, 0, 0x2000);
	cr_assert(eq(uint, walk_all(&walk, BASE + 40, BASE + 32, frames, 8), 1));
	cr_assert(eq(u32, walk.end, STOKE_WALK_BAD_FP));

	cr_assert(
		eq(uint, walk_all(&walk, BASE + 32, BASE + 32, frames, 8), 2), "equal is a frame");
	cr_assert(eq(
		uint, walk_all(&walk, BASE + 32 - WALK_MAX_FRAME_BYTES, BASE + 32, frames, 8), 2));
	cr_assert(eq(
		uint, walk_all(&walk, BASE + 24 - WALK_MAX_FRAME_BYTES, BASE + 32, frames, 8), 1));
	cr_assert(eq(u32, walk.end, STOKE_WALK_BAD_FP));
}

Test(walk, refuses_addresses_at_the_end_of_the_address_space)
{
	struct walk walk;
	uint64_t frames[8];

	clear();
	cr_assert(eq(uint, walk_all(&walk, UINT64_MAX - 7, UINT64_MAX - 7, frames, 8), 1));
	cr_assert(eq(u32, walk.end, STOKE_WALK_UNREADABLE));
	cr_assert(eq(uint, walk_all(&walk, 8, 8, frames, 8), 1));
	cr_assert(eq(u32, walk.end, STOKE_WALK_UNREADABLE));
}

/* Frames of four words: depth of them, the last one the root. */
static void deep(unsigned depth)
{
	clear();
	for (unsigned i = 0; i < depth; i++)
		frame(4 + i * 4u, i + 1 < depth ? 4 + (i + 1) * 4u : 0, 0x2000 + i);
}

Test(walk, reaches_its_limit_and_not_a_frame_more)
{
	struct walk walk;
	static uint64_t frames[STOKE_MAX_USER_FRAMES + 8];

	deep(STOKE_MAX_USER_FRAMES - 1);
	cr_assert(eq(uint, walk_all(&walk, BASE, BASE + 32, frames, STOKE_MAX_USER_FRAMES),
		STOKE_MAX_USER_FRAMES));
	cr_assert(eq(u32, walk.end, STOKE_WALK_ROOT), "just fits");

	deep(STOKE_MAX_USER_FRAMES);
	cr_assert(eq(uint, walk_all(&walk, BASE, BASE + 32, frames, STOKE_MAX_USER_FRAMES),
		STOKE_MAX_USER_FRAMES));
	cr_assert(eq(u32, walk.end, STOKE_WALK_DEPTH));
	cr_assert(eq(u64, frames[STOKE_MAX_USER_FRAMES - 1], 0x2000 + STOKE_MAX_USER_FRAMES - 2));
}

Test(walk, reads_a_window_for_many_frames)
{
	struct walk walk;
	uint64_t frames[160];

	deep(150);
	cr_assert(eq(uint, walk_all(&walk, BASE, BASE + 32, frames, 160), 151));
	/* 150 frames of 32 bytes are 4800 bytes: ten windows, the last half used */
	cr_assert(le(uint, memory.reads, 11));
	for (unsigned i = 1; i <= 150; i++)
		cr_assert(eq(u64, frames[i], 0x2000 + i - 1), "frame %u", i);
}

Test(walk, does_not_serve_an_old_window)
{
	struct walk walk;
	uint64_t frames[8];

	clear();
	frame(4, 500, 0x2000); /* far beyond the first window */
	frame(500, 506, 0x3000);
	frame(506, 0, 0x4000);
	memory.words[4 + (500 - 4) % 64] = 0x99; /* where a wrapped index would look */
	cr_assert(eq(uint, walk_all(&walk, BASE, BASE + 32, frames, 8), 4));
	cr_assert(eq(u64, frames[2], 0x3000));
	cr_assert(eq(u64, frames[3], 0x4000));
}
