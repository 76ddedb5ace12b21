/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_DRAW_H
#define STOKE_VIEW_DRAW_H

/*
 * The still picture of a flame graph as SVG elements: what is seen where no script may run. All
 * boxes of one colour are one path, only labels are elements of their own. Colours stand as
 * attributes and as classes (palette.h, flamegraph.css).
 */

#include <stdint.h>
#include <stdio.h>

#include "view/layout.h"
#include "view/table.h"

struct draw_options {
	const char *title, *facts, *verdict; /* printable */
	const char *unit; /* as number_value() takes it */
	const char *note; /* printable line under the graph, beside what the layout left out */
	unsigned width; /* px of the whole picture */
	int good; /* verdict is a good one */
	int flame; /* root at the bottom */
};

/* Height in px of what draw_picture() draws. */
unsigned draw_height(const struct layout *layout, const struct table *functions);
/* Background, header, legend, graph, table of the functions with the most self time. 0, -ENOMEM. */
int draw_picture(FILE *out, const struct tree *tree, const struct layout *layout,
	const struct table *functions, const struct draw_options *options);

#define DRAW_TOP 10
/* The functions with the most self time, of those that have any; returns how many. */
unsigned draw_top(const struct table *functions, const struct table_row *ret[DRAW_TOP]);

#endif
