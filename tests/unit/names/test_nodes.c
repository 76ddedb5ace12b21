/* SPDX-License-Identifier: BSD-2-Clause */
#include "names/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "unit/test.h"

TestSuite(nodes, .fini = check_leaks);

#define FRAMES 12 /* old ones, from 1 on */
#define NODES  300

struct made {
	struct nodes_frame frame_of[FRAMES + 1];
	struct nodes_frame parts[FRAMES + 1][3]; /* of a frame that is several, outermost first */
};

static const struct nodes_frame *expand(void *arg, uint32_t frame, unsigned i)
{
	struct made *made = arg;

	return i < 3 && made->parts[frame][i].frame ? &made->parts[frame][i] : NULL;
}

static uint32_t draw(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % below;
}

/* What each old frame becomes: one of nr_new, some of them several. */
static void make_frames(struct made *made, uint64_t *seed, uint32_t nr_new, uint32_t several)
{
	unsigned count[64] = {0}; /* by new frame */

	memset(made, 0, sizeof(*made));
	for (uint32_t f = 1; f <= FRAMES; f++) {
		uint32_t nr = draw(seed, 100) < several ? 2 + draw(seed, 2) : 1;

		for (uint32_t i = 0; i < nr; i++) {
			uint32_t new = 1 + draw(seed, nr_new);

			made->parts[f][i] = (struct nodes_frame){.frame = new, .folds = new % 4};
			count[new]++;
		}
		made->frame_of[f] = made->parts[f][nr - 1];
		made->frame_of[f].several = nr > 1;
	}
	for (uint32_t f = 1; f <= FRAMES; f++)
		made->frame_of[f].alone = count[made->frame_of[f].frame] == 1;
}

static void make_stacks(struct stacks *stacks, uint64_t *seed)
{
	uint32_t node;

	cr_assert(zero(int, stacks_init(stacks)));
	while (stacks->nr < NODES)
		cr_assert(zero(int, stacks_child(stacks, draw(seed, (uint32_t)stacks->nr),
					    1 + draw(seed, FRAMES), &node)));
}

/* The plain way: each frame put on its parent's new stack, looked for each time. */
static void rewrite_plainly(
	const struct stacks *from, struct made *made, struct stacks *to, uint32_t *node_of)
{
	const struct nodes_frame *part;

	node_of[0] = 0;
	for (size_t i = 1; i < from->nr; i++) {
		uint32_t at = node_of[from->parent[i]];

		for (unsigned k = 0; (part = expand(made, from->frame[i], k)); k++) {
			if (!part->folds || to->frame[at] != part->frame)
				cr_assert(zero(int, stacks_child(to, at, part->frame, &at)));
		}
		node_of[i] = at;
	}
}

static void assert_same_stack(
	const struct stacks *a, uint32_t node_a, const struct stacks *b, uint32_t node_b)
{
	for (; node_a && node_b; node_a = a->parent[node_a], node_b = b->parent[node_b])
		cr_assert(eq(u32, a->frame[node_a], b->frame[node_b]));
	cr_assert(eq(u32, node_a, node_b));
}

Test(nodes, come_out_as_if_each_had_been_looked_for)
{
	uint64_t seed = 7;

	for (int round = 0; round < 600; round++) {
		uint32_t node_of[NODES] = {0}, plain_of[NODES];
		struct stacks from, to, plain;
		struct made made;

		make_frames(&made, &seed, 2 + (uint32_t)round % 30, round % 3 ? 0 : 10);
		make_stacks(&from, &seed);
		cr_assert(zero(int, stacks_init(&to)));
		cr_assert(zero(int, stacks_init(&plain)));
		cr_assert(zero(
			int, nodes_rewrite(&from, made.frame_of, expand, &made, &to, node_of)));
		rewrite_plainly(&from, &made, &plain, plain_of);
		cr_assert(eq(sz, to.nr, plain.nr), "round %d", round);
		for (size_t i = 1; i < from.nr; i++)
			assert_same_stack(&to, node_of[i], &plain, plain_of[i]);
		for (size_t i = 1; i < to.nr; i++)
			cr_assert(lt(u32, to.parent[i], i));
		stacks_done(&from);
		stacks_done(&to);
		stacks_done(&plain);
	}
}
