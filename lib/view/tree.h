/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_TREE_H
#define STOKE_VIEW_TREE_H

/*
 * The merged call tree of a profile: nodes merged by (name, user | kernel | mark), siblings sorted
 * by the bytes of their names, depth first. Depends on nothing but names and sums, so everything
 * drawn or printed from it is deterministic. A value column a side: one for a flame graph, two for
 * a comparison. Frames with inlined functions are a node for each function. Stacks of no weight
 * are not in it.
 */

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

#define TREE_MAX_SIDES 2
#define TREE_LEFT_OUT  UINT32_MAX /* tree_name.name of what min_share cut off */

enum tree_class { TREE_USER, TREE_KERNEL, TREE_MARK };
#define TREE_NR_CLASSES 3

struct tree_name {
	uint32_t name; /* string of the profile, 0: none, or TREE_LEFT_OUT; ask tree_text() */
	uint32_t module; /* of the profile: the one with the most weight, 0: none */
	uint8_t kind; /* enum function_kind: the one with the most weight */
	uint8_t class; /* enum tree_class */
};

struct tree {
	const struct stoke_profile *profile; /* borrowed */
	struct tree_name *names; /* distinct (name, class), sorted by text; [0] is the root's */
	size_t nr_names;
	/* nodes in preorder; node 0 is the root ("all"), of no name */
	uint32_t *name; /* index into names */
	uint32_t *parent; /* smaller than the node; the root's is 0 */
	uint32_t *end; /* first node behind the subtree */
	uint16_t *depth; /* root 0 */
	uint64_t *self[TREE_MAX_SIDES], *total[TREE_MAX_SIDES];
	size_t nr;
	unsigned nr_sides;
	unsigned value; /* which of the profile's values */
};

struct tree_options {
	unsigned value; /* column, as profile->default_value */
	uint32_t nr_before; /* runs 0..nr_before-1 are side 0, the rest side 1; 0: one side */
	double min_share; /* subtrees below are not made; their sum stays in the parent's children
			     as one "[left out]" FUNCTION_MARK node; 0: none */
};

/* 0, -ENOMEM, or -E2BIG when a stack is deeper than a u16 counts. */
int tree_build(
	const struct stoke_profile *profile, const struct tree_options *options, struct tree **ret);
void tree_free(struct tree *tree);

/* Raw bytes of a name (an index into names): "all" for 0, "[no name]", "[left out]". Borrowed. */
const char *tree_text(const struct tree *tree, uint32_t name, size_t *ret_size);
/* File name of its module ("libc.so.6"), raw; empty when there is none. Borrowed. */
const char *tree_module(const struct tree *tree, uint32_t name, size_t *ret_size);

#endif
