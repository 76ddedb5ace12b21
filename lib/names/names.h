/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_NAMES_NAMES_H
#define STOKE_NAMES_NAMES_H

/*
 * A profile whose names no longer differ from build to build, run to run or JDK to JDK, so that two
 * of them can be laid over each other.
 */

#include "profile/profile.h"

struct aliases;

#define NAMES_NO_FOLD STOKE_NO_FOLD /* keep adjacent equal frames */
/* A process or thread in front of a stack is a name like any other, as in folded text. */
#define NAMES_PLAIN_ROOTS (1u << 31)

struct names_options {
	enum stoke_names level; /* AUTO is BUILD here: who compares knows whether the JVMs differ */
	const struct aliases *aliases; /* NULL: none */
	unsigned flags; /* NAMES_* */
};

#define NAMES_SPELLINGS 3

/* What one function of the new profile was called before. */
struct names_spellings {
	uint32_t nr; /* distinct raw names; 0: its name is as it was, and the only one */
	uint32_t first[NAMES_SPELLINGS]; /* strings of the new profile, in the order of the old one
					  */
};

struct names_merged {
	struct names_spellings *of; /* index: function of the new profile */
	size_t nr_functions;
	size_t nr_before, nr_after; /* distinct names of either profile */
	size_t nr_merged; /* functions that had several names */
};

/*
 * A new profile with canonical names. Equal canonical names of the same class (user | kernel |
 * mark) are one function and one frame: its module is kept when all agree on the file's name, its
 * source file too, its kind is the most telling one. Inlined functions become frames of their own.
 * Adjacent equal frames fold into one. Runs and rows (labels, slices, values) stay, sums are exact.
 * Marks and roots keep their names. At level NONE names stay as they are, but for the aliases.
 * ret_merged: NULL when not wanted; freed by names_merged_free(). 0 or -ENOMEM, -E2BIG.
 */
int names_rewrite(const struct stoke_profile *profile, const struct names_options *options,
	struct stoke_profile **ret, struct names_merged **ret_merged, struct stoke_error *err);
void names_merged_free(struct names_merged *merged);

#endif
