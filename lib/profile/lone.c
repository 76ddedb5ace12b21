/* SPDX-License-Identifier: BSD-2-Clause */
/* lone.c: a pool of one is no pool: its one member keeps the name that it has. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "profile/select.h"

#define POOL_BYTES 512

struct pools {
	struct strings names;
	uint32_t *member; /* by pool: the first name met; 0 */
	size_t capacity, nr;
};

/* The pool of a name, as an id with room for its member. */
static int find_pool(struct pools *pools, const struct stoke_profile *profile, uint32_t name,
	select_pool *pool, uint32_t *ret)
{
	char text[POOL_BYTES];
	size_t size = pool(strings_text(&profile->strings, name),
		strings_size(&profile->strings, name), text, sizeof(text));
	int r = strings_add(&pools->names, text, size, ret);

	while (r == 0 && pools->nr <= *ret) {
		r = array_reserve(&pools->member, &pools->capacity, pools->nr, 1);
		if (r == 0)
			pools->member[pools->nr++] = 0;
	}
	return r;
}

static int mark(
	struct pools *pools, const struct stoke_profile *profile, select_pool *pool, uint8_t *lone)
{
	for (uint32_t set = 0; set < profile->nr_label_sets; set++) {
		const struct label *label = profile_label(profile, set, "thread");
		uint32_t id;
		int r;

		if (!label || !label->str)
			continue;
		r = find_pool(pools, profile, label->str, pool, &id);
		if (r < 0)
			return r;
		if (!pools->member[id]) {
			pools->member[id] = label->str;
			lone[label->str] = 1;
		} else if (pools->member[id] != label->str) {
			lone[pools->member[id]] = 0;
		}
	}
	return 0;
}

int profile_lone_threads(const struct stoke_profile *profile, select_pool *pool, uint8_t **ret)
{
	_cleanup_free_ uint8_t *lone = calloc(profile->strings.nr + 1, 1);
	struct pools pools = {0};
	int r = lone ? strings_init(&pools.names) : -ENOMEM;

	if (r == 0)
		r = mark(&pools, profile, pool, lone);
	strings_done(&pools.names);
	free(pools.member);
	if (r < 0)
		return r;
	*ret = take_pointer(lone);
	return 0;
}
