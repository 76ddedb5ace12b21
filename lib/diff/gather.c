/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gather.c: how much two changes have in common: the samples that have both on their stacks. One
 * walk over the tree answers it for one change and all others.
 */
#include "diff/gather.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "diff/comparison.h"
#include "names/group.h"

#define MAX_OWN	    64 /* that stand for others; each costs a walk over the tree */
#define MOST_OF_IT  0.8
#define MOST_OF_ALL 0.5
#define NO_ERRORS   3.0 /* standard errors: less is no evidence of a change of its own */
#define NAME_BYTES  1024

/* How much of a change those found so far have in common with it. */
struct explained {
	double sum, most;
	size_t by; /* the one that most is of */
};

struct gather {
	const struct stoke_comparison *comparison;
	const size_t *changes;
	size_t nr;
	int sign;
	double divisor[2]; /* counts become rates, after dilution */
	/* Which changes a name of the tree belongs to: members[first[name]..first[name + 1]). */
	uint32_t *first;
	uint32_t *members;
	size_t nr_members, members_capacity;
	/* Nodes of such names in the order of the tree, and how many of them are above each. */
	uint32_t *nodes;
	uint16_t *level;
	size_t nr_nodes;
	struct explained *explained; /* a change */
	double *taken; /* of a change's size */
};

/* The state of one walk. */
struct walk {
	uint32_t *count; /* a change's functions on the path */
	uint32_t *active; /* changes with a function on the path, in order of their coming */
	size_t nr_active;
	uint32_t *path; /* nodes */
	size_t depth;
};

static const struct hypothesis *hypothesis_of(const struct gather *gather, size_t i)
{
	return &gather->comparison->units->hypotheses[gather->changes[i]];
}

static const struct change *change_of(const struct gather *gather, size_t i)
{
	return &gather->comparison->evidence->changes[gather->changes[i]];
}

static const struct units_sum *sum_of(const struct gather *gather, const struct hypothesis *h)
{
	const struct stoke_budget *budget = gather->comparison->budget;

	return h->sum && budget ? &budget->sums[h->sum - 1] : NULL;
}

static int is_member(const struct gather *gather, const struct hypothesis *h, uint32_t name,
	const char *group, size_t group_size)
{
	const struct tree *tree = gather->comparison->aligned->tree;
	const struct strings *strings = &gather->comparison->profile->strings;
	const struct units_sum *sum = sum_of(gather, h);
	const char *text;
	size_t size;

	if (h->condition)
		return 0; /* the tree does not know which samples met it */
	if (sum && name) {
		text = tree_text(tree, name, &size);
		return budget_matches(sum->glob, text, size);
	}
	if (sum)
		return 0;
	if (h->kind == HYPOTHESIS_GROUP)
		return name && group_size > 0 && strings_size(strings, h->name) == group_size &&
		       memcmp(strings_text(strings, h->name), group, group_size) == 0;
	if (!h->name || !name)
		return !h->name && !name; /* the total of all samples is the root's */
	return tree->names[name].name == h->name && tree->names[name].class == h->class;
}

static int find_members(struct gather *gather)
{
	const struct tree *tree = gather->comparison->aligned->tree;

	gather->first = calloc(tree->nr_names + 1, sizeof(*gather->first));
	if (!gather->first)
		return -ENOMEM;
	for (uint32_t name = 0; name < tree->nr_names; name++) {
		char group[NAME_BYTES];
		size_t size, module_size, n;
		const char *text = tree_text(tree, name, &size);
		const char *module = tree_module(tree, name, &module_size);

		n = group_of(text, size, (enum function_kind)tree->names[name].kind,
			module_size ? module : NULL, group, sizeof(group));
		for (size_t i = 0; i < gather->nr; i++) {
			if (!is_member(gather, hypothesis_of(gather, i), name, group, n))
				continue;
			if (array_reserve(&gather->members, &gather->members_capacity,
				    gather->nr_members, 1) < 0)
				return -ENOMEM;
			gather->members[gather->nr_members++] = (uint32_t)i;
		}
		gather->first[name + 1] = (uint32_t)gather->nr_members;
	}
	return 0;
}

/* Most nodes are of no change: walks leave them out. */
static int find_nodes(struct gather *gather)
{
	const struct tree *tree = gather->comparison->aligned->tree;
	_cleanup_free_ uint32_t *path = calloc((size_t)UINT16_MAX + 2, sizeof(*path));
	size_t depth = 0;

	gather->nodes = array_new(tree->nr, sizeof(*gather->nodes));
	gather->level = array_new(tree->nr, sizeof(*gather->level));
	if (!path || !gather->nodes || !gather->level)
		return -ENOMEM;
	for (uint32_t node = 0; node < tree->nr; node++) {
		uint32_t name = tree->name[node];

		if (gather->first[name] == gather->first[name + 1])
			continue;
		while (depth > 0 && tree->end[path[depth - 1]] <= node)
			depth--;
		gather->nodes[gather->nr_nodes] = node;
		gather->level[gather->nr_nodes++] = (uint16_t)depth;
		path[depth++] = node;
	}
	return 0;
}

