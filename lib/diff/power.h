/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_POWER_H
#define STOKE_DIFF_POWER_H

/* What a comparison could have seen, and how many repeats would see a given change. */

#include "diff/evidence.h"

struct power {
	double share; /* of the frame spoken of: 0.10 */
	double detectable; /* growth of it found 9 times in 10 by these units, as a fraction of all
			    */
	double run_deviation; /* of a frame of that share between runs, estimated; 0: not seen */
	unsigned repeats; /* a side; units in force */
};

void power_of(const struct units *units, const struct evidence *evidence, struct power *ret);
/* Repeats a side that find a growth of `change` (fraction of all samples) in a frame of
 * `share` 9 times in 10, with `samples` samples a run; 0: more than 100. */
unsigned power_repeats(const struct power *power, double change, double share, double samples);

#endif
