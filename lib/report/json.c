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

/* A report in the making. Errors stick, as those of the stream do. */
struct writer {
	const struct stoke_profile *profile;
	FILE *out;
	int error; /* 0 or -ENOMEM */
	int nr_members, nr_elements;
};

static void cleanup_json(json_t **json)
{
	json_decref(*json);
}

#define _cleanup_json_ _cleanup_(cleanup_json)

static int put_bytes(const char *buffer, size_t size, void *out)
{
	/* The stream keeps its error for whoever closes it. */
	(void)fwrite(buffer, 1, size, out);
	return 0;
}

/* Writes a value and lets go of it. NULL: there was no memory for it. */
static void put(struct writer *writer, json_t *value)
{
	_cleanup_json_ json_t *owned = value;

	if (!owned || json_dump_callback(
			      owned, put_bytes, writer->out, JSON_COMPACT | JSON_ENCODE_ANY) < 0)
		writer->error = -ENOMEM;
}

static void begin_member(struct writer *writer, const char *name)
{
	fprintf(writer->out, "%s\n\"%s\": ", writer->nr_members++ ? "," : "", name);
}

static void put_member(struct writer *writer, const char *name, json_t *value)
{
	begin_member(writer, name);
	put(writer, value);
}

static void begin_list(struct writer *writer, const char *name)
{
	begin_member(writer, name);
	fputs("[", writer->out);
	writer->nr_elements = 0;
}

static void begin_element(struct writer *writer)
{
	fputs(writer->nr_elements++ ? ",\n" : "\n", writer->out);
}

static void end_list(struct writer *writer)
{
	fputs(writer->nr_elements ? "\n]" : "]", writer->out);
}

/* JSON's readers hold numbers in 64 bits with a sign at best. */
static json_t *number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* Bytes of a target, printable. */
static json_t *text(const char *bytes, size_t size)
{
	_cleanup_free_ char *printable = NULL;
	size_t room, n;

	if (size_multiply(size, 6, &room) < 0)
		return NULL;
	printable = malloc(room + 1);
	if (!printable)
		return NULL;
	n = text_printable(printable, room, bytes, size);
	return n == SIZE_MAX ? NULL : json_stringn_nocheck(printable, n);
}

static json_t *string(const struct stoke_profile *profile, uint32_t id)
{
	return text(strings_text(&profile->strings, id), strings_size(&profile->strings, id));
}

/* Takes over value. */
static void set(struct writer *writer, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new_nocheck(object, key, value) < 0)
		writer->error = -ENOMEM;
}

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

static json_t *facts(struct writer *writer, const struct run *run)
{
	json_t *list = json_array();

	for (size_t i = 0; i < run->nr_facts; i++) {
		json_t *fact = json_array();

		/* Pairs: a key may come more than once. */
		if (json_array_append_new(fact, string(writer->profile, run->facts[i].key)) < 0 ||
			json_array_append_new(fact, string(writer->profile, run->facts[i].value)) <
				0)
			writer->error = -ENOMEM;
		if (json_array_append_new(list, fact) < 0)
			writer->error = -ENOMEM;
	}
	return list;
}

static void put_runs(struct writer *writer)
{
	const struct stoke_profile *profile = writer->profile;

	begin_list(writer, "runs");
	for (size_t i = 0; i < profile->nr_runs; i++) {
		const struct run *run = &profile->runs[i];
		json_t *object = json_object();

		set(writer, object, "name", string(profile, run->name));
		set(writer, object, "event", string(profile, run->event));
		set(writer, object, "start_ns", number(run->start_ns));
		set(writer, object, "duration_ns", number(run->duration_ns));
		set(writer, object, "period", number(run->period));
		set(writer, object, "period_type", string(profile, run->period_type.type));
		set(writer, object, "period_unit", string(profile, run->period_type.unit));
		set(writer, object, "slice_ns", number(run->slice_ns));
		set(writer, object, "facts", facts(writer, run));
		begin_element(writer);
		put(writer, object);
	}
	end_list(writer);
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
		set(writer, object, quality_name((enum quality_count)i), number(sum.count[i]));
	put_member(writer, "quality", object);
	r = quality_say(writer->profile, said);
	if (r < 0)
		return r;
	put_member(writer, "quality_line", json_string_nocheck(said->line));
	begin_list(writer, "warnings");
	for (size_t i = 0; i < said->nr; i++) {
		begin_element(writer);
		put(writer, json_string_nocheck(said->sentence[i]));
	}
	end_list(writer);
	return 0;
}

static void put_values(struct writer *writer)
{
	const struct stoke_profile *profile = writer->profile;

	begin_list(writer, "values");
	for (unsigned i = 0; i < profile->nr_values; i++) {
		json_t *object = json_object();

		set(writer, object, "type", string(profile, profile->values[i].type));
		set(writer, object, "unit", string(profile, profile->values[i].unit));
		set(writer, object, "total", number(profile_total(profile, i)));
		begin_element(writer);
		put(writer, object);
	}
	end_list(writer);
	put_member(writer, "value", number(profile->default_value));
}

/* A table's rows; what they are decides which members they have. */
static void put_rows(struct writer *writer, const char *name, const struct table *table,
	const char *id, int has_self)
{
	begin_list(writer, name);
	for (size_t i = 0; i < table->nr; i++) {
		const struct table_row *row = &table->rows[i];
		json_t *object = json_object();

		set(writer, object, "name", text(row->name, row->name_size));
		if (id && row->id >= 0)
			set(writer, object, id, json_integer(row->id));
		if (!id && !has_self)
			set(writer, object, "threads", number(row->nr));
		set(writer, object, "total", number(row->total));
		if (has_self)
			set(writer, object, "self", number(row->self));
		begin_element(writer);
		put(writer, object);
	}
	end_list(writer);
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
	begin_list(writer, "functions");
	for (size_t i = 0; i < table->nr; i++) {
		const struct table_row *row = &table->rows[i];
		size_t size;
		const char *module = tree_module(tree, row->tree_name, &size);
		json_t *object = json_object();

		index[row->tree_name] = (uint32_t)i;
		set(writer, object, "name", text(row->name, row->name_size));
		set(writer, object, "kind", json_string_nocheck(kind_word(row->kind)));
		if (size > 0)
			set(writer, object, "module", text(module, size));
		set(writer, object, "total", number(row->total));
		set(writer, object, "self", number(row->self));
		begin_element(writer);
		put(writer, object);
	}
	end_list(writer);
	table_free(table);
	return 0;
}

static void put_node(
	struct writer *writer, int64_t parent, int64_t function, uint64_t total, uint64_t self)
{
	begin_element(writer);
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
	put_member(
		writer, "node_columns", json_pack("[ssss]", "parent", "function", "total", "self"));
	begin_list(writer, "nodes");
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
	end_list(writer);
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
	put_member(&writer, "format", json_string_nocheck("stoke-profile"));
	put_member(&writer, "version", json_integer(JSON_VERSION));
	put_member(&writer, "stoke", json_string_nocheck(STOKE_VERSION));
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
};
