/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_UNITS_H
#define STOKE_DIFF_UNITS_H

/*
 * Units of evidence: what was counted how often in which run. A unit is one run, or, where a side
 * has one run only, one of UNITS_BLOCKS_PER_RUN blocks of its time slices, equal to a slice (then
 * every side is cut so). A hypothesis is something that may have changed: a function's total (each
 * sample once however often it is on the stack), its self, the total of a package, namespace or
 * library, or what a rule of a budget speaks of.
 */

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "view/tree.h"

#define UNITS_BLOCKS_PER_RUN 8

enum hypothesis_kind { HYPOTHESIS_SELF, HYPOTHESIS_TOTAL, HYPOTHESIS_GROUP };

struct hypothesis {
	uint32_t name; /* string of the profile: canonical function, or group; of a sum 0 */
	uint32_t sum; /* 1 + the index of units_options.sums; 0: a plain one */
	uint8_t kind; /* enum hypothesis_kind */
	uint8_t class; /* enum tree_class of the function; of a group TREE_USER or TREE_KERNEL */
	uint16_t condition; /* 0: all samples; else 1 + the index of units_options.conditions */
	/* limits inside the statistic: a change below either is none. In units of the rate (share:
	 * fraction) and relative to before. Set by units_make() from its options; least INFINITY:
	 * counted, but not to be tested. */
	double least, least_ratio;
};

/* Only samples whose stack has a function, or whose thread has a name, that matches. */
struct units_condition {
	const char *glob; /* as in budget.h; borrowed */
};

/* A sum of functions as one hypothesis: "storage = db*|query*" of a budget. A sample counts once
 * however many of them are on its stack. */
struct units_sum {
	const char *name; /* how reports call it; borrowed */
	const char *glob; /* alternatives parted by '|'; borrowed */
	unsigned condition; /* as hypothesis.condition */
	enum hypothesis_kind kind; /* HYPOTHESIS_TOTAL or _SELF */
	double least, least_ratio; /* as in units_limit */
};

/*
 * Limits of plain hypotheses; least INFINITY: not to be judged at all. least is a fraction of all
 * samples, whatever the exposure: for work and time units_make() takes it times the rate of all
 * samples of both sides, so that "0.5pp" is always half a percent of the whole.
 */
struct units_limit {
	const char *glob; /* NULL: all */
	enum hypothesis_kind kind; /* groups go by the limits of totals */
	double least, least_ratio;
};

struct units_options {
	uint32_t nr_before; /* runs 0..nr_before-1 are before, the rest after */
	enum stoke_exposure exposure; /* not _AUTO */
	const double *work; /* a run's operations done; for STOKE_EXPOSURE_WORK */
	const struct units_limit *limits; /* of plain hypotheses; the last that matches holds */
	size_t nr_limits; /* none matches: 0.005 and 0.05 */
	const struct units_condition *conditions;
	size_t nr_conditions;
	const struct units_sum *sums; /* hypotheses beside the plain ones */
	size_t nr_sums;
};

struct units {
	unsigned nr, nr_before; /* units 0..nr_before-1 are before, in order of the runs */
	int blocks; /* 1: blocks of two single runs, not runs */
	enum stoke_exposure exposure;
	uint64_t *samples; /* a unit's, all of them */
	double *part; /* which part of its run's time a unit is: 1 where it is a run */
	/* [condition * nr + unit]: what a count is divided by; share: samples; work: operations;
	 * time: wall seconds times samples a CPU second, so that count / exposure is cores */
	double *exposures;
	size_t nr_exposures; /* 1 + nr_conditions */
	/* Plain ones sorted by (kind, text of name, class), then the sums in their order. First,
	 * unless the exposure is share, the total of all samples, of name 0. */
	struct hypothesis *hypotheses;
	size_t nr_hypotheses;
	double *counts; /* [hypothesis * nr + unit], whole numbers */
	double difference; /* 1/2 sum |change of self share| over all functions: 0 same, 1
			      disjoint */
};

/*
 * Counts samples of a canonical profile (names_rewrite()), to whose strings the names of groups are
 * added. A function that is there by name only to say how stacks were taken is no hypothesis:
 * "[left out]", "[truncated]", "[broken]", "[exit]". The value counted is "samples" where
 * there is one, else the default one by the period. Functions that cannot reach `least` on
 * either side are left out (lossless for the test), but for the self of those with 0.2 % of all,
 * which tell dilution. Blocks need slices in both runs, at least
 * one a block; without, two single runs are two units. -EINVAL: a run's exposure is not known;
 * -ENODATA: a side has no samples. -ENOMEM.
 */
int units_make(struct stoke_profile *profile, const struct units_options *options,
	struct units **ret, struct stoke_error *err);
void units_free(struct units *units);
/* How much of a rate 1, "100 points of all samples", is: 1 for shares, else the rate of all samples
 * of both sides. */
double units_rate(const struct units *units);

#endif
