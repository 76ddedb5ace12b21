/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * difference.c: evidence is a function's, a change a frame's. A frame that shrank while its
 * function grew as a whole has no evidence for that.
 */
#include "view/difference.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define MIN_COLOURED 0.0005 /* of all, where every change has a colour */

/* Steps of the scale, as shares of the full change: the script has the same. */
static const double steps[] = {.08, .3, .65};

double difference_rate(const struct difference *difference, unsigned side, uint64_t count)
{
	double exposure = difference->exposure[side];

	return exposure > 0 ? (double)count / exposure : 0;
}

double difference_of(const struct difference *difference, uint32_t node)
{
	const struct tree *tree = difference->tree;

	return difference_rate(difference, 1, tree->total[1][node]) -
	       difference_rate(difference, 0, tree->total[0][node]);
}

uint32_t difference_chance(const struct difference *difference, uint32_t name, double change)
{
	const struct payload_chance *chance = &difference->evidence.total[name];

	return change < 0 ? chance->shrank : chance->grew;
}

int difference_is_sure(const struct difference *difference, uint32_t name, double change)
{
	uint32_t chance = difference_chance(difference, name, change);

	return chance != PAYLOAD_UNTESTED && (double)chance <= difference->alpha * 1e6 + 1e-6;
}

int difference_is_told(const struct difference *difference, uint32_t node)
{
	double change = difference_of(difference, node);

	if (difference->evidence.marks[node] & PAYLOAD_MOVED)
		return 0;
	return difference_is_sure(difference, difference->tree->name[node], change) ||
	       (difference->untested && fabs(change) >= difference->least);
}

const char *difference_class(const struct difference *difference, uint32_t node)
{
	static const char *const more[] = {"dp1", "dp2", "dp3", "dp4"};
	static const char *const less[] = {"dm1", "dm2", "dm3", "dm4"};
	double change = difference_of(difference, node);
	double share = fabs(change) / difference->full;
	unsigned step = 0;

	if (difference->evidence.marks[node] & PAYLOAD_MOVED)
		return "dv";
	if (!(difference->all && fabs(change) >= MIN_COLOURED) &&
		!difference_is_sure(difference, difference->tree->name[node], change))
		return "dx";
	while (step < ARRAY_SIZE(steps) && share >= steps[step])
		step++;
	return change < 0 ? less[step] : more[step];
}

int difference_is_gone(const struct difference *difference, uint32_t node)
{
	return !difference->tree->total[1][node] && difference->tree->total[0][node];
}

const char *difference_sign(const struct difference *difference, uint32_t node)
{
	uint8_t marks = difference->evidence.marks[node];

	if (marks & PAYLOAD_MOVED)
		return "\xe2\x87\x84 ";
	if (marks & (PAYLOAD_INSERTED_AFTER | PAYLOAD_INSERTED_BEFORE))
		return "\xe2\x86\xb3 ";
	if (difference_is_gone(difference, node))
		return "\xc3\x97 ";
	return !difference->tree->total[0][node] && difference->tree->total[1][node] ? "+ " : "";
}

static double change_of(const struct difference_function *function)
{
	return function->total[1] - function->total[0];
}

static int by_change(const void *a, const void *b, void *of)
{
	const struct difference_function *x = a, *y = b;
	double dx = fabs(change_of(x)), dy = fabs(change_of(y));
	int x_sure = difference_is_sure(of, x->name, change_of(x));
	int y_sure = difference_is_sure(of, y->name, change_of(y));

	if (x_sure != y_sure)
		return x_sure ? -1 : 1;
	if (dx > dy || dx < dy)
		return dx > dy ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Sums of every name; of a recursion only the outermost place counts. */
static int sum_names(const struct tree *tree, uint64_t *total[2], uint64_t *self[2])
{
	_cleanup_free_ uint32_t *until = calloc(tree->nr_names, sizeof(*until));

	if (!until)
		return -ENOMEM;
	for (uint32_t n = 1; n < tree->nr; n++) {
		uint32_t name = tree->name[n];
		int topmost = n >= until[name];

		if (topmost)
			until[name] = tree->end[n];
		for (unsigned side = 0; side < 2; side++) {
			self[side][name] += tree->self[side][n];
			total[side][name] += topmost ? tree->total[side][n] : 0;
		}
	}
	return 0;
}

int difference_functions(
	const struct difference *difference, struct difference_function **ret, size_t *ret_nr)
{
	const struct tree *tree = difference->tree;
	_cleanup_free_ uint64_t *sums = calloc(tree->nr_names, 4 * sizeof(*sums));
	struct difference_function *list = calloc(tree->nr_names, sizeof(*list));
	uint64_t *total[2], *self[2];
	size_t nr = 0;

	if (!sums || !list) {
		free(list);
		return -ENOMEM;
	}
	for (unsigned side = 0; side < 2; side++) {
		total[side] = sums + 2 * side * tree->nr_names;
		self[side] = total[side] + tree->nr_names;
	}
	if (sum_names(tree, total, self) < 0) {
		free(list);
		return -ENOMEM;
	}
	for (uint32_t name = 1; name < tree->nr_names; name++) {
		struct difference_function *function = &list[nr];

		if (tree->names[name].name == TREE_LEFT_OUT || !(total[0][name] || total[1][name]))
			continue;
		function->name = name;
		for (unsigned side = 0; side < 2; side++) {
			function->total[side] =
				difference_rate(difference, side, total[side][name]);
			function->self[side] = difference_rate(difference, side, self[side][name]);
		}
		nr++;
	}
	if (nr)
		qsort_r(list, nr, sizeof(*list), by_change, (void *)difference);
	*ret = list;
	*ret_nr = nr;
	return 0;
}
