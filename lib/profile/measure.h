/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROFILE_MEASURE_H
#define STOKE_PROFILE_MEASURE_H

#include "profile/profile.h"

/* What the stacks themselves tell, in samples (or what stands for them). */
struct measured {
	uint64_t jit; /* stacks with generated code */
	uint64_t jit_without_callers; /* broken right above generated code */
	uint64_t broken; /* broken above other code */
	uint64_t bare; /* under a mark that says that the file tells nothing of its frames */
	uint32_t broken_module, bare_module,
		unnamed_module; /* the one with most of them, 0: none */
};

/* Looks at every stack once. 0 or -ENOMEM. */
int measure_stacks(const struct stoke_profile *profile, struct measured *ret);

/* The column that counts samples, or PROFILE_MAX_VALUES. */
unsigned measure_samples_column(const struct stoke_profile *profile);

#endif
