/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree.c: from stacks by frame to a tree by name. Merged through the same child index as stacks,
 * pruned before anything is sorted, and sorted without comparing: names are ranked once, then one
 * counting sort of the nodes by rank puts every list of children in order. No recursion anywhere:
 * the depth of a stack is the target's choice.
 */
#include "view/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "view/choose.h"

#define NO_NODE UINT32_MAX

/* A tree in the making. */
struct builder {
	const struct stoke_profile *profile;
	const struct tree_options *options;
	struct tree *tree;
	size_t names_capacity;
	uint32_t *name_of; /* class * strings + string -> index into names, 0: not yet */
	uint64_t *raw; /* total of each stack, over all sides */
	uint64_t *frame_weight; /* total of each frame */
	uint64_t *kind_weight; /* name * NR_FUNCTION_KINDS + kind */
	size_t kinds_capacity;
	struct stacks merged; /* nodes by (parent, name), in the order they were met */
	uint32_t *node_of; /* stack -> merged node */
	uint64_t *self[TREE_MAX_SIDES], *total[TREE_MAX_SIDES];
	uint32_t *first, *next; /* children, as lists */
};

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

const char *tree_text(const struct tree *tree, uint32_t name, size_t *ret_size)
{
	const struct tree_name *entry = &tree->names[name];
	const char *text;

	if (name == 0)
		text = "all";
	else if (entry->name == TREE_LEFT_OUT)
		text = "[left out]";
	else if (!entry->name)
		text = "[no name]";
	else {
		*ret_size = strings_size(&tree->profile->strings, entry->name);
		return strings_text(&tree->profile->strings, entry->name);
	}
	*ret_size = strlen(text);
	return text;
}

const char *tree_module(const struct tree *tree, uint32_t name, size_t *ret_size)
{
	const char *path = tree->profile->modules[tree->names[name].module].path;
	const char *slash;

	if (!tree->names[name].module || !path)
		path = "";
	slash = strrchr(path, '/');
	if (slash && slash[1])
		path = slash + 1;
	*ret_size = strlen(path);
	return path;
}

static enum tree_class class_of(const struct frame *frame, enum function_kind kind)
{
	if (kind == FUNCTION_MARK || kind == FUNCTION_ROOT)
		return TREE_MARK;
	return (frame->flags & FRAME_KERNEL) || kind == FUNCTION_KERNEL ? TREE_KERNEL : TREE_USER;
}

static int name_add(struct builder *b, uint32_t string, enum tree_class class, uint32_t *ret)
{
	struct tree *tree = b->tree;
	size_t room;
	int r;

	r = array_reserve(&tree->names, &b->names_capacity, tree->nr_names, 1);
	if (r < 0)
		return r;
	r = size_multiply(tree->nr_names + 1, NR_FUNCTION_KINDS, &room);
	if (r < 0)
		return r;
	r = array_reserve(&b->kind_weight, &b->kinds_capacity, tree->nr_names * NR_FUNCTION_KINDS,
		NR_FUNCTION_KINDS);
	if (r < 0)
		return r;
	memset(b->kind_weight + tree->nr_names * NR_FUNCTION_KINDS, 0,
		NR_FUNCTION_KINDS * sizeof(*b->kind_weight));
	tree->names[tree->nr_names] =
		(struct tree_name){.name = string, .class = (uint8_t) class, .kind = FUNCTION_MARK};
	*ret = (uint32_t)tree->nr_names++;
	return 0;
}

/* The name of the i-th function of a frame, added when new. */
static int name_of_function(
	struct builder *b, const struct frame *frame, unsigned i, uint64_t weight, uint32_t *ret)
{
	const struct function *function =
		&b->profile->functions[frame_function(b->profile, frame, i)];
	enum function_kind kind = (enum function_kind)function->kind;
	enum tree_class class = class_of(frame, kind);
	uint32_t *name = &b->name_of[class * (size_t)b->profile->strings.nr + function->name];
	uint64_t *sum;
	int r;

	if (!*name) {
		r = name_add(b, function->name, class, name);
		if (r < 0)
			return r;
	}
	if (kind >= NR_FUNCTION_KINDS)
		kind = FUNCTION_UNKNOWN;
	sum = &b->kind_weight[(size_t)*name * NR_FUNCTION_KINDS + kind];
	*sum = add_saturated(*sum, weight);
	*ret = *name;
	return 0;
}

