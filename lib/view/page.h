/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_VIEW_PAGE_H
#define STOKE_VIEW_PAGE_H

/*
 * The file around a picture: an SVG that holds a still picture for where scripts may not run, the
 * data, and the style sheet and program that draw it where they may.
 */

#include <stddef.h>
#include <stdio.h>

#include "view/payload.h"

#define PAGE_BYTES_PER_BOX 40 /* of a still picture, about */
#define PAGE_DOT	   " \xc2\xb7 " /* between facts */

struct page {
	const char *title, *description; /* printable */
	unsigned width, height; /* px of the still picture */
	const char *defs; /* SVG that the still picture and the program refer to; or NULL */
	const char *still; /* SVG */
	size_t still_size;
	const char *meta; /* JSON */
	size_t meta_size;
	const struct payload *payload;
	unsigned flags; /* FLAMEGRAPH_* */
};

/* Bytes left for the payload of a file of `budget` bytes that has the rest of this page. */
size_t page_room(const struct page *page, size_t budget);
/* The stream keeps its error for whoever closes it. */
void page_write(const struct page *page, FILE *out);
/* Puts the facts of a line, parted by PAGE_DOT, as a JSON array. */
void page_facts_json(const char *facts, FILE *out);

/* Runs a writer into memory: 0 and new text in *ret (the old one freed), or -errno. */
int page_text(void *of, int (*write)(void *of, FILE *out), char **ret, size_t *ret_size);

#endif
