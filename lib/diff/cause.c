/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cause.c: growth is claimed from the leaves upwards and looked for from the root downwards. A
 * moved cost is one that a neighbour on the same way took over: shares add up to one, so that some
 * growth beside some shrinkage proves nothing; what counts is own time against a child that all
 * but came or went, or two siblings of which one went, one came, and both are made of the same.
 */
#include "diff/cause.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

#define EPSILON	    1e-12 /* what sums of rates may be wrong by */
#define OWNER_SHARE 0.8 /* of the growth that a child must hold to be the way down */
#define SELF_SHARE  0.5
#define MIX_FROM    0.15 /* total variation of the parts from which work is other work */
#define SAME_PARTS  0.7 /* of two siblings' children, to be one of two names */
#define GONE_UNDER  0.2 /* of the other side */
#define MOVED_ERROR 0.2 /* of the larger of two changes that cancel */
#define MIN_MOVED   0.001 /* of all: bounds what is compared with what */
#define MAX_OWNERS  100

struct finder {
	const struct tree *tree;
	double exposure[2];
	double least, least_moved;
	double *claimed; /* growth of the sites in a subtree */
	double *in_name; /* by name, all zero between uses */
	uint32_t *starts; /* where owners are still to be looked for */
	size_t nr_starts, starts_capacity;
	struct cause *cause;
	size_t owners_capacity, sites_capacity, moved_capacity;
};

static double rate(const struct finder *f, unsigned side, uint64_t count)
{
	return f->exposure[side] > 0 ? (double)count / f->exposure[side] : 0;
}

static double total_of(const struct finder *f, unsigned side, uint32_t node)
{
	return rate(f, side, f->tree->total[side][node]);
}

static double self_of(const struct finder *f, unsigned side, uint32_t node)
{
	return rate(f, side, f->tree->self[side][node]);
}

static double growth_of(const struct finder *f, uint32_t node)
{
	return total_of(f, 1, node) - total_of(f, 0, node);
}

static double self_growth_of(const struct finder *f, uint32_t node)
{
	return self_of(f, 1, node) - self_of(f, 0, node);
}

/* Children are visited as n = parent + 1; n < end[parent]; n = end[n]. */
static int find_sites(struct finder *f)
{
	const struct tree *tree = f->tree;
	struct cause *cause = f->cause;

	for (size_t i = tree->nr; i-- > 0;) {
		uint32_t n = (uint32_t)i;
		double left = growth_of(f, n) - f->claimed[n];
		int r;

		if (left >= f->least - EPSILON) {
			r = array_reserve(&cause->sites, &f->sites_capacity, cause->nr_sites, 1);
			if (r < 0)
				return r;
			cause->sites[cause->nr_sites++] =
				(struct site){n, left, self_growth_of(f, n)};
			f->claimed[n] += left;
		}
		if (n)
			f->claimed[tree->parent[n]] += f->claimed[n];
	}
	return 0;
}

static int parts_order(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	double dx = fabs(x->after - x->before), dy = fabs(y->after - y->before);

	if (dx > dy || dx < dy)
		return dx > dy ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name; /* own code last */
}

static void add_part(struct owner *owner, uint32_t name, double before, double after)
{
	struct part *part = &owner->parts[owner->nr_parts++];

	part->name = name;
	part->before = owner->before > 0 ? before / owner->before : 0;
	part->after = owner->after > 0 ? after / owner->after : 0;
	owner->variation += fabs(part->after - part->before) / 2;
}

static int take_apart(const struct finder *f, struct owner *owner)
{
	const struct tree *tree = f->tree;
	uint32_t node = owner->node;
	size_t nr = 1;

	for (uint32_t n = node + 1; n < tree->end[node]; n = tree->end[n])
		nr++;
	owner->parts = calloc(nr, sizeof(*owner->parts));
	if (!owner->parts)
		return -ENOMEM;
	for (uint32_t n = node + 1; n < tree->end[node]; n = tree->end[n])
		add_part(owner, tree->name[n], total_of(f, 0, n), total_of(f, 1, n));
	add_part(owner, CAUSE_OWN, self_of(f, 0, node), self_of(f, 1, node));
	qsort(owner->parts, owner->nr_parts, sizeof(*owner->parts), parts_order);
	return 0;
}

/* Own cost if the rest did not change: shares tell it, rates say it themselves. */
static double cost_ratio(const struct finder *f, const struct owner *owner)
{
	double before = owner->before, after = owner->after;
	int shares = f->exposure[0] == (double)f->tree->total[0][0] &&
		     f->exposure[1] == (double)f->tree->total[1][0];

	if (!(before > 0))
		return NAN;
	if (!shares)
		return after / before;
	if (before >= 1 || after >= 1)
		return NAN;
	return after / (1 - after) / (before / (1 - before));
}

static enum cause_kind kind_of(const struct finder *f, const struct owner *owner)
{
	double growth = owner->after - owner->before, own = self_growth_of(f, owner->node);

	if (!(owner->before > 0))
		return CAUSE_NEW;
	if (own >= SELF_SHARE * growth - EPSILON)
		return CAUSE_SELF;
	return owner->variation < MIX_FROM - EPSILON ? CAUSE_VOLUME : CAUSE_MIX;
}

