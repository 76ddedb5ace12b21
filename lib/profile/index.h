/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROFILE_INDEX_H
#define STOKE_PROFILE_INDEX_H

/* The hashes behind the keys of a profile: private to profile.c and rows.c. */

#include "profile/profile.h"

/* id + 1 by hash of key; the keys themselves stand in the profile's arrays. */
struct slots {
	uint32_t *slot;
	uint32_t nr_slots;
};

struct profile_index {
	struct slots functions, frames, label_sets, rows;
	size_t nr_indexed; /* rows that the index knows */
};

typedef uint64_t hash_item(const struct stoke_profile *profile, uint32_t id);

/*
 * Keeps the table at most half full. nr: items in it; hash: of item id. 0, -ENOMEM, or -E2BIG when
 * there are more items than a u32 tells apart.
 */
int slots_grow(
	struct slots *slots, size_t nr, const struct stoke_profile *profile, hash_item *hash);

/* The slot of an item equal to the one at `id` (just behind the array's end), or a free one. */
#define FIND_SLOT(slots, hash_value, candidate, equal)                                             \
	({                                                                                         \
		uint32_t mask_ = (slots)->nr_slots - 1, i_ = (uint32_t)(hash_value)&mask_;         \
		uint32_t candidate;                                                                \
		while ((slots)->slot[i_]) {                                                        \
			candidate = (slots)->slot[i_] - 1;                                         \
			if (equal)                                                                 \
				break;                                                             \
			i_ = (i_ + 1) & mask_;                                                     \
		}                                                                                  \
		&(slots)->slot[i_];                                                                \
	})

#endif
