/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perfsample.c: the parts of a PERF_RECORD_SAMPLE, in the order that perf_event_open(2) gives them.
 * What is in registers and stack is the sampled program's choice.
 */
#include "capture/perfsample.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/cleanup.h"
#include "source/perfrings.h"

/* From PERF_CONTEXT_MAX on, a word of a call chain is no address: it says whose they are. */
#define IS_CONTEXT(word) ((word) >= (uint64_t)PERF_CONTEXT_MAX)

_Static_assert(offsetof(struct perf_sample, memory) ==
		       offsetof(struct perf_sample, copy) + sizeof(struct stoke_copy),
	"memory has to follow its copy");

struct cursor {
	const uint8_t *at;
	size_t left;
};

static int take(struct cursor *cursor, void *to, size_t size)
{
	if (cursor->left < size)
		return -EBADMSG;
	memcpy(to, cursor->at, size);
	cursor->at += size;
	cursor->left -= size;
	return 0;
}

struct fixed_part {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
	uint64_t period;
};

_Static_assert(sizeof(struct fixed_part) == 48, "as the kernel lays it out");

static int take_fixed(struct cursor *cursor, struct stoke_sample *record)
{
	struct fixed_part fixed;
	int r = take(cursor, &fixed, sizeof(fixed));

	if (r < 0)
		return r;
	*record = (struct stoke_sample){
		.type = STOKE_RECORD_SAMPLE,
		.time_ns = fixed.time_ns,
		.weight = fixed.period,
		.pid = fixed.pid,
		.tid = fixed.tid,
		.cpu = fixed.cpu,
	};
	if ((fixed.header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER)
		record->flags |= STOKE_SAMPLE_USER_MODE;
	return 0;
}

/* Kernel addresses; the user part of a chain goes by frame pointers, and is not looked at. */
static int take_chain(struct cursor *cursor, struct perf_sample *room)
{
	uint64_t nr, word = 0, whose = 0;
	int r = take(cursor, &nr, sizeof(nr));

	if (r < 0 || nr > cursor->left / sizeof(word))
		return -EBADMSG;
	for (uint64_t i = 0; i < nr; i++) {
		(void)take(cursor, &word, sizeof(word)); /* counted above */
		if (IS_CONTEXT(word))
			whose = word;
		else if (whose == (uint64_t)PERF_CONTEXT_KERNEL &&
			 room->record.nr_kernel < STOKE_MAX_KERNEL_FRAMES)
			room->frames[room->record.nr_kernel++] = word;
	}
	return 0;
}

#if defined(__aarch64__)
static void place_registers(const uint64_t *words, struct perf_sample *room)
{
	memcpy(room->copy.registers, words, 31 * sizeof(*words));
	room->record.fp = words[29];
	room->record.sp = words[31];
	room->record.ip = words[32];
}
#else
static void place_registers(const uint64_t *words, struct perf_sample *room)
{
	/* By DWARF number: ax, dx, cx, bx, si, di, bp, sp. */
	static const uint8_t places[] = {0, 3, 2, 1, 4, 5, 6, 7};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		room->copy.registers[i] = words[places[i]];
	memcpy(room->copy.registers + 8, words + 9, 8 * sizeof(*words));
	room->record.fp = words[6];
	room->record.sp = words[7];
	room->record.ip = words[8];
}
#endif

/* *ret_abi: PERF_SAMPLE_REGS_ABI_*. */
static int take_registers(struct cursor *cursor, struct perf_sample *room, uint64_t *ret_abi)
{
	uint64_t words[PLAIN_NR_REGISTERS];
	int r = take(cursor, ret_abi, sizeof(*ret_abi));

	if (r < 0 || *ret_abi == PERF_SAMPLE_REGS_ABI_NONE)
		return r;
	r = take(cursor, words, sizeof(words));
	if (r < 0)
		return r;
	place_registers(words, room);
	return 0;
}

/* The memory is followed by how much of it was read, which is not there when there is none. */
static int take_stack(struct cursor *cursor, struct perf_sample *room)
{
	const uint8_t *memory;
	uint64_t size, read_bytes;
	int r = take(cursor, &size, sizeof(size));

	if (r < 0 || size == 0)
		return r;
	if (size > cursor->left)
		return -EBADMSG;
	memory = cursor->at;
	cursor->at += size;
	cursor->left -= size;
	r = take(cursor, &read_bytes, sizeof(read_bytes));
	if (r < 0 || read_bytes > size)
		return -EBADMSG;
	room->copy.cut = read_bytes == size;
	if (read_bytes > STOKE_COPY_BYTES)
		read_bytes = STOKE_COPY_BYTES;
	memcpy(room->memory, memory, read_bytes);
	room->copy.bytes = (uint32_t)read_bytes;
	return 0;
}

/* The user part, as far as it is known without a walk. */
static void begin_user(struct perf_sample *room, uint64_t abi)
{
	struct stoke_sample *record = &room->record;

	if (abi == PERF_SAMPLE_REGS_ABI_NONE || !record->ip)
		return; /* a kernel thread, or one that was never in user code */
	if (abi != PERF_SAMPLE_REGS_ABI_64) {
		record->walk_end = STOKE_WALK_COMPAT;
		return;
	}
	if (!room->copy.bytes && !(record->flags & STOKE_SAMPLE_USER_MODE)) {
		record->walk_end = STOKE_WALK_EXIT; /* or in an exec: that memory is gone */
		return;
	}
	room->frames[record->nr_kernel] = stoke_note_of(record->ip) ? STOKE_NO_ADDRESS : record->ip;
	record->nr_user = 1;
	record->walk_end = room->copy.bytes ? STOKE_WALK_PENDING : STOKE_WALK_UNREADABLE;
}

int perf_sample_decode(const uint8_t *record, size_t size, uint64_t sample_type,
	struct perf_sample *room, struct item *ret)
{
	struct cursor cursor = {record, size};
	uint64_t abi = PERF_SAMPLE_REGS_ABI_NONE;
	int r = take_fixed(&cursor, &room->record);

	room->copy = (struct stoke_copy){.type = STOKE_RECORD_COPY};
	if (r >= 0 && (sample_type & PERF_SAMPLE_CALLCHAIN))
		r = take_chain(&cursor, room);
	if (r >= 0 && (sample_type & PERF_SAMPLE_REGS_USER))
		r = take_registers(&cursor, room, &abi);
	if (r >= 0 && (sample_type & PERF_SAMPLE_STACK_USER))
		r = take_stack(&cursor, room);
	if (r < 0)
		return r;
	begin_user(room, abi);
	room->copy.cpu = room->record.cpu;
	room->copy.time_ns = room->record.time_ns;
	room->copy.start = room->record.sp;
	*ret = (struct item){
		.kind = ITEM_SAMPLE,
		.time_ns = room->record.time_ns,
		.sample = {.record = &room->record, .frames = room->frames},
	};
	if (room->record.nr_user && room->copy.bytes) {
		room->record.flags |= STOKE_SAMPLE_COPIED;
		ret->sample.copy = &room->copy;
	}
	return 1;
}
