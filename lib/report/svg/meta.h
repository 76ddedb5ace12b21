/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_REPORT_SVG_META_H
#define STOKE_REPORT_SVG_META_H

/* The words round a comparison's picture, and what its program is told. */

#include <stdio.h>

#include "diff/comparison.h"
#include "view/difference.h"

struct svg_params {
	uint64_t width, budget_kb;
	char *title, *widths;
	double full;
	unsigned flame, swap, all;
};

/* A file in the making. */
struct svg {
	const struct stoke_comparison *comparison;
	const struct svg_params *params;
	unsigned widths; /* 0: of both sides; 1, 2: of the first, the second one of the picture */
	struct payload_chance *total, *self; /* by name of the tree */
	uint8_t *marks;
	struct tree tree; /* the comparison's, its sides as the picture has them; borrows all */
	struct difference difference;
	struct difference_function *functions;
	size_t nr_functions;
	struct layout *layout;
	struct payload payload;
	char *title, *facts, *verdict, *story, *description, *still, *meta;
	size_t size, still_size, meta_size;
	int good; /* the verdict is */
};

/* Writers for page_text(), of a struct svg whose earlier texts are made. Printable text. */
int svg_write_title(void *of, FILE *out);
int svg_write_facts(void *of, FILE *out);
int svg_write_verdict(void *of, FILE *out); /* sets good */
int svg_write_description(void *of, FILE *out);
int svg_write_meta(void *of, FILE *out); /* JSON */

#endif
