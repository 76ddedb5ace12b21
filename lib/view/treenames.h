/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_TREENAMES_H
#define STOKE_VIEW_TREENAMES_H

/* The names of a tree in the making: which the profile's functions have, in the order of siblings.
 */

#include <stdbool.h>

#include "view/tree.h"

/* From functions to names. Zeroed is empty. */
struct tree_names {
	uint32_t *name_of; /* class * strings + string -> index into tree->names */
	uint32_t left_out; /* index of what min_share cuts off; 0: not asked for */
};

/*
 * Fills tree->names from the frames that have weight (frame_weight: of each frame of
 * tree->profile), sorted, the root's first; each has the kind and the module that most of its
 * weight has. left_out: also a name for what is cut off. tree->names is the tree's also when this
 * fails. 0 or -ENOMEM, -EOVERFLOW.
 */
int tree_names_make(
	struct tree *tree, const uint64_t *frame_weight, bool left_out, struct tree_names *ret);
void tree_names_done(struct tree_names *names);

/* The name of the i-th function of a frame. */
uint32_t tree_names_find(const struct tree_names *names, const struct stoke_profile *profile,
	const struct frame *frame, unsigned i);

/* The functions of a frame. A nameless frame has one, which is "none". */
static inline unsigned tree_nr_functions(const struct frame *frame)
{
	return frame->nr_functions ? frame->nr_functions : 1;
}

#endif
