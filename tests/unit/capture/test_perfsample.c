/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/perfsample.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "source/perfrings.h"
#include "unit/record.h"

#define USER (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
#define ALL  (PERF_SAMPLE_CALLCHAIN | USER)

static struct perf_sample room;

TestSuite(perfsample, .fini = check_leaks);

static struct bytes begin(uint16_t mode)
{
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .misc = mode};
	struct bytes bytes = {0};

	put(&bytes, &header, sizeof(header));
	put64(&bytes, 0x401000);
	put64(&bytes, 72ull << 32 | 71);
	put64(&bytes, 1234567);
	put64(&bytes, 3);
	put64(&bytes, 10101010);
	return bytes;
}

static void put_chain(struct bytes *bytes, size_t nr, const uint64_t *words)
{
	put64(bytes, nr);
	put(bytes, words, nr * sizeof(*words));
}

/* Register i holds 0x1000 + i. */
static void put_registers(struct bytes *bytes, uint64_t abi)
{
	put64(bytes, abi);
	for (uint64_t i = 0; abi && i < PLAIN_NR_REGISTERS; i++)
		put64(bytes, 0x1000 + i);
}

static void put_stack(struct bytes *bytes, size_t size, uint64_t read_bytes)
{
	uint8_t *memory = calloc(1, size ? size : 1);

	for (size_t i = 0; i < size; i++)
		memory[i] = (uint8_t)(i + i / 256);
	put64(bytes, size);
	put(bytes, memory, size);
	if (size)
		put64(bytes, read_bytes);
	free(memory);
}

static int decode(const struct bytes *bytes, uint64_t type, struct item *ret)
{
	return perf_sample_decode(bytes->data, bytes->size, type, &room, ret);
}

static struct bytes whole(uint16_t mode, size_t size, uint64_t read_bytes)
{
	const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000000,
		0xffffffff82000000, (uint64_t)PERF_CONTEXT_USER, 0x401000};
	struct bytes bytes = begin(mode);

	put_chain(&bytes, ARRAY_SIZE(chain), chain);
	put_registers(&bytes, PERF_SAMPLE_REGS_ABI_64);
	put_stack(&bytes, size, read_bytes);
	return bytes;
}

Test(perfsample, has_kernel_addresses_and_what_a_walk_of_the_user_part_needs)
{
	struct bytes bytes = whole(PERF_RECORD_MISC_KERNEL, 4096, 512);
	const struct stoke_sample *record;
	const struct stoke_copy *copy;
	struct item item = {0};

	cr_assert(eq(int, decode(&bytes, ALL, &item), 1));
	cr_assert(eq(int, (int)item.kind, ITEM_SAMPLE));
	cr_assert(eq(u64, item.time_ns, 1234567));
	record = item.sample.record;
	cr_assert(eq(u32, record->pid, 71));
	cr_assert(eq(u32, record->tid, 72));
	cr_assert(eq(u32, record->cpu, 3));
	cr_assert(eq(u64, record->weight, 10101010));
	cr_assert(eq(u32, record->nr_kernel, 2));
	cr_assert(eq(u64, item.sample.frames[1], 0xffffffff82000000));
	cr_assert(eq(u32, record->nr_user, 1));
	cr_assert(eq(u64, item.sample.frames[2], record->ip));
	cr_assert(eq(u32, record->walk_end, STOKE_WALK_PENDING));
	cr_assert(eq(u32, record->flags, STOKE_SAMPLE_COPIED));
	copy = item.sample.copy;
	cr_assert(ne(ptr, (void *)copy, NULL));
	cr_assert(eq(u64, copy->start, record->sp));
	cr_assert(eq(u32, copy->bytes, 512));
	cr_assert(eq(u32, copy->cut, 0));
	cr_assert(eq(u8, ((const uint8_t *)(copy + 1))[511], 0), "511 + 511 / 256 ends in 0");
	free(bytes.data);
}

