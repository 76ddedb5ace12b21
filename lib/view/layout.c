/* SPDX-License-Identifier: BSD-2-Clause */
/* layout.c: one walk along the preorder, a cursor for each row. */
#include "view/layout.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define MAX_ROWS     70
#define MIN_PX	     0.5
#define LABEL_PX     44 /* the deepest row that has a box this wide is still shown */
#define MIN_COVERAGE 0.015 /* and the deepest one that covers this share of the width */

/* A row in the making: children of the box last seen in the row above. */
struct cursor {
	uint64_t at; /* where the next child starts, in the tree's values */
	uint64_t narrow_at, narrow_sum, nr_narrow; /* siblings waiting to become one block */
};

struct walk {
	const struct tree *tree;
	struct layout *layout;
	double px; /* of one unit of value */
	struct cursor row[MAX_ROWS + 1];
	unsigned deepest; /* row that may have something waiting */
};

static int add_box(
	struct walk *walk, uint32_t row, uint64_t at, uint64_t sum, uint32_t node, uint64_t nr)
{
	struct layout *layout = walk->layout;
	int r;

	r = array_reserve(&layout->boxes, &layout->capacity, layout->nr, 1);
	if (r < 0)
		return r;
	layout->boxes[layout->nr++] = (struct layout_box){
		.x = (double)at * walk->px,
		.w = (double)sum * walk->px,
		.nr = nr,
		.node = node,
		.row = row,
	};
	return 0;
}

static int flush(struct walk *walk, unsigned row)
{
	struct cursor *cursor = &walk->row[row];
	int r = 0;

	if (cursor->nr_narrow) {
		walk->layout->nr_narrow += cursor->nr_narrow;
		if ((double)cursor->narrow_sum * walk->px >= walk->layout->min_px)
			r = add_box(walk, row, cursor->narrow_at, cursor->narrow_sum, LAYOUT_NARROW,
				cursor->nr_narrow);
	}
	cursor->nr_narrow = 0;
	cursor->narrow_sum = 0;
	return r;
}

/* Places a node; *ret is the next one to look at. */
static int place(struct walk *walk, uint32_t node, uint32_t *ret)
{
	const struct tree *tree = walk->tree;
	unsigned row = tree->depth[node];
	struct cursor *cursor = &walk->row[row];
	uint64_t total = tree->total[0][node];
	int r;

	/* What waits in deeper rows belongs to parents that are done. */
	for (; walk->deepest > row; walk->deepest--) {
		r = flush(walk, walk->deepest);
		if (r < 0)
			return r;
	}
	walk->deepest = row;
	*ret = tree->end[node];
	if (node && (double)total * walk->px < walk->layout->min_px) {
		if (!cursor->nr_narrow)
			cursor->narrow_at = cursor->at;
		cursor->nr_narrow += tree->end[node] - node;
		cursor->narrow_sum += total;
		cursor->at += total;
		return 0;
	}
	r = flush(walk, row);
	if (r < 0)
		return r;
	r = add_box(walk, row, cursor->at, total, node, 0);
	if (r < 0)
		return r;
	if (row + 1 < MAX_ROWS) {
		walk->row[row + 1] = (struct cursor){.at = cursor->at};
		*ret = node + 1;
	}
	cursor->at += total;
	return 0;
}

static int place_all(struct walk *walk)
{
	int r;

	walk->row[0] = (struct cursor){0};
	walk->layout->nr = 0;
	walk->layout->nr_narrow = 0;
	walk->deepest = 0;
	for (uint32_t node = 0; node < walk->tree->nr;) {
		r = place(walk, node, &node);
		if (r < 0)
			return r;
	}
	for (; walk->deepest > 0; walk->deepest--) {
		r = flush(walk, walk->deepest);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Drops the rows that have nothing to be read. */
static void cut_rows(struct layout *layout, const struct tree *tree, double width)
{
	double coverage[MAX_ROWS] = {0};
	unsigned last = 0, depth = 0;
	size_t kept = 0;

	for (size_t i = 0; i < layout->nr; i++) {
		const struct layout_box *box = &layout->boxes[i];

		if (box->node == LAYOUT_NARROW)
			continue;
		coverage[box->row] += box->w;
		if (box->row > last &&
			(box->w >= LABEL_PX || coverage[box->row] >= MIN_COVERAGE * width))
			last = box->row;
	}
	for (size_t i = 0; i < layout->nr; i++) {
		if (layout->boxes[i].row <= last)
			layout->boxes[kept++] = layout->boxes[i];
	}
	for (size_t n = 0; n < tree->nr; n++) {
		if (tree->depth[n] > depth)
			depth = tree->depth[n];
	}
	layout->nr = kept;
	layout->nr_rows = last + 1;
	layout->nr_rows_left_out = depth - last;
}

int layout_make(const struct tree *tree, const struct layout_options *options, struct layout **ret)
{
	struct walk walk = {.tree = tree};
	uint64_t total = tree->total[0][0];
	int r;

	walk.layout = calloc(1, sizeof(*walk.layout));
	if (!walk.layout)
		return -ENOMEM;
	walk.layout->min_px = options->min_px > 0 ? options->min_px : MIN_PX;
	walk.px = total ? options->width / (double)total : 0;
	do {
		r = place_all(&walk);
		if (r < 0) {
			layout_free(walk.layout);
			return r;
		}
		cut_rows(walk.layout, tree, options->width);
		walk.layout->min_px *= 2;
	} while (options->max_boxes && walk.layout->nr > options->max_boxes &&
		 walk.layout->min_px < options->width);
	walk.layout->min_px /= 2;
	if (!total)
		walk.layout->boxes[0].w = options->width; /* an empty profile has a root to show */
	*ret = walk.layout;
	return 0;
}

void layout_free(struct layout *layout)
{
	if (!layout)
		return;
	free(layout->boxes);
	free(layout);
}
