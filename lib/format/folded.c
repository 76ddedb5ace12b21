/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * folded.c: "frame;frame;frame count", a line a stack, written sorted and merged so that equal
 * profiles are equal files. docs/file-formats.md has the grammar.
 */
#include "format/folded.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"

/* The suffixes of FlameGraph and async-profiler, and "_[n]" for a name that itself ends like one.
 */
static const struct folded_suffix suffixes[] = {
	{'k', FUNCTION_KERNEL},
	{'j', FUNCTION_JIT},
	{'i', FUNCTION_INLINED},
	{'0', FUNCTION_INTERPRETED},
	{'1', FUNCTION_JIT}, /* async-profiler: compiled by C1 */
	{'n', FUNCTION_UNKNOWN},
};

const struct folded_suffix *folded_suffix(const char *name, size_t size)
{
	const char *end = name + size;

	if (size <= FOLDED_SUFFIX_BYTES || end[-1] != ']' || end[-3] != '[' || end[-4] != '_')
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		if (suffixes[i].letter == end[-2])
			return &suffixes[i];
	}
	return NULL;
}

/* What is wrong with a count that is not digits. */
static const char *explain_count(const char *count, size_t size)
{
	size_t digits = 0;

	if (size && count[0] == '-')
		return "the count is negative";
	while (digits < size && count[digits] >= '0' && count[digits] <= '9')
		digits++;
	if (digits && digits < size && count[digits] == '.')
		return "the count is a fraction";
	if (digits == 1 && size > 2 && (count[1] == 'x' || count[1] == 'X'))
		return "the count is not decimal";
	return "no count at its end";
}

const char *folded_split(const char *line, size_t size, size_t *ret_stack, uint64_t *ret_count)
{
	size_t at = size;
	uint64_t count = 0;

	while (at && line[at - 1] >= '0' && line[at - 1] <= '9')
		at--;
	if (at == size || !at || (line[at - 1] != ' ' && line[at - 1] != '\t')) {
		const char *blank = memrchr(line, ' ', size);

		if (!blank)
			return "no count at its end";
		return explain_count(blank + 1, (size_t)(line + size - blank - 1));
	}
	if (at == 1)
		return "no stack before the count";
	for (size_t i = at; i < size; i++) {
		if (__builtin_mul_overflow(count, 10, &count) ||
			__builtin_add_overflow(count, (uint64_t)(line[i] - '0'), &count))
			return "the count is larger than 64 bits";
	}
	*ret_stack = at - 1;
	*ret_count = count;
	return NULL;
}

struct folded_params {
	unsigned slices;
};

static const struct param folded_param_list[] = {
	{"slices", PARAM_FLAG, offsetof(struct folded_params, slices), NULL,
		"keep the time of the samples, in comment lines (#slice t=1.5s;)"},
	{0},
};

/* A row and its time since the start of its run. */
struct timed {
	uint64_t time_ns;
	uint32_t row;
};

/*
 * A writer merges nodes by the text of their frames, then walks them depth first. Siblings are in
 * the order of their names with what follows them in a line: ' ' for the node's own line, ';' for
 * those below it. That is the order of the lines as bytes.
 */
struct writer {
	const struct stoke_profile *profile;
	struct timed *rows; /* in the order of time, or of the profile */
	size_t first_row, end_row; /* of rows: what is being written */
	struct strings names; /* as printed */
	uint32_t *name_of; /* function -> name */
	struct stacks merged; /* frame: name */
	uint32_t *merged_of; /* node of the profile -> of merged */
	uint64_t *self; /* a merged node's own count */
	uint8_t *is_inner; /* a merged node has counts below it */
	uint32_t *rank; /* 2 * name + (0: ' ', 1: ';') -> place in the order */
	uint32_t *first; /* merged node -> first of its entries */
	uint64_t *entries; /* rank << 32 | merged node, a slice a parent */
};

static void writer_done(struct writer *writer)
{
	free(writer->rows);
	strings_done(&writer->names);
	stacks_done(&writer->merged);
	free(writer->name_of);
	free(writer->merged_of);
	free(writer->self);
	free(writer->is_inner);
	free(writer->rank);
	free(writer->first);
	free(writer->entries);
}

/* A name as it stands in a line, with its suffix. */
static int print_name(
	struct writer *writer, const char *text, size_t size, uint32_t kind, uint32_t *ret)
{
	_cleanup_free_ char *printed = malloc(6 * size + 32);
	const char *hash = "\\x23";
	size_t n = 0;

