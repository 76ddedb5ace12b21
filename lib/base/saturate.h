/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BASE_SATURATE_H
#define STOKE_BASE_SATURATE_H

#include <stdint.h>

/* a + b, or UINT64_MAX where that doesn't fit: counts come from files, and a sum never wraps. */
static inline uint64_t add_saturated(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

#endif
