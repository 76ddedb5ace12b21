/* SPDX-License-Identifier: BSD-2-Clause */
/* prune.c: totals in one loop backwards, the cut in one loop forwards: parents come first. */
#include "profile/prune.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/saturate.h"
#include "profile/unite.h"

struct prune {
	struct stoke_profile *profile;
	uint32_t left_out; /* frame */
	uint64_t *total; /* of each old node */
	uint8_t *kept;
	uint32_t *map; /* old node -> new node */
	uint32_t *rest_of; /* new node -> its "[left out]" child, 0: has none */
};

static void prune_done(struct prune *prune)
{
	free(prune->total);
	free(prune->kept);
	free(prune->map);
	free(prune->rest_of);
}

static int make_room(struct prune *prune)
{
	size_t nr = prune->profile->stacks.nr;

	prune->total = array_new(nr, sizeof(*prune->total));
	prune->kept = array_new(nr, 1);
	prune->map = array_new(nr, sizeof(*prune->map));
	prune->rest_of = array_new(nr, sizeof(*prune->rest_of));
	return prune->total && prune->kept && prune->map && prune->rest_of ? 0 : -ENOMEM;
}

static void judge(
	struct prune *prune, unsigned value, uint64_t below, const uint32_t *open, size_t nr_open)
{
	const struct stacks *stacks = &prune->profile->stacks;
	const struct rows *rows = &prune->profile->rows;

	for (size_t i = 0; i < rows->nr; i++)
		prune->total[rows->stack[i]] =
			add_saturated(prune->total[rows->stack[i]], rows->value[value][i]);
	for (size_t i = 0; i < nr_open; i++)
		prune->kept[open[i]] = 1;
	prune->kept[0] = 1;
	for (size_t i = stacks->nr; i-- > 1;) {
		uint32_t parent = stacks->parent[i];

		prune->total[parent] = add_saturated(prune->total[parent], prune->total[i]);
		prune->kept[i] |= prune->total[i] >= below;
		prune->kept[parent] |= prune->kept[i];
	}
	for (size_t i = 1; i < stacks->nr; i++) {
		if (stacks->frame[i] == prune->left_out && prune->kept[stacks->parent[i]])
			prune->kept[i] = 1;
	}
}

/* The number of nodes that went. There is room for the marks: each stands for a node at least. */
static uint64_t cut_nodes(struct prune *prune)
{
	struct stacks *stacks = &prune->profile->stacks;
	size_t nr = 1, nr_old = stacks->nr;
	uint64_t nr_cut = 0;

	for (size_t i = 1; i < nr_old; i++) {
		uint32_t parent = prune->map[stacks->parent[i]];

		if (!prune->kept[i])
			continue;
		prune->map[i] = (uint32_t)nr;
		if (stacks->frame[i] == prune->left_out)
			prune->rest_of[parent] = (uint32_t)nr;
		/* What lies further on is still old: nr never passes i. */
		stacks->frame[nr] = stacks->frame[i];
		prune->total[nr] = parent; /* kept aside, as old parents are still read */
		nr++;
	}
	for (size_t i = 1; i < nr_old; i++) {
		uint32_t parent = stacks->parent[i], *rest;

		if (prune->kept[i])
			continue;
		nr_cut++;
		if (!prune->kept[parent]) { /* below a cut node: where that went */
			prune->map[i] = prune->map[parent];
			continue;
		}
		rest = &prune->rest_of[prune->map[parent]];
		if (!*rest) {
			*rest = (uint32_t)nr;
			stacks->frame[nr] = prune->left_out;
			prune->total[nr] = prune->map[parent];
			nr++;
		}
		prune->map[i] = *rest;
	}
	for (size_t i = 1; i < nr; i++)
		stacks->parent[i] = (uint32_t)prune->total[i];
	stacks->nr = nr;
	return nr_cut;
}

static int merge_rows(struct prune *prune)
{
	struct rows *rows = &prune->profile->rows;

	for (size_t i = 0; i < rows->nr; i++)
		rows->stack[i] = prune->map[rows->stack[i]];
	return profile_settle(prune->profile);
}

int profile_prune(struct stoke_profile *profile, unsigned value, uint64_t below, uint32_t *open,
	size_t nr_open, uint64_t *ret_cut)
{
	struct prune prune = {.profile = profile};
	int r = profile_named_frame(profile, PROFILE_LEFT_OUT, strlen(PROFILE_LEFT_OUT),
		FUNCTION_MARK, &prune.left_out);

	if (r >= 0)
		r = make_room(&prune);
	if (r >= 0) {
		judge(&prune, value, below, open, nr_open);
		*ret_cut = cut_nodes(&prune);
		profile_renumbered(profile);
		r = merge_rows(&prune);
		for (size_t i = 0; i < nr_open; i++)
			open[i] = prune.map[open[i]];
	}
	prune_done(&prune);
	return r < 0 ? r : 0;
}
