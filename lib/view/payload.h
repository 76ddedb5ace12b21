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
 *	node  = vlq(4 * up + a + 2 * b) vlq(id) [ vlq(self 0) if a ] [ vlq(self 1) if b ]
 *		of a tree of two sides
 *	vlq   = base 64 digits A-Z a-z 0-9 - _, five bits each, low ones first, 32: more follow
 *
 * Totals are summed by the reader. Values are whole up to 2^53 in a script. Of two sides also:
 *
 *	evidence = *( vlq(id - last id) vlq(t + 2 * s) [ p p of the total if t ] [ of the self if s
 *] ) p p      = vlq(that it grew) vlq(that it shrank), in millionths; run-wide marks    = *(
 *vlq(node - last node) vlq(mark) )
 */

#include <stddef.h>
#include <stdint.h>

#include "view/tree.h"

#define PAYLOAD_MOVED		(1u << 0) /* marks of a node: values as in the file */
#define PAYLOAD_INSERTED_AFTER	(1u << 1)
#define PAYLOAD_INSERTED_BEFORE (1u << 2)
#define PAYLOAD_UNTESTED	UINT32_MAX

/* How surely a function changed, in millionths of chance, in each direction. */
struct payload_chance {
	uint32_t grew, shrank; /* or both PAYLOAD_UNTESTED */
};

struct payload_evidence {
	const struct payload_chance *total, *self; /* by name of the tree */
	const uint8_t *marks; /* by node */
};

struct payload {
	char *names, *tree; /* not yet escaped for XML */
	size_t names_size, tree_size;
	char *evidence, *marks; /* NULL without evidence */
	size_t evidence_size, marks_size;
	size_t nr_names, nr_nodes;
	uint64_t nr_left_out; /* nodes replaced by "N frames left out" to keep the budget */
	uint64_t threshold; /* subtrees of a smaller total (on both sides) were; 0: none */
};

/*
 * Encodes a tree into at most `budget` bytes (as escaped for XML; 0: no limit): subtrees under a
 * threshold become one block each that keeps their sum, the threshold doubled until it fits.
 * evidence: of a tree of two sides, else NULL.
 */
int payload_make(const struct tree *tree, size_t budget, const struct payload_evidence *evidence,
	struct payload *ret);
void payload_done(struct payload *payload);

/*
 * Adds the stacks of an encoded tree to a profile, as samples of a run with no labels. value: the
 * column that takes the numbers. Blocks that were left out come as "[left out]", their frames
 * counted in the run's quality. -EINVAL: not a tree as written above. What was added before stays.
 */
int payload_read(struct stoke_profile *into, uint32_t run, unsigned value, const char *names,
	size_t names_size, const char *tree, size_t tree_size);

#endif
