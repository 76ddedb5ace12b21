/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * codecache.c: the map of segments, one read a heap, says where all blocks start, so headers need
 * no walk from one to the next: they come a thousand a call.
 */
#include "hotspot/codecache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "process/pages.h"

#define MAX_HEAP_BYTES	   (4ull << 30)
#define MAX_SEGMENTS	   (32u << 20)
#define MAX_HEAP_STRUCT	   4096
#define MAX_HEADER_BYTES   1024 /* of a block and an nmethod: 368 at most so far */
#define BATCH		   1024
#define MAX_FRAME_BYTES	   (1u << 20)
#define NAME_BYTES	   64
#define MAX_NAMES	   4096 /* of blobs that are no methods */
#define FIRST_SEGMENT_LOG2 4
#define LAST_SEGMENT_LOG2  16

static uint64_t field_of(
	const struct hotspot_field *field, const uint8_t *copy, size_t size, uint32_t place)
{
	struct hotspot_field moved = *field;

	moved.offset += place;
	return hotspot_get(&moved, copy, size);
}

static int read_heap(const struct memory *memory, const struct hotspot_structs *structs,
	uint64_t address, struct code_heap *ret)
{
	const uint32_t in[] = {structs->heap.memory, structs->heap.segments};
	uint8_t copy[MAX_HEAP_STRUCT];
	size_t size = structs->heap.log2_segment.offset + sizeof(uint64_t);
	uint64_t log2;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(in); i++) {
		const size_t end = (size_t)in[i] + structs->heap.high.offset +
				   structs->heap.high_limit.offset + 16;

		size = end > size ? end : size;
	}
	if (size > sizeof(copy))
		return -EINVAL;
	r = memory_read(memory, address, copy, size);
	if (r < 0)
		return r == -EFAULT ? -EINVAL : r;
	*ret = (struct code_heap){
		.low = field_of(&structs->heap.low, copy, size, in[0]),
		.high = field_of(&structs->heap.high, copy, size, in[0]),
		.low_limit = field_of(&structs->heap.low_limit, copy, size, in[0]),
		.high_limit = field_of(&structs->heap.high_limit, copy, size, in[0]),
		.segments = field_of(&structs->heap.low, copy, size, in[1]),
	};
	log2 = hotspot_get(&structs->heap.log2_segment, copy, size);
	if (log2 < FIRST_SEGMENT_LOG2 || log2 > LAST_SEGMENT_LOG2 || ret->low < ret->low_limit ||
		ret->high < ret->low || ret->high_limit < ret->high || !ret->segments ||
		ret->high_limit - ret->low_limit > MAX_HEAP_BYTES)
		return -EINVAL;
	ret->log2_segment = (uint8_t)log2;
	return 0;
}

/* Addresses of the heaps: 8 has one, later ones an array of one to three. */
static int find_heaps(const struct memory *memory, const struct hotspot_structs *structs,
	uint64_t heaps[CODECACHE_MAX_HEAPS], size_t *ret_nr)
{
	uint64_t array, data;
	uint8_t copy[64];
	size_t size = 0;
	int64_t nr;
	int r;

	*ret_nr = 0;
	if (structs->at.heap) {
		heaps[0] = memory_pointer(memory, structs->at.heap);
		*ret_nr = heaps[0] != 0;
		return 0;
	}
	array = memory_pointer(memory, structs->at.heaps);
	if (!array)
		return 0;
	size = structs->array.length.offset > structs->array.data.offset
		       ? structs->array.length.offset
		       : structs->array.data.offset;
	size += 8;
	if (size > sizeof(copy))
		return -EINVAL;
	r = memory_read(memory, array, copy, size);
	if (r < 0)
		return r == -EFAULT ? -EINVAL : r;
	nr = hotspot_get_signed(&structs->array.length, copy, size);
	data = hotspot_get(&structs->array.data, copy, size);
	if (nr < 0 || nr > CODECACHE_MAX_HEAPS)
		return -EINVAL;
	if (nr > 0)
		r = memory_read(memory, data, heaps, (size_t)nr * sizeof(*heaps));
	if (r < 0)
		return r == -EFAULT ? -EINVAL : r;
	*ret_nr = (size_t)nr;
	return 0;
}

int code_heaps_read(const struct memory *memory, const struct hotspot_structs *structs,
	struct code_heap ret[CODECACHE_MAX_HEAPS], size_t *ret_nr)
{
	uint64_t heaps[CODECACHE_MAX_HEAPS];
	size_t nr;
	int r;

	r = find_heaps(memory, structs, heaps, &nr);
	for (size_t i = 0; r == 0 && i < nr; i++)
		r = read_heap(memory, structs, heaps[i], &ret[i]);
	if (r == 0)
		*ret_nr = nr;
	return r;
}