/* The total of every stack, over all sides. */
static int weigh_stacks(struct builder *b)
{
	const struct stacks *stacks = &b->profile->stacks;
	const struct rows *rows = &b->profile->rows;
	const uint64_t *value = rows->value[b->options->value];

	b->raw = calloc(stacks->nr, sizeof(*b->raw));
	if (!b->raw)
		return -ENOMEM;
	for (size_t i = 0; value && i < rows->nr; i++)
		b->raw[rows->stack[i]] = add_saturated(b->raw[rows->stack[i]], value[i]);
	for (size_t node = stacks->nr - 1; node > 0; node--) {
		uint64_t *parent = &b->raw[stacks->parent[node]];

		*parent = add_saturated(*parent, b->raw[node]);
	}
	return 0;
}

static int merge(struct builder *b)
{
	const struct stacks *stacks = &b->profile->stacks;
	size_t room;
	int r;

	r = size_multiply(TREE_NR_CLASSES, b->profile->strings.nr, &room);
	if (r < 0)
		return r;
	b->name_of = calloc(room, sizeof(*b->name_of));
	b->node_of = calloc(stacks->nr, sizeof(*b->node_of));
	b->frame_weight = calloc(b->profile->nr_frames, sizeof(*b->frame_weight));
	if (!b->name_of || !b->node_of || !b->frame_weight)
		return -ENOMEM;
	for (size_t n = 1; n < stacks->nr; n++) {
		const struct frame *frame = &b->profile->frames[stacks->frame[n]];
		uint32_t node = b->node_of[stacks->parent[n]];
		uint64_t *weight = &b->frame_weight[stacks->frame[n]];

		if (!b->raw[n])
			continue;
		*weight = add_saturated(*weight, b->raw[n]);
		/* A nameless frame is one node too: frame_function() answers "none". */
		for (unsigned i = frame->nr_functions ? frame->nr_functions : 1; i-- > 0;) {
			uint32_t name;

			r = name_of_function(b, frame, i, b->raw[n], &name);
			if (r < 0)
				return r;
			r = stacks_child(&b->merged, node, name, &node);
			if (r < 0)
				return r;
		}
		b->node_of[n] = node;
	}
	return 0;
}

static int columns_new(struct builder *b)
{
	/* Each node may get a child for what was cut off below it. */
	size_t room;
	int r;

	r = size_multiply(b->merged.nr, 2, &room);
	if (r < 0)
		return r;
	for (unsigned side = 0; side < b->tree->nr_sides; side++) {
		b->self[side] = calloc(room, sizeof(uint64_t));
		b->total[side] = calloc(room, sizeof(uint64_t));
		if (!b->self[side] || !b->total[side])
			return -ENOMEM;
	}
	b->first = malloc(room * sizeof(*b->first));
	b->next = malloc(room * sizeof(*b->next));
	return b->first && b->next ? 0 : -ENOMEM;
}

static int weigh(struct builder *b)
{
	const struct rows *rows = &b->profile->rows;
	const uint64_t *value = rows->value[b->options->value];
	int r;

	r = columns_new(b);
	if (r < 0)
		return r;
	for (size_t i = 0; value && i < rows->nr; i++) {
		unsigned side = b->options->nr_before && rows->run[i] >= b->options->nr_before;
		uint64_t *self = &b->self[side][b->node_of[rows->stack[i]]];

		*self = add_saturated(*self, value[i]);
	}
	for (unsigned side = 0; side < b->tree->nr_sides; side++) {
		uint64_t *total = b->total[side];

		for (size_t n = b->merged.nr - 1; n > 0; n--) {
			uint64_t *parent = &total[b->merged.parent[n]];

			total[n] = add_saturated(total[n], b->self[side][n]);
			*parent = add_saturated(*parent, total[n]);
		}
		total[0] = add_saturated(total[0], b->self[side][0]);
	}
	return 0;
}

static int is_narrow(const struct builder *b, size_t node)
{
	for (unsigned side = 0; side < b->tree->nr_sides; side++) {
		if (b->total[side][node] &&
			(double)b->total[side][node] >=
				b->options->min_share * (double)b->total[side][0])
			return 0;
	}
	return 1;
}