int gather_new(const struct stoke_comparison *comparison, const size_t *changes, size_t nr,
	int sign, struct gather **ret)
{
	const struct units *units = comparison->units;
	const struct evidence *evidence = comparison->evidence;
	struct gather *gather = calloc(1, sizeof(*gather));
	int r;

	if (!gather)
		return -ENOMEM;
	gather->comparison = comparison;
	gather->changes = changes;
	gather->nr = nr;
	gather->sign = sign;
	for (unsigned unit = 0; unit < units->nr; unit++)
		gather->divisor[unit >= units->nr_before] += units->exposures[unit];
	gather->divisor[1] *= sign > 0 ? evidence->dilution_grew : evidence->dilution_shrank;
	gather->explained = calloc(nr + 1, sizeof(*gather->explained));
	gather->taken = calloc(nr + 1, sizeof(*gather->taken));
	r = gather->explained && gather->taken ? find_members(gather) : -ENOMEM;
	if (r >= 0)
		r = find_nodes(gather);
	if (r < 0) {
		gather_free(gather);
		return r;
	}
	*ret = gather;
	return 0;
}

void gather_free(struct gather *gather)
{
	if (!gather)
		return;
	free(gather->first);
	free(gather->members);
	free(gather->nodes);
	free(gather->level);
	free(gather->explained);
	free(gather->taken);
	free(gather);
}

double gather_size(const struct gather *gather, size_t i)
{
	const struct change *change = change_of(gather, i);

	return (gather->sign > 0 ? change->grown : change->shrunk) - gather->taken[i];
}

void gather_take_away(struct gather *gather, size_t i, double part)
{
	gather->taken[i] += part;
}

static double rate_change(const struct gather *gather, uint64_t *const counts[2], uint32_t node)
{
	return gather->sign * ((double)counts[1][node] / gather->divisor[1] -
				      (double)counts[0][node] / gather->divisor[0]);
}

static int is_self(const struct gather *gather, size_t i)
{
	return hypothesis_of(gather, i)->kind == HYPOTHESIS_SELF;
}

/* The path is one node shorter. Self changes are never on it. */
static void leave(const struct gather *gather, struct walk *walk)
{
	uint32_t name = gather->comparison->aligned->tree->name[walk->path[--walk->depth]];

	for (uint32_t m = gather->first[name]; m < gather->first[name + 1]; m++) {
		uint32_t i = gather->members[m];

		if (!is_self(gather, i) && --walk->count[i] == 0)
			walk->nr_active--;
	}
}

/* One node further down: what comes onto the path with it counts with its whole subtree. */
static void enter(
	const struct gather *gather, struct walk *walk, uint32_t node, size_t which, double *ret)
{
	const struct tree *tree = gather->comparison->aligned->tree;
	uint32_t name = tree->name[node], was_inside = walk->count[which];
	size_t nr_before = walk->nr_active;
	double total = rate_change(gather, tree->total, node);

	walk->path[walk->depth++] = node;
	for (uint32_t m = gather->first[name]; m < gather->first[name + 1]; m++) {
		uint32_t i = gather->members[m];

		if (!is_self(gather, i) && walk->count[i]++ == 0)
			walk->active[walk->nr_active++] = i;
	}
	if (!walk->count[which])
		return;
	/* At the topmost of `which` all that is on the path already has it below. */
	for (size_t a = was_inside ? nr_before : 0; a < walk->nr_active; a++)
		ret[walk->active[a]] += total;
}

/* Code of the node's own. */
static void count_self(const struct gather *gather, const struct walk *walk, uint32_t node,
	size_t which, double *ret)
{
	const struct tree *tree = gather->comparison->aligned->tree;
	uint32_t name = tree->name[node];
	int inside = walk->count[which] > 0, of_which = 0;
	double self = rate_change(gather, tree->self, node);

	for (uint32_t m = gather->first[name]; m < gather->first[name + 1]; m++)
		of_which |= gather->members[m] == which && is_self(gather, which);
	for (uint32_t m = gather->first[name]; m < gather->first[name + 1]; m++) {
		if (is_self(gather, gather->members[m]) && (inside || of_which))
			ret[gather->members[m]] += self;
	}
	for (size_t a = 0; of_which && a < walk->nr_active; a++)
		ret[walk->active[a]] += self;
}

int gather_joint(const struct gather *gather, size_t which, double *ret)
{
	_cleanup_free_ uint32_t *count = calloc(gather->nr, sizeof(*count));
	_cleanup_free_ uint32_t *active = calloc(gather->nr, sizeof(*active));
	_cleanup_free_ uint32_t *path = calloc((size_t)UINT16_MAX + 2, sizeof(*path));
	struct walk walk = {.count = count, .active = active, .path = path};

	if (!count || !active || !path)
		return -ENOMEM;
	memset(ret, 0, gather->nr * sizeof(*ret));
	for (size_t n = 0; n < gather->nr_nodes; n++) {
		while (walk.depth > gather->level[n])
			leave(gather, &walk);
		enter(gather, &walk, gather->nodes[n], which, ret);
		count_self(gather, &walk, gather->nodes[n], which, ret);
	}
	return 0;
}

