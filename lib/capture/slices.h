/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_SLICES_H
#define STOKE_CAPTURE_SLICES_H

/* What walks believed to be mapped: own copies of published slices, kept until no sample that used
 * one can come any more. */

#include <stddef.h>
#include <stdint.h>

#include "process/process.h"

struct slice_copy {
	uint32_t generation;
	pid_t pid;
	uint64_t left_ns; /* 0: in use */
	struct mapping *mappings; /* sorted, disjoint; owned */
	size_t nr;
};

void slice_copy_done(struct slice_copy *slice);

/* All zero is an empty one. */
struct slices {
	struct slice_copy *items; /* by generation, which rises */
	size_t nr, capacity;
};

void slices_done(struct slices *slices);
/* Takes over what *slice holds. 0, -ENOMEM. */
int slices_add(struct slices *slices, struct slice_copy *slice);
void slices_leave(struct slices *slices, uint32_t generation, uint64_t now_ns);
void slices_expire(struct slices *slices, uint64_t now_ns);

/* NULL: that generation is not known, or had nothing there. */
const struct mapping *slices_mapping(
	const struct slices *slices, uint32_t generation, uint64_t address);
/* Module of the file at an address, 0: none. */
uint32_t slices_module(const struct slices *slices, uint32_t generation, uint64_t address);
/* Was all of [start, end) known as generated code? */
int slices_generated(
	const struct slices *slices, uint32_t generation, uint64_t start, uint64_t end);

/* One more than the highest module that anybody has mapped now. */
uint32_t slices_modules(const struct slices *slices);
/* Makes the bytes of those 1, in used[nr]. */
void slices_mark(const struct slices *slices, uint8_t *used, uint32_t nr);

/*
 * Completes a reading by what was known: generated code that is not executable at this moment stays
 * (V8 takes that right away while it writes), unless something else lies there now. 1: it differs
 * from that generation; 0: nothing has changed; -ENOMEM.
 */
int slices_merge(const struct slices *slices, uint32_t generation, struct slice_copy *reading);

#endif