/* The child that keeps the sum of what is cut off below parent. */
static int left_out(struct builder *b, uint32_t parent, uint32_t *name, uint32_t *ret)
{
	int r;

	if (!*name) {
		r = name_add(b, TREE_LEFT_OUT, TREE_MARK, name);
		if (r < 0)
			return r;
	}
	/* A node of its own even beside a function of that name, so it is not looked up. */
	return stacks_append(&b->merged, parent, *name, ret);
}

/*
 * Cuts what is narrower than min_share: marks it by first = NO_NODE (not to be linked) and gives
 * its sum to the parent's "[left out]" child. Parents come before children, and what lies below
 * something narrow is narrow, so one loop does.
 */
static int prune(struct builder *b)
{
	size_t nr = b->merged.nr;
	uint32_t name = 0;
	_cleanup_free_ uint32_t *rest = NULL;
	int r;

	rest = calloc(nr, sizeof(*rest));
	if (!rest)
		return -ENOMEM;
	for (size_t n = 0; n < nr; n++) {
		uint32_t parent = b->merged.parent[n], to;

		b->first[n] = 0;
		if (!n || !is_narrow(b, n))
			continue;
		b->first[n] = NO_NODE;
		if (b->first[parent] == NO_NODE)
			continue;
		if (!rest[parent]) {
			r = left_out(b, parent, &name, &rest[parent]);
			if (r < 0)
				return r;
		}
		to = rest[parent];
		b->first[to] = 0;
		for (unsigned side = 0; side < b->tree->nr_sides; side++) {
			uint64_t sum = add_saturated(b->self[side][to], b->total[side][n]);

			b->self[side][to] = b->total[side][to] = sum;
		}
	}
	return 0;
}

static int by_text(const void *a, const void *b, void *of)
{
	const struct tree *tree = of;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	size_t x_size, y_size;
	const char *x_text = tree_text(tree, x, &x_size), *y_text = tree_text(tree, y, &y_size);
	int r = memcmp(x_text, y_text, x_size < y_size ? x_size : y_size);

	if (r)
		return r;
	if (x_size != y_size)
		return x_size < y_size ? -1 : 1;
	if (tree->names[x].class != tree->names[y].class)
		return tree->names[x].class < tree->names[y].class ? -1 : 1;
	/* A target's own "[left out]" before ours, "[no name]" behind the nameless. */
	return tree->names[x].name < tree->names[y].name
		       ? -1
		       : tree->names[x].name > tree->names[y].name;
}

/* Sorts the names, the root's first, and rewrites the nodes to the new order. */
static int rank_names(struct builder *b)
{
	struct tree *tree = b->tree;
	_cleanup_free_ uint32_t *order = malloc(tree->nr_names * sizeof(*order));
	_cleanup_free_ uint32_t *rank = malloc(tree->nr_names * sizeof(*rank));
	struct tree_name *sorted = malloc(tree->nr_names * sizeof(*sorted));

	if (!order || !rank || !sorted) {
		free(sorted);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < tree->nr_names; i++)
		order[i] = i;
	qsort_r(order + 1, tree->nr_names - 1, sizeof(*order), by_text, tree);
	for (uint32_t i = 0; i < tree->nr_names; i++) {
		rank[order[i]] = i;
		sorted[i] = tree->names[order[i]];
	}
	free(tree->names);
	tree->names = sorted;
	for (size_t n = 1; n < b->merged.nr; n++)
		b->merged.frame[n] = rank[b->merged.frame[n]];
	return 0;
}

/* Links the children of every node, by rank: a counting sort, read backwards into lists. */
static int link_children(struct builder *b)
{
	size_t nr = b->merged.nr, nr_names = b->tree->nr_names;
	_cleanup_free_ uint32_t *start = calloc(nr_names + 1, sizeof(*start));
	_cleanup_free_ uint32_t *order = malloc(nr * sizeof(*order));

	if (!start || !order)
		return -ENOMEM;
	for (size_t n = 0; n < nr; n++)
		start[b->merged.frame[n] + 1]++;
	for (size_t i = 1; i <= nr_names; i++)
		start[i] += start[i - 1];
	for (size_t n = 0; n < nr; n++)
		order[start[b->merged.frame[n]]++] = (uint32_t)n;
	for (size_t i = nr; i-- > 0;) {
		uint32_t n = order[i];

		/* 0 ends a list: the root is nobody's child. */
		if (!n || b->first[n] == NO_NODE)
			continue;
		b->next[n] = b->first[b->merged.parent[n]];
		b->first[b->merged.parent[n]] = n;
	}
	return 0;
}

