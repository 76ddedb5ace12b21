/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_REPORT_STORY_H
#define STOKE_REPORT_STORY_H

/* What a comparison found, in one sentence: where the growth is, and of what kind. */

#include <stdio.h>

#include "diff/comparison.h"

/* Shares are what they are; rates of work and time times this are shares of all before. */
double story_scale(const struct stoke_comparison *comparison);
/* The index of a plain hypothesis of a node's function; SIZE_MAX: there is none. */
size_t story_hypothesis(
	const struct stoke_comparison *comparison, uint32_t tree_name, enum hypothesis_kind kind);
/* The owner to speak of: the largest that is no crossroads and did not only move, one with evidence
 * before the others. NULL: nothing grew. */
const struct owner *story_owner(const struct stoke_comparison *comparison);
/* Printable text, one line, ends with a full stop. 0 or -ENOMEM. */
int story_tell(const struct stoke_comparison *comparison, FILE *out);

#endif
