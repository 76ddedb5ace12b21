/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_BOUND_H
#define STOKE_DIFF_BOUND_H

/*
 * An upper bound of the statistic that follows a relabelling by additions alone: a sum of one
 * number for each unit called after. The sum is what the change is, over how large the spread of
 * the runs would be if none of it were between the sides.
 */

#include "diff/statistic.h"

struct bound {
	const struct statistic *statistic; /* borrowed */
	double *reach; /* [condition] 1 / before + 1 / after, as observed */
	double *norm; /* [hypothesis] square root of that spread and the sampling floor */
	double least; /* w: V is at least w times the squares of rates, whoever is called what */
	double between; /* l: how much of the spread a sum of 1 has between the sides */
	double uneven; /* r: and what uneven exposures may add to it */
};

/* labelling: as observed. -ENOMEM. */
int bound_init(
	struct bound *bound, const struct statistic *statistic, const struct labelling *labelling);
void bound_done(struct bound *bound);
/* Writes a number a unit. They add up to nothing: one sum tells both sides. */
void bound_parts(const struct bound *bound, size_t hypothesis, double *ret);
/* Exposures of a labelling by those observed, at worst; 0: no statistic has a meaning. */
double bound_ratio(const struct bound *bound, const struct labelling *labelling);
/* The least sum (of those after for growth, its negative for shrinkage) of a hypothesis whose
 * statistic is above t. */
double bound_above(const struct bound *bound, double ratio, double t);

#endif
