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
	size_t nr_pages;
	uint64_t first_page; /* file address of pages[0] >> STOKE_PAGE_BITS */
	struct rules rules;
	uint64_t nr_left_out; /* rows beyond the limits of pages and rules */
};

/* 0, -ENOMEM. *ret is written whole; the caller calls unwind_table_done(). */
int unwind_table_make(const struct unwind_rows *rows, struct unwind_table *ret);
void unwind_table_done(struct unwind_table *table);

#endif
