/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_WALKABLE_H
#define STOKE_CAPTURE_WALKABLE_H

/* What a process has mapped, as walks know it: the table of its file, or why there is none. */

#include "bpf/table.h"
#include "capture/bodies.h"
#include "process/process.h"
#include "unwind/store.h"

/* Borrowed. */
struct ground {
	struct processes *processes;
	struct bodies *bodies;
	struct store *store;
};

/* Asks for the table of the file, if nobody has. Reads generated code of the process. */
struct stoke_mapping walkable(
	const struct ground *ground, pid_t pid, const struct mapping *mapping);

#endif
