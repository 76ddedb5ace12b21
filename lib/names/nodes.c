/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nodes.c: which nodes become one. A node can meet its equal only where its parent took in another
 * node, or where two old frames became one: three loops forwards find the few that do.
 */
#include "names/nodes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"

#define JOINED (1u << 0) /* a child folded into this one: its children are this one's, too */
#define SHARED                                                                                     \
	(1u << 1) /* becomes one with another node, so its children have to be looked for          \
		   */

/* A child index beside the stacks, for those that need one. */
struct seen {
	struct stacks keys;
	uint32_t *node; /* of each key */
	size_t capacity;
};

struct nodes {
	const struct stacks *from;
	const struct nodes_frame *frame_of;
	nodes_expand *expand;
	void *arg;
	struct stacks *to;
	uint32_t *node_of;
	uint32_t *top; /* node -> the one it folds into, or itself */
	uint8_t *is; /* flags of each node */
	struct seen old, new;
};

/* The node noted for a parent and frame; `node` is noted where none was. */
static int seen_find(
	struct seen *seen, uint32_t parent, uint32_t frame, uint32_t node, uint32_t *ret)
{
	size_t nr = seen->keys.nr;
	uint32_t key;
	int r = stacks_child(&seen->keys, parent, frame, &key);

	if (r >= 0)
		r = array_reserve(&seen->node, &seen->capacity, nr, 1);
	if (r < 0)
		return r;
	if (key == nr)
		seen->node[key] = node;
	*ret = seen->node[key];
	return 0;
}

static void fold(struct nodes *nodes)
{
	const struct stacks *from = nodes->from;

	for (size_t i = 1; i < from->nr; i++) {
		const struct nodes_frame *frame = &nodes->frame_of[from->frame[i]];
		uint32_t parent = nodes->top[from->parent[i]];

		nodes->top[i] = (uint32_t)i;
		if (frame->several) {
			nodes->is[parent] |= SHARED;
		} else if (frame->folds && parent &&
			   nodes->frame_of[from->frame[parent]].frame == frame->frame) {
			nodes->top[i] = parent;
			nodes->is[parent] |= JOINED;
		}
	}
}

static int find_equals(struct nodes *nodes)
{
	const struct stacks *from = nodes->from;
	uint32_t first;
	int r = 0;

	for (size_t i = 1; r >= 0 && i < from->nr; i++) {
		const struct nodes_frame *frame = &nodes->frame_of[from->frame[i]];
		uint32_t parent = nodes->top[from->parent[i]];

		if (nodes->top[i] != i || (frame->alone && !(nodes->is[parent] & JOINED)))
			continue;
		r = seen_find(&nodes->old, parent, frame->frame, (uint32_t)i, &first);
		if (r >= 0 && first != i) {
			nodes->is[first] |= SHARED;
			nodes->is[i] |= SHARED;
		}
	}
	return r;
}

/* The child of *at, looked for. */
static int find_child(struct nodes *nodes, uint32_t frame, uint32_t *at)
{
	uint32_t next = (uint32_t)nodes->to->nr;
	int r = seen_find(&nodes->new, *at, frame, next, &next);

	if (r >= 0 && next == nodes->to->nr)
		r = stacks_append(nodes->to, *at, frame, &next);
	*at = next;
	return r;
}

static int find_children(struct nodes *nodes, uint32_t frame, uint32_t *at)
{
	const struct nodes_frame *next;
	int r = 0;

	for (unsigned i = 0; r >= 0 && (next = nodes->expand(nodes->arg, frame, i)); i++) {
		if (!next->folds || nodes->to->frame[*at] != next->frame)
			r = find_child(nodes, next->frame, at);
	}
	return r;
}

static int make(struct nodes *nodes)
{
	const struct stacks *from = nodes->from;
	int r = 0;

	for (size_t i = 1; r >= 0 && i < from->nr; i++) {
		const struct nodes_frame *frame = &nodes->frame_of[from->frame[i]];
		uint32_t parent = nodes->top[from->parent[i]], at = nodes->node_of[parent];

		if (nodes->top[i] == i) {
			nodes->is[i] |= nodes->is[parent] & SHARED;
			if (frame->several)
				r = find_children(nodes, from->frame[i], &at);
			else if (nodes->is[i] & SHARED)
				r = find_child(nodes, frame->frame, &at);
			else
				r = stacks_append(nodes->to, at, frame->frame, &at);
		}
		nodes->node_of[i] = at;
	}
	return r;
}

static void nodes_done(struct nodes *nodes)
{
	stacks_done(&nodes->old.keys);
	stacks_done(&nodes->new.keys);
	free(nodes->old.node);
	free(nodes->new.node);
	free(nodes->top);
	free(nodes->is);
}

int nodes_rewrite(const struct stacks *from, const struct nodes_frame *frame_of,
	nodes_expand *expand, void *arg, struct stacks *to, uint32_t *node_of)
{
	struct nodes nodes = {
		.from = from,
		.frame_of = frame_of,
		.expand = expand,
		.arg = arg,
		.to = to,
		.node_of = node_of,
	};
	int r;

	nodes.top = array_new(from->nr, sizeof(*nodes.top));
	nodes.is = array_new(from->nr, sizeof(*nodes.is));
	r = nodes.top && nodes.is ? stacks_init(&nodes.old.keys) : -ENOMEM;
	if (r >= 0)
		r = stacks_init(&nodes.new.keys);
	if (r >= 0) /* no stack grows, so nearly all of it will be needed */
		r = stacks_reserve(to, from->nr);
	if (r >= 0) {
		fold(&nodes);
		r = find_equals(&nodes);
	}
	if (r >= 0)
		r = make(&nodes);
	nodes_done(&nodes);
	return r;
}
