/* SPDX-License-Identifier: BSD-2-Clause */
/* stackshares.c: how much of each side's stacks is worth little. */
#include "diff/stackshares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

enum root_mark { ROOT_NONE, ROOT_TRUNCATED, ROOT_BROKEN };

struct stack_facts { /* of a node and all above it */
	uint16_t depth, unnamed; /* frames */
	uint8_t root; /* enum root_mark of the outermost frame */
};

static int has(const char *name, size_t size, const char *text)
{
	return size == strlen(text) && memcmp(name, text, size) == 0;
}

/* "[unknown]", "0x7f12", "[libfoo.so+0x1a2b]", "libfoo.so+0x12" */
static int is_unnamed(const char *name, size_t size)
{
	if (!size || has(name, size, "[unknown]") || has(name, size, "unknown"))
		return 1;
	if (size > 2 && memcmp(name, "0x", 2) == 0)
		return strspn(name + 2, "0123456789abcdefABCDEF") >= size - 2;
	return memmem(name, size, ".so", 3) && memmem(name, size, "+0x", 3);
}

/* 1 a function that is no name. */
static uint8_t *find_unnamed(const struct stoke_profile *profile)
{
	uint8_t *unnamed = calloc(profile->nr_functions, 1);

	for (size_t i = 0; unnamed && i < profile->nr_functions; i++) {
		uint32_t name = profile->functions[i].name;

		unnamed[i] = !i || is_unnamed(strings_text(&profile->strings, name),
					   strings_size(&profile->strings, name));
	}
	return unnamed;
}

static enum root_mark mark_of(const struct stoke_profile *profile, uint32_t function)
{
	uint32_t string = profile->functions[function].name;
	const char *name = strings_text(&profile->strings, string);
	size_t size = strings_size(&profile->strings, string);

	return has(name, size, "[truncated]") ? ROOT_TRUNCATED
	       : has(name, size, "[broken]")  ? ROOT_BROKEN
					      : ROOT_NONE;
}

static struct stack_facts *look_at_nodes(
	const struct stoke_profile *profile, const uint8_t *unnamed)
{
	const struct stacks *stacks = &profile->stacks;
	struct stack_facts *facts = array_new(stacks->nr, sizeof(*facts));

	for (size_t node = 1; facts && node < stacks->nr; node++) {
		const struct frame *frame = &profile->frames[stacks->frame[node]];
		uint32_t function = frame_function(profile, frame, 0);
		struct stack_facts *it = &facts[node];

		*it = facts[stacks->parent[node]];
		it->depth += it->depth < UINT16_MAX;
		it->unnamed += unnamed[function] && it->unnamed < UINT16_MAX;
		/* a process or thread may stand in front of the mark */
		if (it->depth <= 3 && !it->root)
			it->root = (uint8_t)mark_of(profile, function);
	}
	return facts;
}

int stackshares_look(
	const struct stoke_profile *profile, const struct tally *tally, struct side sides[2])
{
	_cleanup_free_ uint8_t *unnamed = find_unnamed(profile);
	_cleanup_free_ struct stack_facts *facts = unnamed ? look_at_nodes(profile, unnamed) : NULL;
	double all[2] = {0}, frames[2] = {0}, nameless[2] = {0}, roots[2][ROOT_BROKEN + 1] = {0};
	const struct rows *rows = &profile->rows;

	if (!facts)
		return -ENOMEM;
	for (size_t i = 0; i < rows->nr; i++) {
		const struct stack_facts *it = &facts[rows->stack[i]];
		double weight = (double)tally_of(tally, i);
		int side = rows->run[i] >= sides[1].first;

		all[side] += weight;
		frames[side] += weight * it->depth;
		nameless[side] += weight * it->unnamed;
		roots[side][it->root] += weight;
	}
	for (int side = 0; side < 2; side++) {
		sides[side].unnamed = frames[side] > 0 ? nameless[side] / frames[side] : 0;
		sides[side].truncated = all[side] > 0 ? roots[side][ROOT_TRUNCATED] / all[side] : 0;
		sides[side].broken = all[side] > 0 ? roots[side][ROOT_BROKEN] / all[side] : 0;
	}
	return 0;
}
