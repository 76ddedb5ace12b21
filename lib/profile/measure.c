/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * measure.c: what the shape of stacks tells of their worth. Generated code right under a [broken]
 * root has no callers for want of frame pointers; elsewhere the library in which most stacks break,
 * or most frames have no name, is the one to cure.
 */
#include "profile/measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/saturate.h"

enum stack_state {
	STATE_BROKEN = 1 << 0, /* under a [broken] or [no unwind info: ..] root */
	STATE_CODE = 1 << 1, /* has a frame of code */
	STATE_JIT = 1 << 2, /* has one of generated code */
	STATE_JIT_FIRST = 1 << 3, /* its outermost frame of code is generated */
	STATE_BARE = 1 << 4 /* under a [no unwind info: ..] root */
};

unsigned measure_samples_column(const struct stoke_profile *profile)
{
	for (unsigned i = 0; i < profile->nr_values; i++) {
		if (strcmp(strings_text(&profile->strings, profile->values[i].type), "samples") ==
			0)
			return i;
	}
	return PROFILE_MAX_VALUES;
}

/* Outermost function of a frame. */
static const struct function *frame_outermost(
	const struct stoke_profile *profile, const struct frame *frame)
{
	unsigned last = frame->nr_functions ? frame->nr_functions - 1u : 0;

	return &profile->functions[frame_function(profile, frame, last)];
}

static uint8_t state_of(const struct stoke_profile *profile, uint8_t state, uint32_t node)
{
	const struct frame *frame = &profile->frames[profile->stacks.frame[node]];
	const struct function *function = frame_outermost(profile, frame);

	if (function->kind == FUNCTION_ROOT)
		return state;
	if (function->kind == FUNCTION_MARK) {
		const char *name = strings_text(&profile->strings, function->name);

		if (!(state & STATE_CODE) && strcmp(name, "[broken]") == 0)
			state |= STATE_BROKEN;
		if (!(state & STATE_CODE) && strncmp(name, "[no unwind info: ", 17) == 0)
			state |= STATE_BROKEN | STATE_BARE;
		return state;
	}
	if (function->kind == FUNCTION_JIT)
		state |= STATE_JIT | (state & STATE_CODE ? 0 : STATE_JIT_FIRST);
	return state | STATE_CODE;
}

/* The module with the most weight, 0: none has any. */
static uint32_t heaviest(const uint64_t *weight, size_t nr)
{
	uint32_t best = 0;

	for (size_t i = 1; i < nr; i++) {
		if (weight[i] > (best ? weight[best] : 0))
			best = (uint32_t)i;
	}
	return best;
}

/* Does a frame's name say that it has none: "[libfoo.so+0x1a2b]"? */
static int is_unnamed(const struct stoke_profile *profile, const struct frame *frame)
{
	const struct function *function = frame_outermost(profile, frame);
	const char *name = strings_text(&profile->strings, function->name);

	return !function->name || (name[0] == '[' && strstr(name, "+0x"));
}

struct walk {
	uint8_t *state; /* of each node */
	uint32_t *outermost; /* frame nearest the root that is code, of each node */
	uint64_t *weight; /* of each node, then with those below */
	uint64_t *broken, *bare, *unnamed; /* of each module */
};

static void walk_done(struct walk *walk)
{
	free(walk->state);
	free(walk->outermost);
	free(walk->weight);
	free(walk->broken);
	free(walk->bare);
	free(walk->unnamed);
}

static int walk_init(const struct stoke_profile *profile, struct walk *walk)
{
	size_t nr = profile->stacks.nr, nr_modules = profile->nr_modules;

	walk->state = array_new(nr, sizeof(*walk->state));
	walk->outermost = array_new(nr, sizeof(*walk->outermost));
	walk->weight = array_new(nr, sizeof(*walk->weight));
	walk->broken = calloc(nr_modules, sizeof(*walk->broken));
	walk->bare = calloc(nr_modules, sizeof(*walk->bare));
	walk->unnamed = calloc(nr_modules, sizeof(*walk->unnamed));
	if (!walk->state || !walk->outermost || !walk->weight || !walk->broken || !walk->bare ||
		!walk->unnamed)
		return -ENOMEM;
	return 0;
}

/* Parents come first: one loop forwards for what stands above, one backwards for the sums. */
int measure_stacks(const struct stoke_profile *profile, struct measured *ret)
{
	_cleanup_(walk_done) struct walk walk = {0};
	unsigned value = measure_samples_column(profile);
	const struct stacks *stacks = &profile->stacks;

	if (walk_init(profile, &walk) < 0)
		return -ENOMEM;
	if (value == PROFILE_MAX_VALUES)
		value = profile->default_value;
	for (size_t i = 1; i < stacks->nr; i++) {
		uint32_t parent = stacks->parent[i];
		uint8_t above = walk.state[parent];

		walk.state[i] = state_of(profile, above, (uint32_t)i);
		walk.outermost[i] = walk.state[i] & ~above & STATE_CODE ? stacks->frame[i]
									: walk.outermost[parent];
	}
	for (size_t i = 0; profile->nr_values && i < profile->rows.nr; i++) {
		uint32_t node = profile->rows.stack[i];
		uint64_t weight = profile->rows.value[value][i];
		uint8_t state = walk.state[node];
		uint32_t module = profile->frames[walk.outermost[node]].module;

		walk.weight[node] = add_saturated(walk.weight[node], weight);
		if (state & STATE_JIT)
			ret->jit = add_saturated(ret->jit, weight);
		if ((state & STATE_BROKEN) && (state & STATE_JIT_FIRST)) {
			ret->jit_without_callers = add_saturated(ret->jit_without_callers, weight);
		} else if (state & STATE_BARE) {
			ret->bare = add_saturated(ret->bare, weight);
			walk.bare[module] = add_saturated(walk.bare[module], weight);
		} else if (state & STATE_BROKEN) {
			ret->broken = add_saturated(ret->broken, weight);
			walk.broken[module] = add_saturated(walk.broken[module], weight);
		}
	}
	for (size_t i = stacks->nr; i-- > 1;) {
		const struct frame *frame = &profile->frames[stacks->frame[i]];
		uint32_t parent = stacks->parent[i];

		walk.weight[parent] = add_saturated(walk.weight[parent], walk.weight[i]);
		if (is_unnamed(profile, frame))
			walk.unnamed[frame->module] =
				add_saturated(walk.unnamed[frame->module], walk.weight[i]);
	}
	ret->bare_module = heaviest(walk.bare, profile->nr_modules);
	ret->broken_module = heaviest(walk.broken, profile->nr_modules);
	ret->unnamed_module = heaviest(walk.unnamed, profile->nr_modules);
	return 0;
}
