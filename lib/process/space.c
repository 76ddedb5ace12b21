/* SPDX-License-Identifier: BSD-2-Clause */
/* space.c: an address space as an array of mappings. No record tells of munmap, so a mapping goes
 * only when another covers it. Generated code that lies together is one mapping: runtimes switch
 * their pages between writable and executable all the time, which must not look like news. */
#include "process/space.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"

/* Index of the first mapping that ends after address. */
static size_t first_after(const struct process *process, uint64_t address)
{
	size_t low = 0, high = process->nr_mappings;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (process->mappings[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

const struct mapping *process_mapping(const struct process *process, uint64_t address)
{
	size_t i = first_after(process, address);

	if (i == process->nr_mappings || process->mappings[i].start > address)
		return NULL;
	return &process->mappings[i];
}

/* Do both say the same of each address that they share? */
static int agree(const struct mapping *a, const struct mapping *b)
{
	if (a->kind != b->kind || a->module != b->module)
		return 0;
	return a->kind == MAPPING_ANONYMOUS || a->start - a->offset == b->start - b->offset;
}

static struct mapping part_of(const struct mapping *mapping, uint64_t start, uint64_t end)
{
	struct mapping part = *mapping;

	part.offset += start - mapping->start;
	part.start = start;
	part.end = end;
	return part;
}

/* Puts `nr` mappings in the place of [from, to). */
static int splice(
	struct process *process, size_t from, size_t to, const struct mapping *in, size_t nr)
{
	struct mapping *at;
	int r;

	r = array_reserve(
		&process->mappings, &process->mappings_capacity, process->nr_mappings, nr);
	if (r < 0)
		return r;
	at = process->mappings + from;
	memmove(at + nr, process->mappings + to,
		(process->nr_mappings - to) * sizeof(*process->mappings));
	memcpy(at, in, nr * sizeof(*in));
	process->nr_mappings = process->nr_mappings - (to - from) + nr;
	process->version++;
	return 1;
}

int space_put(struct process *process, const struct mapping *mapping)
{
	struct mapping put = *mapping, in[3];
	struct mapping *all = process->mappings;
	size_t from = first_after(process, put.start), to = from, nr = 0;

	if (from < process->nr_mappings && all[from].start <= put.start &&
		all[from].end >= put.end && agree(&all[from], &put)) {
		if (all[from].since_ns < put.since_ns)
			all[from].since_ns = put.since_ns;
		return 0;
	}
	while (to < process->nr_mappings && all[to].start < put.end)
		to++;
	if (put.kind == MAPPING_ANONYMOUS) { /* joins neighbours that touch */
		if (from > 0 && all[from - 1].end == put.start && agree(&all[from - 1], &put))
			from--;
		if (to < process->nr_mappings && all[to].start == put.end && agree(&all[to], &put))
			to++;
	}
	if (from < to && all[from].start < put.start) {
		if (put.kind == MAPPING_ANONYMOUS && agree(&all[from], &put))
			put.start = all[from].start;
		else
			in[nr++] = part_of(&all[from], all[from].start, put.start);
	}
	in[nr++] = put;
	if (from < to && all[to - 1].end > put.end) {
		if (put.kind == MAPPING_ANONYMOUS && agree(&all[to - 1], &put))
			in[nr - 1].end = all[to - 1].end;
		else
			in[nr++] = part_of(&all[to - 1], put.end, all[to - 1].end);
	}
	return splice(process, from, to, in, nr);
}

int space_fill(struct process *process, const struct mapping *mapping)
{
	uint64_t at = mapping->start;
	int changed = 0;

	while (at < mapping->end) {
		size_t i = first_after(process, at);
		uint64_t end = mapping->end, next = end;
		struct mapping part;
		int r;

		if (i < process->nr_mappings && process->mappings[i].start < end) {
			end = process->mappings[i].start;
			next = process->mappings[i].end;
		}
		if (at < end) {
			part = part_of(mapping, at, end);
			r = space_put(process, &part);
			if (r < 0)
				return r;
			changed |= r;
		}
		at = next;
	}
	return changed;
}

void space_exec(struct process *process, uint64_t time_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < process->nr_mappings; i++) {
		if (process->mappings[i].since_ns > time_ns)
			process->mappings[kept++] = process->mappings[i];
	}
	process->nr_mappings = kept;
	process->version++;
}

int space_append(
	struct mapping **mappings, size_t *nr, size_t *capacity, const struct mapping *mapping)
{
	struct mapping *last = *nr ? &(*mappings)[*nr - 1] : NULL;
	int r;

	if (last && last->end > mapping->start)
		return 0; /* maps ascend; a torn reading does not always: the first one stays */
	if (last && last->end == mapping->start && mapping->kind == MAPPING_ANONYMOUS &&
		agree(last, mapping)) {
		last->end = mapping->end;
		return 1;
	}
	r = array_reserve(mappings, capacity, *nr, 1);
	if (r < 0)
		return r;
	(*mappings)[(*nr)++] = *mapping;
	return 1;
}
