/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROFILE_STACKS_H
#define STOKE_PROFILE_STACKS_H

/*
 * Stacks as a tree of nodes: a stack is its leaf's node. A parent always has a smaller id than its
 * children, so totals are one loop backwards and every transformation one loop forwards. Node 0 is
 * the empty stack. The child index exists only while nodes come in any order; readers of sorted
 * text append without it.
 */

#include <stddef.h>
#include <stdint.h>

struct stacks {
	uint32_t *parent;
	uint32_t *frame;
	size_t nr, capacity, frame_capacity;
	uint32_t *slots; /* child index: node, 0 is free; NULL until stacks_child() is called */
	uint32_t nr_slots, nr_indexed;
};

int stacks_init(struct stacks *stacks); /* 0 or -ENOMEM: makes node 0 */
void stacks_done(struct stacks *stacks);

/* Makes room for that many nodes more. 0, -ENOMEM or -E2BIG. */
int stacks_reserve(struct stacks *stacks, size_t extra);
/* The child of parent with this frame, added when new. */
int stacks_child(struct stacks *stacks, uint32_t parent, uint32_t frame, uint32_t *ret);
/* Appends a child without looking whether it is there. Mixing with stacks_child() is allowed: the
 * index catches up. */
int stacks_append(struct stacks *stacks, uint32_t parent, uint32_t frame, uint32_t *ret);
/* After nodes were moved by hand: the child index is made anew when it is needed. */
void stacks_renumbered(struct stacks *stacks);

#endif
