/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree.c: from stacks by frame to a tree by name. Names are ranked once; then each node of the tree
 * is a list of stacks, whose children are told apart by a stamp on their name: nothing is searched
 * for, and what is written is depth first at once. No recursion anywhere: the depth of a stack is
 * the target's choice.
 */
#include "view/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/saturate.h"
#include "view/treenames.h"

#define NO_STACK UINT32_MAX

/* A node before it is written. */
struct kid {
	uint32_t name, parent;
	uint32_t stacks; /* the first of a list, or NO_STACK: what was left out */
	uint64_t total[TREE_MAX_SIDES];
};

/* Where a name was met last. */
struct stamp {
	uint32_t parent; /* node + 1 */
	uint32_t kid; /* index into the kids of it */
};

/* A tree in the making. */
struct builder {
	const struct stoke_profile *profile;
	const struct tree_options *options;
	struct tree *tree;
	struct tree_names names;
	uint64_t *frame_weight; /* total of each frame */
	uint64_t *total[TREE_MAX_SIDES]; /* of each stack */
	/*
	 * Children of a stack, those of weight, as lists. A stack that was given to a node has left
	 * its list: next is then the next stack of that node. When that node is written next is the
	 * stack itself, which no list has, and first the node.
	 */
	uint32_t *first, *next;
	uint16_t *
		inner; /* functions of a stack's frame that are still to come; NULL: none has any */
	struct stamp *stamps; /* of each name */
	struct kid *kids; /* those to be written, the next one last */
	size_t nr_kids, kids_capacity;
};

static int make_room(struct builder *b)
{
	size_t nr = b->profile->stacks.nr;

	for (unsigned side = 0; side < b->tree->nr_sides; side++) {
		b->total[side] = array_new(nr, sizeof(uint64_t));
		if (!b->total[side])
			return -ENOMEM;
	}
	b->first = array_new(nr, sizeof(*b->first));
	b->next = array_new(nr, sizeof(*b->next));
	b->frame_weight = calloc(b->profile->nr_frames, sizeof(*b->frame_weight));
	if (b->profile->nr_inlined > 1) {
		b->inner = array_new(nr, sizeof(*b->inner));
		if (!b->inner)
			return -ENOMEM;
	}
	return b->first && b->next && b->frame_weight ? 0 : -ENOMEM;
}

static unsigned side_of(const struct builder *b, size_t row)
{
	return b->options->nr_before && b->profile->rows.run[row] >= b->options->nr_before;
}

/* The totals of every stack and frame, and the lists of children. *ret: how many nodes at most. */
static void weigh(struct builder *b, size_t *ret)
{
	const struct stacks *stacks = &b->profile->stacks;
	const struct rows *rows = &b->profile->rows;
	const uint64_t *value = rows->value[b->options->value];
	size_t nr = 1;

	for (size_t i = 0; value && i < rows->nr; i++) {
		uint64_t *total = &b->total[side_of(b, i)][rows->stack[i]];

		*total = add_saturated(*total, value[i]);
	}
	for (size_t n = stacks->nr; n-- > 0;) {
		uint32_t parent = stacks->parent[n];
		uint64_t weight = 0;

		for (unsigned side = 0; side < b->tree->nr_sides; side++) {
			uint64_t total = b->total[side][n];

			weight = add_saturated(weight, total);
			if (n)
				b->total[side][parent] =
					add_saturated(b->total[side][parent], total);
		}
		if (!n || !weight)
			continue;
		b->next[n] = b->first[parent];
		b->first[parent] = (uint32_t)n;
		b->frame_weight[stacks->frame[n]] =
			add_saturated(b->frame_weight[stacks->frame[n]], weight);
		nr += tree_nr_functions(&b->profile->frames[stacks->frame[n]]);
	}
	*ret = nr;
}

/* The name of the outermost function of a stack's frame that is still to come. */
static uint32_t next_name(const struct builder *b, uint32_t stack)
{
	const struct stoke_profile *profile = b->profile;
	const struct frame *frame = &profile->frames[profile->stacks.frame[stack]];

	return tree_names_find(&b->names, profile, frame,
		b->inner ? b->inner[stack] : tree_nr_functions(frame) - 1);
}

/* Puts a stack to the child of this node that has its name. first: of the node's kids. */
static int add_kid(struct builder *b, uint32_t node, size_t first, uint32_t stack)
{
	uint32_t name = next_name(b, stack);
	struct stamp *stamp = &b->stamps[name];
	struct kid *kid;
	int r;

	if (stamp->parent != node + 1) {
		if (b->nr_kids == b->kids_capacity) {
			r = array_reserve(&b->kids, &b->kids_capacity, b->nr_kids, 1);
			if (r < 0)
				return r;
		}
		*stamp = (struct stamp){node + 1, (uint32_t)(b->nr_kids - first)};
		b->kids[b->nr_kids++] =
			(struct kid){.name = name, .parent = node, .stacks = NO_STACK};
	}
	kid = &b->kids[first + stamp->kid];
	b->next[stack] = kid->stacks;
	kid->stacks = stack;
	for (unsigned side = 0; side < b->tree->nr_sides; side++)
		kid->total[side] = add_saturated(kid->total[side], b->total[side][stack]);
	return 0;
}