int gather_is_explained(const struct gather *gather, size_t i, double part)
{
	const struct hypothesis *h = hypothesis_of(gather, i);
	const struct change *change = change_of(gather, i);
	double rest = gather_size(gather, i) - part;

	return rest < h->least || rest < h->least_ratio * change->before ||
	       rest < NO_ERRORS * change->error;
}

/* A place where several causes meet, or where most of all time is spent anyway, is none itself. */
static int is_a_cause(const struct gather *gather, const struct owner *owner)
{
	int is_share = gather->comparison->units->exposure == STOKE_EXPOSURE_SHARE;

	if (owner->crossroads)
		return 0;
	return !is_share || owner->kind == CAUSE_SELF || owner->after < MOST_OF_ALL;
}

/* The owner of growth whose total is among the changes, or nr. */
static size_t owner_at(const struct gather *gather, const struct owner *owner)
{
	const struct stoke_comparison *comparison = gather->comparison;
	uint32_t name = comparison->aligned->tree->name[owner->node];

	for (size_t i = 0; i < gather->nr; i++) {
		const struct hypothesis *h = hypothesis_of(gather, i);

		if (h->kind == HYPOTHESIS_TOTAL && !h->sum && gather->taken[i] <= 0 &&
			is_member(gather, h, name, NULL, 0))
			return i;
	}
	return gather->nr;
}

/* Lower is better: a function before its own code, a rule's sum, a package; last what takes most of
 * all time anyway. */
static int rank(const struct gather *gather, size_t i)
{
	const struct hypothesis *h = hypothesis_of(gather, i);

	if (h->kind == HYPOTHESIS_GROUP)
		return 3;
	if (h->kind == HYPOTHESIS_TOTAL &&
		gather->comparison->units->exposure == STOKE_EXPOSURE_SHARE &&
		change_of(gather, i)->after > MOST_OF_ALL)
		return 4;
	return h->sum ? 2 : h->kind == HYPOTHESIS_SELF;
}

/* The deepest of those that changed most, of those that nothing stands for yet; nr: none left. */
static size_t next_own(const struct gather *gather, const size_t *of)
{
	size_t best = gather->nr;
	double most = 0;
	int least_rank = 5;

	for (size_t i = 0; i < gather->nr; i++) {
		int r = rank(gather, i);

		if (of[i] < gather->nr || r > least_rank)
			continue;
		if (r < least_rank || gather_size(gather, i) > most)
			most = gather_size(gather, i);
		least_rank = r;
	}
	for (size_t i = 0; i < gather->nr; i++) {
		const struct change *a = change_of(gather, i), *b;

		if (of[i] < gather->nr || rank(gather, i) != least_rank ||
			gather_size(gather, i) < MOST_OF_IT * most)
			continue;
		b = best < gather->nr ? change_of(gather, best) : NULL;
		if (!b || a->before + a->after < b->before + b->after)
			best = i;
	}
	return best;
}

/* Gives those to it that change with it, or with it and others before it. */
static int stand_for(struct gather *gather, size_t which, size_t *of)
{
	_cleanup_free_ double *joint = calloc(gather->nr, sizeof(*joint));
	/* What changes more below it than it does itself has a story of its own. */
	double most = gather_size(gather, which) / MOST_OF_IT + change_of(gather, which)->error;
	int r;

	if (!joint)
		return -ENOMEM;
	of[which] = which;
	r = gather_joint(gather, which, joint);
	for (size_t i = 0; r >= 0 && i < gather->nr; i++) {
		struct explained *explained = &gather->explained[i];
		double part = joint[i] < most ? joint[i] : most;

		if (of[i] < gather->nr)
			continue;
		if (part > explained->most) {
			explained->most = part;
			explained->by = which;
		}
		explained->sum += part;
		if (explained->most > 0 && (explained->sum >= MOST_OF_IT * gather_size(gather, i) ||
						   gather_is_explained(gather, i, explained->sum)))
			of[i] = explained->by;
	}
	return r;
}

int gather_find(struct gather *gather, size_t *ret_of, size_t *ret_order, size_t *ret_nr_order)
{
	const struct cause *cause = gather->comparison->cause;
	size_t nr = 0, own;

	for (size_t i = 0; i < gather->nr; i++)
		ret_of[i] = gather->nr;
	for (size_t i = 0; gather->sign > 0 && cause && i < cause->nr_owners; i++) {
		own = owner_at(gather, &cause->owners[i]);
		if (!is_a_cause(gather, &cause->owners[i]) || own == gather->nr ||
			ret_of[own] < gather->nr || nr >= MAX_OWN)
			continue;
		ret_order[nr++] = own;
		if (stand_for(gather, own, ret_of) < 0)
			return -ENOMEM;
	}
	while ((own = next_own(gather, ret_of)) < gather->nr) {
		ret_order[nr++] = own;
		ret_of[own] = own;
		if (nr <= MAX_OWN && stand_for(gather, own, ret_of) < 0)
			return -ENOMEM;
	}
	*ret_nr_order = nr;
	return 0;
}
