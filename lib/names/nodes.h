/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_NAMES_NODES_H
#define STOKE_NAMES_NODES_H

/*
 * Stacks under other frames: adjacent equal ones fold, siblings that become equal are one. Most
 * nodes of a large profile meet no equal, and only those that do are looked for; the others are
 * appended, some ten times faster.
 */

#include <stddef.h>
#include <stdint.h>

#include "profile/stacks.h"

/* What an old frame becomes. */
struct nodes_frame {
	uint32_t frame; /* new; of several the innermost */
	uint8_t folds; /* with its like beside it */
	uint8_t alone; /* no other old frame becomes this one */
	uint8_t several; /* it stands for several frames: ask expand() */
};

/* The i-th frame from the outermost on that an old frame becomes, or 0 behind the last. */
typedef const struct nodes_frame *nodes_expand(void *arg, uint32_t frame, unsigned i);

/*
 * Fills `to`, which holds its root only, and node_of[] (from->nr of them). frame_of: by old frame.
 * Equal siblings of `from` stay as they are. 0, -ENOMEM or -E2BIG.
 */
int nodes_rewrite(const struct stacks *from, const struct nodes_frame *frame_of,
	nodes_expand *expand, void *arg, struct stacks *to, uint32_t *node_of);

#endif
