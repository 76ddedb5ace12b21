/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_PALETTE_H
#define STOKE_VIEW_PALETTE_H

/*
 * Colour says kind, never heat: a hue a kind, four close shades by module, class or namespace.
 * Light and dark theme use the same hues. Every colour is written twice into a picture: as an
 * attribute (light; all that readers without style sheets see) and as a class for both themes.
 */

#include <stddef.h>
#include <stdio.h>

#include "view/tree.h"

#define PALETTE_SHADES	 4
#define PALETTE_LEFT_OUT 'd' /* letter of what is too narrow or left out; it has one shade, 0 */

struct palette_kind {
	char letter; /* in files: never renamed */
	const char *name; /* in the legend */
	const char *light[PALETTE_SHADES], *dark[PALETTE_SHADES];
};

/* In the order of the legend; a letter of NUL ends it. */
extern const struct palette_kind palette[];

/* The letter of a name: of its class and kind, and where a file does not say the kind, of how it is
 * written. */
char palette_letter(const struct tree *tree, uint32_t name);
/* Same for a name outside of a tree. */
char palette_letter_of(enum function_kind kind, const char *name, size_t size);
/* Self time (of side 0) by letter. 0 or -ENOMEM. */
int palette_self(const struct tree *tree, uint64_t ret[128]);
/* The kind that a letter stands for; FUNCTION_UNKNOWN for letters of no kind. */
enum function_kind palette_kind_of(char letter);
/* 0..3, from the module ("" when not known), else from the printable name without arguments up to
 * its last '.', '::' or '/'. The script computes the same. */
unsigned palette_shade(const char *name, size_t size, const char *module, size_t module_size);
/* "#81b7f4"; the light theme's. */
const char *palette_fill(char letter, unsigned shade);
/* Classes ".stoke .kn0" for both themes. */
void palette_write_css(FILE *out);

/* Colours of a difference: blue for less, orange for more, steps of a fixed scale; grey where there
 * is no evidence; what moved; bars of either side. A class of NULL ends it. */
struct palette_change {
	const char *class, *light, *dark;
};

extern const struct palette_change palette_changes[];
/* The light theme's. */
const char *palette_change_fill(const char *class);
void palette_write_changes_css(FILE *out);

#endif
