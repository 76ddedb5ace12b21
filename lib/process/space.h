/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROCESS_SPACE_H
#define STOKE_PROCESS_SPACE_H

/* The sorted, disjoint mappings of one process, and how they change. Pure. */

#include "process/process.h"

/* A new mapping replaces what it overlaps; what sticks out on either side stays. 1: changed,
 * version has risen; 0: all of it was known already; -ENOMEM, -E2BIG. */
int space_put(struct process *process, const struct mapping *mapping);
/* Only where nothing is known. Results as above. */
int space_fill(struct process *process, const struct mapping *mapping);
/* Drops all that was there before an exec at that time: later readings may have seen the new
 * image already. */
void space_exec(struct process *process, uint64_t time_ns);
/* Behind the last one; addresses ascend. For whole readings. */
int space_append(
	struct mapping **mappings, size_t *nr, size_t *capacity, const struct mapping *mapping);

#endif
