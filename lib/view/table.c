/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.c: sums that count a sample once. In a preorder tree a node is the topmost of its function
 * on its path exactly when it lies behind the subtree of the topmost one before it.
 */
#include "view/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/saturate.h"
#include "names/group.h"
#include "names/pools.h"
#include "profile/select.h"

#define GROUP_BYTES 256
#define POOL_BYTES  256
#define NO_ROW	    UINT32_MAX

/* A table in the making: names are interned, rows are by id. */
struct maker {
	struct table *table;
	struct strings strings;
	uint32_t *row_of; /* string -> row, NO_ROW: none yet */
	size_t row_of_capacity, rows_capacity;
};

void table_free(struct table *table)
{
	if (!table)
		return;
	free(table->rows);
	free(table->text);
	free(table);
}

static void maker_done(struct maker *maker)
{
	table_free(maker->table);
	strings_done(&maker->strings);
	free(maker->row_of);
}

static int maker_init(struct maker *maker)
{
	maker->table = calloc(1, sizeof(*maker->table));
	return maker->table ? strings_init(&maker->strings) : -ENOMEM;
}

/* A new row of this name; it gets its text when the table is finished. */
static int add_row(struct maker *maker, const char *name, size_t size, uint32_t *ret)
{
	struct table *table = maker->table;
	uint32_t string;
	int r = strings_add(&maker->strings, name, size, &string);

	if (r < 0)
		return r;
	r = array_reserve(&table->rows, &maker->rows_capacity, table->nr, 1);
	if (r < 0)
		return r;
	*ret = (uint32_t)table->nr++;
	/* Until then name_size holds the string's id. */
	table->rows[*ret] = (struct table_row){.name_size = string, .id = -1};
	return 0;
}

/* The row of this name, added when new. */
static int find_row(struct maker *maker, const char *name, size_t size, uint32_t *ret)
{
	uint32_t string;
	int r = strings_add(&maker->strings, name, size, &string);

	if (r < 0)
		return r;
	while (maker->row_of_capacity <= string) {
		size_t from = maker->row_of_capacity;

		r = array_reserve(&maker->row_of, &maker->row_of_capacity, from, 1);
		if (r < 0)
			return r;
		for (size_t i = from; i < maker->row_of_capacity; i++)
			maker->row_of[i] = NO_ROW;
	}
	if (maker->row_of[string] == NO_ROW) {
		r = add_row(maker, name, size, &maker->row_of[string]);
		if (r < 0)
			return r;
	}
	*ret = maker->row_of[string];
	return 0;
}

static int compare_names(const struct table_row *a, const struct table_row *b)
{
	size_t size = a->name_size < b->name_size ? a->name_size : b->name_size;
	int order = memcmp(a->name, b->name, size);

	if (order != 0)
		return order;
	return (a->name_size > b->name_size) - (a->name_size < b->name_size);
}

static int compare_rows(const void *left, const void *right)
{
	const struct table_row *a = left, *b = right;
	int order;

	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	order = compare_names(a, b);
	if (order != 0)
		return order;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->kind > b->kind) - (a->kind < b->kind);
}

/* Gives the rows their names, drops those of no weight, sorts. */
static void finish(struct maker *maker, uint64_t sum, struct table **ret)
{
	struct table *table = maker->table;
	size_t nr = 0;

	for (size_t i = 0; i < table->nr; i++) {
		struct table_row row = table->rows[i];
		uint32_t string = (uint32_t)row.name_size;

		if (!row.total)
			continue;
		row.name = strings_text(&maker->strings, string);
		row.name_size = strings_size(&maker->strings, string);
		table->rows[nr++] = row;
	}
	table->nr = nr;
	table->sum = sum;
	table->text = take_pointer(maker->strings.bytes);
	if (nr > 0)
		qsort(table->rows, nr, sizeof(*table->rows), compare_rows);
	*ret = take_pointer(maker->table);
}

/*
 * Sums the tree: row_for gives each name its row, NO_ROW for those that are in none.
 * until[row] is the first node behind the row's topmost node so far.
 */
