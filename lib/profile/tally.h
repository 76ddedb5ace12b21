/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROFILE_TALLY_H
#define STOKE_PROFILE_TALLY_H

/*
 * How many samples a row stands for, whoever wrote the file. Most say it in a column of their own;
 * some only how much time it was, and how much of it a sample is.
 */

#include <stdint.h>

#include "profile/profile.h"

struct tally {
	const struct stoke_profile *profile; /* borrowed */
	unsigned column; /* that counts samples; PROFILE_MAX_VALUES: none does */
	uint8_t *counted; /* [run] 1: that column tells of it */
	/* [run] CPU time between two samples: as the file says, or time by samples where it has
	 * both and they do not agree with it; NAN: not known. */
	double *period_ns;
};

/* -ENOMEM. */
int tally_init(struct tally *tally, const struct stoke_profile *profile);
void tally_done(struct tally *tally);
uint64_t tally_of(const struct tally *tally, size_t row);
/* CPU time that one of the samples counted stands for: period_ns, or what was taken for it to
 * count samples of a run that has only times. NAN: not known. */
double tally_sample_ns(const struct tally *tally, uint32_t run);

/*
 * Makes every run of a profile say both: the column of samples, added where there is none, has its
 * counts, and its period is what a sample stands for, where that is known. -ENOMEM; -E2BIG: no
 * column is free.
 */
int tally_fill(struct stoke_profile *profile, unsigned *ret_column);

#endif
