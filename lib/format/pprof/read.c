/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read.c: pprof files of anybody. Nothing in them is believed: every length ends inside its
 * message, every id and index exists, before anything is added to the profile.
 */
#include "format/pprof/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"

#define FILE_MAX_BYTES (1u << 30)
#define MAX_DEPTH      UINT16_MAX

typedef int read_field(struct pprof_reader *reader, unsigned field, const uint8_t *p, size_t size);

static void *allocate(void *data, size_t size)
{
	struct pprof_reader *reader = data;
	void *memory = malloc(size);

	if (!memory)
		reader->out_of_memory = 1;
	return memory;
}

static void release(void *data, void *memory)
{
	(void)data;
	free(memory);
}

/*
 * Walks the fields of the outermost message. Numbers come as p == NULL and their value as size.
 * Only the fields asked for (a bit each) are handed on.
 */
static int walk(struct pprof_reader *reader, unsigned wanted, read_field *read)
{
	const uint8_t *p = reader->bytes;
	size_t at = 0;
	int r;

	while (at < reader->size) {
		uint64_t tag, value;
		const uint8_t *bytes = NULL;

		if (pprof_varint(p, reader->size, &at, &tag) < 0 || tag >> 3 == 0 ||
			tag >> 3 > INT32_MAX)
			return pprof_malformed(reader, "a broken field");
		switch (tag & 7) {
		case WIRE_VARINT:
			if (pprof_varint(p, reader->size, &at, &value) < 0)
				return pprof_malformed(reader, "a broken number");
			break;
		case WIRE_BYTES:
			if (pprof_varint(p, reader->size, &at, &value) < 0 ||
				value > reader->size - at)
				return pprof_malformed(
					reader, "it ends inside a field: cut short?");
			bytes = p + at;
			at += (size_t)value;
			break;
		case WIRE_64:
		case WIRE_32:
			value = (tag & 7) == WIRE_64 ? 8 : 4;
			if (value > reader->size - at)
				return pprof_malformed(
					reader, "it ends inside a field: cut short?");
			at += (size_t)value;
			continue; /* profile.proto has none */
		default:
			return pprof_malformed(reader, "a field of no known type");
		}
		if (tag >> 3 < 32 && (wanted >> (tag >> 3) & 1)) {
			r = read(reader, (unsigned)(tag >> 3), bytes, (size_t)value);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int read_string(struct pprof_reader *reader, unsigned field, const uint8_t *p, size_t size)
{
	int r;

	(void)field;
	if (!p)
		return pprof_malformed(reader, "a string that is a number");
	if (!reader->nr_strings && size)
		return pprof_malformed(reader, "its first string is not empty");
	r = array_reserve(&reader->strings, &reader->strings_capacity, reader->nr_strings, 1);
	if (r >= 0)
		r = profile_string(reader->profile, (const char *)p, size,
			&reader->strings[reader->nr_strings]);
	if (r >= 0)
		reader->nr_strings++;
	return r;
}

static int negative(struct pprof_reader *reader)
{
	return fail(reader->err, -EINVAL,
		"%s holds negative values: it is the difference of two profiles, not one",
		reader->name);
}

/* The label set of a sample, and its slice of time. */
static int add_labels(struct pprof_reader *reader, const Perftools__Profiles__Sample *message,
	uint32_t *ret_set, uint32_t *ret_slice)
{
	const struct strings *strings = &reader->profile->strings;
	size_t nr = 0;
	int r;

	*ret_slice = 0;
	r = array_reserve(&reader->labels, &reader->labels_capacity, 0, message->n_label);
	for (size_t i = 0; r >= 0 && i < message->n_label; i++) {
		const Perftools__Profiles__Label *from = message->label[i];
		struct label *label = &reader->labels[nr];

		*label = (struct label){.num = from->num};
		r = pprof_string(reader, from->key, &label->key);
		if (r >= 0)
			r = pprof_string(reader, from->str, &label->str);
		if (r >= 0)
			r = pprof_string(reader, from->num_unit, &label->unit);
		if (r < 0)
			break;
		if (reader->slice_ns && !label->str && label->num >= 0 &&
			(uint64_t)label->num / reader->slice_ns <= UINT32_MAX &&
			strcmp(strings_text(strings, label->key), PPROF_TIME) == 0)
			*ret_slice = (uint32_t)((uint64_t)label->num / reader->slice_ns);
		else
			nr++;
		if (label->str)
			label->num = 0; /* one or the other, by profile.proto */
	}
	return r < 0 ? r : profile_labels(reader->profile, reader->labels, nr, ret_set);
}

static int add_sample(struct pprof_reader *reader, const Perftools__Profiles__Sample *message)
{
	struct stoke_profile *profile = reader->profile;
	uint64_t values[PROFILE_MAX_VALUES] = {0};
	uint32_t node = 0, set, slice;
	size_t depth = 0;
	int r = 0;

	if (message->n_value != reader->nr_columns)
		return pprof_malformed(
			reader, "a sample with more or fewer values than there are types");
	for (size_t i = 0; i < message->n_value; i++) {
		if (message->value[i] < 0)
			return negative(reader);
		values[reader->columns[i]] += (uint64_t)message->value[i];
	}
	for (size_t i = message->n_location_id; r >= 0 && i--;) {
		const struct id *id = pprof_find_id(&reader->locations, message->location_id[i]);

		if (!id)
			return pprof_malformed(
				reader, "a sample at a location that it does not have");
		depth += id->nr_lines ? id->nr_lines : 1;
		if (depth > MAX_DEPTH)
			return pprof_malformed(reader, "a sample with more than 65,535 frames");
		r = stacks_child(&profile->stacks, node, id->mine, &node);
	}
	if (r >= 0)
		r = add_labels(reader, message, &set, &slice);
	return r < 0 ? r : profile_row(profile, reader->run, node, set, slice, values);
}

/* "stoke.KEY=VALUE": quality counts and the width of slices are numbers, the rest are facts. */
static int add_own_comment(struct pprof_reader *reader, char *key)
{
	struct run *run = &reader->profile->runs[reader->run];
	char *value = strchr(key, '='), *end;
	uint64_t number;
	int count;

	if (!value)
		return 0;
	*value++ = '\0';
	errno = 0;
	number = strtoull(value, &end, 10);
	if (errno || *end || end == value)
		number = 0;
	if (strncmp(key, PPROF_QUALITY, strlen(PPROF_QUALITY)) == 0) {
		key += strlen(PPROF_QUALITY);
		count = quality_find(key, strlen(key));
		if (count >= 0)
			run->quality.count[count] = number;
		return 0;
	}
	if (strcmp(key, PPROF_SLICE) == 0) {
		run->slice_ns = reader->slice_ns = number;
		return 0;
	}
	if (strcmp(key, "event") == 0) {
		int r = profile_text(reader->profile, value, &run->event);

		if (r < 0)
			return r;
	}
	return profile_fact(reader->profile, reader->run, key, value);
}

static int add_comment(struct pprof_reader *reader, int64_t index)
{
	static const char prefix[] = PPROF_COMMENT_PREFIX;
	_cleanup_free_ char *text = NULL;
	uint32_t string;
	int r = pprof_string(reader, index, &string);

	if (r < 0)
		return r;
	text = strdup(strings_text(&reader->profile->strings, string));
	if (!text)
		return -ENOMEM;
	if (strncmp(text, prefix, strlen(prefix)) == 0)
		return add_own_comment(reader, text + strlen(prefix));
	return profile_fact(reader->profile, reader->run, "comment", text);
}

/* One comment as it stands, or several packed ones. */
static int read_comments(struct pprof_reader *reader, const uint8_t *p, size_t size)
{
	size_t at = 0;
	uint64_t index;
	int r = 0;

	if (!p)
		return add_comment(reader, (int64_t)size);
	while (r >= 0 && at < size) {
		if (pprof_varint(p, size, &at, &index) < 0)
			return pprof_malformed(reader, "a broken comment");
		r = add_comment(reader, (int64_t)index);
	}
	return r;
}

static int read_value_type(
	struct pprof_reader *reader, const uint8_t *p, size_t size, struct value_type *ret)
{
	Perftools__Profiles__ValueType *message;
	int r = UNPACK(reader, value_type, p, size, &message);

	if (r < 0)
		return r;
	r = pprof_string(reader, message->type, &ret->type);
	if (r >= 0)
		r = pprof_string(reader, message->unit, &ret->unit);
	perftools__profiles__value_type__free_unpacked(message, &reader->allocator);
	return r;
}

static int add_sample_type(struct pprof_reader *reader, const uint8_t *p, size_t size)
{
	struct stoke_profile *profile = reader->profile;
	_cleanup_free_ char *type = NULL, *unit = NULL;
	struct value_type value;
	int r = read_value_type(reader, p, size, &value);

	if (r < 0)
		return r;
	if (reader->nr_columns == PROFILE_MAX_VALUES)
		return pprof_malformed(reader, "more than 8 types of values");
	type = strdup(strings_text(&profile->strings, value.type));
	unit = strdup(strings_text(&profile->strings, value.unit));
	if (!type || !unit)
		return -ENOMEM;
	return profile_value(profile, type, unit, &reader->columns[reader->nr_columns++]);
}

/* What needs strings only. */
static int read_head(struct pprof_reader *reader, unsigned field, const uint8_t *p, size_t size)
{
	struct run *run = &reader->profile->runs[reader->run];

	if (field == PPROF_COMMENT)
		return read_comments(reader, p, size);
	if (field == PPROF_TIME_NANOS && !p)
		run->start_ns = size;
	else if (field == PPROF_DURATION_NANOS && !p)
		run->duration_ns = size;
	else if (field == PPROF_PERIOD && !p)
		run->period = size;
	else if (field == PPROF_DEFAULT_SAMPLE_TYPE && !p)
		reader->default_type = (int64_t)size;
	else if (!p)
		return pprof_malformed(reader, "a number where a message belongs");
	else if (field == PPROF_SAMPLE_TYPE)
		return add_sample_type(reader, p, size);
	else if (field == PPROF_PERIOD_TYPE)
		return read_value_type(reader, p, size, &run->period_type);
	else if (field == PPROF_MAPPING)
		return pprof_read_mapping(reader, p, size);
	else if (field == PPROF_FUNCTION)
		return pprof_read_function(reader, p, size);
	else
		return pprof_malformed(reader, "a message where a number belongs");
	return 0;
}

static int read_location(struct pprof_reader *reader, unsigned field, const uint8_t *p, size_t size)
{
	(void)field;
	return p ? pprof_read_location(reader, p, size)
		 : pprof_malformed(reader, "a number where a message belongs");
}

static int read_sample(struct pprof_reader *reader, unsigned field, const uint8_t *p, size_t size)
{
	Perftools__Profiles__Sample *message;
	int r;

	(void)field;
	if (!p)
		return pprof_malformed(reader, "a number where a message belongs");
	r = UNPACK(reader, sample, p, size, &message);
	if (r < 0)
		return r;
	r = add_sample(reader, message);
	perftools__profiles__sample__free_unpacked(message, &reader->allocator);
	return r;
}

/* The column that pictures show: the one named, else the last, as go tool pprof has it. */
static int set_default(struct pprof_reader *reader)
{
	struct stoke_profile *profile = reader->profile;
	uint32_t type;
	int r = pprof_string(reader, reader->default_type, &type);

	if (r < 0)
		return r;
	if (!reader->nr_columns)
		return pprof_malformed(reader, "it has no type of values");
	if (reader->run)
		return 0; /* the first run decided */
	profile->default_value = reader->columns[reader->nr_columns - 1];
	for (unsigned i = 0; type && i < reader->nr_columns; i++) {
		if (profile->values[reader->columns[i]].type == type)
			profile->default_value = reader->columns[i];
	}
	return 0;
}

static int read_all(struct pprof_reader *reader, const struct stoke_read_options *options)
{
	const char *name = options && options->name ? options->name : reader->name;
	int r = profile_run(reader->profile, name, &reader->run);

	if (r >= 0)
		r = walk(reader, 1u << PPROF_STRING_TABLE, read_string);
	if (r >= 0)
		r = walk(reader,
			1u << PPROF_SAMPLE_TYPE | 1u << PPROF_MAPPING | 1u << PPROF_FUNCTION |
				1u << PPROF_TIME_NANOS | 1u << PPROF_DURATION_NANOS |
				1u << PPROF_PERIOD_TYPE | 1u << PPROF_PERIOD | 1u << PPROF_COMMENT |
				1u << PPROF_DEFAULT_SAMPLE_TYPE,
			read_head);
	if (r >= 0)
		r = set_default(reader);
	if (r >= 0)
		r = pprof_sort_ids(reader, &reader->mappings);
	if (r >= 0)
		r = pprof_sort_ids(reader, &reader->functions);
	if (r >= 0)
		r = walk(reader, 1u << PPROF_LOCATION, read_location);
	if (r >= 0)
		r = pprof_sort_ids(reader, &reader->locations);
	return r < 0 ? r : walk(reader, 1u << PPROF_SAMPLE, read_sample);
}

/* The whole file in the window of its input: strings come last, what needs them first. */
static int load(struct pprof_reader *reader, struct input *input)
{
	const uint8_t *p;
	size_t have = 0;
	ssize_t n;

	for (;;) {
		n = input_fill(input, 2 * have + 1, &p, reader->err);
		if (n < 0)
			return (int)n;
		if ((size_t)n == have)
			break;
		have = (size_t)n;
		if (have > FILE_MAX_BYTES)
			return fail(reader->err, -E2BIG, "%s unpacks to more than 1 GiB: refused",
				reader->name);
	}
	reader->bytes = p;
	reader->size = have;
	return 0;
}

int pprof_read(struct stoke_profile *into, struct input *input,
	const struct stoke_read_options *options, struct stoke_error *err)
{
	struct pprof_reader reader = {.profile = into, .err = err, .name = input_name(input)};
	int r = load(&reader, input);

	reader.allocator = (ProtobufCAllocator){allocate, release, &reader};
	if (r >= 0)
		r = read_all(&reader, options);
	free(reader.strings);
	free(reader.mappings.id);
	free(reader.functions.id);
	free(reader.locations.id);
	free(reader.pending);
	free(reader.labels);
	return r == -ENOMEM ? fail(err, r, "out of memory while reading %s", reader.name)
	       : r < 0	    ? r
			    : 0;
}

/* What each field of the outermost message is on the wire: a bit a type, profile.proto. */
static const uint8_t wire_types[] = {0, 1 << WIRE_BYTES, 1 << WIRE_BYTES, 1 << WIRE_BYTES,
	1 << WIRE_BYTES, 1 << WIRE_BYTES, 1 << WIRE_BYTES, 1 << WIRE_VARINT, 1 << WIRE_VARINT,
	1 << WIRE_VARINT, 1 << WIRE_VARINT, 1 << WIRE_BYTES, 1 << WIRE_VARINT,
	1 << WIRE_BYTES | 1 << WIRE_VARINT, 1 << WIRE_VARINT, 1 << WIRE_VARINT};

/* Sure when the fields are those of the message, and bytes among them that no text has. */
int pprof_recognise(const uint8_t *start, size_t size)
{
	size_t at = 0, nr_whole = 0;
	uint64_t tag, value;
	int is_text = 1;

	for (size_t i = 0; i < size && is_text; i++)
		is_text = start[i] >= 0x20 || start[i] == '\n' || start[i] == '\t' ||
			  start[i] == '\r';
	while (!is_text && at < size) {
		if (pprof_varint(start, size, &at, &tag) < 0)
			break;
		if (tag >> 3 >= ARRAY_SIZE(wire_types) || !(wire_types[tag >> 3] >> (tag & 7) & 1))
			return 0;
		if (pprof_varint(start, size, &at, &value) < 0)
			break;
		if ((tag & 7) == WIRE_BYTES) {
			if (value > size - at)
				break;
			at += (size_t)value;
		}
		nr_whole++;
	}
	return is_text || !nr_whole ? 0 : 95;
}