#ifdef __x86_64__
Test(perfsample, has_registers_by_their_dwarf_numbers)
{
	/* ax, bx, cx, dx, si, di, bp, sp, ip, r8... as they come */
	static const uint64_t by_number[] = {0, 3, 2, 1, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16};
	struct bytes bytes = whole(PERF_RECORD_MISC_USER, 64, 64);
	struct item item;

	cr_assert(eq(int, decode(&bytes, ALL, &item), 1));
	for (size_t i = 0; i < ARRAY_SIZE(by_number); i++)
		cr_assert(eq(u64, item.sample.copy->registers[i], 0x1000 + by_number[i]), "%zu", i);
	cr_assert(eq(u64, item.sample.record->fp, 0x1006));
	cr_assert(eq(u64, item.sample.record->sp, 0x1007));
	cr_assert(eq(u64, item.sample.record->ip, 0x1008));
	free(bytes.data);
}
#endif

Test(perfsample, knows_that_a_copy_may_have_been_cut)
{
	struct bytes bytes = whole(PERF_RECORD_MISC_USER, 4096, 4096);
	struct item item;

	cr_assert(eq(int, decode(&bytes, ALL, &item), 1));
	cr_assert(eq(u32, item.sample.copy->cut, 1));
	free(bytes.data);
	bytes = whole(PERF_RECORD_MISC_USER, STOKE_COPY_BYTES + 8, STOKE_COPY_BYTES + 8);
	cr_assert(eq(int, decode(&bytes, ALL, &item), 1));
	cr_assert(eq(u32, item.sample.copy->bytes, STOKE_COPY_BYTES), "as much as there is room");
	cr_assert(eq(u32, item.sample.copy->cut, 1));
	free(bytes.data);
}

Test(perfsample, tells_user_code_from_the_kernel)
{
	struct bytes bytes = whole(PERF_RECORD_MISC_USER, 64, 64);
	struct item item;

	cr_assert(eq(int, decode(&bytes, ALL, &item), 1));
	cr_assert(eq(u32, item.sample.record->flags, STOKE_SAMPLE_COPIED | STOKE_SAMPLE_USER_MODE));
	free(bytes.data);
}

static enum stoke_walk_end end_of(uint16_t mode, uint64_t abi, size_t size, uint64_t read_bytes)
{
	struct bytes bytes = begin(mode);
	struct item item;
	enum stoke_walk_end end;

	put_registers(&bytes, abi);
	put_stack(&bytes, size, read_bytes);
	cr_assert(eq(int, decode(&bytes, USER, &item), 1));
	cr_assert(eq(ptr, (void *)item.sample.copy, NULL));
	end = item.sample.record->walk_end;
	cr_assert(eq(u32, item.sample.record->nr_user, end == STOKE_WALK_UNREADABLE));
	free(bytes.data);
	return end;
}

Test(perfsample, says_why_there_is_nothing_to_walk)
{
	cr_assert(eq(int, end_of(PERF_RECORD_MISC_KERNEL, PERF_SAMPLE_REGS_ABI_NONE, 0, 0),
		STOKE_WALK_NONE));
	cr_assert(eq(int, end_of(PERF_RECORD_MISC_USER, PERF_SAMPLE_REGS_ABI_32, 64, 64),
		STOKE_WALK_COMPAT));
	cr_assert(eq(int, end_of(PERF_RECORD_MISC_KERNEL, PERF_SAMPLE_REGS_ABI_64, 64, 0),
		STOKE_WALK_EXIT));
	cr_assert(eq(int, end_of(PERF_RECORD_MISC_USER, PERF_SAMPLE_REGS_ABI_64, 64, 0),
		STOKE_WALK_UNREADABLE));
}

Test(perfsample, has_what_was_asked_for_and_nothing_else)
{
	struct bytes bytes = begin(PERF_RECORD_MISC_USER);
	struct item item;

	cr_assert(eq(int, decode(&bytes, 0, &item), 1));
	cr_assert(eq(u32, item.sample.record->nr_user, 0));
	cr_assert(eq(u32, item.sample.record->nr_kernel, 0));
	cr_assert(eq(ptr, (void *)item.sample.copy, NULL));
	free(bytes.data);
	bytes = whole(PERF_RECORD_MISC_KERNEL, 64, 64); /* nothing stays of the one before */
	cr_assert(eq(int, decode(&bytes, PERF_SAMPLE_CALLCHAIN, &item), 1));
	cr_assert(eq(u32, item.sample.record->nr_kernel, 2));
	cr_assert(eq(u32, item.sample.record->nr_user, 0));
	free(bytes.data);
}