static int add_owner(struct finder *f, uint32_t node)
{
	struct cause *cause = f->cause;
	struct owner *owner;
	int r;

	r = array_reserve(&cause->owners, &f->owners_capacity, cause->nr_owners, 1);
	if (r < 0)
		return r;
	owner = &cause->owners[cause->nr_owners];
	*owner = (struct owner){
		.node = node,
		.before = total_of(f, 0, node),
		.after = total_of(f, 1, node),
		.growth = f->claimed[node],
	};
	r = take_apart(f, owner);
	if (r < 0)
		return r;
	cause->nr_owners++;
	owner->kind = kind_of(f, owner);
	owner->cost_ratio = cost_ratio(f, owner);
	owner->crossroads = owner->after - owner->before < SELF_SHARE * owner->growth;
	return 0;
}

/* From a start down to where the growth splits or becomes a frame's own. */
static uint32_t walk_down(const struct finder *f, uint32_t node)
{
	const struct tree *tree = f->tree;

	for (;;) {
		uint32_t to = 0;

		for (uint32_t n = node + 1; n < tree->end[node]; n = tree->end[n]) {
			if (f->claimed[n] > 0 &&
				f->claimed[n] >= OWNER_SHARE * f->claimed[node] - EPSILON)
				to = n;
		}
		if (!to)
			return node;
		node = to;
	}
}

/* Below what only stands above several causes, each of them has its owner. */
static int add_starts(struct finder *f, uint32_t node)
{
	const struct tree *tree = f->tree;

	for (uint32_t n = node + 1; n < tree->end[node]; n = tree->end[n]) {
		int r;

		if (f->claimed[n] < f->least - EPSILON)
			continue;
		r = array_reserve(&f->starts, &f->starts_capacity, f->nr_starts, 1);
		if (r < 0)
			return r;
		f->starts[f->nr_starts++] = n;
	}
	return 0;
}