static int is_narrow(const struct builder *b, const struct kid *kid)
{
	for (unsigned side = 0; side < b->tree->nr_sides; side++) {
		if (kid->total[side] &&
			(double)kid->total[side] >=
				b->options->min_share * (double)b->tree->total[side][0])
			return 0;
	}
	return 1;
}

/* Kids narrower than min_share become one "[left out]", of its own even beside a function that is
 * called so. */
static int prune(struct builder *b, uint32_t node, size_t first)
{
	struct kid rest = {.name = b->names.left_out, .parent = node, .stacks = NO_STACK};
	size_t nr = first;
	int r;

	for (size_t i = first; i < b->nr_kids; i++) {
		const struct kid *kid = &b->kids[i];

		if (!is_narrow(b, kid)) {
			b->kids[nr++] = *kid;
			continue;
		}
		for (unsigned side = 0; side < b->tree->nr_sides; side++)
			rest.total[side] = add_saturated(rest.total[side], kid->total[side]);
	}
	if (nr == b->nr_kids)
		return 0;
	b->nr_kids = nr;
	r = array_reserve(&b->kids, &b->kids_capacity, b->nr_kids, 1);
	if (r >= 0)
		b->kids[b->nr_kids++] = rest;
	return r;
}

static int backwards(const void *a, const void *b)
{
	uint32_t x = ((const struct kid *)a)->name, y = ((const struct kid *)b)->name;

	return x > y ? -1 : x < y;
}

/* Puts kids in the order in which they are taken: the last one first. Mostly they are sorted. */
static void sort_kids(struct kid *kids, size_t nr)
{
	int rising = 1;

	for (size_t i = 1; i < nr; i++)
		rising &= kids[i - 1].name < kids[i].name;
	if (!rising) {
		qsort(kids, nr, sizeof(*kids), backwards);
		return;
	}
	for (size_t i = 0, j = nr; i + 1 < j; i++) {
		struct kid kid = kids[i];

		kids[i] = kids[--j];
		kids[j] = kid;
	}
}

/* Puts what is below a stack to the children of a node, whose own it is. */
static int expand_stack(struct builder *b, uint32_t node, size_t first, uint32_t stack)
{
	const struct stoke_profile *profile = b->profile;
	int r = 0;

	for (uint32_t n = b->first[stack], next; r >= 0 && n; n = next) {
		next = b->next[n];
		if (b->inner)
			b->inner[n] =
				(uint16_t)(tree_nr_functions(
						   &profile->frames[profile->stacks.frame[n]]) -
					   1);
		r = add_kid(b, node, first, n);
	}
	b->next[stack] = stack;
	b->first[stack] = node;
	return r;
}

/* Finds the children of a node. */
static int expand(struct builder *b, uint32_t node, uint32_t stack)
{
	size_t first = b->nr_kids;
	int r = 0;

	for (uint32_t next; r >= 0 && stack != NO_STACK; stack = next) {
		next = b->next[stack];
		if (b->inner && b->inner[stack]) {
			b->inner[stack]--;
			r = add_kid(b, node, first, stack);
			continue;
		}
		r = expand_stack(b, node, first, stack);
	}
	if (r >= 0 && b->options->min_share > 0)
		r = prune(b, node, first);
	if (r >= 0)
		sort_kids(b->kids + first, b->nr_kids - first);
	return r;
}

static int tree_reserve(struct tree *tree, size_t nr)
{
	tree->name = array_new(nr, sizeof(*tree->name));
	tree->parent = array_new(nr, sizeof(*tree->parent));
	tree->end = array_new(nr, sizeof(*tree->end));
	tree->depth = array_new(nr, sizeof(*tree->depth));
	if (!tree->name || !tree->parent || !tree->end || !tree->depth)
		return -ENOMEM;
	for (unsigned side = 0; side < tree->nr_sides; side++) {
		tree->self[side] = array_new(nr, sizeof(uint64_t));
		tree->total[side] = array_new(nr, sizeof(uint64_t));
		if (!tree->self[side] || !tree->total[side])
			return -ENOMEM;
	}
	return 0;
}

