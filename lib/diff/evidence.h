/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_EVIDENCE_H
#define STOKE_DIFF_EVIDENCE_H

/*
 * Is it chance? For each hypothesis: rates before and after, the change with its interval, and a
 * p-value that holds for all hypotheses together (Westfall and Young's step-down maxT over
 * relabelled units). The unit is the run, never the sample. Depends on nothing but counts.
 */

#include <stddef.h>
#include <stdint.h>

#include "diff/units.h"
#include "stoke.h"

#define EVIDENCE_MAX_EXACT 200000 /* relabellings that are all looked at */
#define EVIDENCE_RANDOM	   19999 /* drawn beyond that, plus the observed one */

struct evidence_options {
	double alpha; /* 0: 0.05 */
	uint64_t seed; /* of the drawn relabellings; 0: a fixed one */
	unsigned flags;
};

#define EVIDENCE_PAIRED	     (1u << 0) /* unit i before belongs to unit i after */
#define EVIDENCE_NO_DILUTION (1u << 1)
#define EVIDENCE_NO_TEST     (1u << 2) /* rates and intervals only (under 200 samples a side) */

/* struct change.flags */
#define CHANGE_TESTED (1u << 0) /* in the family; else p is 1 and says nothing */
#define CHANGE_GREW   (1u << 1) /* p_grew <= alpha */
#define CHANGE_SHRANK (1u << 2)
#define CHANGE_NEW    (1u << 3) /* nothing before */
#define CHANGE_GONE   (1u << 4)

/* One hypothesis; [i] belongs to units->hypotheses[i]. Rates are in units of the exposure. */
struct change {
	double before, after;
	double difference; /* after - before */
	double grown, shrunk; /* after dilution, each in its own direction: grown = after / s -
				 before with s >= 1, shrunk = before - after / s with s <= 1 */
	double low, high; /* 95 % interval of difference, of this one alone */
	double error, freedom; /* standard error with the sampling floor; degrees of freedom */
	double t_grew, t_shrank; /* -INFINITY: below the limits */
	double p_grew, p_shrank; /* run-wide */
	double q; /* Benjamini and Hochberg, two-sided, for looking only; never for a gate */
	double cost_ratio; /* own cost if the rest did not change; NAN: no meaning */
	double variance_before, variance_after, floor; /* V_A, V_B, F */
	uint32_t flags;
};

struct evidence {
	struct change *changes; /* one a hypothesis of the units */
	size_t nr, nr_tested;
	double alpha;
	uint64_t relabellings; /* looked at; smallest p is 1 / this */
	uint64_t seed; /* 0: exact */
	double dilution_grew, dilution_shrank; /* s of either direction; 1 outside shares */
	double correlation[2]; /* lag-1 of blocks, a side, raw: low by 1 / blocks; NAN where units
				  are runs */
	double variation[2]; /* median of V / sampling error over what is tested, a side: how many
				times binomial; NAN: one unit, or nothing tested */
	double noise_ratio; /* sum of V_B / F by sum of V_A / F: outside [1/4, 4] one side is far
			       noisier; NAN as above */
	double difference; /* 1/2 sum |change of self| over functions: 0 same, 1 disjoint */
};

/* -ERANGE: so few units that p cannot reach alpha (changes are filled all the same in *ret). */
int evidence_weigh(const struct units *units, const struct evidence_options *options,
	struct evidence **ret, struct stoke_error *err);
void evidence_free(struct evidence *evidence);

#endif
