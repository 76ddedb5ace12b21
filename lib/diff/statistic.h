/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_STATISTIC_H
#define STOKE_DIFF_STATISTIC_H

/*
 * One number that says how far a function grew (or shrank) beyond what its runs' own spread and
 * sampling explain, under one labelling of the units. -INFINITY where the change is below what
 * matters: the limits are part of the statistic, so that p-values speak of changes that are shown.
 */

#include <stddef.h>
#include <stdint.h>

#include "diff/dilution.h"
#include "diff/units.h"

enum direction { GREW, SHRANK };
#define NR_DIRECTIONS 2

struct statistic {
	const struct units *units; /* borrowed */
	unsigned flags; /* EVIDENCE_* */
	double *sum; /* [hypothesis] counts of all units */
	double *floor; /* [hypothesis] F, the variance by sampling alone; 0: not in the family */
	double *selves; /* [unit * nr_selves + i] counts of the functions that tell dilution */
	double *whole; /* [i] their sums */
	size_t nr_selves;
	struct dilution_item *items; /* room for them */
};

/* Which units are called before and after, and what follows from that for all hypotheses. */
struct labelling {
	uint8_t *after; /* [unit] 1: called after */
	unsigned *units_after; /* those, in order */
	double *exposure[2]; /* [condition] of the units before, after */
	unsigned nr[2];
	double *selves; /* [i] sums of the units called after */
	double dilution; /* NAN: not asked for yet */
};

struct rates {
	double before, after;
	double variance_before, variance_after; /* 0 where a side has one unit */
	double variance; /* of the difference: their sum, or from the pairs */
};

int statistic_init(struct statistic *statistic, const struct units *units, unsigned flags);
void statistic_done(struct statistic *statistic);

/* Starts with the labels as they are. */
int labelling_init(struct labelling *labelling, const struct statistic *statistic);
void labelling_done(struct labelling *labelling);
void labelling_set(
	struct labelling *labelling, const struct statistic *statistic, const uint8_t *after);

/* s of hypotheses without a condition: 1 or more for growth, 1 or less for shrinkage. */
double statistic_dilution(
	const struct statistic *statistic, struct labelling *labelling, enum direction direction);
/* s in force for a hypothesis. */
double statistic_dilution_of(const struct statistic *statistic, struct labelling *labelling,
	size_t hypothesis, enum direction direction);
void statistic_rates(const struct statistic *statistic, struct labelling *labelling,
	size_t hypothesis, double dilution, struct rates *ret);
/* T, or -INFINITY also where it could not be above `above`. Of members of the family only. */
double statistic_of(const struct statistic *statistic, struct labelling *labelling,
	size_t hypothesis, enum direction direction, double above);

#endif
