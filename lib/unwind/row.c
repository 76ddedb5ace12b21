/* SPDX-License-Identifier: BSD-2-Clause */
/* row.c: a row holds up to the next, so one that says what the row before says need not be. */
#include "unwind/row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void unwind_rows_done(struct unwind_rows *rows)
{
	free(rows->items);
	memset(rows, 0, sizeof(*rows));
}

static int same_rule(const struct unwind_rule *a, const struct unwind_rule *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

int unwind_rows_add(struct unwind_rows *rows, uint64_t address, const struct unwind_rule *rule)
{
	struct unwind_row *last = rows->nr ? &rows->items[rows->nr - 1] : NULL;
	int r;

	if (last && last->address == address) {
		last->rule = *rule;
		if (rows->nr > 1 && same_rule(&last[-1].rule, rule))
			rows->nr--;
		return 0;
	}
	rows->nr_raw++;
	if (last && same_rule(&last->rule, rule))
		return 0;
	if (rows->nr_taken + rows->nr >= UNWIND_MAX_ROWS)
		return -E2BIG;
	if (rows->nr == rows->capacity) {
		r = array_reserve(&rows->items, &rows->capacity, rows->nr, 1);
		if (r < 0)
			return r;
	}
	rows->items[rows->nr++] = (struct unwind_row){.address = address, .rule = *rule};
	return 0;
}

int unwind_rows_hand_over(struct unwind_rows *rows, const struct unwind_taker *taker)
{
	const size_t kept = 2, nr = rows->nr > kept ? rows->nr - kept : 0;
	int r;

	if (!nr)
		return 0;
	r = taker->take(taker->arg, rows->items, nr);
	memmove(rows->items, &rows->items[nr], kept * sizeof(*rows->items));
	rows->nr = kept;
	rows->nr_taken += nr;
	return r;
}

const struct unwind_row *unwind_rows_find(const struct unwind_rows *rows, uint64_t address)
{
	size_t low = 0, high = rows->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rows->items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &rows->items[low - 1] : NULL;
}