/* What a name string of the VM says of its blob. Few strings, each of many blobs. */
struct word {
	uint64_t at;
	uint8_t kind;
	uint8_t known;
};

struct taking {
	const struct memory *memory;
	const struct hotspot_structs *structs;
	const struct code_heap *heap;
	struct codecache *into;
	struct pages pages;
	struct word words[MAX_NAMES];
	uint8_t *copies; /* BATCH headers */
	size_t copy_bytes;
	struct memory_part parts[BATCH];
	size_t nr_parts;
};

static enum blob_kind kind_of(const char *name)
{
	static const struct {
		const char *start;
		enum blob_kind kind;
	} kinds[] = {
		{"nmethod", BLOB_METHOD},
		{"native nmethod", BLOB_NATIVE},
		{"Interpreter", BLOB_INTERPRETER},
		{"StubRoutines", BLOB_STUBS},
		{"vtable chunks", BLOB_VTABLE},
		{"I2C/C2I adapters", BLOB_ADAPTER},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strncmp(name, kinds[i].start, strlen(kinds[i].start)) == 0)
			return kinds[i].kind;
	}
	return BLOB_OTHER;
}

/* The kind that the string at that address names, or -EFAULT. */
static int read_kind(struct taking *taking, uint64_t at)
{
	struct word *word = &taking->words[(at * 0x9e3779b97f4a7c15ull >> 32) % MAX_NAMES];
	char name[NAME_BYTES];
	ssize_t n;

	if (word->known && word->at == at)
		return word->kind;
	n = pages_string(&taking->pages, at, name, sizeof(name));
	if (n == -E2BIG)
		name[NAME_BYTES - 1] = '\0';
	else if (n < 0)
		return (int)n;
	*word = (struct word){.at = at, .kind = (uint8_t)kind_of(name), .known = 1};
	return word->kind;
}

static int is_dead(const struct hotspot_structs *structs, int state)
{
	/* -1: not installed; then in use, not entrant (8: 1, later 2 or 1), then zombies. */
	return state < 0 || state > (structs->major == 8 ? 1 : 2);
}

/* A place in the blob: an address, or an offset from its start. */
static uint64_t place_in(
	const struct hotspot_field *field, const uint8_t *blob, size_t size, uint64_t start)
{
	const uint64_t value = hotspot_get(field, blob, size);

	return field->size == 8 ? value : start + value;
}

/* 1: *ret is a blob; 0: none, or none any more; -EINVAL: makes no sense. */
static int parse(
	struct taking *taking, const uint8_t *copy, uint64_t address, struct code_blob *ret)
{
	const struct hotspot_structs *s = taking->structs;
	const uint8_t *blob = copy + s->heap.block_size;
	const size_t size = taking->copy_bytes - s->heap.block_size;
	const uint64_t start = address + s->heap.block_size;
	const uint64_t length = hotspot_get(&s->heap.block_length, copy, s->heap.block_size);
	const uint64_t code = place_in(&s->blob.code_begin, blob, size, start);
	const uint64_t end = place_in(&s->blob.code_end, blob, size, start);
	const int64_t frame = hotspot_get_signed(&s->blob.frame_size, blob, size) * 8;
	int kind;

	if (!hotspot_get(&s->heap.block_used, copy, s->heap.block_size))
		return 0;
	if (!length || length > (taking->heap->high - address) >> taking->heap->log2_segment ||
		code < start || end < code ||
		end > address + (length << taking->heap->log2_segment))
		return -EINVAL;
	if (end == code)
		return 0;
	*ret = (struct code_blob){
		.start = start,
		.code = code,
		.code_size = (uint32_t)(end - code),
		.name = hotspot_get(&s->blob.name, blob, size),
		.frame_bytes = frame > 0 && frame < MAX_FRAME_BYTES ? (uint32_t)frame : 0,
		.frame_complete = (int32_t)hotspot_get_signed(&s->blob.frame_complete, blob, size),
	};
	kind = read_kind(taking, ret->name);
	if (kind < 0)
		return kind == -EFAULT ? -EINVAL : kind;
	ret->kind = (uint8_t)kind;
	if (kind != BLOB_METHOD && kind != BLOB_NATIVE)
		return 1;
	ret->method = hotspot_get(&s->nmethod.method, blob, size);
	ret->compile_id = (uint32_t)hotspot_get(&s->nmethod.compile_id, blob, size);
	ret->level = (int8_t)hotspot_get(&s->nmethod.level, blob, size);
	ret->state = (int8_t)hotspot_get(&s->nmethod.state, blob, size);
	return ret->method && !is_dead(s, ret->state);
}

