/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * count.c: a total counts where a function is met first on the way from the root. Which nodes
 * these are is found once, depth first, with a count of what is open; then a unit is one loop
 * backwards over the stacks.
 */
#include "diff/count.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/saturate.h"
#include "names/group.h"
#include "view/tree.h"

#define GROUP_BYTES 256

/* What a stack says of how it was taken. */
static const char *const recorders_marks[] = {"[left out]", "[truncated]", "[broken]", "[exit]"};

static int is_recorders(const struct stoke_profile *profile, const struct function *function)
{
	const char *name = strings_text(&profile->strings, function->name);

	if (function->kind != FUNCTION_MARK)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(recorders_marks); i++) {
		if (strcmp(name, recorders_marks[i]) == 0)
			return 1;
	}
	return 0;
}

static enum tree_class class_of(const struct frame *frame, uint32_t kind)
{
	if (kind == FUNCTION_MARK || kind == FUNCTION_ROOT)
		return TREE_MARK;
	return (frame->flags & FRAME_KERNEL) || kind == FUNCTION_KERNEL ? TREE_KERNEL : TREE_USER;
}

/* A list of distinct (name, class), and where each is in it. */
struct listing {
	struct counted *items;
	size_t nr, capacity;
	uint32_t *place; /* class * nr_strings + string -> item, 0: not yet */
	size_t nr_strings;
};

static int listing_init(struct listing *listing, size_t nr_strings)
{
	size_t room;
	int r;

	r = size_multiply(nr_strings, TREE_NR_CLASSES, &room);
	if (r < 0)
		return r;
	listing->nr_strings = nr_strings;
	listing->place = calloc(room, sizeof(*listing->place));
	if (!listing->place)
		return -ENOMEM;
	r = array_reserve(&listing->items, &listing->capacity, 0, 1);
	if (r < 0)
		return r;
	listing->items[listing->nr++] = (struct counted){.skip = 1};
	return 0;
}

static void listing_done(struct listing *listing)
{
	free(listing->items);
	free(listing->place);
}

static int list(struct listing *listing, struct counted item, uint32_t *ret)
{
	uint32_t *place = &listing->place[item.class * listing->nr_strings + item.name];
	int r;

	if (!*place) {
		r = array_reserve(&listing->items, &listing->capacity, listing->nr, 1);
		if (r < 0)
			return r;
		listing->items[listing->nr] = item;
		*place = (uint32_t)listing->nr++;
	}
	*ret = *place;
	return 0;
}

static const struct function *function_of(const struct counter *counter, size_t frame)
{
	const struct stoke_profile *profile = counter->profile;

	return &profile->functions[frame_function(profile, &profile->frames[frame], 0)];
}

static int list_functions(struct counter *counter)
{
	const struct stoke_profile *profile = counter->profile;
	_cleanup_(listing_done) struct listing listing = {0};
	int r = listing_init(&listing, profile->strings.nr);

	for (size_t f = 1; r >= 0 && f < profile->nr_frames; f++) {
		const struct function *function = function_of(counter, f);

		r = list(&listing,
			(struct counted){
				.name = function->name,
				.class = (uint8_t)class_of(&profile->frames[f], function->kind),
				.skip = (uint8_t)(!function->name ||
						  is_recorders(profile, function)),
			},
			&counter->function[f]);
	}
	if (r < 0)
		return r;
	counter->nr_functions = listing.nr;
	counter->functions = take_pointer(listing.items);
	return 0;
}

