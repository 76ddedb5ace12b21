/* SPDX-License-Identifier: BSD-2-Clause */
/* index.c: an open hash of ids. The items stand elsewhere, so a table is numbers only. */
#include "profile/index.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

int slots_grow(struct slots *slots, size_t nr, const struct stoke_profile *profile, hash_item *hash)
{
	uint32_t nr_slots = slots->nr_slots ? slots->nr_slots : 64;
	uint32_t *grown;

	while (nr_slots / 2 < nr + 1) {
		if (nr_slots > UINT32_MAX / 2)
			return -E2BIG;
		nr_slots *= 2;
	}
	if (nr_slots == slots->nr_slots)
		return 0;
	grown = array_new(nr_slots, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	for (uint32_t id = 0; id < nr; id++) {
		uint32_t i = (uint32_t)hash(profile, id) & (nr_slots - 1);

		while (grown[i])
			i = (i + 1) & (nr_slots - 1);
		grown[i] = id + 1;
	}
	free(slots->slot);
	slots->slot = grown;
	slots->nr_slots = nr_slots;
	return 0;
}