static int find_owners(struct finder *f)
{
	const struct tree *tree = f->tree;
	int r;

	r = array_reserve(&f->starts, &f->starts_capacity, 0, 1);
	if (r < 0)
		return r;
	f->starts[f->nr_starts++] = 0;
	while (f->nr_starts) {
		uint32_t start = f->starts[f->nr_starts - 1];
		uint32_t node;
		double growth;

		if (f->claimed[start] < f->least - EPSILON || f->cause->nr_owners == MAX_OWNERS) {
			f->nr_starts--;
			continue;
		}
		node = walk_down(f, start);
		r = add_owner(f, node);
		if (r < 0)
			return r;
		/* What is explained is gone from here up to the start; what lies below a crossroads
		 * is still to be explained by itself. */
		growth = f->claimed[node];
		for (uint32_t n = node; n != start; n = tree->parent[n])
			f->claimed[n] -= growth;
		f->claimed[start] -= growth;
		f->claimed[node] = 0;
		if (f->cause->owners[f->cause->nr_owners - 1].crossroads) {
			r = add_starts(f, node);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int add_moved(
	struct finder *f, enum moved_kind kind, uint32_t node, uint32_t from, double size)
{
	struct cause *cause = f->cause;
	int r;

	r = array_reserve(&cause->moved, &f->moved_capacity, cause->nr_moved, 1);
	if (r < 0)
		return r;
	cause->moved[cause->nr_moved++] = (struct moved){kind, node, from, size};
	return 0;
}

/* Does the growth of one and the shrinkage of another cancel, while their parent keeps its own? */
static int cancels(double grown, double shrunk, double parent)
{
	double most = fmax(grown, -shrunk);

	return fabs(grown + shrunk) <= MOVED_ERROR * most + EPSILON &&
	       fabs(parent) <= MOVED_ERROR * most + EPSILON;
}

static int has_come(const struct finder *f, uint32_t n)
{
	return growth_of(f, n) > f->least_moved &&
	       total_of(f, 0, n) < GONE_UNDER * total_of(f, 1, n);
}

static int has_gone(const struct finder *f, uint32_t n)
{
	return -growth_of(f, n) > f->least_moved &&
	       total_of(f, 1, n) < GONE_UNDER * total_of(f, 0, n);
}

/* Are two frames made of the same, one before, one after? */
static int same_parts(struct finder *f, uint32_t gone, uint32_t come)
{
	const struct tree *tree = f->tree;
	double before = total_of(f, 0, gone), after = total_of(f, 1, come), same = 0;

	for (uint32_t n = gone + 1; n < tree->end[gone]; n = tree->end[n])
		f->in_name[tree->name[n]] = total_of(f, 0, n) / before;
	for (uint32_t n = come + 1; n < tree->end[come]; n = tree->end[n])
		same += fmin(f->in_name[tree->name[n]], total_of(f, 1, n) / after);
	for (uint32_t n = gone + 1; n < tree->end[gone]; n = tree->end[n])
		f->in_name[tree->name[n]] = 0;
	return same >= SAME_PARTS - EPSILON;
}

/* Cost between a frame and its children. */
static int find_inlined(struct finder *f, uint32_t node)
{
	const struct tree *tree = f->tree;
	double own = self_growth_of(f, node), growth = growth_of(f, node);

	if (fabs(own) <= f->least_moved)
		return 0;
	for (uint32_t n = node + 1; n < tree->end[node]; n = tree->end[n]) {
		double child = growth_of(f, n);
		int r = 0;

		if (own > 0 && has_gone(f, n) && cancels(own, child, growth))
			r = add_moved(f, MOVED_INLINED, node, n, fmin(own, -child));
		else if (own < 0 && has_come(f, n) && cancels(child, own, growth))
			r = add_moved(f, MOVED_OUTLINED, n, node, fmin(child, -own));
		if (r < 0)
			return r;
	}
	return 0;
}

/* Cost between siblings of two names. */
static int find_renamed(struct finder *f, uint32_t node)
{
	const struct tree *tree = f->tree;
	double growth = growth_of(f, node);

	for (uint32_t gone = node + 1; gone < tree->end[node]; gone = tree->end[gone]) {
		if (!has_gone(f, gone))
			continue;
		for (uint32_t come = node + 1; come < tree->end[node]; come = tree->end[come]) {
			double grown = growth_of(f, come), shrunk = growth_of(f, gone);
			int r;

			if (!has_come(f, come) || !cancels(grown, shrunk, growth) ||
				!same_parts(f, gone, come))
				continue;
			r = add_moved(f, MOVED_RENAMED, come, gone, fmin(grown, -shrunk));
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int find_moved(struct finder *f, const uint8_t *flags)
{
	const struct tree *tree = f->tree;

	for (uint32_t n = 0; n < tree->nr; n++) {
		int r;

		if (flags[n] & (ALIGN_INSERTED_BEFORE | ALIGN_INSERTED_AFTER)) {
			r = add_moved(f, MOVED_INSERTED, n, 0,
				fmax(total_of(f, 0, n), total_of(f, 1, n)));
			if (r < 0)
				return r;
		}
		/* Nothing can have moved within less than what matters. */
		if (total_of(f, 0, n) <= f->least_moved || total_of(f, 1, n) <= f->least_moved)
			continue;
		r = find_inlined(f, n);
		if (r < 0)
			return r;
		r = find_renamed(f, n);
		if (r < 0)
			return r;
	}
	return 0;
}

#define LARGEST_FIRST(type, size_)                                                                 \
	static int type##_order(const void *a, const void *b)                                      \
	{                                                                                          \
		const struct type *x = a, *y = b;                                                  \
                                                                                                   \
		if (x->size_ > y->size_ || x->size_ < y->size_)                                    \
			return x->size_ > y->size_ ? -1 : 1;                                       \
		return x->node < y->node ? -1 : x->node > y->node;                                 \
	}

LARGEST_FIRST(owner, growth)
LARGEST_FIRST(site, growth)
LARGEST_FIRST(moved, size)

static int find(struct finder *f, const uint8_t *flags)
{
	struct cause *cause = f->cause;
	int r;

	f->claimed = array_new(f->tree->nr, sizeof(*f->claimed));
	f->in_name = calloc(f->tree->nr_names, sizeof(*f->in_name));
	if (!f->claimed || !f->in_name)
		return -ENOMEM;
	r = find_sites(f);
	if (r < 0)
		return r;
	r = find_owners(f);
	if (r < 0)
		return r;
	r = find_moved(f, flags);
	if (r < 0)
		return r;
	if (cause->nr_owners)
		qsort(cause->owners, cause->nr_owners, sizeof(*cause->owners), owner_order);
	if (cause->nr_sites)
		qsort(cause->sites, cause->nr_sites, sizeof(*cause->sites), site_order);
	if (cause->nr_moved)
		qsort(cause->moved, cause->nr_moved, sizeof(*cause->moved), moved_order);
	for (uint32_t n = 0; n < f->tree->nr; n++)
		cause->difference += fabs(self_growth_of(f, n)) / 2;
	return 0;
}

int cause_find(
	const struct aligned *aligned, const double exposure[2], double least, struct cause **ret)
{
	struct finder f = {
		.tree = aligned->tree,
		.exposure = {exposure[0], exposure[1]},
		.least = fmax(least, 2 * EPSILON),
	};
	int r;

	f.least_moved = fmax(f.least, MIN_MOVED * fmax(total_of(&f, 0, 0), total_of(&f, 1, 0)));
	f.cause = calloc(1, sizeof(*f.cause));
	if (!f.cause)
		return -ENOMEM;
	r = find(&f, aligned->flags);
	free(f.claimed);
	free(f.in_name);
	free(f.starts);
	if (r < 0) {
		cause_free(f.cause);
		return r;
	}
	*ret = f.cause;
	return 0;
}

void cause_free(struct cause *cause)
{
	if (!cause)
		return;
	for (size_t i = 0; i < cause->nr_owners; i++)
		free(cause->owners[i].parts);
	free(cause->owners);
	free(cause->sites);
	free(cause->moved);
	free(cause);
}
