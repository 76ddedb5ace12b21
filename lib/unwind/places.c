/* SPDX-License-Identifier: BSD-2-Clause */
/* places.c: an ordered list of holes; there are as many as processes or files, not as entries. */
#include "unwind/places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int places_init(struct places *places, uint32_t nr)
{
	*places = (struct places){0};
	if (array_reserve(&places->holes, &places->capacity, 0, 1) < 0)
		return -ENOMEM;
	places->holes[0] = (struct hole){.nr = nr};
	places->nr = nr > 0;
	return 0;
}

void places_done(struct places *places)
{
	free(places->holes);
	*places = (struct places){0};
}

int places_reserve(struct places *places, size_t pieces)
{
	return array_reserve(&places->holes, &places->capacity, places->nr, pieces) < 0 ? -ENOMEM
											: 0;
}

/* Holes that touch and are free become one. */
static void join(struct places *places, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < places->nr; i++) {
		struct hole hole = places->holes[i];
		struct hole *last = kept ? &places->holes[kept - 1] : NULL;

		if (last && last->first + last->nr == hole.first && last->free_ns <= now_ns &&
			hole.free_ns <= now_ns)
			last->nr += hole.nr;
		else
			places->holes[kept++] = hole;
	}
	places->nr = kept;
}

int places_take(struct places *places, uint32_t nr, uint64_t now_ns, uint32_t *ret)
{
	join(places, now_ns);
	for (size_t i = 0; i < places->nr; i++) {
		struct hole *hole = &places->holes[i];

		if (hole->nr < nr || hole->free_ns > now_ns)
			continue;
		*ret = hole->first;
		hole->first += nr;
		hole->nr -= nr;
		if (!hole->nr) {
			places->nr--;
			memmove(hole, hole + 1, (places->nr - i) * sizeof(*hole));
		}
		return 0;
	}
	return -ENOSPC;
}

void places_leave(struct places *places, uint32_t first, uint32_t nr, uint64_t free_ns)
{
	size_t i = places->nr;

	while (i > 0 && places->holes[i - 1].first > first)
		i--;
	memmove(&places->holes[i + 1], &places->holes[i],
		(places->nr - i) * sizeof(*places->holes));
	places->holes[i] = (struct hole){first, nr, free_ns};
	places->nr++;
}
