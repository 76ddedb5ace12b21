/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_COMPARISON_H
#define STOKE_DIFF_COMPARISON_H

/*
 * THE STORY OF A COMPARISON, as data: what each step found, for reports to read. comparison.c runs
 * the steps: comparable, canonical names, units, evidence, alignment, cause, power, verdict.
 */

#include <stddef.h>
#include <stdint.h>

#include "diff/align.h"
#include "diff/budget.h"
#include "diff/cause.h"
#include "diff/comparable.h"
#include "diff/evidence.h"
#include "diff/power.h"
#include "diff/units.h"
#include "diff/verdict.h"
#include "names/names.h"
#include "profile/profile.h"

#define COMPARISON_FEW_SAMPLES 200 /* with less on a side nothing is tested */

struct stoke_comparison {
	struct stoke_profile *profile; /* canonical names; owned */
	struct names_merged *merged; /* raw spellings of its names; owned */
	enum stoke_names level; /* in force, never AUTO */
	int level_chosen; /* 1: by the comparison, since the JVMs differ */
	uint32_t nr_before;
	struct comparable *comparable;
	unsigned value; /* of the profile: what is counted */
	struct units *units;
	double exposure[2]; /* a side's: what its counts are divided by */
	struct evidence *evidence; /* NULL: nothing to test */
	int too_few; /* 1: so few units that no p can reach alpha */
	struct aligned *aligned;
	struct cause *cause; /* of growth */
	struct power power; /* of the units in force */
	const struct stoke_budget *budget; /* NULL: a diff, no check. Borrowed */
	struct verdict *verdict; /* NULL without a budget */
	struct stoke_compare_options options; /* as given; pointers borrowed */
};

#endif
