/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sort.c: multikey quicksort with eight bytes cached (Bentley and Sedgewick 1997): lines that are
 * equal so far are never compared again from their start. ';' counts as 0, below all other bytes,
 * and makes place for itself by a rotation: 0 counts as 1 and 1 as ';', which names do not have.
 */
#include "format/folded/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

#define SMALL	 12 /* lines that are sorted by insertion */
#define PATIENCE 32

#define BYTES(b) (0x0101010101010101u * (b))

/* Lines that share their first `depth` bytes. */
struct range {
	size_t first, nr, depth;
	unsigned patience; /* bad pivots until merge sort takes over */
};

struct ranges {
	struct range *items;
	size_t nr, capacity;
};

static unsigned char rotate(unsigned char byte)
{
	return byte == ';' ? 0 : byte == 0 ? 1 : byte == 1 ? ';' : byte;
}

/* 0x80 in each byte that is 0. */
static uint64_t zero_bytes(uint64_t word)
{
	return ~(((word & BYTES(0x7f)) + BYTES(0x7f)) | word | BYTES(0x7f));
}

/* Eight bytes from depth on as a number that compares as they do; the end counts as 0s. */
static uint64_t load_key(const struct folded_line *line, size_t depth)
{
	size_t left = line->size > depth ? line->size - depth : 0;
	unsigned char bytes[8] = {0};
	uint64_t word, semicolons;

	if (left >= 8) {
		memcpy(&word, line->stack + depth, 8);
	} else {
		memset(bytes, ';', 8);
		if (left)
			memcpy(bytes, line->stack + depth, left);
		memcpy(&word, bytes, 8);
	}
	if (zero_bytes(word & BYTES(0xfe))) { /* a 0 or a 1: rare, so one by one */
		memcpy(bytes, &word, 8);
		for (unsigned i = 0; i < 8; i++)
			bytes[i] = rotate(bytes[i]);
		memcpy(&word, bytes, 8);
	} else {
		semicolons = zero_bytes(word ^ BYTES(';')) >> 7;
		word &= ~(semicolons * 0xff);
	}
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/* Equal bytes of two lines from depth on. */
static size_t common_bytes(const struct folded_line *a, const struct folded_line *b, size_t depth)
{
	size_t max = a->size < b->size ? a->size : b->size, i = depth;
	uint64_t x, y;

	for (; i + 8 <= max; i += 8) {
		memcpy(&x, a->stack + i, 8);
		memcpy(&y, b->stack + i, 8);
		if (x != y)
			break;
	}
	while (i < max && a->stack[i] == b->stack[i])
		i++;
	return i - depth;
}

/* Both share the bytes before depth. */
static int is_before(const struct folded_line *a, const struct folded_line *b, size_t depth)
{
	size_t at = depth + common_bytes(a, b, depth);

	if (at < a->size && at < b->size)
		return rotate((unsigned char)a->stack[at]) < rotate((unsigned char)b->stack[at]);
	if (a->size != b->size)
		return a->size < b->size;
	return a->slice < b->slice;
}

static void sort_small(struct folded_line *lines, size_t nr, size_t depth)
{
	for (size_t i = 1; i < nr; i++) {
		struct folded_line line = lines[i];
		size_t at = i;

		for (; at && is_before(&line, &lines[at - 1], depth); at--)
			lines[at] = lines[at - 1];
		lines[at] = line;
	}
}

static int by_key(const void *a, const void *b)
{
	const struct folded_line *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/* Of lines that end here, which differ by nothing else. */
static int by_size(const void *a, const void *b)
{
	const struct folded_line *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return x->slice < y->slice ? -1 : x->slice > y->slice;
}

static uint64_t middle(uint64_t a, uint64_t b, uint64_t c)
{
	if (a < b)
		return b < c ? b : a < c ? c : a;
	return a < c ? a : b < c ? c : b;
}

static uint64_t choose_pivot(const struct folded_line *lines, size_t nr)
{
	size_t step = nr / 9;
	uint64_t m[3];

	if (nr < 64)
		return middle(lines[0].key, lines[nr / 2].key, lines[nr - 1].key);
	for (unsigned i = 0; i < 3; i++)
		m[i] = middle(lines[3 * i * step].key, lines[(3 * i + 1) * step].key,
			lines[(3 * i + 2) * step].key);
	return middle(m[0], m[1], m[2]);
}

static void swap(struct folded_line *a, struct folded_line *b)
{
	struct folded_line line = *a;

	*a = *b;
	*b = line;
}

static int push(struct ranges *ranges, struct range range)
{
	int r;

	if (range.nr < 2)
		return 0;
	r = array_reserve(&ranges->items, &ranges->capacity, ranges->nr, 1);
	if (r >= 0)
		ranges->items[ranges->nr++] = range;
	return r;
}

/*
 * Lines of one key: those that end within it come first, the others go on behind it. How far they
 * all agree is found by comparing each with the first, which reads them as memory likes it.
 */
static int go_on(struct folded_line *lines, struct range range, struct ranges *ranges)
{
	struct folded_line *line = lines + range.first;
	size_t nr_ended = 0, depth = range.depth + 8, common = SIZE_MAX;

	for (size_t i = 0; i < range.nr; i++) {
		if (line[i].size <= depth)
			swap(&line[i], &line[nr_ended++]);
	}
	if (nr_ended > 1)
		qsort(line, nr_ended, sizeof(*line), by_size);
	range.first += nr_ended;
	range.nr -= nr_ended;
	line += nr_ended;
	for (size_t i = 1; i < range.nr && common; i++) {
		size_t n = common_bytes(line, &line[i], depth);

		common = n < common ? n : common;
	}
	range.depth = range.nr > 1 ? depth + common : depth;
	range.patience = PATIENCE;
	for (size_t i = 0; i < range.nr; i++)
		line[i].key = load_key(&line[i], range.depth);
	return push(ranges, range);
}

static int split(struct folded_line *lines, struct range range, struct ranges *ranges)
{
	struct folded_line *line = lines + range.first;
	uint64_t pivot = choose_pivot(line, range.nr);
	size_t below = 0, at = 0, above = range.nr;
	struct range part = range;
	int r;

	while (at < above) {
		if (line[at].key < pivot)
			swap(&line[at++], &line[below++]);
		else if (line[at].key > pivot)
			swap(&line[at], &line[--above]);
		else
			at++;
	}
	part.nr = below;
	part.patience = range.patience - (below > range.nr - range.nr / 8);
	r = push(ranges, part);
	if (r < 0)
		return r;
	part.first = range.first + above;
	part.nr = range.nr - above;
	part.patience = range.patience - (part.nr > range.nr - range.nr / 8);
	r = push(ranges, part);
	if (r < 0)
		return r;
	range.first += below;
	range.nr = above - below;
	return go_on(lines, range, ranges);
}

/* What was chosen to defeat the pivots. */
static int split_slowly(struct folded_line *lines, struct range range, struct ranges *ranges)
{
	struct folded_line *line = lines + range.first;
	size_t end;
	int r = 0;

	qsort(line, range.nr, sizeof(*line), by_key);
	for (size_t i = 0; r >= 0 && i < range.nr; i = end) {
		struct range part = range;

		for (end = i + 1; end < range.nr && line[end].key == line[i].key; end++)
			;
		part.first += i;
		part.nr = end - i;
		r = go_on(lines, part, ranges);
	}
	return r;
}

int folded_sort(struct folded_line *lines, size_t nr)
{
	_cleanup_free_ struct range *items = NULL;
	struct ranges ranges = {0};
	int r;

	for (size_t i = 0; i < nr; i++)
		lines[i].key = load_key(&lines[i], 0);
	r = push(&ranges, (struct range){0, nr, 0, PATIENCE});
	while (r >= 0 && ranges.nr) {
		struct range range = ranges.items[--ranges.nr];

		if (range.nr <= SMALL)
			sort_small(lines + range.first, range.nr, range.depth);
		else if (range.patience)
			r = split(lines, range, &ranges);
		else
			r = split_slowly(lines, range, &ranges);
	}
	items = ranges.items;
	return r;
}