static int tree_reserve(struct tree *tree, size_t nr)
{
	tree->name = malloc(nr * sizeof(*tree->name));
	tree->parent = malloc(nr * sizeof(*tree->parent));
	tree->end = malloc(nr * sizeof(*tree->end));
	tree->depth = malloc(nr * sizeof(*tree->depth));
	if (!tree->name || !tree->parent || !tree->end || !tree->depth)
		return -ENOMEM;
	for (unsigned side = 0; side < tree->nr_sides; side++) {
		tree->self[side] = malloc(nr * sizeof(uint64_t));
		tree->total[side] = malloc(nr * sizeof(uint64_t));
		if (!tree->self[side] || !tree->total[side])
			return -ENOMEM;
	}
	return 0;
}

static int emit(const struct builder *b, uint32_t node, uint32_t parent, uint32_t *ret)
{
	struct tree *tree = b->tree;
	uint32_t id = (uint32_t)tree->nr;

	if (id && tree->depth[parent] == UINT16_MAX)
		return -E2BIG;
	tree->name[id] = b->merged.frame[node];
	tree->parent[id] = parent;
	tree->depth[id] = id ? (uint16_t)(tree->depth[parent] + 1) : 0;
	for (unsigned side = 0; side < tree->nr_sides; side++) {
		tree->self[side][id] = b->self[side][node];
		tree->total[side][id] = b->total[side][node];
	}
	tree->nr++;
	*ret = id;
	return 0;
}

/* Writes the nodes depth first. */
static int flatten(struct builder *b)
{
	struct tree *tree = b->tree;
	uint32_t node = 0, id;
	int r;

	r = tree_reserve(tree, b->merged.nr);
	if (r < 0)
		return r;
	r = emit(b, 0, 0, &id);
	while (r >= 0) {
		uint32_t parent = id;

		if (!b->first[node]) {
			/* Up to the next node that has a sibling; id follows by its parents. */
			while (node && !b->next[node]) {
				node = b->merged.parent[node];
				id = tree->parent[id];
			}
			if (!node)
				break;
			node = b->next[node];
			parent = tree->parent[id];
		} else {
			node = b->first[node];
		}
		r = emit(b, node, parent, &id);
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

/* Each name gets the kind and the module that most of its weight has. */
static int describe_names(struct builder *b)
{
	const struct stoke_profile *profile = b->profile;
	_cleanup_free_ struct choose_weight *list = NULL;
	size_t nr = 0, capacity = 0;
	int r;

	choose_kinds(b->tree, b->kind_weight);
	for (size_t f = 1; f < profile->nr_frames; f++) {
		const struct frame *frame = &profile->frames[f];

		if (!b->frame_weight[f] || !frame->module)
			continue;
		for (unsigned i = frame->nr_functions ? frame->nr_functions : 1; i-- > 0;) {
			uint32_t name;

			r = name_of_function(b, frame, i, 0, &name);
			if (r < 0)
				return r;
			r = array_reserve(&list, &capacity, nr, 1);
			if (r < 0)
				return r;
			list[nr++] =
				(struct choose_weight){name, frame->module, b->frame_weight[f]};
		}
	}
	choose_modules(b->tree, list, nr);
	return 0;
}

static int build(struct builder *b)
{
	uint32_t root;
	int r;

	r = stacks_init(&b->merged);
	if (r < 0)
		return r;
	r = name_add(b, 0, TREE_MARK, &root);
	if (r < 0)
		return r;
	b->tree->names[root].kind = FUNCTION_ROOT;
	r = weigh_stacks(b);
	if (r < 0)
		return r;
	r = merge(b);
	if (r < 0)
		return r;
	r = describe_names(b);
	if (r < 0)
		return r;
	r = weigh(b);
	if (r < 0)
		return r;
	r = prune(b);
	if (r < 0)
		return r;
	r = rank_names(b);
	if (r < 0)
		return r;
	r = link_children(b);
	if (r < 0)
		return r;
	return flatten(b);
}

static void builder_done(struct builder *b)
{
	free(b->name_of);
	free(b->raw);
	free(b->frame_weight);
	free(b->kind_weight);
	free(b->node_of);
	for (unsigned side = 0; side < TREE_MAX_SIDES; side++) {
		free(b->self[side]);
		free(b->total[side]);
	}
	free(b->first);
	free(b->next);
	stacks_done(&b->merged);
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
