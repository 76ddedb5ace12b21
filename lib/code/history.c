/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * history.c: address ranges with a chain of owners each. A changed owner costs one link, a range
 * that is split shares the chain of what it was, so a minute of warm-up is not sixty copies of a
 * map. A chain is never changed, only extended.
 */
#include "code/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

/* Ranges added before they are merged: the working memory of a merge stays in the cache, and the
 * number of merges of a great map stays small. */
#define BATCH_RANGES 16384

struct code_piece {
	uint64_t start;
	uint32_t size;
	uint32_t version; /* newest */
};

struct code_version {
	uint32_t name;
	uint32_t older; /* version, 0: nobody before */
	uint32_t reading : 31; /* since which */
	uint32_t contested : 1; /* owned by others, too, between the reading before and this one */
};

/* A stretch with one owner, of the batch being merged. */
struct stretch {
	uint64_t start, end;
	uint32_t name;
	uint32_t contested;
};

struct stretches {
	struct stretch *items;
	size_t nr, capacity;
};

void code_history_done(struct code_history *history)
{
	free(history->pieces);
	free(history->versions);
	free(history->readings_ns);
	free(history->batch);
	*history = (struct code_history){0};
}

int code_history_add(struct code_history *history, uint64_t start, uint32_t size, uint32_t name)
{
	int r = 0;

	if (history->nr_batch >= BATCH_RANGES && history->nr_batch >= history->nr_pieces / 4)
		r = code_history_merge(history);
	if (r == 0)
		r = array_reserve(&history->batch, &history->batch_capacity, history->nr_batch, 1);
	if (r < 0)
		return r;
	history->batch[history->nr_batch] = (struct code_range){
		.start = start,
		.end = start + (size ? size : 1),
		.name = name,
		.order = (uint32_t)history->nr_batch,
	};
	history->nr_batch++;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int add_stretch(
	struct stretches *to, uint64_t start, uint64_t end, uint32_t name, uint32_t contested)
{
	struct stretch *last = to->nr ? &to->items[to->nr - 1] : NULL;
	int r;

	if (last && last->end == start && last->name == name && last->contested == contested) {
		last->end = end;
		return 0;
	}
	r = array_reserve(&to->items, &to->capacity, to->nr, 1);
	if (r < 0)
		return r;
	to->items[to->nr++] = (struct stretch){start, end, name, contested};
	return 0;
}

/* The ranges that cover a position, as a heap: the latest line on top. */
struct covering {
	const struct code_range **items;
	size_t nr;
};

static void push(struct covering *heap, const struct code_range *range)
{
	size_t at = heap->nr++;

	while (at && heap->items[(at - 1) / 2]->order < range->order) {
		heap->items[at] = heap->items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->items[at] = range;
}

static void pop(struct covering *heap)
{
	const struct code_range *last = heap->items[--heap->nr];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= heap->nr)
			break;
		if (child + 1 < heap->nr &&
			heap->items[child + 1]->order > heap->items[child]->order)
			child++;
		if (heap->items[child]->order < last->order)
			break;
		heap->items[at] = heap->items[child];
		at = child;
	}
	heap->items[at] = last;
}

/* Looks at a few only: a hostile map may cover one address a hundred thousand times. */
static uint32_t is_contested(const struct covering *heap, uint64_t at)
{
	for (size_t i = 1; i < heap->nr && i < 16; i++) {
		if (heap->items[i]->end > at && heap->items[i]->name != heap->items[0]->name)
			return 1;
	}
	return 0;
}

static int sweep(const struct code_range *ranges, size_t nr, struct stretches *ret)
{
	_cleanup_free_ const struct code_range **items = calloc(nr, sizeof(*items));
	struct covering heap = {.items = items};
	uint64_t at = 0;
	size_t i = 0;

	if (!items)
		return -ENOMEM;
	while (i < nr || heap.nr) {
		uint64_t end;
		int r;

		if (!heap.nr)
			at = ranges[i].start;
		while (i < nr && ranges[i].start <= at)
			push(&heap, &ranges[i++]);
		while (heap.nr && heap.items[0]->end <= at)
			pop(&heap);
		if (!heap.nr)
			continue;
		end = heap.items[0]->end;
		if (i < nr && ranges[i].start < end)
			end = ranges[i].start;
		r = add_stretch(ret, at, end, heap.items[0]->name, is_contested(&heap, at));
		if (r < 0)
			return r;
		at = end;
	}
	return 0;
}

