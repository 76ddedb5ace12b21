/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * javavm.c: what of HotSpot's tables a walk needs, in the few bytes that it has time to read. A
 * slot is given to another process only when no walk can be in it any more.
 */
#include "capture/javavm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/jvm.h"
#include "hotspot/codecache.h"

#define FIRST_INTERVAL_NS 10000000ull
#define LAST_INTERVAL_NS  1000000000ull
#define GRACE_NS	  1000000000ull
#define MAX_CACHE_BYTES	  (4ull << 30)

struct slot {
	pid_t pid; /* 0: nobody's */
	uint64_t libjvm, offset; /* where of its libjvm.so is mapped */
	int has_structs, is_known;
	uint64_t next_ns, interval_ns; /* when it is asked again; next 0: never */
	uint64_t free_ns;
	struct hotspot_structs *structs; /* until it is known */
};

struct javavms {
	struct stoke_java *shared;
	struct slot *slots;
	size_t nr;
};

int javavms_new(struct stoke_java *shared, size_t nr, struct javavms **ret)
{
	struct javavms *javavms = calloc(1, sizeof(*javavms));

	if (!javavms)
		return -ENOMEM;
	javavms->shared = shared;
	javavms->nr = nr;
	javavms->slots = calloc(nr, sizeof(*javavms->slots));
	if (!javavms->slots) {
		free(javavms);
		return -ENOMEM;
	}
	*ret = javavms;
	return 0;
}

void javavms_free(struct javavms *javavms)
{
	if (!javavms)
		return;
	for (size_t i = 0; i < javavms->nr; i++)
		free(javavms->slots[i].structs);
	free(javavms->slots);
	free(javavms);
}

/* A field of the code's header, or of the block's when base is 0. 0, or -EINVAL. */
static int place_field(
	const struct hotspot_field *field, uint32_t base, struct stoke_java_field *ret)
{
	uint64_t offset = (uint64_t)base + field->offset;

	/* Walks take a number out of one aligned word. */
	if (!field->size || offset + field->size > STOKE_JAVA_BLOCK_BYTES ||
		offset / 8 != (offset + field->size - 1) / 8)
		return -EINVAL;
	ret->offset = (uint8_t)offset;
	ret->bits = (uint8_t)(field->size * 8);
	return 0;
}

static int place_fields(const struct hotspot_structs *structs, struct stoke_java *ret)
{
	uint32_t blob = structs->heap.block_size;
	int r = 0;

	if (blob > STOKE_JAVA_BLOCK_BYTES)
		return -EINVAL;
	ret->blob = (uint8_t)blob;
	r |= place_field(&structs->heap.block_used, 0, &ret->used);
	r |= place_field(&structs->blob.name, blob, &ret->name);
	r |= place_field(&structs->blob.code_begin, blob, &ret->begin);
	r |= place_field(&structs->blob.code_end, blob, &ret->end);
	r |= place_field(&structs->blob.frame_size, blob, &ret->frame_words);
	r |= place_field(&structs->blob.frame_complete, blob, &ret->complete);
	if (r || structs->method.constants.size != 8 || structs->method.constants.offset > 4096 ||
		structs->method.code > 4096)
		return -EINVAL;
	ret->constants = (uint16_t)structs->method.constants.offset;
	ret->bytecode = (uint16_t)structs->method.code;
	/* frame_x86.hpp: 9 put the class's mirror between method and bytecode pointer */
	ret->bytecode_pointer = structs->major <= 8 ? -56 : -64;
	return 0;
}

static int place_heaps(
	const struct memory *memory, const struct hotspot_structs *structs, struct stoke_java *ret)
{
	struct code_heap heaps[CODECACHE_MAX_HEAPS];
	uint64_t end = 0;
	size_t nr;
	int r = code_heaps_read(memory, structs, heaps, &nr);

	if (r < 0)
		return r;
	if (!nr)
		return -EAGAIN;
	if (nr > STOKE_JAVA_HEAPS)
		return -EINVAL;
	ret->nr_heaps = (uint32_t)nr;
	ret->segment_bits = heaps[0].log2_segment;
	ret->start = UINT64_MAX;
	for (size_t i = 0; i < nr; i++) {
		if (heaps[i].log2_segment != ret->segment_bits)
			return -EINVAL;
		ret->heaps[i] = (struct stoke_java_heap){.start = heaps[i].low_limit,
			.size = heaps[i].high_limit - heaps[i].low_limit,
			.segments = heaps[i].segments};
		if (heaps[i].low_limit < ret->start)
			ret->start = heaps[i].low_limit;
		if (heaps[i].high_limit > end)
			end = heaps[i].high_limit;
	}
	ret->size = end - ret->start;
	return ret->size && ret->size <= MAX_CACHE_BYTES ? 0 : -EINVAL;
}

