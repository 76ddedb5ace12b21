/* SPDX-License-Identifier: BSD-2-Clause */
/* slices.c: a sample is judged some 200 ms after it was taken; what it used is kept for seconds. */
#include "capture/slices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

#define KEEP_NS 5000000000ull

void slice_copy_done(struct slice_copy *slice)
{
	free(slice->mappings);
	*slice = (struct slice_copy){0};
}

void slices_done(struct slices *slices)
{
	for (size_t i = 0; i < slices->nr; i++)
		slice_copy_done(&slices->items[i]);
	free(slices->items);
	*slices = (struct slices){0};
}

int slices_add(struct slices *slices, struct slice_copy *slice)
{
	int r = array_reserve(&slices->items, &slices->capacity, slices->nr, 1);

	if (r < 0)
		return r;
	slices->items[slices->nr++] = *slice;
	*slice = (struct slice_copy){0};
	return 0;
}

static struct slice_copy *find(const struct slices *slices, uint32_t generation)
{
	size_t low = 0, high = slices->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (slices->items[middle].generation < generation)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == slices->nr || slices->items[low].generation != generation)
		return NULL;
	return &slices->items[low];
}

void slices_leave(struct slices *slices, uint32_t generation, uint64_t now_ns)
{
	struct slice_copy *slice = find(slices, generation);

	if (slice)
		slice->left_ns = now_ns ? now_ns : 1;
}

void slices_expire(struct slices *slices, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < slices->nr; i++) {
		struct slice_copy *slice = &slices->items[i];

		if (slice->left_ns && now_ns > slice->left_ns + KEEP_NS)
			slice_copy_done(slice);
		else
			slices->items[kept++] = *slice;
	}
	slices->nr = kept;
}

static const struct mapping *mapping_in(const struct slice_copy *slice, uint64_t address)
{
	size_t low = 0, high = slice->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (slice->mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == slice->nr || slice->mappings[low].start > address)
		return NULL;
	return &slice->mappings[low];
}

const struct mapping *slices_mapping(
	const struct slices *slices, uint32_t generation, uint64_t address)
{
	const struct slice_copy *slice = find(slices, generation);

	return slice ? mapping_in(slice, address) : NULL;
}

uint32_t slices_module(const struct slices *slices, uint32_t generation, uint64_t address)
{
	const struct mapping *mapping = slices_mapping(slices, generation, address);

	return mapping ? mapping->module : 0;
}

int slices_generated(const struct slices *slices, uint32_t generation, uint64_t start, uint64_t end)
{
	const struct mapping *mapping = slices_mapping(slices, generation, start);

	return mapping && mapping->kind == MAPPING_ANONYMOUS && mapping->end >= end;
}

uint32_t slices_modules(const struct slices *slices)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < slices->nr; i++) {
		const struct slice_copy *slice = &slices->items[i];

		for (size_t j = 0; j < slice->nr && !slice->left_ns; j++)
			nr = slice->mappings[j].module >= nr ? slice->mappings[j].module + 1 : nr;
	}
	return nr;
}

void slices_mark(const struct slices *slices, uint8_t *used, uint32_t nr)
{
	for (size_t i = 0; i < slices->nr; i++) {
		const struct slice_copy *slice = &slices->items[i];

		for (size_t j = 0; j < slice->nr && !slice->left_ns; j++) {
			if (slice->mappings[j].module < nr)
				used[slice->mappings[j].module] = 1;
		}
	}
}

struct merged {
	struct mapping *items;
	size_t nr, capacity;
};

static int append(struct merged *merged, const struct mapping *mapping)
{
	struct mapping *last = merged->nr ? &merged->items[merged->nr - 1] : NULL;
	int r;

	if (last && last->kind == MAPPING_ANONYMOUS && mapping->kind == MAPPING_ANONYMOUS &&
		last->end == mapping->start) {
		last->end = mapping->end;
		return 0;
	}
	r = array_reserve(&merged->items, &merged->capacity, merged->nr, 1);
	if (r == 0)
		merged->items[merged->nr++] = *mapping;
	return r;
}

/* Known generated code in [from, to), which the reading left empty. */
static int fill(struct merged *merged, const struct slice_copy *known, size_t *at, uint64_t from,
	uint64_t to)
{
	int r = 0;

	while (*at < known->nr && known->mappings[*at].end <= from)
		++*at;
	for (size_t i = *at; r == 0 && i < known->nr && known->mappings[i].start < to; i++) {
		struct mapping part = known->mappings[i];

		if (part.kind != MAPPING_ANONYMOUS)
			continue;
		if (part.start < from)
			part.start = from;
		if (part.end > to)
			part.end = to;
		r = append(merged, &part);
	}
	return r;
}

static int same(const struct slice_copy *known, const struct merged *merged)
{
	if (known->nr != merged->nr)
		return 0;
	for (size_t i = 0; i < merged->nr; i++) {
		const struct mapping *a = &known->mappings[i], *b = &merged->items[i];

		if (a->start != b->start || a->end != b->end || a->module != b->module ||
			a->kind != b->kind || a->offset != b->offset)
			return 0;
	}
	return 1;
}

int slices_merge(const struct slices *slices, uint32_t generation, struct slice_copy *reading)
{
	static const struct slice_copy nothing = {0};
	const struct slice_copy *known = find(slices, generation);
	struct merged merged = {0};
	uint64_t from = 0;
	size_t at = 0;
	int r = 0;

	if (!known)
		known = &nothing;
	for (size_t i = 0; r == 0 && i < reading->nr; i++) {
		const struct mapping *mapping = &reading->mappings[i];

		if (mapping->kind == MAPPING_VSYSCALL)
			continue;
		r = fill(&merged, known, &at, from, mapping->start);
		if (r == 0)
			r = append(&merged, mapping);
		from = mapping->end;
	}
	if (r == 0)
		r = fill(&merged, known, &at, from, UINT64_MAX);
	if (r < 0) {
		free(merged.items);
		return r == -E2BIG ? -ENOMEM : r;
	}
	r = known == &nothing || !same(known, &merged);
	free(reading->mappings);
	reading->mappings = merged.items;
	reading->nr = merged.nr;
	return r;
}