static struct code_piece *last_piece(struct code_history *into)
{
	return into->nr_pieces ? &into->pieces[into->nr_pieces - 1] : NULL;
}

static int add_piece(struct code_history *into, uint64_t start, uint64_t end, uint32_t version)
{
	struct code_piece *last = last_piece(into);
	int r;

	while (end - start > UINT32_MAX) { /* stretches that grew together */
		r = add_piece(into, start, start + UINT32_MAX, version);
		if (r < 0)
			return r;
		start += UINT32_MAX;
	}
	if (start == end)
		return 0;
	last = last_piece(into);
	if (last && last->start + last->size == start && last->version == version &&
		last->size <= UINT32_MAX - (end - start)) {
		last->size += (uint32_t)(end - start);
		return 0;
	}
	r = array_reserve(&into->pieces, &into->pieces_capacity, into->nr_pieces, 1);
	if (r < 0)
		return r;
	into->pieces[into->nr_pieces++] =
		(struct code_piece){start, (uint32_t)(end - start), version};
	return 0;
}

/* The version that says: from this reading on, `stretch` owns what `version` did. */
static int renew(struct code_history *history, uint32_t version, const struct stretch *stretch,
	uint32_t *ret)
{
	const struct code_version now = history->versions[version];
	struct code_version next = {
		.name = stretch->name,
		.older = version,
		.reading = (uint32_t)history->nr_readings & 0x7fffffff,
		.contested = stretch->contested & 1,
	};
	int r;

	*ret = version;
	if (now.name == stretch->name && !stretch->contested)
		return 0;
	if (history->nr_versions >= CODE_MAX_ENTRIES) {
		history->nr_refused++;
		return 0;
	}
	if (version && now.reading == next.reading) { /* a second owner within one reading */
		next.older = now.older;
		next.contested |= now.name != 0;
	}
	r = array_reserve(&history->versions, &history->versions_capacity, history->nr_versions, 1);
	if (r < 0)
		return r;
	*ret = (uint32_t)history->nr_versions;
	history->versions[history->nr_versions++] = next;
	history->nr_changes++;
	return 0;
}

/* Old pieces and new stretches, both sorted, into the pieces of `into`. */
struct merging {
	struct code_history *history;
	struct code_history *into;
	size_t next; /* piece not begun */
	uint64_t at, end; /* what is left of the piece begun */
	uint32_t version;
};

static void next_piece(struct merging *merging)
{
	const struct code_piece *piece;

	if (merging->at < merging->end || merging->next == merging->history->nr_pieces)
		return;
	piece = &merging->history->pieces[merging->next];
	merging->at = piece->start;
	merging->end = piece->start + piece->size;
	merging->version = piece->version;
	merging->next++;
}

/* Hands on old pieces up to that address, as they are. */
static int keep_until(struct merging *merging, uint64_t address)
{
	for (;;) {
		uint64_t end;
		int r;

		next_piece(merging);
		if (merging->at >= merging->end || merging->at >= address)
			return 0;
		end = merging->end < address ? merging->end : address;
		r = add_piece(merging->into, merging->at, end, merging->version);
		if (r < 0)
			return r;
		merging->at = end;
	}
}

static int put_stretch(struct merging *merging, const struct stretch *stretch)
{
	uint64_t at = stretch->start;
	int r;

	r = keep_until(merging, at);
	while (r == 0 && at < stretch->end) {
		uint64_t end = stretch->end;
		uint32_t version = 0;

		next_piece(merging);
		if (merging->at < merging->end && merging->at <= at) {
			version = merging->version;
			end = merging->end < end ? merging->end : end;
			merging->at = end;
		} else if (merging->at < merging->end && merging->at < end) {
			end = merging->at;
		}
		r = renew(merging->history, version, stretch, &version);
		if (r == 0 && version)
			r = add_piece(merging->into, at, end, version);
		at = end;
	}
	return r;
}

