/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json.c: the whole answer for programs, docs/json.md. The call tree is a list of rows that name
 * their parent, not objects in objects: stacks are deeper than most readers can nest. An element a
 * line, each made, written and freed, so that memory doesn't grow with the profile.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/json/writer.h"
#include "report/report.h"
#include "view/table.h"

#define JSON_VERSION 1

struct json_params {
	double min_share;
};

static const struct param json_params[] = {
	{"min_share", PARAM_SHARE, offsetof(struct json_params, min_share), "0.01%",
		"subtrees under this share are left out of the tree, their sums kept", 0, 0},
	{0},
};

static const char *kind_word(unsigned kind)
{
	static const char *const words[NR_FUNCTION_KINDS] = {
		[FUNCTION_UNKNOWN] = "unknown",
		[FUNCTION_NATIVE] = "native",
		[FUNCTION_CPP] = "native",
		[FUNCTION_KERNEL] = "kernel",
		[FUNCTION_JIT] = "jit",
		[FUNCTION_INLINED] = "inlined",
		[FUNCTION_INTERPRETED] = "interpreted",
		[FUNCTION_MARK] = "mark",
		[FUNCTION_ROOT] = "root",
	};

	return kind < NR_FUNCTION_KINDS ? words[kind] : words[FUNCTION_UNKNOWN];
}

static void put_runs(struct writer *writer)
{
	const struct stoke_profile *profile = writer->profile;

	writer_begin_list(writer, "runs");
	for (size_t i = 0; i < profile->nr_runs; i++) {
		const struct run *run = &profile->runs[i];
		json_t *object = json_object();

		writer_set(writer, object, "name", writer_string_of(profile, run->name));
		writer_set(writer, object, "event", writer_string_of(profile, run->event));
		writer_set(writer, object, "start_ns", writer_number(run->start_ns));
		writer_set(writer, object, "duration_ns", writer_number(run->duration_ns));
		writer_set(writer, object, "period", writer_number(run->period));
		writer_set(writer, object, "period_type",
			writer_string_of(profile, run->period_type.type));
		writer_set(writer, object, "period_unit",
			writer_string_of(profile, run->period_type.unit));
		writer_set(writer, object, "slice_ns", writer_number(run->slice_ns));
		writer_set(writer, object, "facts", writer_facts(writer, run));
		writer_begin_element(writer);
		writer_put(writer, object);
	}
	writer_end_list(writer);
}

static int put_quality(struct writer *writer)
{
	_cleanup_free_ struct quality_text *said = malloc(sizeof(*said));
	struct quality sum;
	json_t *object = json_object();
	int r;

	if (!said) {
		json_decref(object);
		return -ENOMEM;
	}
	quality_sum(writer->profile, &sum);
	for (int i = 0; i < NR_QUALITY_COUNTS; i++)
		writer_set(writer, object, quality_name((enum quality_count)i),
			writer_number(sum.count[i]));
	writer_put_member(writer, "quality", object);
	r = quality_say(writer->profile, said);
	if (r < 0)
		return r;
	writer_put_member(writer, "quality_line", json_string_nocheck(said->line));
	writer_begin_list(writer, "warnings");
	for (size_t i = 0; i < said->nr; i++) {
		writer_begin_element(writer);
		writer_put(writer, json_string_nocheck(said->sentence[i]));
	}
	writer_end_list(writer);
	return 0;
}

static void put_values(struct writer *writer)
{
	const struct stoke_profile *profile = writer->profile;

	writer_begin_list(writer, "values");
	for (unsigned i = 0; i < profile->nr_values; i++) {
		json_t *object = json_object();

		writer_set(
			writer, object, "type", writer_string_of(profile, profile->values[i].type));
		writer_set(
			writer, object, "unit", writer_string_of(profile, profile->values[i].unit));
		writer_set(writer, object, "total", writer_number(profile_total(profile, i)));
		writer_begin_element(writer);
		writer_put(writer, object);
	}
	writer_end_list(writer);
	writer_put_member(writer, "value", writer_number(profile->default_value));
}

/* A table's rows; what they are decides which members they have. */
static void put_rows(struct writer *writer, const char *name, const struct table *table,
	const char *id, int has_self)
{
	writer_begin_list(writer, name);
	for (size_t i = 0; i < table->nr; i++) {
		const struct table_row *row = &table->rows[i];
		json_t *object = json_object();

		writer_set(writer, object, "name", writer_text(row->name, row->name_size));
		if (id && row->id >= 0)
			writer_set(writer, object, id, json_integer(row->id));
		if (!id && !has_self)
			writer_set(writer, object, "threads", writer_number(row->nr));
		writer_set(writer, object, "total", writer_number(row->total));
		if (has_self)
			writer_set(writer, object, "self", writer_number(row->self));
		writer_begin_element(writer);
		writer_put(writer, object);
	}
	writer_end_list(writer);
}

