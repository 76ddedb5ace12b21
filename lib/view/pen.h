/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_PEN_H
#define STOKE_VIEW_PEN_H

/* Elements of still pictures: what the flame graph and the difference have in common. */

#include <stdio.h>

#include "view/layout.h"

#define PEN_MARGIN 16 /* px left and right of the graph */
#define PEN_BOX	   17 /* px: height of a box */
#define PEN_PAD	   4 /* px before a label */
#define PEN_ROW	   20 /* px: height of a table's row */
#define PEN_LABEL  22 /* px: narrower boxes have no label */
#define PEN_NAME   4096 /* bytes of a label: more than fits any box */
#define PEN_TITLES (512 << 10) /* bytes of labels; then they come without the full name */

#define PEN_INK	  "#15181d"
#define PEN_MUTED "#59616c"

/* A picture being drawn. */
struct pen {
	FILE *out;
	const struct tree *tree;
	const struct layout *layout;
	unsigned width; /* px of the whole picture */
	unsigned top; /* px: where the graph begins */
	unsigned row; /* px: height of a row of boxes */
	int flame; /* root at the bottom */
	char *name; /* LABEL_NAME_ROOM, one name at a time */
	const char *unit; /* of values, as number_value() takes it */
	char *class_of; /* of a flame graph: box -> letter and shade, two bytes */
};

/* Tenths of a pixel, without a locale's comma: "12", "12.5". */
void pen_px(const struct pen *pen, double px);
/* class "fg1": ink, "fg2": muted. attributes: SVG, begins with a blank, or empty. */
void pen_text(const struct pen *pen, const char *class, double x, double y, const char *attributes,
	const char *text, size_t size);
/* Printable text, cut to a width. */
void pen_line(const struct pen *pen, const char *class, double x, double y, const char *attributes,
	const char *text, double font_px, double px);
/* Background, title, badge, line of facts. */
void pen_header(
	const struct pen *pen, const char *title, const char *facts, const char *verdict, int good);
/* What the picture does not show, under it. extra: printable sentence, may be empty. */
void pen_note(const struct pen *pen, const char *extra);
/* A line under a table's row. */
void pen_rule(const struct pen *pen, double y);

double pen_y(const struct pen *pen, const struct layout_box *box);
/* A gap between boxes that are wide enough to spare it. */
double pen_drawn_width(double w);
/* A rectangle, as part of a path's "d". */
void pen_box(const struct pen *pen, double x, double y, double w, unsigned h);

#endif
