/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_DRAWDIFF_H
#define STOKE_VIEW_DRAWDIFF_H

/* The still picture of a difference: a box for each frame of either side, a bar for each side. */

#include <stdio.h>

#include "view/difference.h"

/* SVG that still picture and program refer to: hatch of what is gone, dots of what moved. */
#define DRAWDIFF_DEFS                                                                              \
	"<defs><pattern id=\"sk-h\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "     \
	"patternTransform=\"rotate(45)\"><path d=\"M0 0v6\" stroke=\"#15181d\" "                   \
	"stroke-opacity=\".38\" stroke-width=\"2\"/></pattern><pattern id=\"sk-m\" width=\"8\" "   \
	"height=\"6\" patternUnits=\"userSpaceOnUse\"><path d=\"M1 1h2M5 4h2\" "                   \
	"stroke=\"#15181d\" stroke-opacity=\".26\" stroke-width=\"1.5\"/></pattern></defs>\n"

struct drawdiff_options {
	const char *title, *facts, *verdict, *story; /* printable */
	const char *note; /* as in draw.h */
	const struct difference_function *functions; /* as difference_functions() sorts them */
	size_t nr_functions;
	unsigned width; /* px of the whole picture */
	int good, flame; /* as in draw.h */
};

unsigned drawdiff_height(const struct layout *layout, const struct drawdiff_options *options);
/* 0 or -ENOMEM. */
int drawdiff_picture(FILE *out, const struct difference *difference, const struct layout *layout,
	const struct drawdiff_options *options);

#endif
