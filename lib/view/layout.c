/* SPDX-License-Identifier: BSD-2-Clause */
/* layout.c: one walk along the preorder, a cursor for each row. */
#include "view/layout.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"

#define MAX_ROWS     70
#define MIN_PX	     0.5
#define LABEL_PX     44 /* the deepest row that has a box this wide is still shown */
#define MIN_COVERAGE 0.015 /* and the deepest one that covers this share of the width */

/* A row in the making: children of the box last seen in the row above. */
struct cursor {
	double at; /* where the next child starts, in units of weight: whole up to 2^53 */
	double narrow_at, narrow_sum; /* siblings waiting to become one block */
	uint64_t nr_narrow;
};

struct walk {
	const struct tree *tree;
	struct layout *layout;
	double px; /* of one unit of weight */
	const double *weight, *own; /* of the nodes of two sides; NULL: side 0 as it is */
	struct cursor row[MAX_ROWS + 1];
	unsigned deepest; /* row that may have something waiting */
};

static int add_box(
	struct walk *walk, uint32_t row, double at, double sum, uint32_t node, uint64_t nr)
{
	struct layout *layout = walk->layout;
	int r;

	r = array_reserve(&layout->boxes, &layout->capacity, layout->nr, 1);
	if (r < 0)
		return r;
	layout->boxes[layout->nr++] = (struct layout_box){
		.x = at * walk->px,
		.w = sum * walk->px,
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
		if (cursor->narrow_sum * walk->px >= walk->layout->min_px)
			r = add_box(walk, row, cursor->narrow_at, cursor->narrow_sum, LAYOUT_NARROW,
				cursor->nr_narrow);
	}
	cursor->nr_narrow = 0;
	cursor->narrow_sum = 0;
	return r;
}

static double weight_of(const struct walk *walk, uint32_t node)
{
	return walk->weight ? walk->weight[node] : (double)walk->tree->total[0][node];
}

/* Places a node; *ret is the next one to look at. */
static int place(struct walk *walk, uint32_t node, uint32_t *ret)
{
	const struct tree *tree = walk->tree;
	unsigned row = tree->depth[node];
	struct cursor *cursor = &walk->row[row];
	double total = weight_of(walk, node);
	int r;

	/* What waits in deeper rows belongs to parents that are done. */
	for (; walk->deepest > row; walk->deepest--) {
		r = flush(walk, walk->deepest);
		if (r < 0)
			return r;
	}
	walk->deepest = row;
	*ret = tree->end[node];
	if (node && !(total > 0))
		return 0; /* only the other side has it */
	if (node && total * walk->px < walk->layout->min_px) {
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
		walk->row[row + 1] =
			(struct cursor){.at = cursor->at + (walk->own ? walk->own[node] : 0)};
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

/* Weights of the nodes of two sides: the own part, and with all that is below. */
static void weigh(
	const struct tree *tree, const struct layout_options *options, double *weight, double *own)
{
	for (size_t n = 0; n < tree->nr; n++) {
		double part[2] = {0, 0};

		for (unsigned side = 0; side < 2; side++) {
			if (options->widths != LAYOUT_UNION &&
				options->widths != (enum layout_widths)side)
				continue;
			if (options->exposure[side] > 0)
				part[side] = (double)tree->self[side][n] / options->exposure[side];
		}
		own[n] = part[0] > part[1] ? part[0] : part[1];
		weight[n] = own[n];
	}
	for (size_t n = tree->nr - 1; n > 0; n--)
		weight[tree->parent[n]] += weight[n];
}

static int lay_out(struct walk *walk, const struct layout_options *options)
{
	struct layout *layout = walk->layout;
	double whole = weight_of(walk, 0);
	int r;

	layout->min_px = options->min_px > 0 ? options->min_px : MIN_PX;
	walk->px = whole > 0 ? options->width / whole : 0;
	do {
		r = place_all(walk);
		if (r < 0)
			return r;
		cut_rows(layout, walk->tree, options->width);
		layout->min_px *= 2;
	} while (options->max_boxes && layout->nr > options->max_boxes &&
		 layout->min_px < options->width);
	layout->min_px /= 2;
	layout->px = walk->px;
	layout->whole = whole;
	if (!(whole > 0))
		layout->boxes[0].w = options->width; /* an empty profile has a root to show */
	return 0;
}

int layout_make(const struct tree *tree, const struct layout_options *options, struct layout **ret)
{
	_cleanup_free_ double *weight = NULL, *own = NULL;
	struct walk walk = {.tree = tree};
	int r;

	if (options->exposure && tree->nr_sides == 2) {
		weight = malloc(tree->nr * sizeof(*weight));
		own = malloc(tree->nr * sizeof(*own));
		if (!weight || !own)
			return -ENOMEM;
		weigh(tree, options, weight, own);
		walk.weight = weight;
		walk.own = own;
	}
	walk.layout = calloc(1, sizeof(*walk.layout));
	if (!walk.layout)
		return -ENOMEM;
	r = lay_out(&walk, options);
	if (r < 0) {
		layout_free(walk.layout);
		return r;
	}
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
