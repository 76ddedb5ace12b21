/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_STACKSHARES_H
#define STOKE_DIFF_STACKSHARES_H

#include "diff/comparable.h"
#include "profile/tally.h"

/*
 * Fills unnamed (of frames), truncated and broken (of stacks) of both sides as the stacks
 * themselves tell: text files carry no counts, but "[unknown]", "0x..." and the marks. 0 or
 * -ENOMEM.
 */
int stackshares_look(
	const struct stoke_profile *profile, const struct tally *tally, struct side sides[2]);

#endif
