/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_COUNT_H
#define STOKE_DIFF_COUNT_H

/*
 * Samples by function and by group: self, and total, in which a sample counts once however often
 * the function is on its stack. One scratch column of the size of the stacks serves all units, one
 * behind the other.
 */

#include "profile/profile.h"

struct counted { /* a function or a group */
	uint32_t name; /* string */
	uint8_t class; /* enum tree_class; of a group TREE_USER or TREE_KERNEL */
	uint8_t skip; /* 1: says how a stack was taken, not what ran */
};

struct counter {
	const struct stoke_profile *profile; /* borrowed */
	struct counted *functions, *groups; /* [0] is none */
	size_t nr_functions, nr_groups;
	uint32_t *function, *group; /* [frame] */
	uint8_t *topmost; /* [node] COUNT_*: nearest the root of its kind on its path */
	uint64_t *column; /* [node] */
	uint64_t *self, *total, *of_group; /* [function], [group]: of what was added */
};

#define COUNT_FUNCTION (1u << 0)
#define COUNT_GROUP    (1u << 1)

/* Of a canonical profile, to whose strings the names of groups are added. -ENOMEM, -E2BIG. */
int counter_init(struct counter *counter, struct stoke_profile *profile);
void counter_done(struct counter *counter);

/* A unit: begin, add each of its stacks, finish; then self, total and of_group hold it. */
void counter_begin(struct counter *counter);
void counter_add(struct counter *counter, uint32_t node, uint64_t samples);
void counter_finish(struct counter *counter);

#endif
