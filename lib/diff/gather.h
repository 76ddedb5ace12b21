/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_GATHER_H
#define STOKE_DIFF_GATHER_H

/*
 * A function that grows makes all its callers grow with it: which changes are one and the same.
 * One of them stands for the others, the owner of the growth where cause.h found one.
 */

#include <stddef.h>

struct gather;
struct stoke_comparison;

/*
 * Of these changes (indices of the evidence's), in one direction: sign 1 growth, -1 shrinkage.
 * 0 or -ENOMEM.
 */
int gather_new(const struct stoke_comparison *comparison, const size_t *changes, size_t nr,
	int sign, struct gather **ret);
void gather_free(struct gather *gather);

/* How much the i-th changed, in the direction, after dilution; without what was taken away. */
double gather_size(const struct gather *gather, size_t i);
/* So much of the i-th's change is explained otherwise. */
void gather_take_away(struct gather *gather, size_t i, double part);
/* Fills ret (nr elements): how much of each one's change is in samples that have the `which`-th on
 * their stacks as well. -ENOMEM. */
int gather_joint(const struct gather *gather, size_t which, double *ret);
/* 1 when nothing worth a word is left of the i-th's change without `part` of it. */
int gather_is_explained(const struct gather *gather, size_t i, double part);
/*
 * Fills ret_of (nr elements) with the position of the one that stands for each (itself: its own),
 * and ret_order with positions of those that stand for themselves, most telling first.
 * -ENOMEM.
 */
int gather_find(struct gather *gather, size_t *ret_of, size_t *ret_order, size_t *ret_nr_order);

#endif
