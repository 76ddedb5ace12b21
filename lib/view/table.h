/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_TABLE_H
#define STOKE_VIEW_TABLE_H

/*
 * Flat tables of a profile: functions (total counts a sample once however often the function is on
 * its stack), callers, packages and libraries, threads, pools, processes. Sorted by total, then
 * self, both falling, then by the bytes of the name, then by id. Rows of no weight are left out.
 */

#include "view/tree.h"

struct table_row {
	const char *name; /* raw bytes, NUL-terminated; in the table's memory */
	size_t name_size;
	uint64_t total, self;
	int64_t id; /* tid of a thread, pid of a process; -1: not known, or several */
	uint32_t nr; /* threads in a pool, places of a function in the tree */
	uint32_t tree_name; /* index into tree->names, of functions and callers */
	uint8_t kind; /* enum function_kind, of functions; of groups: JIT for packages, else 0 */
};

struct table {
	struct table_row *rows;
	size_t nr;
	uint64_t sum; /* of all samples, what shares are of */
	char *text; /* memory of the names */
};

/* Functions, from a tree (side 0); marks and roots are rows too, of their kind. 0 or -ENOMEM. */
int table_functions(const struct tree *tree, struct table **ret);
/* Roll-ups by what names/group.c says a name belongs to: Java package, C++ namespace, library. */
int table_groups(const struct tree *tree, struct table **ret);
/*
 * Who calls the functions that wanted (a byte for each of tree->names) marks: a row for each
 * caller, total is what it spends in them. Of a recursion only the outermost call counts, so totals
 * are a split of the functions' own total. A caller of no name is the root, "all".
 */
int table_callers(const struct tree *tree, const uint8_t *wanted, struct table **ret);

enum table_of {
	TABLE_THREADS, /* a row for each thread and each name that it had */
	TABLE_POOLS, /* by names/pools.c: "http-nio-8080-exec-12" is "http-nio-*-exec-*" */
	TABLE_PROCESSES
};

/* From the labels "thread", "tid", "process", "pid". Samples without the name are in no row. */
int table_threads(const struct stoke_profile *profile, unsigned value, enum table_of which,
	struct table **ret);
void table_free(struct table *table);

#endif
