/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_FORMAT_FOLDED_H
#define STOKE_FORMAT_FOLDED_H

/*
 * What the reader and the writer of folded text share: its grammar. A file of its own for each,
 * since one is about speed and the other about order.
 */

#include "format/format.h"

/* "_[k]" behind a frame's name says what kind of code it is. */
struct folded_suffix {
	char letter;
	enum function_kind kind;
};

#define FOLDED_SUFFIX_BYTES 4

/* The suffix that a name ends in, or NULL. */
const struct folded_suffix *folded_suffix(const char *name, size_t size);

/* Cuts "stack count", a line without its end. NULL, or what is wrong with it. */
const char *folded_split(const char *line, size_t size, size_t *ret_stack, uint64_t *ret_count);

/* What a comment line says of the run: "#slice t=12s;", "#work 240;", "#event cpu-clock;". */
enum folded_comment_kind { FOLDED_NOTHING, FOLDED_SLICE, FOLDED_WORK, FOLDED_EVENT, FOLDED_RATE };

struct folded_comment {
	enum folded_comment_kind kind;
	uint64_t time_ns; /* of a slice: since the run's start */
	const char *text; /* of the others: borrowed */
	size_t size;
};

/* Reads a line that begins with '#'. NULL, or what is wrong with it; what is unknown is nothing. */
const char *folded_comment(const char *line, size_t size, struct folded_comment *ret);

int folded_read(struct stoke_profile *into, struct input *input,
	const struct stoke_read_options *options, struct stoke_error *err);

#endif