static int sum_tree(struct maker *maker, const struct tree *tree, const uint32_t *row_for)
{
	struct table_row *rows = maker->table->rows;
	uint32_t *until = calloc(maker->table->nr + 1, sizeof(*until));

	if (!until)
		return -ENOMEM;
	for (uint32_t i = 1; i < tree->nr; i++) {
		uint32_t n = row_for[tree->name[i]];
		struct table_row *row;

		if (n == NO_ROW)
			continue;
		row = &rows[n];
		row->self = add_saturated(row->self, tree->self[0][i]);
		row->nr++;
		if (i >= until[n]) {
			row->total = add_saturated(row->total, tree->total[0][i]);
			until[n] = tree->end[i];
		}
	}
	free(until);
	return 0;
}

int table_functions(const struct tree *tree, struct table **ret)
{
	_cleanup_(maker_done) struct maker maker = {0};
	_cleanup_free_ uint32_t *row_for = calloc(tree->nr_names + 1, sizeof(*row_for));
	int r = maker_init(&maker);

	if (r < 0 || !row_for)
		return -ENOMEM;
	row_for[0] = NO_ROW;
	for (uint32_t i = 1; i < tree->nr_names; i++) {
		size_t size;
		const char *name = tree_text(tree, i, &size);

		/* Not found by name: a user and a kernel function may share one. */
		r = add_row(&maker, name, size, &row_for[i]);
		if (r < 0)
			return r;
		maker.table->rows[row_for[i]].kind = tree->names[i].kind;
		maker.table->rows[row_for[i]].tree_name = i;
	}
	r = sum_tree(&maker, tree, row_for);
	if (r < 0)
		return r;
	finish(&maker, tree->total[0][0], ret);
	return 0;
}

/* Code whose name says whose it is, not the file that it was loaded from. */
static int is_runtime(unsigned kind)
{
	return kind == FUNCTION_JIT || kind == FUNCTION_INTERPRETED || kind == FUNCTION_UNKNOWN;
}

int table_groups(const struct tree *tree, struct table **ret)
{
	_cleanup_(maker_done) struct maker maker = {0};
	_cleanup_free_ uint32_t *row_for = calloc(tree->nr_names + 1, sizeof(*row_for));
	int r = maker_init(&maker);

	if (r < 0 || !row_for)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->nr_names; i++) {
		char group[GROUP_BYTES];
		size_t size, unused, n;
		const char *name = tree_text(tree, i, &size);

		n = i == 0 ? 0
			   : group_of(name, size, (enum function_kind)tree->names[i].kind,
				     tree_module(tree, i, &unused), group, sizeof(group));
		row_for[i] = NO_ROW;
		if (n == 0)
			continue;
		r = find_row(&maker, group, n, &row_for[i]);
		if (r < 0)
			return r;
		if (is_runtime(tree->names[i].kind) && group[0] != '[')
			maker.table->rows[row_for[i]].kind = FUNCTION_JIT;
	}
	r = sum_tree(&maker, tree, row_for);
	if (r < 0)
		return r;
	finish(&maker, tree->total[0][0], ret);
	return 0;
}

int table_callers(const struct tree *tree, const uint8_t *wanted, struct table **ret)
{
	_cleanup_(maker_done) struct maker maker = {0};
	_cleanup_free_ uint32_t *row_for = calloc(tree->nr_names + 1, sizeof(*row_for));
	uint64_t sum = 0;
	uint32_t until = 0;
	int r = maker_init(&maker);

	if (r < 0 || !row_for)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->nr_names; i++) {
		size_t size;
		const char *name = tree_text(tree, i, &size);

		r = add_row(&maker, name, size, &row_for[i]);
		if (r < 0)
			return r;
		maker.table->rows[row_for[i]].kind = tree->names[i].kind;
		maker.table->rows[row_for[i]].tree_name = i;
	}
	for (uint32_t i = 1; i < tree->nr; i++) {
		struct table_row *row = &maker.table->rows[row_for[tree->name[tree->parent[i]]]];

		if (i < until || !wanted[tree->name[i]])
			continue;
		until = tree->end[i];
		sum = add_saturated(sum, tree->total[0][i]);
		row->total = add_saturated(row->total, tree->total[0][i]);
		row->nr++;
	}
	finish(&maker, sum, ret);
	return 0;
}

