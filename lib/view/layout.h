/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_LAYOUT_H
#define STOKE_VIEW_LAYOUT_H

/*
 * Where the boxes of a still picture are. Adjacent siblings under half a pixel become one narrow
 * block, so that the silhouette and all sums stay; rows of nothing but crumbs are left out and
 * counted. Positions are computed from integer sums, so no error adds up along a row.
 */

#include "view/tree.h"

#define LAYOUT_NARROW UINT32_MAX /* layout_box.node of a block of narrow siblings */

struct layout_box {
	double x, w; /* px */
	uint64_t nr; /* of a narrow block: frames in it, with what is below them */
	uint32_t node;
	uint32_t row; /* 0: the root's */
};

struct layout_options {
	double width; /* px of the root */
	double min_px; /* narrower siblings are blocks; 0: half a pixel */
	size_t max_boxes; /* min_px is doubled until they suffice; 0: no limit */
};

struct layout {
	struct layout_box *boxes; /* parents before children */
	size_t nr, capacity;
	unsigned nr_rows, nr_rows_left_out;
	uint64_t nr_narrow; /* frames in narrow blocks */
	double min_px; /* as used */
};

/* Lays out side 0. 0 or -ENOMEM. */
int layout_make(const struct tree *tree, const struct layout_options *options, struct layout **ret);
void layout_free(struct layout *layout);

#endif
