/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_ENDS_H
#define STOKE_CAPTURE_ENDS_H

/*
 * How user stacks end: in a root, or under a frame that says why not. An end is a number: enum
 * stack_end, or behind those one for each file that says nothing of its frames.
 */

#include <stddef.h>
#include <stdint.h>

#include "capture/root.h"
#include "process/module.h"
#include "profile/profile.h"

/* How the user part of a stack ends at its root. */
enum stack_end {
	STACK_WHOLE, /* in the thread's first function, or there is none to have */
	STACK_TRUNCATED, /* deeper than the limit: under one [truncated] root */
	STACK_BROKEN, /* before the root: under one [broken] root */
	STACK_EXIT, /* in exit, memory gone: under one [exit] root */
	NR_STACK_ENDS
};

struct ends {
	struct stoke_profile *profile;
	uint32_t *marks; /* by end: the node it stands under, 0: none */
	size_t nr_marks, marks_capacity;
	uint64_t count[NR_STACK_ENDS];
	uint8_t *roots; /* frame of the profile -> 1 + enum root_kind, 0: not looked at */
	size_t nr_roots, roots_capacity;
};

void ends_done(struct ends *ends);
/* From now on of this profile. All zero before. 0, -ENOMEM, -E2BIG. */
int ends_use(struct ends *ends, struct stoke_profile *profile);

/* Is this frame, at a return address, a root by its code? Looked at once. */
enum root_kind ends_root(
	struct ends *ends, uint32_t frame, const struct module *module, uint64_t return_offset);
/* The end for stacks that stop in this file, as it has no unwind information. 0, -errno. */
int ends_bare(struct ends *ends, const struct module *module, uint32_t *ret);
/* The end for stacks that stop for a reason which that name tells. */
int ends_named(struct ends *ends, const char *name, uint32_t *ret);

uint32_t ends_node(const struct ends *ends, uint32_t end);
void ends_count(struct ends *ends, uint32_t end);

/* Before resolve_profile(), as flags are part of a frame's key. */
void ends_mark_roots(struct ends *ends);
/* After it: stacks whose outermost frame turns out to be a root by its name are taken out from
 * under their mark; fills in the counts of stacks. */
int ends_judge(struct ends *ends, struct quality *quality);

#endif