/* Writes a node. What was left out is all its own. */
static int emit(struct builder *b, const struct kid *kid, uint32_t *ret)
{
	struct tree *tree = b->tree;
	uint32_t id = (uint32_t)tree->nr;

	if (id && tree->depth[kid->parent] == UINT16_MAX)
		return -E2BIG;
	tree->name[id] = kid->name;
	tree->parent[id] = kid->parent;
	tree->depth[id] = id ? (uint16_t)(tree->depth[kid->parent] + 1) : 0;
	for (unsigned side = 0; side < tree->nr_sides; side++) {
		tree->self[side][id] = kid->stacks == NO_STACK ? kid->total[side] : 0;
		tree->total[side][id] = kid->total[side];
	}
	tree->nr++;
	*ret = id;
	return 0;
}

/* Writes the nodes depth first. */
static int write_nodes(struct builder *b)
{
	struct kid kid = {0}; /* the root: stack 0 */
	struct tree *tree = b->tree;
	uint32_t id;
	int r;

	b->next[0] = NO_STACK;
	for (unsigned side = 0; side < tree->nr_sides; side++)
		kid.total[side] = b->total[side][0];
	r = emit(b, &kid, &id);
	if (r >= 0)
		r = expand(b, id, 0);
	while (r >= 0 && b->nr_kids) {
		kid = b->kids[--b->nr_kids];
		r = emit(b, &kid, &id);
		if (r >= 0 && kid.stacks != NO_STACK)
			r = expand(b, id, kid.stacks);
	}
	if (r < 0)
		return r;
	for (size_t n = 0; n < tree->nr; n++)
		tree->end[n] = (uint32_t)n + 1;
	for (size_t n = tree->nr - 1; n > 0; n--) {
		if (tree->end[n] > tree->end[tree->parent[n]])
			tree->end[tree->parent[n]] = tree->end[n];
	}
	return 0;
}

/* Few stacks have rows, so what nodes have of their own is not carried along but added at last. */
static void add_selves(struct builder *b)
{
	const struct rows *rows = &b->profile->rows;
	const uint64_t *value = rows->value[b->options->value];

	for (size_t i = 0; value && i < rows->nr; i++) {
		uint32_t stack = rows->stack[i];
		uint64_t *self;

		if (b->next[stack] != stack)
			continue; /* left out */
		self = &b->tree->self[side_of(b, i)][b->first[stack]];
		*self = add_saturated(*self, value[i]);
	}
}

/* The name of what was left out is there only where something was. */
static void drop_left_out(struct builder *b)
{
	struct tree *tree = b->tree;
	uint32_t name = b->names.left_out;

	if (!name)
		return;
	for (size_t n = 0; n < tree->nr; n++)
		if (tree->name[n] == name)
			return;
	for (size_t n = 0; n < tree->nr; n++)
		tree->name[n] -= tree->name[n] > name;
	memmove(tree->names + name, tree->names + name + 1,
		(tree->nr_names - name - 1) * sizeof(*tree->names));
	tree->nr_names--;
}

static int build(struct builder *b)
{
	bool left_out = b->options->min_share > 0;
	size_t nr, room;
	int r = make_room(b);

	if (r < 0)
		return r;
	weigh(b, &nr);
	r = tree_names_make(b->tree, b->frame_weight, left_out, &b->names);
	if (r < 0)
		return r;
	b->stamps = calloc(b->tree->nr_names, sizeof(*b->stamps));
	if (!b->stamps)
		return -ENOMEM;
	/* Each node may get a child for what was cut off below it. */
	r = size_multiply(nr, left_out ? 2 : 1, &room);
	if (r >= 0)
		r = tree_reserve(b->tree, room);
	if (r >= 0)
		r = write_nodes(b);
	if (r >= 0) {
		add_selves(b);
		drop_left_out(b);
	}
	return r;
}

static void builder_done(struct builder *b)
{
	tree_names_done(&b->names);
	free(b->frame_weight);
	for (unsigned side = 0; side < TREE_MAX_SIDES; side++) {
		free(b->total[side]);
	}
	free(b->first);
	free(b->next);
	free(b->inner);
	free(b->stamps);
	free(b->kids);
}

int tree_build(
	const struct stoke_profile *profile, const struct tree_options *options, struct tree **ret)
{
	struct builder b = {.profile = profile, .options = options};
	int r;

	if (options->value >= PROFILE_MAX_VALUES)
		return -EINVAL;
	b.tree = calloc(1, sizeof(*b.tree));
	if (!b.tree)
		return -ENOMEM;
	b.tree->profile = profile;
	b.tree->nr_sides = options->nr_before ? 2 : 1;
	b.tree->value = options->value;
	r = build(&b);
	builder_done(&b);
	if (r < 0) {
		tree_free(b.tree);
		return r;
	}
	*ret = b.tree;
	return 0;
}

void tree_free(struct tree *tree)
{
	if (!tree)
		return;
	free(tree->names);
	free(tree->name);
	free(tree->parent);
	free(tree->end);
	free(tree->depth);
	for (unsigned side = 0; side < TREE_MAX_SIDES; side++) {
		free(tree->self[side]);
		free(tree->total[side]);
	}
	free(tree);
}
