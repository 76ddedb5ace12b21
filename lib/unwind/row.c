/* SPDX-License-Identifier: BSD-2-Clause */
/* row.c: rows are looked up by the last address that is not greater. */
#include "unwind/row.h"

#include <stdlib.h>
#include <string.h>

void unwind_rows_done(struct unwind_rows *rows)
{
	free(rows->items);
	memset(rows, 0, sizeof(*rows));
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
