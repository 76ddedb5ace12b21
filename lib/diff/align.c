/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * align.c: where two versions of a program take the same way with a step more. Nodes stay where
 * they are in memory while lists of children are taken apart and joined; at last they are written
 * depth first once more. Nothing is searched twice: a frame looks at most at the three levels
 * below itself, and each list is walked in the order of its names.
 */
#include "diff/align.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

#define MAX_INSERTED 3 /* frames in a row */
#define MIN_SHARE    0.01 /* of its side: smaller frames are not looked at */
#define MIN_PASSED   0.8 /* of an inserted frame's total that must reach what it was put before */
#define NO_NODE	     UINT32_MAX

/* Two nodes to become one. */
struct pair {
	uint32_t into, from;
};

struct aligner {
	struct tree *tree;
	uint8_t *flags;
	uint32_t *first, *next, *parent; /* lists of children, by name; 0 ends a list */
	uint32_t *alone; /* name -> child that only the other side has, 0: none */
	uint32_t *candidates;
	size_t nr_candidates, candidates_capacity;
	struct pair *pairs;
	size_t nr_pairs, pairs_capacity;
	unsigned slack; /* levels that the deepest stack may still grow by */
	size_t nr_inserted;
};

static int aligner_init(struct aligner *a, struct tree *tree)
{
	unsigned deepest = 0;

	a->tree = tree;
	a->flags = array_new(tree->nr, sizeof(*a->flags));
	a->first = array_new(tree->nr, sizeof(*a->first));
	a->next = array_new(tree->nr, sizeof(*a->next));
	a->parent = array_new(tree->nr, sizeof(*a->parent));
	a->alone = calloc(tree->nr_names, sizeof(*a->alone));
	if (!a->flags || !a->first || !a->next || !a->parent || !a->alone)
		return -ENOMEM;
	memcpy(a->parent, tree->parent, tree->nr * sizeof(*a->parent));
	for (size_t n = tree->nr; n-- > 0;) {
		if (tree->depth[n] > deepest)
			deepest = tree->depth[n];
		if (!n)
			break;
		a->next[n] = a->first[tree->parent[n]];
		a->first[tree->parent[n]] = (uint32_t)n;
	}
	a->slack = UINT16_MAX - deepest;
	return 0;
}

static void aligner_done(struct aligner *a)
{
	free(a->flags);
	free(a->first);
	free(a->next);
	free(a->parent);
	free(a->alone);
	free(a->candidates);
	free(a->pairs);
}

static int is_wide(const struct tree *tree, unsigned side, uint64_t total)
{
	return total && (double)total >= MIN_SHARE * (double)tree->total[side][0];
}

/* The children of a and b, both sorted by name, as one list; twins become pairs. */
static int join_children(struct aligner *a, uint32_t into, uint32_t from)
{
	uint32_t x = a->first[into], y = a->first[from], *last = &a->first[into];

	while (x || y) {
		uint32_t x_name = x ? a->tree->name[x] : NO_NODE;
		uint32_t y_name = y ? a->tree->name[y] : NO_NODE;
		uint32_t child = x_name <= y_name ? x : y;

		if (x_name == y_name) {
			int r = array_reserve(&a->pairs, &a->pairs_capacity, a->nr_pairs, 1);

			if (r < 0)
				return r;
			a->pairs[a->nr_pairs++] = (struct pair){x, y};
		}
		if (y_name <= x_name)
			y = a->next[y];
		if (child == x)
			x = a->next[x];
		*last = child;
		last = &a->next[child];
		a->parent[child] = into;
	}
	*last = 0;
	return 0;
}

