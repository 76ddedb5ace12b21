/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROFILE_PRUNE_H
#define STOKE_PROFILE_PRUNE_H

#include "profile/profile.h"

#define PROFILE_LEFT_OUT "[left out]" /* the mark that stands for what was cut, with its sum */

/*
 * Keeps memory bounded while a large text is read: subtrees whose total of this value is below
 * `below` become one "[left out]" child of the node they hung from, with their sum, so that all
 * totals stay exact. For the rows of one run: of several, what is narrow in one may be wide in
 * another. Nodes are renumbered and rows settled: those in open (with their ancestors) are kept and
 * become their new numbers. *ret_cut: how many nodes went. 0 or -ENOMEM.
 */
int profile_prune(struct stoke_profile *profile, unsigned value, uint64_t below, uint32_t *open,
	size_t nr_open, uint64_t *ret_cut);

#endif