/* What a label set says of its thread. */
struct thread {
	uint32_t row; /* of the table */
	int64_t pid, id; /* -1: not said */
	uint64_t total;
};

static int64_t number_label(const struct stoke_profile *profile, uint32_t set, const char *key)
{
	const struct label *label = profile_label(profile, set, key);

	return label && !label->str ? label->num : -1;
}

static int compare_threads(const void *left, const void *right)
{
	const struct thread *a = left, *b = right;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

/* The threads of all label sets that have a name and weight; the row is that of the name. */
static int collect(struct maker *maker, const struct stoke_profile *profile, const uint64_t *totals,
	enum table_of which, struct thread *threads, size_t *ret_nr)
{
	const char *key = which == TABLE_PROCESSES ? "process" : "thread";
	_cleanup_free_ uint8_t *lone = NULL;
	size_t nr = 0;

	if (which == TABLE_POOLS && profile_lone_threads(profile, pool_of, &lone) < 0)
		return -ENOMEM;

	for (uint32_t set = 0; set < profile->nr_label_sets; set++) {
		const struct label *label = profile_label(profile, set, key);
		struct thread *thread = &threads[nr];
		char pool[POOL_BYTES];
		const char *name;
		size_t size;
		int r;

		if (!label || !label->str || !totals[set])
			continue;
		name = strings_text(&profile->strings, label->str);
		size = strings_size(&profile->strings, label->str);
		if (which == TABLE_POOLS && !lone[label->str]) {
			size = pool_of(name, size, pool, sizeof(pool));
			name = pool;
		}
		*thread = (struct thread){
			.pid = number_label(profile, set, "pid"),
			.id = number_label(profile, set, which == TABLE_PROCESSES ? "pid" : "tid"),
			.total = totals[set],
		};
		r = find_row(maker, name, size, &thread->row);
		if (r < 0)
			return r;
		nr++;
	}
	*ret_nr = nr;
	return 0;
}

/* Sorted threads into rows: one for a name in a pool, else one for each thread of that name. */
static int fill_rows(struct maker *maker, const struct thread *threads, size_t nr, int pooled)
{
	uint32_t row = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct thread *thread = &threads[i], *last = i ? thread - 1 : NULL;
		int same_name = last && last->row == thread->row;
		int same = same_name && last->pid == thread->pid && last->id == thread->id;
		struct table_row *to;

		if (!same_name || pooled) {
			row = thread->row;
		} else if (!same) {
			uint32_t string = (uint32_t)maker->table->rows[thread->row].name_size;
			int r = array_reserve(
				&maker->table->rows, &maker->rows_capacity, maker->table->nr, 1);

			if (r < 0)
				return r;
			row = (uint32_t)maker->table->nr++;
			maker->table->rows[row] = (struct table_row){.name_size = string};
		}
		to = &maker->table->rows[row];
		to->total = to->self = add_saturated(to->total, thread->total);
		to->nr += !same;
		to->id = to->nr == 1 ? thread->id : -1;
	}
	return 0;
}

int table_threads(const struct stoke_profile *profile, unsigned value, enum table_of which,
	struct table **ret)
{
	_cleanup_(maker_done) struct maker maker = {0};
	_cleanup_free_ uint64_t *totals = calloc(profile->nr_label_sets + 1, sizeof(*totals));
	_cleanup_free_ struct thread *threads =
		calloc(profile->nr_label_sets + 1, sizeof(*threads));
	uint64_t sum = 0;
	size_t nr = 0;
	int r = maker_init(&maker);

	if (r < 0 || !totals || !threads)
		return -ENOMEM;
	for (size_t i = 0; value < profile->nr_values && i < profile->rows.nr; i++) {
		uint32_t set = profile->rows.labels[i];

		totals[set] = add_saturated(totals[set], profile->rows.value[value][i]);
		sum = add_saturated(sum, profile->rows.value[value][i]);
	}
	r = collect(&maker, profile, totals, which, threads, &nr);
	if (r < 0)
		return r;
	if (nr > 0)
		qsort(threads, nr, sizeof(*threads), compare_threads);
	r = fill_rows(&maker, threads, nr, which == TABLE_POOLS);
	if (r < 0)
		return r;
	finish(&maker, sum, ret);
	return 0;
}
