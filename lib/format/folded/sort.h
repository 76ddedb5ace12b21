/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_FORMAT_FOLDED_SORT_H
#define STOKE_FORMAT_FOLDED_SORT_H

#include <stddef.h>
#include <stdint.h>

/* A line of a window: its stack is borrowed. */
struct folded_line {
	const char *stack;
	uint64_t count;
	uint64_t key; /* of the sort */
	uint32_t size;
	uint32_t slice;
};

/*
 * Sorts as a tree: a stack comes right before those that go on from it, whatever bytes its names
 * are of. Equal stacks stand together, by slice. 0 or -ENOMEM.
 */
int folded_sort(struct folded_line *lines, size_t nr);

#endif