/* Puts a subtree that only side `near` has over one that only the other side has. */
static int join(struct aligner *a, unsigned near, uint32_t into, uint32_t from)
{
	struct tree *tree = a->tree;
	int r;

	r = array_reserve(&a->pairs, &a->pairs_capacity, a->nr_pairs, 1);
	if (r < 0)
		return r;
	a->pairs[a->nr_pairs++] = (struct pair){into, from};
	while (a->nr_pairs) {
		struct pair pair = a->pairs[--a->nr_pairs];

		tree->self[near][pair.into] = tree->self[near][pair.from];
		tree->total[near][pair.into] = tree->total[near][pair.from];
		r = join_children(a, pair.into, pair.from);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Moves what stands alone on side `near` under node to below `end`, the last inserted frame. */
static int splice(struct aligner *a, unsigned near, uint32_t node, uint32_t end)
{
	struct tree *tree = a->tree;
	uint32_t *last = &a->first[node];
	uint64_t sum = 0;
	int r;

	for (uint32_t child = a->first[end]; child; child = a->next[child]) {
		uint32_t from = a->alone[tree->name[child]];

		if (!from)
			continue;
		a->alone[tree->name[child]] = 0;
		/* Children of one parent: their sum is in the parent's total, saturated or not. */
		sum = sum + tree->total[near][from] < sum ? UINT64_MAX
							  : sum + tree->total[near][from];
		r = join(a, near, child, from);
		if (r < 0)
			return r;
		a->parent[from] = NO_NODE;
	}
	for (uint32_t child = a->first[node]; child; child = a->next[child]) {
		if (a->parent[child] == NO_NODE)
			continue;
		*last = child;
		last = &a->next[child];
	}
	*last = 0;
	for (uint32_t n = end; n != node; n = a->parent[n]) {
		tree->total[near][n] = sum;
		a->flags[n] |= near ? ALIGN_INSERTED_BEFORE : ALIGN_INSERTED_AFTER;
		a->nr_inserted++;
	}
	return 0;
}

/*
 * Does the way through a frame that only one side has lead to what stands alone on the other side?
 * Returns the last frame of the way, *ret_length frames long; 0: it does not.
 */
static uint32_t find_end(
	const struct aligner *a, unsigned near, uint32_t frame, unsigned *ret_length)
{
	const struct tree *tree = a->tree;
	const uint64_t *far_total = tree->total[!near];
	double enough = MIN_PASSED * (double)far_total[frame];

	for (unsigned length = 1; length <= MAX_INSERTED; length++) {
		uint32_t heaviest = 0;
		double passed = 0, met = 0;

		for (uint32_t child = a->first[frame]; child; child = a->next[child]) {
			uint32_t from = a->alone[tree->name[child]];

			if (from) {
				passed += (double)far_total[child];
				met += (double)tree->total[near][from];
			}
			if (!heaviest || far_total[child] > far_total[heaviest])
				heaviest = child;
		}
		if (passed >= enough && met >= MIN_SHARE * (double)tree->total[near][0] &&
			met > 0) {
			*ret_length = length;
			return frame;
		}
		if (!heaviest || (double)far_total[heaviest] < enough)
			return 0;
		frame = heaviest;
	}
	return 0;
}

static int by_total(const void *x, const void *y, void *of)
{
	const uint64_t *total = of;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	if (total[a] != total[b])
		return total[a] > total[b] ? -1 : 1;
	return a < b ? -1 : a > b; /* siblings: in order of their names */
}

/* Notes which children only side `near` has, and the wide ones that only the other has. */
static int sort_out(struct aligner *a, unsigned near, uint32_t node, int *ret_met)
{
	struct tree *tree = a->tree;

	a->nr_candidates = 0;
	*ret_met = 0;
	for (uint32_t child = a->first[node]; child; child = a->next[child]) {
		int r;

		if (tree->names[tree->name[child]].name == TREE_LEFT_OUT)
			continue;
		if (!tree->total[!near][child]) {
			a->alone[tree->name[child]] = child;
			*ret_met = 1;
		}
		if (tree->total[near][child] || !is_wide(tree, !near, tree->total[!near][child]))
			continue;
		r = array_reserve(&a->candidates, &a->candidates_capacity, a->nr_candidates, 1);
		if (r < 0)
			return r;
		a->candidates[a->nr_candidates++] = child;
	}
	return 0;
}

/* Looks under a node of both sides for frames that only the side other than `near` put there. */
static int align_children(struct aligner *a, unsigned near, uint32_t node)
{
	struct tree *tree = a->tree;
	int met, r;

	r = sort_out(a, near, node, &met);
	if (r < 0)
		return r;
	if (met && a->nr_candidates)
		qsort_r(a->candidates, a->nr_candidates, sizeof(*a->candidates), by_total,
			tree->total[!near]);
	for (size_t i = 0; met && i < a->nr_candidates; i++) {
		unsigned length;
		uint32_t end = find_end(a, near, a->candidates[i], &length);

		if (!end || length > a->slack)
			continue;
		a->slack -= length;
		r = splice(a, near, node, end);
		if (r < 0)
			return r;
	}
	for (uint32_t child = a->first[node]; child; child = a->next[child])
		a->alone[tree->name[child]] = 0;
	return 0;
}

/* The node behind `node` in preorder; `below` 0: not one of its subtree. 0: it was the last. */
static uint32_t next_node(const struct aligner *a, uint32_t node, int below)
{
	if (below && a->first[node])
		return a->first[node];
	while (node && !a->next[node])
		node = a->parent[node];
	return node ? a->next[node] : 0;
}

static int align(struct aligner *a)
{
	const struct tree *tree = a->tree;
	uint32_t node = 0;

	do {
		int both = tree->total[0][node] && tree->total[1][node];

		for (unsigned near = 0; both && near < 2; near++) {
			int r = align_children(a, near, node);

			if (r < 0)
				return r;
		}
		node = next_node(a, node, both);
	} while (node);
	return 0;
}

/* The nodes in their new order, in arrays of their own. */
static int renumber(struct aligner *a)
{
	struct tree *tree = a->tree;
	_cleanup_free_ uint32_t *to = array_new(tree->nr, sizeof(*to));
	struct tree new = {0};
	uint8_t *flags = array_new(tree->nr, 1);
	size_t nr = 0;

	new.name = array_new(tree->nr, sizeof(*new.name));
	new.parent = array_new(tree->nr, sizeof(*new.parent));
	for (unsigned side = 0; side < 2; side++) {
		new.self[side] = array_new(tree->nr, sizeof(uint64_t));
		new.total[side] = array_new(tree->nr, sizeof(uint64_t));
	}
	if (!to || !flags || !new.name || !new.parent || !new.self[0] || !new.self[1] ||
		!new.total[0] || !new.total[1]) {
		free(flags);
		free(new.name);
		free(new.parent);
		for (unsigned side = 0; side < 2; side++) {
			free(new.self[side]);
			free(new.total[side]);
		}
		return -ENOMEM;
	}
	for (uint32_t node = 0; nr == 0 || node; node = next_node(a, node, 1)) {
		to[node] = (uint32_t)nr;
		new.name[nr] = tree->name[node];
		new.parent[nr] = node ? to[a->parent[node]] : 0;
		for (unsigned side = 0; side < 2; side++) {
			new.self[side][nr] = tree->self[side][node];
			new.total[side][nr] = tree->total[side][node];
		}
		flags[nr++] = a->flags[node];
	}
	free(tree->name);
	free(tree->parent);
	tree->name = new.name;
	tree->parent = new.parent;
	for (unsigned side = 0; side < 2; side++) {
		free(tree->self[side]);
		free(tree->total[side]);
		tree->self[side] = new.self[side];
		tree->total[side] = new.total[side];
	}
	free(a->flags);
	a->flags = flags;
	tree->nr = nr;
	return 0;
}

/* Depths and ends, which follow from the parents. */
static void count_levels(struct tree *tree)
{
	for (size_t n = 0; n < tree->nr; n++) {
		tree->depth[n] = n ? (uint16_t)(tree->depth[tree->parent[n]] + 1) : 0;
		tree->end[n] = (uint32_t)n + 1;
	}
	for (size_t n = tree->nr - 1; n > 0; n--) {
		if (tree->end[n] > tree->end[tree->parent[n]])
			tree->end[tree->parent[n]] = tree->end[n];
	}
}

int align_build(const struct stoke_profile *profile, const struct tree_options *options,
	struct aligned **ret)
{
	struct aligner a = {0};
	struct aligned *aligned;
	int r;

	if (!options->nr_before)
		return -EINVAL;
	aligned = calloc(1, sizeof(*aligned));
	if (!aligned)
		return -ENOMEM;
	r = tree_build(profile, options, &aligned->tree);
	if (r >= 0)
		r = aligner_init(&a, aligned->tree);
	if (r >= 0)
		r = align(&a);
	if (r >= 0 && a.nr_inserted) {
		r = renumber(&a);
		if (r >= 0)
			count_levels(aligned->tree);
	}
	aligned->nr_inserted = a.nr_inserted;
	aligned->flags = take_pointer(a.flags);
	aligner_done(&a);
	if (r < 0) {
		aligned_free(aligned);
		return r;
	}
	*ret = aligned;
	return 0;
}

void aligned_free(struct aligned *aligned)
{
	if (!aligned)
		return;
	tree_free(aligned->tree);
	free(aligned->flags);
	free(aligned);
}