/* The interpreter is one piece of code; it comes after the heaps. */
static int place_interpreter(
	const struct memory *memory, const struct hotspot_structs *structs, struct stoke_java *ret)
{
	uint8_t queue[128];
	uint64_t at;
	int r;

	if (!structs->at.interpreter)
		return -EINVAL;
	at = memory_pointer(memory, structs->at.interpreter);
	if (!at)
		return -EAGAIN;
	r = memory_read(memory, at, queue, sizeof(queue));
	if (r < 0)
		return r == -EFAULT ? -EAGAIN : r;
	ret->interpreter = hotspot_get(&structs->queue.buffer, queue, sizeof(queue));
	ret->interpreter_size = hotspot_get(&structs->queue.limit, queue, sizeof(queue));
	if (ret->interpreter - ret->start >= ret->size || ret->interpreter_size > ret->size)
		return -EAGAIN;
	ret->call_return = memory_pointer(memory, structs->at.call_stub_return);
	return ret->call_return ? 0 : -EAGAIN;
}

int javavm_describe(
	const struct memory *memory, const struct hotspot_structs *structs, struct stoke_java *ret)
{
	struct stoke_java java = {0};
	int r;

	if (!structs->at.call_stub_return)
		return -EINVAL;
	r = place_fields(structs, &java);
	if (r == 0)
		r = place_heaps(memory, structs, &java);
	if (r == 0)
		r = place_interpreter(memory, structs, &java);
	if (r == 0)
		*ret = java;
	return r;
}

/* Written where no walk looks: its index is not given out yet. */
static int ask(struct javavms *javavms, struct slot *slot, uint64_t now_ns)
{
	struct memory memory = memory_of(slot->pid);
	struct stoke_java described;
	int r = 0;

	if (!slot->structs)
		slot->structs = calloc(1, sizeof(*slot->structs));
	if (!slot->structs)
		return -ENOMEM;
	if (!slot->has_structs)
		r = hotspot_structs_read(&memory, slot->libjvm, slot->offset, slot->structs);
	slot->has_structs |= r == 0;
	if (r == 0)
		r = javavm_describe(&memory, slot->structs, &described);
	if (r == -EAGAIN || r == -EFAULT) {
		slot->next_ns = now_ns + slot->interval_ns;
		slot->interval_ns *= 2;
		if (slot->interval_ns > LAST_INTERVAL_NS)
			slot->interval_ns = LAST_INTERVAL_NS;
		return 0;
	}
	slot->next_ns = 0;
	if (r == 0) {
		javavms->shared[slot - javavms->slots] = described;
		slot->is_known = 1;
	}
	free(slot->structs);
	slot->structs = NULL;
	return r == -ENOMEM ? r : 0;
}

static struct slot *slot_of(struct javavms *javavms, pid_t pid)
{
	for (size_t i = 0; i < javavms->nr; i++)
		if (javavms->slots[i].pid == pid)
			return &javavms->slots[i];
	return NULL;
}

static struct slot *free_slot(struct javavms *javavms, uint64_t now_ns)
{
	for (size_t i = 0; i < javavms->nr; i++)
		if (!javavms->slots[i].pid && javavms->slots[i].free_ns <= now_ns)
			return &javavms->slots[i];
	return NULL;
}

static uint32_t index_of(const struct javavms *javavms, const struct slot *slot)
{
	return slot->is_known ? (uint32_t)(slot - javavms->slots) + 1 : 0;
}

static const struct mapping *find_libjvm(
	const struct processes *processes, const struct mapping *mappings, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (mappings[i].kind == MAPPING_FILE &&
			jvm_is_module(processes_module(processes, mappings[i].module)))
			return &mappings[i];
	}
	return NULL;
}

int javavms_read(struct javavms *javavms, const struct processes *processes, pid_t pid,
	const struct mapping *mappings, size_t nr, uint64_t now_ns, uint32_t *ret)
{
	const struct mapping *libjvm = find_libjvm(processes, mappings, nr);
	struct slot *slot = slot_of(javavms, pid);
	int r = 0;

	if (slot && (!libjvm || slot->libjvm != libjvm->start)) {
		javavms_forget(javavms, pid, now_ns);
		slot = NULL;
	}
	if (libjvm && !slot) {
		slot = free_slot(javavms, now_ns);
		if (slot) {
			*slot = (struct slot){.pid = pid,
				.libjvm = libjvm->start,
				.offset = libjvm->offset,
				.interval_ns = FIRST_INTERVAL_NS};
			r = ask(javavms, slot, now_ns);
		}
	}
	*ret = slot ? index_of(javavms, slot) : 0;
	return r;
}

void javavms_forget(struct javavms *javavms, pid_t pid, uint64_t now_ns)
{
	struct slot *slot = slot_of(javavms, pid);

	if (!slot)
		return;
	free(slot->structs);
	*slot = (struct slot){.free_ns = now_ns + GRACE_NS};
}

pid_t javavms_next(struct javavms *javavms, uint64_t now_ns, uint32_t *ret)
{
	for (size_t i = 0; i < javavms->nr; i++) {
		struct slot *slot = &javavms->slots[i];

		if (!slot->pid || !slot->next_ns || slot->next_ns > now_ns)
			continue;
		if (ask(javavms, slot, now_ns) < 0)
			slot->next_ns = 0;
		if (slot->is_known) {
			*ret = index_of(javavms, slot);
			return slot->pid;
		}
	}
	return 0;
}