static int merge_stretches(struct code_history *history, const struct stretches *stretches)
{
	struct code_history into = {0};
	struct merging merging = {.history = history, .into = &into};
	int r = 0;

	if (!history->nr_versions) {
		r = array_reserve(&history->versions, &history->versions_capacity, 0, 1);
		if (r < 0)
			return r;
		history->versions[history->nr_versions++] = (struct code_version){0};
	}
	for (size_t i = 0; r == 0 && i < stretches->nr; i++)
		r = put_stretch(&merging, &stretches->items[i]);
	if (r == 0)
		r = keep_until(&merging, UINT64_MAX);
	if (r < 0) {
		free(into.pieces);
		return r;
	}
	free(history->pieces);
	history->pieces = into.pieces;
	history->nr_pieces = into.nr_pieces;
	history->pieces_capacity = into.pieces_capacity;
	return 0;
}

int code_history_merge(struct code_history *history)
{
	struct stretches stretches = {0};
	size_t i = 1;
	int r;

	if (!history->nr_batch)
		return 0;
	while (i < history->nr_batch && by_start(&history->batch[i - 1], &history->batch[i]) < 0)
		i++;
	if (i < history->nr_batch) /* many producers write in order of address already */
		qsort(history->batch, history->nr_batch, sizeof(*history->batch), by_start);
	r = sweep(history->batch, history->nr_batch, &stretches);
	if (r == 0)
		r = merge_stretches(history, &stretches);
	free(stretches.items);
	if (r == 0)
		history->nr_batch = 0;
	return r;
}

int code_history_replace(struct code_history *history, const struct code_history *whole)
{
	struct stretches stretches = {0};
	uint64_t at = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < whole->nr_pieces; i++) {
		const struct code_piece *piece = &whole->pieces[i];

		if (at < piece->start)
			r = add_stretch(&stretches, at, piece->start, 0, 0);
		at = piece->start + piece->size;
		if (r == 0)
			r = add_stretch(&stretches, piece->start, at,
				whole->versions[piece->version].name, 0);
	}
	if (r == 0 && at < UINT64_MAX)
		r = add_stretch(&stretches, at, UINT64_MAX, 0, 0);
	if (r == 0)
		r = merge_stretches(history, &stretches);
	free(stretches.items);
	return r;
}

int code_history_commit(struct code_history *history, uint64_t time_ns)
{
	int r = code_history_merge(history);

	if (r == 0)
		r = array_reserve(&history->readings_ns, &history->readings_capacity,
			history->nr_readings, 1);
	if (r < 0)
		return r;
	history->readings_ns[history->nr_readings++] = time_ns;
	return 0;
}

/* Number of the first reading at or after that time; nr_readings: none yet. */
static size_t first_since(const struct code_history *history, uint64_t time_ns)
{
	size_t low = 0, high = history->nr_readings;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (history->readings_ns[middle] >= time_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static const struct code_piece *piece_at(const struct code_history *history, uint64_t address)
{
	size_t low = 0, high = history->nr_pieces;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct code_piece *piece = &history->pieces[middle];

		if (address < piece->start)
			high = middle;
		else if (address - piece->start >= piece->size)
			low = middle + 1;
		else
			return piece;
	}
	return NULL;
}

int code_history_lookup(const struct code_history *history, uint64_t from_ns, uint64_t to_ns,
	uint64_t address, int last, uint32_t *ret_name)
{
	size_t since = first_since(history, to_ns), before = first_since(history, from_ns);
	const struct code_version *versions = history->versions;
	const struct code_piece *piece;
	uint32_t then, later = 0, v;

	if (since == history->nr_readings && !last)
		return -EAGAIN;
	piece = piece_at(history, address);
	if (!piece)
		return 0;
	for (v = piece->version; v && versions[v].reading > since; v = versions[v].older) {
		if (versions[v].name)
			later = v;
	}
	then = v;
	while (v && versions[v].reading >= before)
		v = versions[v].older;

	/* v: at the last reading before; then: at the first one since; later: the next that knows.
	 */
	if (versions[v].name && versions[v].name != versions[then].name) {
		*ret_name = versions[then].name ? versions[then].name : versions[v].name;
		return -ESTALE;
	}
	if (!versions[then].name)
		then = later;
	if (!versions[then].name)
		return 0;
	*ret_name = versions[then].name;
	/* The first reading tells of all that was before; only later ones bound the time. */
	return versions[then].contested && versions[then].reading >= before &&
			       versions[then].reading > 0
		       ? -ESTALE
		       : 1;
}

size_t code_history_nr_owned(const struct code_history *history)
{
	size_t nr = 0;

	for (size_t i = 0; i < history->nr_pieces; i++)
		nr += history->versions[history->pieces[i].version].name != 0;
	return nr;
}
