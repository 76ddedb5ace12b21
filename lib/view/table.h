/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_TABLE_H
#define STOKE_VIEW_TABLE_H

/*
 * Flat tables of a profile: functions (total counts a sample once however often the function is on
 * its stack), threads and pools, packages and libraries. Sorted by total, then self, then name.
 */

#include "view/tree.h"

struct table_row {
	const char *name; /* borrowed from the table */
	size_t name_size;
	uint64_t total, self;
	uint32_t nr; /* threads in a pool, places of a function */
	uint8_t kind; /* enum function_kind, for functions */
};

struct table {
	struct table_row *rows;
	size_t nr;
	uint64_t sum; /* of all samples, what shares are of */
	char *text; /* memory of the names */
};

/* From a tree (side 0). */
int table_functions(const struct tree *tree, struct table **ret);
/* Roll-ups by what names/group.c says a name belongs to: Java package, C++ namespace, library. */
int table_groups(const struct tree *tree, struct table **ret);
/* From the labels; pools: names/pools.c folds "http-nio-8080-exec-12" into "http-nio-*-exec-*". */
#define TABLE_THREADS	0
#define TABLE_POOLS	1
#define TABLE_PROCESSES 2
int table_threads(
	const struct stoke_profile *profile, unsigned value, int which, struct table **ret);
void table_free(struct table *table);

#endif