	if (!printed)
		return -ENOMEM;
	if (size && text[0] == '#') { /* would make the line a comment */
		memcpy(printed, hash, 4);
		n = 4;
		text++;
		size--;
	} else if (!size) {
		text = "[unknown]";
		size = strlen(text);
	}
	n += text_printable(printed + n, 6 * size, text, size);
	for (char *p = printed; (p = memchr(p, ';', (size_t)(printed + n - p)));)
		*p = ':';
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		/* UNKNOWN's "_[n]" only where something has to be shielded. */
		if (suffixes[i].kind == kind && kind != FUNCTION_UNKNOWN) {
			memcpy(printed + n, (char[]){'_', '[', suffixes[i].letter, ']'}, 4);
			return strings_add(&writer->names, printed, n + 4, ret);
		}
	}
	if (folded_suffix(printed, n)) {
		memcpy(printed + n, "_[n]", 4);
		n += 4;
	}
	return strings_add(&writer->names, printed, n, ret);
}

static int print_names(struct writer *writer)
{
	const struct stoke_profile *profile = writer->profile;

	writer->name_of = calloc(profile->nr_functions, sizeof(*writer->name_of));
	if (!writer->name_of)
		return -ENOMEM;
	for (size_t i = 0; i < profile->nr_functions; i++) {
		const struct function *function = &profile->functions[i];
		int r = print_name(writer, strings_text(&profile->strings, function->name),
			strings_size(&profile->strings, function->name), function->kind,
			&writer->name_of[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Nodes whose printed stacks are equal become one; inlined functions become frames. */
static int merge_nodes(struct writer *writer)
{
	const struct stoke_profile *profile = writer->profile;
	const struct stacks *stacks = &profile->stacks;
	int r;

	writer->merged_of = calloc(stacks->nr, sizeof(*writer->merged_of));
	r = writer->merged_of ? stacks_init(&writer->merged) : -ENOMEM;
	for (size_t i = 1; r >= 0 && i < stacks->nr; i++) {
		const struct frame *frame = &profile->frames[stacks->frame[i]];
		unsigned nr = frame->nr_functions ? frame->nr_functions : 1;
		uint32_t node = writer->merged_of[stacks->parent[i]];

		while (r >= 0 && nr--)
			r = stacks_child(&writer->merged, node,
				writer->name_of[frame_function(profile, frame, nr)], &node);
		writer->merged_of[i] = node;
	}
	return r;
}

/* The column of counts: samples where there is one. */
static unsigned value_of(const struct stoke_profile *profile)
{
	for (unsigned i = 0; i < profile->nr_values; i++) {
		if (strcmp(strings_text(&profile->strings, profile->values[i].type), "samples") ==
			0)
			return i;
	}
	return profile->default_value;
}

static int by_time(const void *a, const void *b)
{
	const struct timed *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int order_rows(struct writer *writer, const struct folded_params *params)
{
	const struct stoke_profile *profile = writer->profile;
	size_t nr = profile->rows.nr;

	writer->rows = calloc(nr + 1, sizeof(*writer->rows));
	if (!writer->rows)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct timed *timed = &writer->rows[i];

		timed->row = (uint32_t)i;
		if (params && params->slices &&
			__builtin_mul_overflow(profile->rows.slice[i],
				profile->runs[profile->rows.run[i]].slice_ns, &timed->time_ns))
			timed->time_ns = UINT64_MAX;
	}
	if (params && params->slices)
		qsort(writer->rows, nr, sizeof(*writer->rows), by_time);
	return 0;
}

static int make_room(struct writer *writer)
{
	size_t nr = writer->merged.nr;

	writer->self = calloc(nr, sizeof(*writer->self));
	writer->is_inner = calloc(nr, sizeof(*writer->is_inner));
	writer->first = calloc(nr + 2, sizeof(*writer->first));
	writer->entries = calloc(2 * nr, sizeof(*writer->entries));
	return writer->self && writer->is_inner && writer->first && writer->entries ? 0 : -ENOMEM;
}

static void sum_rows(struct writer *writer)
{
	const struct rows *rows = &writer->profile->rows;
	unsigned value = value_of(writer->profile);
	struct stacks *merged = &writer->merged;

	memset(writer->self, 0, merged->nr * sizeof(*writer->self));
	memset(writer->is_inner, 0, merged->nr);
	for (size_t i = writer->first_row; i < writer->end_row; i++) {
		uint32_t row = writer->rows[i].row;
		uint64_t *self = &writer->self[writer->merged_of[rows->stack[row]]];

		if (__builtin_add_overflow(*self, rows->value[value][row], self))
			*self = UINT64_MAX;
	}
	for (size_t i = merged->nr; i-- > 1;) {
		if (writer->self[i] || writer->is_inner[i])
			writer->is_inner[merged->parent[i]] = 1;
	}
}

/* Of name << 1 | (0: ' ', 1: ';'), in the order of the bytes with that one behind them. */
static int by_text(const void *a, const void *b, void *arg)
{
	const struct strings *names = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	size_t x_size = strings_size(names, x >> 1), y_size = strings_size(names, y >> 1);
	const char *x_text = strings_text(names, x >> 1), *y_text = strings_text(names, y >> 1);
	size_t both = x_size < y_size ? x_size : y_size;
	int r = memcmp(x_text, y_text, both);

	if (r)
		return r;
	if (x_size == y_size)
		return x < y ? -1 : x > y;
	if (x_size < y_size)
		return (x & 1 ? ';' : ' ') <= (unsigned char)y_text[both] ? -1 : 1;
	return (unsigned char)x_text[both] < (y & 1 ? ';' : ' ') ? -1 : 1;
}

static int rank_names(struct writer *writer)
{
	size_t nr = 2 * (size_t)writer->names.nr;
	_cleanup_free_ uint32_t *order = calloc(nr, sizeof(*order));

	writer->rank = calloc(nr, sizeof(*writer->rank));
	if (!order || !writer->rank)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, nr, sizeof(*order), by_text, &writer->names);
	for (size_t i = 0; i < nr; i++)
		writer->rank[order[i]] = (uint32_t)i;
	return 0;
}

static int by_rank(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Entries of each parent, one behind the other, sorted. */
static void sort_entries(struct writer *writer)
{
	const struct stacks *merged = &writer->merged;
	size_t nr = 0;

	memset(writer->first, 0, (merged->nr + 2) * sizeof(*writer->first));
	for (size_t i = 1; i < merged->nr; i++)
		writer->first[merged->parent[i] + 2] +=
			(writer->self[i] ? 1 : 0) + writer->is_inner[i];
	for (size_t i = 2; i < merged->nr + 2; i++)
		writer->first[i] += writer->first[i - 1];
	/* first[parent + 1] walks from the start of its slice to the end: then it is first[]. */
	for (size_t i = 1; i < merged->nr; i++) {
		uint32_t *at = &writer->first[merged->parent[i] + 1];
		const uint32_t *rank = writer->rank + 2 * (size_t)merged->frame[i];

		if (writer->self[i])
			writer->entries[(*at)++] = (uint64_t)rank[0] << 32 | i;
		if (writer->is_inner[i])
			writer->entries[(*at)++] = (uint64_t)rank[1] << 32 | i;
	}
	for (size_t i = 0; i < merged->nr; i++) {
		nr = writer->first[i + 1] - writer->first[i];
		if (nr > 1)
			qsort(writer->entries + writer->first[i], nr, sizeof(*writer->entries),
				by_rank);
	}
}

/* An entry being walked: where its parent's entries stand, and the text of the path so far. */
struct step {
	uint32_t next, end;
	size_t path_size;
};

static int push_name(
	const struct writer *writer, uint32_t node, char **path, size_t *capacity, size_t *size)
{
	uint32_t name = writer->merged.frame[node];
	size_t name_size = strings_size(&writer->names, name);
	int r = array_reserve(path, capacity, *size, name_size + 1);

	if (r < 0)
		return r;
	memcpy(*path + *size, strings_text(&writer->names, name), name_size);
	*size += name_size;
	(*path)[*size] = ';';
	return 0;
}

static int write_lines(const struct writer *writer, FILE *out)
{
	_cleanup_free_ struct step *steps = NULL;
	_cleanup_free_ char *path = NULL;
	size_t steps_capacity = 0, nr_steps = 1, path_capacity = 0, size;
	int r = array_reserve(&steps, &steps_capacity, 0, 1);

	if (r < 0)
		return r;
	steps[0] = (struct step){writer->first[0], writer->first[1], 0};
	while (nr_steps) {
		struct step *step = &steps[nr_steps - 1];
		uint64_t entry;
		uint32_t node;

		if (step->next == step->end) {
			nr_steps--;
			continue;
		}
		entry = writer->entries[step->next++];
		node = (uint32_t)entry;
		size = step->path_size;
		r = push_name(writer, node, &path, &path_capacity, &size);
		if (r >= 0)
			r = array_reserve(&steps, &steps_capacity, nr_steps, 1);
		if (r < 0)
			return r;
		if (entry >> 32 == writer->rank[2 * (size_t)writer->merged.frame[node]]) {
			(void)fwrite(path, 1, size, out); /* errors stick to the stream */
			(void)fprintf(out, " %" PRIu64 "\n", writer->self[node]);
		} else {
			steps[nr_steps++] = (struct step){
				writer->first[node], writer->first[node + 1], size + 1};
		}
	}
	return 0;
}

static void write_comment(const struct writer *writer, const char *key, const char *text, FILE *out)
{
	(void)fprintf(out, "#%s ", key);
	text_print(out, text, strlen(text));
	(void)fputs(";\n", out); /* errors stick to the stream */
}

/* What runs say of themselves and comments can: of several only what they agree upon. */
static void write_head(const struct writer *writer, FILE *out)
{
	const struct stoke_profile *profile = writer->profile;
	const char *work, *rate;
	char text[32];
	unsigned hz;

	(void)fputs("#stoke-profile 1;\n", out);
	if (profile->nr_runs != 1)
		return;
	work = profile_fact_find(profile, 0, "work");
	rate = profile_fact_find(profile, 0, "rate");
	if (profile->runs[0].event)
		write_comment(writer, "event",
			strings_text(&profile->strings, profile->runs[0].event), out);
	if (rate && sscanf(rate, "%9u Hz", &hz) == 1) {
		(void)snprintf(text, sizeof(text), "%uHz", hz); /* fits */
		write_comment(writer, "freq", text, out);
	}
	if (work)
		write_comment(writer, "work", work, out);
}

/* "12.5", without zeros that say nothing. */
static void write_slice(uint64_t time_ns, FILE *out)
{
	char part[16];
	size_t size = (size_t)snprintf(part, sizeof(part), ".%09" PRIu64, time_ns % 1000000000);

	while (size && (part[size - 1] == '0' || part[size - 1] == '.'))
		size--;
	(void)fprintf(out, "#slice t=%" PRIu64 "%.*ss;\n", time_ns / 1000000000, (int)size, part);
}

/* All in one, or a part for each time. */
static int write_parts(struct writer *writer, const struct folded_params *params, FILE *out)
{
	const struct timed *rows = writer->rows;
	size_t nr = writer->profile->rows.nr;
	int slices = params && params->slices, r = 0;

	if (slices)
		write_head(writer, out);
	while (r >= 0 && writer->end_row < nr) {
		writer->first_row = writer->end_row;
		while (writer->end_row < nr &&
			rows[writer->end_row].time_ns == rows[writer->first_row].time_ns)
			writer->end_row++;
		if (slices)
			write_slice(rows[writer->first_row].time_ns, out);
		sum_rows(writer);
		sort_entries(writer);
		r = write_lines(writer, out);
	}
	return r;
}

static int folded_write(const struct stoke_profile *profile, const void *params, FILE *out)
{
	struct writer writer = {.profile = profile};
	int r;

	r = strings_init(&writer.names);
	if (r >= 0)
		r = order_rows(&writer, params);
	if (r >= 0)
		r = print_names(&writer);
	if (r >= 0)
		r = merge_nodes(&writer);
	if (r >= 0)
		r = rank_names(&writer);
	if (r >= 0)
		r = make_room(&writer);
	if (r >= 0)
		r = write_parts(&writer, params, out);
	writer_done(&writer);
	return r;
}

/* Sure by the share of lines that are stacks with a count. */
static int folded_recognise(const uint8_t *start, size_t size)
{
	const char *line = (const char *)start, *end = line + size, *stop;
	size_t nr_good = 0, nr_bad = 0, stack;
	uint64_t count;

	if (!size)
		return 50; /* a profile without samples */
	for (; line < end; line = stop + 1) {
		size_t length;

		stop = memchr(line, '\n', (size_t)(end - line));
		if (!stop && size >= 4096)
			break; /* cut by the look, not by the file */
		if (!stop)
			stop = end;
		for (length = (size_t)(stop - line);
			length && (unsigned char)line[length - 1] <= ' '; length--)
			;
		if (!length || line[0] == '#')
			continue;
		if (folded_split(line, length, &stack, &count))
			nr_bad++;
		else
			nr_good++;
	}
	if (nr_good)
		return (int)(50 + 40 * nr_good / (nr_good + nr_bad));
	/* Perhaps one long line, or bad ones, which reading tells best; if it is text at all. */
	for (size_t i = 0; i < size; i++) {
		if (start[i] < ' ' && !isspace(start[i]))
			return 0;
	}
	return 5;
}

const struct format format_folded = {
	.name = "folded",
	.summary = "a line a stack: frame;frame;frame count (FlameGraph's collapsed stacks)",
	.suffixes = ".folded .collapsed",
	.params = folded_param_list,
	.params_size = sizeof(struct folded_params),
	.recognise = folded_recognise,
	.read = folded_read,
	.write = folded_write,
};