static int put_threads(struct writer *writer)
{
	static const struct {
		const char *name, *id;
		enum table_of which;
	} lists[] = {
		{"processes", "pid", TABLE_PROCESSES},
		{"pools", NULL, TABLE_POOLS},
		{"threads", "tid", TABLE_THREADS},
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct table *table = NULL;
		int r = table_threads(
			writer->profile, writer->profile->default_value, lists[i].which, &table);

		if (r < 0)
			return r;
		put_rows(writer, lists[i].name, table, lists[i].id, 0);
		table_free(table);
	}
	return 0;
}

static int put_groups(struct writer *writer, const struct tree *tree)
{
	struct table *table = NULL;
	int r = table_groups(tree, &table);

	if (r < 0)
		return r;
	put_rows(writer, "groups", table, NULL, 1);
	table_free(table);
	return 0;
}

/* Functions, heaviest first; index[name of the tree] becomes the row in the list. */
static int put_functions(struct writer *writer, const struct tree *tree, uint32_t *index)
{
	struct table *table = NULL;
	int r = table_functions(tree, &table);

	if (r < 0)
		return r;
	writer_begin_list(writer, "functions");
	for (size_t i = 0; i < table->nr; i++) {
		const struct table_row *row = &table->rows[i];
		size_t size;
		const char *module = tree_module(tree, row->tree_name, &size);
		json_t *object = json_object();

		index[row->tree_name] = (uint32_t)i;
		writer_set(writer, object, "name", writer_text(row->name, row->name_size));
		writer_set(writer, object, "kind", json_string_nocheck(kind_word(row->kind)));
		if (size > 0)
			writer_set(writer, object, "module", writer_text(module, size));
		writer_set(writer, object, "total", writer_number(row->total));
		writer_set(writer, object, "self", writer_number(row->self));
		writer_begin_element(writer);
		writer_put(writer, object);
	}
	writer_end_list(writer);
	table_free(table);
	return 0;
}

static void put_node(
	struct writer *writer, int64_t parent, int64_t function, uint64_t total, uint64_t self)
{
	writer_begin_element(writer);
	/* Numbers need no library, and these are many. */
	fprintf(writer->out, "[%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64 "]", parent, function,
		total, self);
}

/* What the children add up to that have no row of their own. */
static uint64_t left_out(const struct tree *tree, uint32_t node, uint64_t least)
{
	uint64_t sum = 0;

	for (uint32_t i = node + 1; i < tree->end[node]; i = tree->end[i]) {
		if (tree->total[0][i] < least)
			sum += tree->total[0][i];
	}
	return sum;
}

static int put_nodes(
	struct writer *writer, const struct tree *tree, const uint32_t *index, uint64_t least)
{
	_cleanup_free_ int64_t *row_of = calloc(tree->nr, sizeof(*row_of));
	int64_t nr = 0;

	if (!row_of)
		return -ENOMEM;
	writer_put_member(
		writer, "node_columns", json_pack("[ssss]", "parent", "function", "total", "self"));
	writer_begin_list(writer, "nodes");
	for (uint32_t i = 0; i < tree->nr;
		i = i && tree->total[0][i] < least ? tree->end[i] : i + 1) {
		uint64_t rest;

		if (i && tree->total[0][i] < least)
			continue;
		row_of[i] = nr++;
		put_node(writer, i ? row_of[tree->parent[i]] : -1,
			i ? (int64_t)index[tree->name[i]] : -1, tree->total[0][i],
			tree->self[0][i]);
		rest = left_out(tree, i, least);
		if (rest > 0) {
			put_node(writer, row_of[i], -1, rest, rest);
			nr++;
		}
	}
	writer_end_list(writer);
	return 0;
}

static int put_tree(struct writer *writer, const struct tree *tree, double min_share)
{
	_cleanup_free_ uint32_t *index = calloc(tree->nr_names + 1, sizeof(*index));
	double least = min_share * (double)tree->total[0][0];
	int r = index ? put_groups(writer, tree) : -ENOMEM;

	if (r >= 0)
		r = put_functions(writer, tree, index);
	if (r >= 0)
		r = put_nodes(writer, tree, index, least < 1 ? 1 : (uint64_t)least);
	return r;
}

static int json_profile(const struct stoke_profile *profile, const void *params, FILE *out)
{
	const struct json_params *options = params;
	struct writer writer = {.profile = profile, .out = out};
	struct tree *tree = NULL;
	int r = tree_build(profile, &(struct tree_options){.value = profile->default_value}, &tree);

	if (r < 0)
		return r;
	fputs("{", out);
	writer_put_member(&writer, "format", json_string_nocheck("stoke-profile"));
	writer_put_member(&writer, "version", json_integer(JSON_VERSION));
	writer_put_member(&writer, "stoke", json_string_nocheck(STOKE_VERSION));
	put_runs(&writer);
	put_values(&writer);
	r = put_quality(&writer);
	if (r >= 0)
		r = put_threads(&writer);
	if (r >= 0)
		r = put_tree(&writer, tree, options->min_share);
	fputs("\n}\n", out);
	tree_free(tree);
	return r < 0 ? r : writer.error;
}

const struct report report_json = {
	.name = "json",
	.summary = "the whole answer for programs: runs, quality, tables, call tree",
	.suffixes = ".json",
	.params = json_params,
	.params_size = sizeof(struct json_params),
	.profile = json_profile,
	.comparison = json_comparison,
};
