/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_DILUTION_H
#define STOKE_DIFF_DILUTION_H

/*
 * If something shrank, the share of everything else grew. What most of the self time did is taken
 * for what the whole did: the median over functions, by weight, of after / before.
 */

#include <stddef.h>

struct dilution_item {
	double ratio; /* after / before; 0 and INFINITY are allowed */
	double weight;
};

/* The weighted median: the first ratio, from the smallest, at which half of the weight is reached.
 * 1 of no items. Reorders them. */
double dilution_median(struct dilution_item *items, size_t nr);

#endif
