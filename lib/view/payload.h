/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_PAYLOAD_H
#define STOKE_VIEW_PAYLOAD_H

/*
 * A tree inside a picture: what the script draws from, and what makes the picture a profile that
 * can be read back.
 *
 *	names = entry *( LF entry )         most used first; number of the entry = id
 *	entry = letter name [ TAB module ]  letter as of palette_letter(); "d": left out
 *	tree  = 1*node                      depth first
 *	node  = vlq(2 * up + s) vlq(id) [ vlq(self) if s ]
 *	up    = levels to go up from the place of the previous node's child: 0 child, 1 sibling, ...
 *	vlq   = base 64 digits A-Z a-z 0-9 - _, five bits each, low ones first, 32: more follow
 *
 * Totals are summed by the reader. Values are whole up to 2^53 in a script.
 */

#include <stddef.h>
#include <stdint.h>

#include "view/tree.h"

struct payload {
	char *names, *tree; /* not yet escaped for XML */
	size_t names_size, tree_size;
	size_t nr_names, nr_nodes;
	uint64_t nr_left_out; /* nodes replaced by "N frames left out" to keep the budget */
	uint64_t threshold; /* subtrees of a smaller total were; 0: none */
};

/*
 * Encodes side 0 into at most `budget` bytes (as escaped for XML; 0: no limit): subtrees under a
 * threshold become one block each that keeps their sum, the threshold doubled until it fits.
 */
int payload_make(const struct tree *tree, size_t budget, struct payload *ret);
void payload_done(struct payload *payload);

/*
 * Adds the stacks of an encoded tree to a profile, as samples of a run with no labels. value: the
 * column that takes the numbers. -EINVAL: not a tree as written above. What was added before stays.
 */
int payload_read(struct stoke_profile *into, uint32_t run, unsigned value, const char *names,
	size_t names_size, const char *tree, size_t tree_size);

#endif
