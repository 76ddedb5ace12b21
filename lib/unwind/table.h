/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_UNWIND_TABLE_H
#define STOKE_UNWIND_TABLE_H

/*
 * A file's unwind rows in the layout of bpf/table.h, but with rules numbered within the file and
 * rows within the table: made by a worker, which knows nothing of other files.
 */

#include "bpf/table.h"
#include "unwind/row.h"
#include "unwind/rules.h"

/* Of one file's code, from its first function to its last: 512 MiB. */
#define TABLE_MAX_PAGES (1u << 17)

struct unwind_table {
	uint32_t *rows;
	size_t nr_rows, rows_capacity;
	struct stoke_page *pages; /* `first` counts in rows */
	size_t nr_pages, pages_capacity;
	uint64_t first_page; /* file address of pages[0] >> STOKE_PAGE_BITS */
	struct rules rules;
	uint32_t rule; /* of the last row */
	uint64_t nr_left_out; /* rows beyond the limits of pages and rules */
};

/* Adds rows, the next after those before; all zero is an empty table. 0, -ENOMEM: what it has holds
 * up to the last that was added. */
int unwind_table_add(struct unwind_table *table, const struct unwind_row *items, size_t nr);
void unwind_table_done(struct unwind_table *table);

#endif
