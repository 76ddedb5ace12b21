/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_LAYOUT_H
#define STOKE_VIEW_LAYOUT_H

/*
 * Where the boxes of a still picture are. Adjacent siblings under half a pixel become one narrow
 * block, so that the silhouette and all sums stay; rows of nothing but crumbs are left out and
 * counted. Positions of a flame graph are computed from integer sums, so no error adds up along a
 * row. Of two sides every frame of either has room: a box is as wide as the larger of its own
 * shares and all of its children together, and its own part stands first.
 */

#include "view/tree.h"

#define LAYOUT_NARROW UINT32_MAX /* layout_box.node of a block of narrow siblings */

struct layout_box {
	double x, w; /* px */
	uint64_t nr; /* of a narrow block: frames in it, with what is below them */
	uint32_t node;
	uint32_t row; /* 0: the root's */
};

enum layout_widths {
	LAYOUT_FIRST, /* side 0 */
	LAYOUT_SECOND,
	LAYOUT_UNION,
};

struct layout_options {
	double width; /* px of the root */
	double min_px; /* narrower siblings are blocks; 0: half a pixel */
	size_t max_boxes; /* min_px is doubled until they suffice; 0: no limit */
	const double *exposure; /* of two sides: what their counts are divided by; NULL: one side */
	enum layout_widths widths; /* of two sides */
};

struct layout {
	struct layout_box *boxes; /* parents before children */
	size_t nr, capacity;
	unsigned nr_rows, nr_rows_left_out;
	uint64_t nr_narrow; /* frames in narrow blocks */
	double min_px; /* as used */
	double px; /* of one unit: of value, or of value by exposure */
	double whole; /* units of the root */
};

/* 0 or -ENOMEM. */
int layout_make(const struct tree *tree, const struct layout_options *options, struct layout **ret);
void layout_free(struct layout *layout);

#endif
