/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_MAXT_H
#define STOKE_DIFF_MAXT_H

/*
 * Westfall and Young's step-down maxT: how often a relabelling gives, anywhere in the family, a
 * statistic as large as the one observed. No distribution is assumed, and functions that move
 * together cost nothing extra.
 */

#include "diff/relabel.h"
#include "diff/statistic.h"

/*
 * observed: a statistic a hypothesis and direction, under the labels as they are; only those above
 * -INFINITY are counted, the others get p = 1. relabel: fresh; run to its end. ret_p: a p-value a
 * hypothesis and direction, not below those of larger statistics. -ENOMEM.
 */
int maxt_run(const struct statistic *statistic, const double *const observed[NR_DIRECTIONS],
	struct relabel *relabel, double *const ret_p[NR_DIRECTIONS]);

#endif