static int take_batch(struct taking *taking)
{
	struct codecache *into = taking->into;
	int r;

	r = taking->memory->read(taking->memory, taking->parts, taking->nr_parts);
	for (size_t i = 0; r >= 0 && i < taking->nr_parts; i++) {
		const struct memory_part *part = &taking->parts[i];

		if (into->nr_blobs >= CODECACHE_MAX_BLOBS) {
			into->nr_left_out++;
			continue;
		}
		r = array_reserve(&into->blobs, &into->capacity, into->nr_blobs, 1);
		if (r < 0)
			break;
		r = part->missing
			    ? -EINVAL
			    : parse(taking, part->to, part->address, &into->blobs[into->nr_blobs]);
		if (r == 1)
			into->nr_blobs++;
		into->nr_bad += r == -EINVAL;
		r = r == -EINVAL ? 0 : r;
	}
	taking->nr_parts = 0;
	return r < 0 ? r : 0;
}

static int add_header(struct taking *taking, uint64_t address)
{
	taking->parts[taking->nr_parts] = (struct memory_part){
		.address = address,
		.to = taking->copies + taking->nr_parts * taking->copy_bytes,
		.size = (uint32_t)taking->copy_bytes,
	};
	taking->nr_parts++;
	return taking->nr_parts == BATCH ? take_batch(taking) : 0;
}

static int take_heap(struct taking *taking)
{
	const struct code_heap *heap = taking->heap;
	const size_t nr = (heap->high - heap->low) >> heap->log2_segment;
	_cleanup_free_ uint8_t *segments = NULL;
	int r;

	if (!nr)
		return 0;
	if (nr > MAX_SEGMENTS)
		return -EINVAL;
	segments = malloc(nr);
	if (!segments)
		return -ENOMEM;
	r = memory_read(taking->memory, heap->segments, segments, nr);
	if (r < 0)
		return r == -EFAULT ? -EINVAL : r;
	for (size_t i = 0; r == 0 && i < nr; i++) {
		const uint8_t *next = memchr(segments + i, 0, nr - i);

		if (!next)
			break;
		i = (size_t)(next - segments);
		r = add_header(taking, heap->low + ((uint64_t)i << heap->log2_segment));
	}
	return r == 0 ? take_batch(taking) : r;
}

static int by_code(const void *a, const void *b)
{
	const struct code_blob *x = a, *y = b;

	return (x->code > y->code) - (x->code < y->code);
}

/* In order of address; of two that overlap, which nobody but a liar has, the first stays. */
static void settle(struct codecache *codecache)
{
	size_t kept = 0;

	if (codecache->nr_blobs)
		qsort(codecache->blobs, codecache->nr_blobs, sizeof(*codecache->blobs), by_code);
	for (size_t i = 0; i < codecache->nr_blobs; i++) {
		const struct code_blob *last = kept ? &codecache->blobs[kept - 1] : NULL;

		if (last && codecache->blobs[i].code < last->code + last->code_size)
			codecache->nr_bad++;
		else
			codecache->blobs[kept++] = codecache->blobs[i];
	}
	codecache->nr_blobs = kept;
}

int codecache_read(
	const struct memory *memory, const struct hotspot_structs *structs, struct codecache *ret)
{
	_cleanup_free_ struct taking *taking = calloc(1, sizeof(*taking));
	struct codecache codecache = {0};
	int r;

	if (!taking)
		return -ENOMEM;
	taking->memory = memory;
	taking->structs = structs;
	taking->into = &codecache;
	taking->copy_bytes = structs->heap.block_size + structs->nmethod.size;
	if (structs->heap.block_size > MAX_HEADER_BYTES || taking->copy_bytes > MAX_HEADER_BYTES)
		return -EINVAL;
	taking->copies = calloc(BATCH, taking->copy_bytes);
	if (!taking->copies)
		return -ENOMEM;
	pages_init(&taking->pages, memory);
	r = code_heaps_read(memory, structs, codecache.heaps, &codecache.nr_heaps);
	for (size_t i = 0; r == 0 && i < codecache.nr_heaps; i++) {
		taking->heap = &codecache.heaps[i];
		r = take_heap(taking);
	}
	pages_done(&taking->pages);
	free(taking->copies);
	if (r < 0) {
		codecache_done(&codecache);
		return r;
	}
	settle(&codecache);
	*ret = codecache;
	return 0;
}

void codecache_done(struct codecache *codecache)
{
	free(codecache->blobs);
	*codecache = (struct codecache){0};
}

const struct code_blob *codecache_find(const struct codecache *codecache, uint64_t address)
{
	size_t low = 0, high = codecache->nr_blobs;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct code_blob *blob = &codecache->blobs[middle];

		if (address < blob->code)
			high = middle;
		else if (address - blob->code >= blob->code_size)
			low = middle + 1;
		else
			return blob;
	}
	return NULL;
}