static const char *file_name(const struct module *module)
{
	const char *slash = module->path ? strrchr(module->path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : module->path;
}

/* Strings of the groups' names, a frame; 0: none. */
static int name_groups(struct counter *counter, struct stoke_profile *profile)
{
	for (size_t f = 1; f < profile->nr_frames; f++) {
		const struct function *function = function_of(counter, f);
		uint32_t module = profile->frames[f].module;
		char group[GROUP_BYTES];
		size_t size;
		int r;

		if (!function->name)
			continue;
		size = group_of(strings_text(&profile->strings, function->name),
			strings_size(&profile->strings, function->name),
			(enum function_kind)function->kind,
			module ? file_name(&profile->modules[module]) : NULL, group, sizeof(group));
		r = size ? profile_string(profile, group, size, &counter->group[f]) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

static int list_groups(struct counter *counter, struct stoke_profile *profile)
{
	_cleanup_(listing_done) struct listing listing = {0};
	int r = name_groups(counter, profile);

	if (r >= 0)
		r = listing_init(&listing, profile->strings.nr);
	for (size_t f = 1; r >= 0 && f < profile->nr_frames; f++) {
		const struct function *function = function_of(counter, f);

		if (!counter->group[f])
			continue;
		r = list(&listing,
			(struct counted){
				.name = counter->group[f],
				.class = (uint8_t)class_of(&profile->frames[f], function->kind),
			},
			&counter->group[f]);
	}
	if (r < 0)
		return r;
	counter->nr_groups = listing.nr;
	counter->groups = take_pointer(listing.items);
	return 0;
}

/* How often each function and group is on the way from the root. */
struct open {
	uint32_t *functions, *groups;
};

static void open_done(struct open *open)
{
	free(open->functions);
	free(open->groups);
}

static int open_init(struct open *open, const struct counter *counter)
{
	open->functions = calloc(counter->nr_functions, sizeof(*open->functions));
	open->groups = calloc(counter->nr_groups, sizeof(*open->groups));
	return open->functions && open->groups ? 0 : -ENOMEM;
}

static void enter(struct counter *counter, struct open *open, size_t node)
{
	uint32_t frame = counter->profile->stacks.frame[node];
	uint8_t topmost = 0;

	if (!open->functions[counter->function[frame]]++)
		topmost |= COUNT_FUNCTION;
	if (!open->groups[counter->group[frame]]++)
		topmost |= COUNT_GROUP;
	counter->topmost[node] = topmost;
}

static void leave(struct counter *counter, struct open *open, size_t node)
{
	uint32_t frame = counter->profile->stacks.frame[node];

	open->functions[counter->function[frame]]--;
	open->groups[counter->group[frame]]--;
}

/* Stacks of sorted text and of trees are in preorder: one loop. 0: these are not. */
static int mark_preorder(struct counter *counter, struct open *open)
{
	const struct stacks *stacks = &counter->profile->stacks;
	uint32_t at = 0;

	for (size_t node = 1; node < stacks->nr; node++) {
		for (; at != stacks->parent[node]; at = stacks->parent[at]) {
			if (!at)
				return 0;
			leave(counter, open, at);
		}
		enter(counter, open, node);
		at = (uint32_t)node;
	}
	return 1;
}

static int mark_any_order(struct counter *counter, struct open *open)
{
	const struct stacks *stacks = &counter->profile->stacks;
	_cleanup_free_ uint32_t *first = array_new(stacks->nr, sizeof(*first));
	_cleanup_free_ uint32_t *next = array_new(stacks->nr, sizeof(*next));
	uint32_t at = 0;

	if (!first || !next)
		return -ENOMEM;
	for (size_t node = stacks->nr - 1; node > 0; node--) {
		next[node] = first[stacks->parent[node]];
		first[stacks->parent[node]] = (uint32_t)node;
	}
	for (;;) {
		if (first[at]) {
			at = first[at];
			enter(counter, open, at);
			continue;
		}
		while (at && !next[at]) {
			leave(counter, open, at);
			at = stacks->parent[at];
		}
		if (!at)
			return 0;
		leave(counter, open, at);
		at = next[at];
		enter(counter, open, at);
	}
}

static int mark_topmost(struct counter *counter)
{
	_cleanup_(open_done) struct open open = {0}, again = {0};

	if (open_init(&open, counter) < 0)
		return -ENOMEM;
	if (mark_preorder(counter, &open))
		return 0;
	if (open_init(&again, counter) < 0)
		return -ENOMEM;
	return mark_any_order(counter, &again);
}

static int counter_fill(struct counter *counter, struct stoke_profile *profile)
{
	int r;

	counter->function = calloc(profile->nr_frames, sizeof(*counter->function));
	counter->group = calloc(profile->nr_frames, sizeof(*counter->group));
	counter->topmost = array_new(profile->stacks.nr, sizeof(*counter->topmost));
	if (!counter->function || !counter->group || !counter->topmost)
		return -ENOMEM;
	r = list_functions(counter);
	if (r < 0)
		return r;
	r = list_groups(counter, profile);
	if (r < 0)
		return r;
	r = mark_topmost(counter);
	if (r < 0)
		return r;
	counter->column = array_new(profile->stacks.nr, sizeof(*counter->column));
	counter->self = calloc(counter->nr_functions, sizeof(*counter->self));
	counter->total = calloc(counter->nr_functions, sizeof(*counter->total));
	counter->of_group = calloc(counter->nr_groups, sizeof(*counter->of_group));
	if (!counter->column || !counter->self || !counter->total || !counter->of_group)
		return -ENOMEM;
	return 0;
}

int counter_init(struct counter *counter, struct stoke_profile *profile)
{
	struct counter new = {.profile = profile};
	int r = counter_fill(&new, profile);

	if (r < 0) {
		counter_done(&new);
		return r;
	}
	*counter = new;
	return 0;
}

void counter_done(struct counter *counter)
{
	free(counter->functions);
	free(counter->groups);
	free(counter->function);
	free(counter->group);
	free(counter->topmost);
	free(counter->column);
	free(counter->self);
	free(counter->total);
	free(counter->of_group);
	*counter = (struct counter){0};
}

void counter_begin(struct counter *counter)
{
	memset(counter->column, 0, counter->profile->stacks.nr * sizeof(*counter->column));
	memset(counter->self, 0, counter->nr_functions * sizeof(*counter->self));
	memset(counter->total, 0, counter->nr_functions * sizeof(*counter->total));
	memset(counter->of_group, 0, counter->nr_groups * sizeof(*counter->of_group));
}

void counter_add(struct counter *counter, uint32_t node, uint64_t samples)
{
	uint64_t *self = &counter->self[counter->function[counter->profile->stacks.frame[node]]];

	counter->column[node] = add_saturated(counter->column[node], samples);
	*self = add_saturated(*self, samples);
}

void counter_finish(struct counter *counter)
{
	const struct stacks *stacks = &counter->profile->stacks;
	uint64_t *column = counter->column;

	for (size_t node = stacks->nr - 1; node > 0; node--) {
		uint32_t parent = stacks->parent[node], frame = stacks->frame[node];
		uint64_t samples = column[node];

		if (!samples)
			continue;
		column[parent] = add_saturated(column[parent], samples);
		if (counter->topmost[node] & COUNT_FUNCTION) {
			uint64_t *total = &counter->total[counter->function[frame]];

			*total = add_saturated(*total, samples);
		}
		if (counter->topmost[node] & COUNT_GROUP) {
			uint64_t *total = &counter->of_group[counter->group[frame]];

			*total = add_saturated(*total, samples);
		}
	}
}
