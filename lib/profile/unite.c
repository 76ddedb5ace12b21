/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unite.c: two trees whose siblings are in one order are merged as two sorted lists are. Names are
 * compared once, to rank the frames; what comes in another order (text sorted as bytes has "a.x"
 * before "a;b") is found while children are linked, and sorted where it stands.
 */
#include "profile/unite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

/* Children as lists: 0 ends one. */
struct children {
	uint32_t *first, *next;
	uint32_t *unsorted; /* parents */
	size_t nr_unsorted, unsorted_capacity;
};

/* A node whose children are being merged: what is left of them in either tree. */
struct level {
	uint32_t a, b, node;
};

static void children_done(struct children *children)
{
	free(children->first);
	free(children->next);
	free(children->unsorted);
}

static int by_rank(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Puts one list of children in order. list: room that grows. */
static int sort_list(struct children *children, const struct stacks *stacks, const uint32_t *rank,
	uint32_t parent, uint64_t **list, size_t *capacity)
{
	size_t nr = 0;
	int r;

	for (uint32_t n = children->first[parent]; n; n = children->next[n]) {
		r = array_reserve(list, capacity, nr, 1);
		if (r < 0)
			return r;
		(*list)[nr++] = (uint64_t)rank[stacks->frame[n]] << 32 | n;
	}
	qsort(*list, nr, sizeof(**list), by_rank);
	for (uint32_t next = 0; nr--; next = (uint32_t)(*list)[nr]) {
		children->next[(uint32_t)(*list)[nr]] = next;
		children->first[parent] = (uint32_t)(*list)[nr];
	}
	return 0;
}

static int link_children(
	const struct stacks *stacks, const uint32_t *rank, struct children *children)
{
	_cleanup_free_ uint64_t *list = NULL;
	size_t capacity = 0;
	int r = 0;

	children->first = array_new(stacks->nr, sizeof(*children->first));
	children->next = array_new(stacks->nr, sizeof(*children->next));
	if (!children->first || !children->next)
		return -ENOMEM;
	for (size_t n = stacks->nr; n-- > 1;) {
		uint32_t parent = stacks->parent[n], head = children->first[parent];

		children->next[n] = head;
		children->first[parent] = (uint32_t)n;
		if (!head || rank[stacks->frame[n]] <= rank[stacks->frame[head]])
			continue;
		if (children->nr_unsorted &&
			children->unsorted[children->nr_unsorted - 1] == parent)
			continue;
		r = array_reserve(&children->unsorted, &children->unsorted_capacity,
			children->nr_unsorted, 1);
		if (r < 0)
			return r;
		children->unsorted[children->nr_unsorted++] = parent;
	}
	for (size_t i = 0; r >= 0 && i < children->nr_unsorted; i++)
		r = sort_list(children, stacks, rank, children->unsorted[i], &list, &capacity);
	return r;
}

/* The next child of a level: of one tree, or of both when they mean the same. */
static void next_child(const struct stacks *a, const struct stacks *b, const uint32_t *rank,
	const struct level *level, uint32_t *ret_a, uint32_t *ret_b)
{
	uint32_t frame_a, frame_b;

	*ret_a = level->a;
	*ret_b = level->b;
	if (!level->a || !level->b)
		return;
	frame_a = a->frame[level->a];
	frame_b = b->frame[level->b];
	if (frame_a == frame_b)
		return;
	if (rank[frame_a] < rank[frame_b])
		*ret_b = 0;
	else
		*ret_a = 0;
}

static int merge(const struct stacks *a, const struct children *of_a, const struct stacks *b,
	const struct children *of_b, const uint32_t *rank, struct stacks *to, uint32_t *map_a,
	uint32_t *map_b)
{
	_cleanup_free_ struct level *levels = NULL;
	size_t nr = 1, capacity = 0, nr_nodes = 1;
	int r = array_reserve(&levels, &capacity, 0, 1);

	if (r < 0)
		return r;
	levels[0] = (struct level){of_a->first[0], of_b->first[0], 0};
	map_a[0] = map_b[0] = 0;
	while (nr) {
		struct level *level = &levels[nr - 1], below = {0};
		uint32_t in_a, in_b;

		if (!level->a && !level->b) {
			nr--;
			continue;
		}
		next_child(a, b, rank, level, &in_a, &in_b);
		below.node = (uint32_t)nr_nodes++;
		to->parent[below.node] = level->node;
		to->frame[below.node] = in_a ? a->frame[in_a] : b->frame[in_b];
		if (in_a) {
			level->a = of_a->next[in_a];
			below.a = of_a->first[in_a];
			map_a[in_a] = below.node;
		}
		if (in_b) {
			level->b = of_b->next[in_b];
			below.b = of_b->first[in_b];
			map_b[in_b] = below.node;
		}
		if (!below.a && !below.b)
			continue;
		if (nr == capacity) {
			r = array_reserve(&levels, &capacity, nr, 1);
			if (r < 0)
				return r;
		}
		levels[nr++] = below;
	}
	to->nr = nr_nodes;
	return 0;
}

int stacks_unite(const struct stacks *a, const struct stacks *b, const uint32_t *rank,
	struct stacks *ret, uint32_t *of_a, uint32_t *of_b)
{
	struct children children_a = {0}, children_b = {0};
	struct stacks united = {0};
	/* Room for both: pages that are not written to are not there. */
	int r = stacks_init(&united);

	if (r >= 0)
		r = array_reserve(&united.parent, &united.capacity, a->nr, b->nr);
	if (r >= 0)
		r = array_reserve(&united.frame, &united.frame_capacity, a->nr, b->nr);
	if (r >= 0)
		r = link_children(a, rank, &children_a);
	if (r >= 0)
		r = link_children(b, rank, &children_b);
	if (r >= 0)
		r = merge(a, &children_a, b, &children_b, rank, &united, of_a, of_b);
	children_done(&children_a);
	children_done(&children_b);
	if (r < 0) {
		stacks_done(&united);
		return r;
	}
	*ret = united;
	return 0;
}

int profile_part_take(struct stoke_profile *profile, struct profile_part *ret)
{
	struct stacks stacks;
	int r = stacks_init(&stacks);

	if (r < 0)
		return r;
	profile_renumbered(profile); /* the indices go with what they point into */
	ret->stacks = profile->stacks;
	ret->rows = profile->rows;
	profile->stacks = stacks;
	profile->rows = (struct rows){0};
	return 0;
}

static void rows_done(struct rows *rows)
{
	free(rows->run);
	free(rows->stack);
	free(rows->labels);
	free(rows->slice);
	for (unsigned v = 0; v < PROFILE_MAX_VALUES; v++)
		free(rows->value[v]);
	*rows = (struct rows){0};
}

void profile_part_done(struct profile_part *part)
{
	stacks_done(&part->stacks);
	rows_done(&part->rows);
}

void profile_part_put(struct stoke_profile *profile, struct profile_part *part)
{
	if (!part->stacks.nr)
		return;
	profile_renumbered(profile);
	stacks_done(&profile->stacks);
	rows_done(&profile->rows);
	profile->stacks = part->stacks;
	profile->rows = part->rows;
	*part = (struct profile_part){0};
}

/* By name, so that the order depends on nothing else; the rest only tells frames apart. */
static int by_name(const void *a, const void *b, void *arg)
{
	const struct stoke_profile *profile = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t f = frame_function(profile, &profile->frames[x], 0);
	uint32_t g = frame_function(profile, &profile->frames[y], 0);
	uint32_t f_name = profile->functions[f].name, g_name = profile->functions[g].name;
	size_t f_size = strings_size(&profile->strings, f_name);
	size_t g_size = strings_size(&profile->strings, g_name);
	int r = f_name == g_name ? 0
				 : memcmp(strings_text(&profile->strings, f_name),
					   strings_text(&profile->strings, g_name),
					   f_size < g_size ? f_size : g_size);

	if (r)
		return r;
	if (f_size != g_size)
		return f_size < g_size ? -1 : 1;
	if (profile->functions[f].kind != profile->functions[g].kind)
		return profile->functions[f].kind < profile->functions[g].kind ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int rank_frames(struct stoke_profile *profile, uint32_t **ret)
{
	size_t nr = profile->nr_frames;
	_cleanup_free_ uint32_t *order = malloc(nr * sizeof(*order));
	uint32_t *rank = malloc(nr * sizeof(*rank));

	if (!order || !rank) {
		free(rank);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, nr, sizeof(*order), by_name, profile);
	for (size_t i = 0; i < nr; i++)
		rank[order[i]] = (uint32_t)i;
	*ret = rank;
	return 0;
}

static int rows_new(size_t nr, unsigned nr_values, struct rows *ret)
{
	int r = array_reserve(&ret->run, &ret->capacity, 0, nr);

	if (r >= 0)
		r = array_reserve(&ret->stack, &ret->stack_capacity, 0, nr);
	if (r >= 0)
		r = array_reserve(&ret->labels, &ret->labels_capacity, 0, nr);
	if (r >= 0)
		r = array_reserve(&ret->slice, &ret->slice_capacity, 0, nr);
	for (unsigned v = 0; r >= 0 && v < nr_values; v++)
		r = array_reserve(&ret->value[v], &ret->value_capacity[v], 0, nr);
	return r;
}

/* Appends rows whose stacks are called otherwise now. There is room. */
static void rows_take(
	struct rows *to, const struct rows *from, const uint32_t *map, unsigned nr_values)
{
	size_t nr = from->nr;

	for (size_t i = 0; i < nr; i++)
		to->stack[to->nr + i] = map[from->stack[i]];
	if (nr) {
		memcpy(to->run + to->nr, from->run, nr * sizeof(*to->run));
		memcpy(to->labels + to->nr, from->labels, nr * sizeof(*to->labels));
		memcpy(to->slice + to->nr, from->slice, nr * sizeof(*to->slice));
	}
	for (unsigned v = 0; nr && v < nr_values; v++)
		memcpy(to->value[v] + to->nr, from->value[v], nr * sizeof(uint64_t));
	to->nr += nr;
}

static int is_before(const struct rows *rows, uint32_t x, uint32_t y)
{
	if (rows->run[x] != rows->run[y])
		return rows->run[x] < rows->run[y];
	if (rows->labels[x] != rows->labels[y])
		return rows->labels[x] < rows->labels[y];
	return rows->slice[x] < rows->slice[y];
}

static int by_key(const void *a, const void *b, void *arg)
{
	const struct rows *rows = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return is_before(rows, x, y) ? -1 : is_before(rows, y, x);
}

/* The rows of one stack, which stand in order[0..nr). */
static void settle_stack(
	const struct rows *from, uint32_t *order, size_t nr, struct rows *to, unsigned nr_values)
{
	if (nr == 2 && is_before(from, order[1], order[0])) {
		uint32_t first = order[1];

		order[1] = order[0];
		order[0] = first;
	} else if (nr > 2) {
		qsort_r(order, nr, sizeof(*order), by_key, (void *)from);
	}
	for (size_t i = 0; i < nr; i++) {
		uint32_t row = order[i];
		size_t last = to->nr - 1;

		if (i && !is_before(from, order[i - 1], row)) {
			for (unsigned v = 0; v < nr_values; v++)
				if (__builtin_add_overflow(to->value[v][last], from->value[v][row],
					    &to->value[v][last]))
					to->value[v][last] = UINT64_MAX;
			continue;
		}
		to->run[to->nr] = from->run[row];
		to->stack[to->nr] = from->stack[row];
		to->labels[to->nr] = from->labels[row];
		to->slice[to->nr] = from->slice[row];
		for (unsigned v = 0; v < nr_values; v++)
			to->value[v][to->nr] = from->value[v][row];
		to->nr++;
	}
}

static int settle(const struct rows *from, size_t nr_nodes, unsigned nr_values, struct rows *to)
{
	_cleanup_free_ uint32_t *start = array_new(nr_nodes + 1, sizeof(*start));
	_cleanup_free_ uint32_t *order = array_new(from->nr + 1, sizeof(*order));
	int r = start && order ? rows_new(from->nr, nr_values, to) : -ENOMEM;

	if (r < 0)
		return r;
	for (size_t i = 0; i < from->nr; i++)
		start[from->stack[i]]++;
	for (size_t n = 0, sum = 0; n <= nr_nodes; n++) {
		uint32_t nr = start[n];

		start[n] = (uint32_t)sum;
		sum += nr;
	}
	for (size_t i = 0; i < from->nr; i++)
		order[start[from->stack[i]]++] = (uint32_t)i;
	for (size_t i = 0, end; i < from->nr; i = end) {
		uint32_t stack = from->stack[order[i]];

		end = start[stack]; /* which walked to the end of its rows */
		settle_stack(from, order + i, end - i, to, nr_values);
	}
	return 0;
}

static int is_settled(const struct rows *rows)
{
	for (size_t i = 1; i < rows->nr; i++) {
		if (rows->stack[i - 1] > rows->stack[i] ||
			(rows->stack[i - 1] == rows->stack[i] &&
				!is_before(rows, (uint32_t)i - 1, (uint32_t)i)))
			return 0;
	}
	return 1;
}

int profile_settle(struct stoke_profile *profile)
{
	struct rows settled = {0};
	int r;

	if (is_settled(&profile->rows))
		return 0;
	r = settle(&profile->rows, profile->stacks.nr, profile->nr_values, &settled);
	if (r < 0) {
		rows_done(&settled);
		return r;
	}
	rows_done(&profile->rows);
	profile->rows = settled;
	profile_renumbered(profile);
	return 0;
}

/* The rows of both, under the new numbers of their stacks. */
static int unite_rows(const struct stoke_profile *profile, const struct profile_part *part,
	size_t nr_nodes, const uint32_t *of_part, const uint32_t *of_profile, struct rows *ret)
{
	unsigned nr_values = profile->nr_values;
	struct rows both = {0};
	int r = rows_new(part->rows.nr + profile->rows.nr, nr_values, &both);

	if (r >= 0) {
		rows_take(&both, &part->rows, of_part, nr_values);
		rows_take(&both, &profile->rows, of_profile, nr_values);
		r = settle(&both, nr_nodes, nr_values, ret);
	}
	rows_done(&both);
	return r;
}

static int unite(struct stoke_profile *profile, struct profile_part *part)
{
	_cleanup_free_ uint32_t *of_part = array_new(part->stacks.nr, sizeof(*of_part));
	_cleanup_free_ uint32_t *of_profile = array_new(profile->stacks.nr, sizeof(*of_profile));
	_cleanup_free_ uint32_t *rank = NULL;
	struct profile_part united = {0};
	int r = of_part && of_profile ? rank_frames(profile, &rank) : -ENOMEM;

	if (r >= 0)
		r = stacks_unite(
			&part->stacks, &profile->stacks, rank, &united.stacks, of_part, of_profile);
	if (r >= 0)
		r = unite_rows(profile, part, united.stacks.nr, of_part, of_profile, &united.rows);
	if (r < 0) {
		profile_part_done(&united);
		return r;
	}
	profile_part_put(profile, &united);
	profile_part_done(part);
	return 0;
}

int profile_part_unite(struct stoke_profile *profile, struct profile_part *part)
{
	if (part->stacks.nr > 1 && profile->stacks.nr > 1)
		return unite(profile, part);
	/* One of them is nothing but a root, which may have rows. */
	if (part->rows.nr && profile->rows.nr)
		return unite(profile, part);
	if (part->stacks.nr > 1 || part->rows.nr)
		profile_part_put(profile, part);
	profile_part_done(part);
	return 0;
}
