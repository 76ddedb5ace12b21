/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_ALIGN_H
#define STOKE_DIFF_ALIGN_H

/*
 * One tree of both sides, a value column each. A frame that stands between two others on one side
 * only (JDK 25 put one under every main) would make all below it look gone and new: it is found
 * and spliced into the other side, marked.
 */

#include <stdint.h>

#include "view/tree.h"

#define ALIGN_INSERTED_BEFORE (1u << 0) /* only before had this frame between its neighbours */
#define ALIGN_INSERTED_AFTER  (1u << 1)

struct aligned {
	struct tree *tree; /* two sides; side 0 is before */
	uint8_t *flags; /* ALIGN_* a node */
	size_t nr_inserted;
};

/*
 * Of a canonical profile. options as tree_build()'s, with nr_before. A frame of 1 % of its side or
 * more is spliced in when 80 % of it go on, by at most three frames in a row, to children that
 * stand alone beside it on the other side; it then has what they have there as its total. -ENOMEM,
 * -E2BIG; -EINVAL without nr_before.
 */
int align_build(const struct stoke_profile *profile, const struct tree_options *options,
	struct aligned **ret);
void aligned_free(struct aligned *aligned);

#endif
