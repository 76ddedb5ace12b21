/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_CAPTURE_NAMED_H
#define STOKE_CAPTURE_NAMED_H

/*
 * Frames of generated code that its runtime has named: one function, or several inlined into each
 * other. The same answer at the same address is the same frame.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/symbol.h"
#include "profile/profile.h"

struct named_slot;

struct named {
	struct named_slot *slots;
	size_t nr, nr_slots; /* a power of two */
};

/* Those of another profile are other frames. */
void named_forget(struct named *named);

/* key: address, module and flags. Symbols innermost first. 0, -ENOMEM, -E2BIG. */
int named_frame(struct named *named, struct stoke_profile *profile, const struct frame *key,
	const struct symbol *symbols, size_t nr, uint32_t *ret);

#endif
