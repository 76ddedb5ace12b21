/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_UNWIND_PLACES_H
#define STOKE_UNWIND_PLACES_H

/*
 * Who has which part of an array that walks read: given out first fit, and what was given back is
 * nobody's until no walk can be in it any more.
 */

#include <stddef.h>
#include <stdint.h>

/* A walk takes some 50 us at most: a place that was left a second ago is nobody's. */
#define PLACES_GRACE_NS 1000000000ull

/* A piece of the array: free, or left and not yet free. */
struct hole {
	uint32_t first, nr;
	uint64_t free_ns; /* nobody's from then on */
};

struct places {
	struct hole *holes; /* in order of place */
	size_t nr, capacity;
};

/* All of [0, nr) is free. 0, -ENOMEM. */
int places_init(struct places *places, uint32_t nr);
void places_done(struct places *places);
/* That many pieces can be left from now on. 0, -ENOMEM. */
int places_reserve(struct places *places, size_t pieces);
/* 0, -ENOSPC: not now. */
int places_take(struct places *places, uint32_t nr, uint64_t now_ns, uint32_t *ret);
/* There is room: places_reserve() saw to it. */
void places_leave(struct places *places, uint32_t first, uint32_t nr, uint64_t free_ns);

#endif
