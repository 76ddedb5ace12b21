/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scopes.c: rows of (offset in the code, where its scope is described), sorted; a description is
 * three numbers: the caller's description, the method's place among the metadata, bytecode + 1.
 * Where these three tables stand has changed with nearly every release.
 */
#include "hotspot/scopes.h"

#include <errno.h>
#include <string.h>

#include "hotspot/methods.h"

#define HEADER_BYTES   1024
#define MAX_ROWS       (1u << 20)
#define MAX_DATA_BYTES (16u << 20)
#define MAX_ROW_BYTES  64
#define SCOPE_BYTES    15 /* three numbers of up to five bytes */

struct places {
	uint64_t rows, nr_rows;
	uint64_t data, data_size;
	uint64_t metadata;
};

static uint64_t offset_of(const struct hotspot_field *field, const uint8_t *copy, size_t size)
{
	const int64_t value = hotspot_get_signed(field, copy, size);

	return value > 0 ? (uint64_t)value : 0;
}

static int find_places(
	struct pages *pages, const struct hotspot_structs *s, uint64_t start, struct places *ret)
{
	uint8_t copy[HEADER_BYTES];
	const size_t size = s->nmethod.size;
	uint64_t base = start, end;
	int r;

	if (size > sizeof(copy) || !s->nmethod.scopes_pcs.size || !s->nmethod.scopes_data.size ||
		!s->pc_desc.size)
		return -EINVAL;
	r = pages_read(pages, start, copy, size);
	if (r < 0)
		return r;
	if (s->nmethod.immutable_data.size) /* 23 on: rows, then data, apart from the code */
		base = hotspot_get(&s->nmethod.immutable_data, copy, size);
	ret->rows = base + offset_of(&s->nmethod.scopes_pcs, copy, size);
	ret->data = s->nmethod.scopes_data.size == 8
			    ? hotspot_get(&s->nmethod.scopes_data, copy, size)
			    : base + offset_of(&s->nmethod.scopes_data, copy, size);
	if (s->nmethod.immutable_data.size) {
		end = ret->data;
		ret->data_size =
			base + offset_of(&s->nmethod.immutable_size, copy, size) - ret->data;
	} else { /* data, then rows, then dependencies */
		end = base + offset_of(&s->nmethod.dependencies, copy, size);
		ret->data_size = ret->rows - ret->data;
	}
	ret->nr_rows = (end - ret->rows) / s->pc_desc.size;
	if (s->nmethod.metadata.size)
		ret->metadata = start + offset_of(&s->nmethod.metadata, copy, size);
	else
		ret->metadata = hotspot_get(&s->blob.mutable_data, copy, size) +
				offset_of(&s->blob.relocation_size, copy, size);
	return end > ret->rows && ret->nr_rows <= MAX_ROWS && ret->data_size <= MAX_DATA_BYTES
		       ? 0
		       : -EINVAL;
}

/* The description of the first row at or behind that offset, by halves: 0, or none. */
static int find_row(struct pages *pages, const struct hotspot_structs *s,
	const struct places *places, int64_t offset, uint64_t *ret)
{
	uint64_t low = 0, high = places->nr_rows;
	uint8_t row[MAX_ROW_BYTES];
	int r;

	if (s->pc_desc.size > sizeof(row))
		return -EINVAL;
	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		r = pages_read(
			pages, places->rows + middle * s->pc_desc.size, row, s->pc_desc.size);
		if (r < 0)
			return r;
		if (hotspot_get_signed(&s->pc_desc.offset, row, s->pc_desc.size) >= offset)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == places->nr_rows)
		return -EINVAL;
	r = pages_read(pages, places->rows + low * s->pc_desc.size, row, s->pc_desc.size);
	if (r == 0)
		*ret = offset_of(&s->pc_desc.scope, row, s->pc_desc.size);
	return r;
}

/* One description. 0 with method 0: none there. */
static int read_scope(struct pages *pages, const struct hotspot_structs *s,
	const struct places *places, uint64_t at, uint64_t *ret_sender, struct scope *ret)
{
	const uint64_t left = places->data_size - at;
	const size_t size = left < SCOPE_BYTES ? (size_t)left : SCOPE_BYTES;
	uint32_t sender, method, bci;
	uint8_t bytes[SCOPE_BYTES];
	size_t next = 0;
	int r;

	r = pages_read(pages, places->data + at, bytes, size);
	if (r < 0)
		return r;
	if (!method_number(bytes, size, &next, s->excluded, &sender) ||
		!method_number(bytes, size, &next, s->excluded, &method) ||
		!method_number(bytes, size, &next, s->excluded, &bci) || !method)
		return -EINVAL;
	ret->bci = (int32_t)bci - 1;
	ret->method = 0;
	*ret_sender = sender;
	return pages_read(pages, places->metadata + 8ull * (method - 1), &ret->method, 8);
}

int scopes_read(struct pages *pages, const struct hotspot_structs *s, const struct code_blob *blob,
	uint64_t address, struct scope *ret, size_t max)
{
	struct places places;
	uint64_t at, sender = 0;
	size_t nr = 0;
	int r;

	r = find_places(pages, s, blob->start, &places);
	if (r == 0)
		r = find_row(pages, s, &places, (int64_t)(address - blob->code), &at);
	/* Callers are described before those inlined into them, so this ends. */
	for (; r == 0 && at && at < places.data_size && nr < max; at = sender) {
		r = read_scope(pages, s, &places, at, &sender, &ret[nr]);
		if (r == 0 && sender >= at)
			r = -EINVAL;
		nr += r == 0;
	}
	if (r == -EINVAL || r == -EFAULT)
		return 0;
	if (r < 0)
		return r;
	return nr && !sender && ret[nr - 1].method == blob->method ? (int)nr : 0;
}
