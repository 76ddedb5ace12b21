/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_LABEL_H
#define STOKE_VIEW_LABEL_H

/*
 * Names as pictures show them, and the form of one that fits into a box. Widths are those of DejaVu
 * Sans, the widest of the common fonts, so a label measured here is inside its box with any of
 * them.
 */

#include <stddef.h>

#include "view/tree.h"

#define LABEL_FONT_PX	12
#define LABEL_NAME_MAX	4096 /* raw bytes of a name that a picture holds; an ellipsis follows */
#define LABEL_NAME_ROOM (6 * LABEL_NAME_MAX + 3)

/* The printable form of a name (an index into tree->names): valid UTF-8, harmless, at most
 * LABEL_NAME_ROOM bytes. Returns how many. */
size_t label_name(const struct tree *tree, uint32_t name, char out[LABEL_NAME_ROOM]);
/* Same for its module's file name; 0 where there is none. */
size_t label_module(const struct tree *tree, uint32_t name, char out[LABEL_NAME_ROOM]);

/* Width in px of printable text at a font size in px. */
double label_width(const char *text, size_t size, double font_px);

/*
 * The form of a printable name that fits into `px` at LABEL_FONT_PX: the whole, else without
 * arguments, with packages abbreviated, Class.method, method, at last cut with an ellipsis between
 * characters (at least three of them). letter: its kind, as of palette_letter(). Writes at most
 * room bytes; returns how many, 0 when nothing fits. The script does the same.
 */
size_t label_fit(const char *name, size_t size, char letter, double px, char *out, size_t room);

#endif
