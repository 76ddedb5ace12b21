/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROFILE_UNITE_H
#define STOKE_PROFILE_UNITE_H

/*
 * Text is sorted, not looked up: each file, and each window of a file in no order, makes a tree of
 * its own, and trees are united in one linear pass over (depth, name). So a stack that ten runs
 * have is stored once, and its rows keep their run.
 */

#include "profile/profile.h"

/*
 * The nodes of both trees, each once, depth first, siblings by rank[frame]. of_a and of_b (a->nr
 * and b->nr entries) say where each node went. ret is made anew. 0, -ENOMEM or -E2BIG.
 */
int stacks_unite(const struct stacks *a, const struct stacks *b, const uint32_t *rank,
	struct stacks *ret, uint32_t *of_a, uint32_t *of_b);

/* The stacks and rows of a profile, taken out of it while others are made. Zeroed is empty. */
struct profile_part {
	struct stacks stacks;
	struct rows rows;
};

/* Leaves the profile without stacks and rows. Value types and runs are not added in between. */
int profile_part_take(struct stoke_profile *profile, struct profile_part *ret);
/* Puts the part back, in the place of what the profile holds now, which is lost. */
void profile_part_put(struct stoke_profile *profile, struct profile_part *part);
/* The profile then has the stacks and rows of both. On failure both are as they were. */
int profile_part_unite(struct stoke_profile *profile, struct profile_part *part);
void profile_part_done(struct profile_part *part);

/* Puts rows in the order of stack, run, labels, slice; those with equal keys become one. After
 * rows were changed by hand. 0 or -ENOMEM. */
int profile_settle(struct stoke_profile *profile);

#endif