Test(perfsample, keeps_as_many_kernel_frames_as_there_is_room_for)
{
	uint64_t chain[300] = {(uint64_t)PERF_CONTEXT_KERNEL};
	struct bytes bytes = begin(PERF_RECORD_MISC_KERNEL);
	struct item item;

	for (size_t i = 1; i < ARRAY_SIZE(chain); i++)
		chain[i] = 0xffffffff81000000 + i;
	put_chain(&bytes, ARRAY_SIZE(chain), chain);
	put_registers(&bytes, PERF_SAMPLE_REGS_ABI_64);
	put_stack(&bytes, 64, 64);
	cr_assert(eq(int, decode(&bytes, ALL, &item), 1));
	cr_assert(eq(u32, item.sample.record->nr_kernel, STOKE_MAX_KERNEL_FRAMES));
	cr_assert(eq(u64, item.sample.frames[STOKE_MAX_KERNEL_FRAMES], item.sample.record->ip));
	free(bytes.data);
}

Test(perfsample, refuses_every_shortened_record)
{
	struct bytes bytes = whole(PERF_RECORD_MISC_KERNEL, 256, 256);
	struct item item = {.time_ns = 5};

	for (size_t size = 0; size < bytes.size; size++) {
		uint8_t *copy = malloc(size ? size : 1);

		memcpy(copy, bytes.data, size);
		cr_assert(eq(int, perf_sample_decode(copy, size, ALL, &room, &item), -EBADMSG),
			"%zu bytes", size);
		cr_assert(eq(u64, item.time_ns, 5), "output untouched");
		free(copy);
	}
	free(bytes.data);
}

Test(perfsample, refuses_counts_that_lie)
{
	static const uint64_t lies[] = {
		6, 1000, UINT64_MAX, UINT64_MAX / 8, UINT64_MAX / 8 + 1, 1ull << 61};
	size_t chain = 48, stack = 48 + 6 * 8 + (1 + PLAIN_NR_REGISTERS) * 8;
	struct item item;

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		struct bytes bytes = whole(PERF_RECORD_MISC_KERNEL, 64, 64);

		if (lies[i] > 100) { /* 6 words are there, though not all of the chain */
			memcpy(bytes.data + chain, &lies[i], 8);
			cr_assert(eq(int, decode(&bytes, ALL, &item), -EBADMSG), "chain %zu", i);
		}
		free(bytes.data);
		bytes = whole(PERF_RECORD_MISC_KERNEL, 64, 65 + lies[i] / 2);
		cr_assert(eq(int, decode(&bytes, ALL, &item), -EBADMSG), "read %zu", i);
		free(bytes.data);
		bytes = whole(PERF_RECORD_MISC_KERNEL, 64, 64);
		if (lies[i] > 100) {
			memcpy(bytes.data + stack, &lies[i], 8);
			cr_assert(eq(int, decode(&bytes, ALL, &item), -EBADMSG), "stack %zu", i);
		}
		free(bytes.data);
	}
}

Test(perfsample, makes_no_address_look_like_a_note)
{
	struct bytes bytes = whole(PERF_RECORD_MISC_USER, 64, 64);
	size_t ip = 48 + 6 * 8 + 8 + (PLAIN_NR_REGISTERS == 17 ? 8 : 32) * 8;
	uint64_t strange = 9ull << 60 | 5;
	struct item item;

	memcpy(bytes.data + ip, &strange, 8);
	cr_assert(eq(int, decode(&bytes, ALL, &item), 1));
	cr_assert(eq(u64, item.sample.frames[2], STOKE_NO_ADDRESS));
	free(bytes.data);
}
