/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_SUMS_H
#define STOKE_DIFF_SUMS_H

/* What rules of a budget speak of: samples within a condition, sums over functions that match. */

#include "diff/units.h"

/* A profile's rows as evidence: to which unit each belongs, and how many samples it is. */
struct samples {
	uint32_t *unit; /* [row] */
	uint64_t *count; /* [row] */
};

/*
 * Fills the exposures of the conditions (for shares: samples within; else those of all), and the
 * counts of the sums, whose hypotheses are the last options->nr_sums of units. -ENOMEM.
 */
int sums_fill(const struct stoke_profile *profile, const struct samples *samples,
	const struct units_options *options, struct units *units);

#endif
