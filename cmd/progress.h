/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CMD_PROGRESS_H
#define STOKE_CMD_PROGRESS_H

#include <stdint.h>

#include "cmd/say.h"
#include "stoke.h"

/* A line on a terminal that says how far a recording is. On anything else it is silent. */
struct progress {
	int enabled, drawn;
	uint64_t duration_ns; /* 0: nobody knows when it ends */
};

void progress_init(struct progress *progress, const struct voice *voice, uint64_t duration_ns);
void progress_draw(struct progress *progress, uint64_t elapsed_ns, const struct stoke_stats *stats);
/* Leaves the line as it was at the end. */
void progress_done(struct progress *progress, uint64_t elapsed_ns, const struct stoke_stats *stats);

#endif
