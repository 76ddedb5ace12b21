/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_TREE_H
#define STOKE_VIEW_TREE_H

/*
 * The merged call tree of a profile: nodes merged by (name, user | kernel | mark), siblings sorted
 * by the bytes of their names, depth first. Depends on nothing but names and sums, so everything
 * drawn or printed from it is deterministic. A value column a side: one for a flame graph, two for
 * a comparison.
 */

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

#define TREE_MAX_SIDES 2

struct tree_name {
	uint32_t name; /* string of the profile */
	uint32_t module; /* string: short name of the module ("libc.so.6"), 0: none */
	uint8_t kind; /* enum function_kind: the one with the most weight */
};

struct tree {
	const struct stoke_profile *profile; /* borrowed */
	struct tree_name *names; /* distinct (name, class) */
	size_t nr_names;
	/* nodes in preorder; node 0 is the root ("all"), of no name */
	uint32_t *name; /* index into names */
	uint32_t *parent; /* smaller than the node */
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

int tree_build(
	const struct stoke_profile *profile, const struct tree_options *options, struct tree **ret);
void tree_free(struct tree *tree);

#endif
