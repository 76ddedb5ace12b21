/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_DIFF_UNMET_H
#define STOKE_DIFF_UNMET_H

/* Rules of a budget that speak of nothing that is there: a name mistyped, or of a function that was
 * renamed, would otherwise guard nothing without a word. */

#include <stddef.h>

#include "diff/budget.h"

struct stoke_comparison;

/* In order of the file; *ret to be freed. -ENOMEM. */
int unmet_find(const struct stoke_comparison *comparison, const struct rule ***ret, size_t *ret_nr);

#endif
