/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_UNWIND_RULES_H
#define STOKE_UNWIND_RULES_H

/* Rules by number: equal ones are one. Number 0 is "nothing is known". */

#include <stddef.h>
#include <stdint.h>

#include "bpf/rule.h"

struct rules {
	struct unwind_rule *items;
	size_t nr, capacity; /* items[0] is there once anything is */
	uint32_t *slots; /* number + 1; 0: free */
	size_t nr_slots; /* a power of two */
	size_t max;
};

/* All zero but for max is an empty one. */
void rules_done(struct rules *rules);
/* 0, -ENOMEM; -ENOSPC: max are there. */
int rules_add(struct rules *rules, const struct unwind_rule *rule, uint32_t *ret);

#endif
