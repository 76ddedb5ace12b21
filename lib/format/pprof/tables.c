/* SPDX-License-Identifier: BSD-2-Clause */
/* tables.c: the strings, mappings, functions and locations of a pprof file, by their ids. */
#include "format/pprof/reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"

int pprof_malformed(struct pprof_reader *reader, const char *what)
{
	return fail(reader->err, -EINVAL, "%s is not a sound pprof file: %s", reader->name, what);
}

int pprof_string(struct pprof_reader *reader, int64_t index, uint32_t *ret)
{
	if (index == 0) {
		*ret = 0;
		return 0;
	}
	if (index < 0 || (uint64_t)index >= reader->nr_strings)
		return pprof_malformed(reader, "a string that it does not have");
	*ret = reader->strings[index];
	return 0;
}

static int add_id(struct pprof_reader *reader, struct ids *ids, uint64_t file, uint32_t mine,
	uint32_t nr_lines)
{
	int r;

	if (!file)
		return pprof_malformed(reader, "an id that is 0");
	r = array_reserve(&ids->id, &ids->capacity, ids->nr, 1);
	if (r >= 0)
		ids->id[ids->nr++] = (struct id){file, mine, nr_lines};
	return r;
}

static int by_file_id(const void *a, const void *b)
{
	const struct id *x = a, *y = b;

	return x->file < y->file ? -1 : x->file > y->file;
}

int pprof_sort_ids(struct pprof_reader *reader, struct ids *ids)
{
	if (ids->nr)
		qsort(ids->id, ids->nr, sizeof(*ids->id), by_file_id);
	for (size_t i = 1; i < ids->nr; i++) {
		if (ids->id[i].file == ids->id[i - 1].file)
			return pprof_malformed(reader, "an id that stands for two things");
	}
	return 0;
}

/* Most files count from 1. */
const struct id *pprof_find_id(const struct ids *ids, uint64_t file)
{
	const struct id key = {.file = file};

	if (file - 1 < ids->nr && ids->id[file - 1].file == file)
		return &ids->id[file - 1];
	return ids->nr ? bsearch(&key, ids->id, ids->nr, sizeof(key), by_file_id) : NULL;
}

/* The number in the extra field of a message; -1: it has none. */
static int64_t extra_of(const ProtobufCMessage *message)
{
	for (unsigned i = 0; i < message->n_unknown_fields; i++) {
		const ProtobufCMessageUnknownField *field = &message->unknown_fields[i];
		uint64_t value;
		size_t at = 0;

		if (field->tag == PPROF_EXTRA && field->wire_type == PROTOBUF_C_WIRE_TYPE_VARINT &&
			pprof_varint(field->data, field->len, &at, &value) == 0 &&
			value <= UINT16_MAX)
			return (int64_t)value;
	}
	return -1;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* Build ids that are no hexadecimal bytes (Go has such) name nothing that stoke could look for. */
static void set_build_id(struct module *module, const char *text, size_t size)
{
	if (!size || size % 2 || size > 2 * MODULE_BUILD_ID_MAX)
		return;
	for (size_t i = 0; i < size; i++) {
		if (hex_digit(text[i]) < 0)
			return;
	}
	for (size_t i = 0; i < size / 2; i++)
		module->build_id[i] =
			(uint8_t)(hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]));
	module->build_id_size = (uint8_t)(size / 2);
}

static int add_mapping(struct pprof_reader *reader, const Perftools__Profiles__Mapping *message)
{
	struct stoke_profile *profile = reader->profile;
	struct module module = {.kind = MODULE_FOREIGN,
		.fd = -1,
		.root_fd = -1,
		.start = message->memory_start,
		.limit = message->memory_limit,
		.offset = message->file_offset};
	_cleanup_free_ char *path = NULL;
	uint32_t file = 0, build_id = 0, id;
	int r = pprof_string(reader, message->filename, &file);

	if (r >= 0)
		r = pprof_string(reader, message->build_id, &build_id);
	if (r >= 0 && !file && !build_id && !module.start && !module.limit)
		return add_id(reader, &reader->mappings, message->id, 0, 0); /* says nothing */
	if (r < 0)
		return r;
	path = strdup(strings_text(&profile->strings, file));
	if (!path)
		return -ENOMEM;
	if (strncmp(path, PPROF_KERNEL, strlen(PPROF_KERNEL)) == 0)
		module.kind =
			MODULE_KERNEL; /* "_stext" may stand behind, as perf_to_profile has it */
	module.path = path;
	set_build_id(&module, strings_text(&profile->strings, build_id),
		strings_size(&profile->strings, build_id));
	r = profile_module(profile, &module, &id);
	return r < 0 ? r : add_id(reader, &reader->mappings, message->id, id, 0);
}

static int add_function(struct pprof_reader *reader, const Perftools__Profiles__Function *message)
{
	struct pending function = {.kind = (int)extra_of(&message->base)};
	size_t nr = reader->functions.nr;
	int r = pprof_string(
		reader, message->name ? message->name : message->system_name, &function.name);

	if (r >= 0)
		r = pprof_string(reader, message->filename, &function.file);
	if (r >= 0)
		r = array_reserve(&reader->pending, &reader->pending_capacity, nr, 1);
	if (r < 0)
		return r;
	if (message->start_line > 0 && message->start_line <= UINT32_MAX)
		function.line = (uint32_t)message->start_line;
	if (function.kind >= NR_FUNCTION_KINDS)
		function.kind = FUNCTION_UNKNOWN; /* of a later version */
	reader->pending[nr] = function;
	return add_id(reader, &reader->functions, message->id, (uint32_t)nr, 0);
}

static enum function_kind kind_of(const struct pending *function, int is_inlined, int is_kernel)
{
	if (function->kind >= 0)
		return (enum function_kind)function->kind;
	return is_inlined ? FUNCTION_INLINED : is_kernel ? FUNCTION_KERNEL : FUNCTION_UNKNOWN;
}

/* The profile's function of a line, which is inlined where it is not the outermost. */
static int use_function(struct pprof_reader *reader, const Perftools__Profiles__Line *line,
	int is_inlined, int is_kernel, uint32_t *ret)
{
	static const char unknown[] = "[unknown]";
	struct stoke_profile *profile = reader->profile;
	const struct id *id = pprof_find_id(&reader->functions, line->function_id);
	struct pending *function;
	_cleanup_free_ char *name = NULL;
	size_t size;
	int r;

	if (line->function_id && !id)
		return pprof_malformed(reader, "a line of a function that it does not have");
	function = id ? &reader->pending[id->mine] : NULL;
	if (!function || !function->name)
		return profile_function(
			profile, unknown, strlen(unknown), FUNCTION_MARK, 0, 0, ret);
	if (!function->as[is_inlined]) {
		size = strings_size(&profile->strings, function->name);
		name = malloc(size); /* a copy, since the profile's strings move */
		if (!name)
			return -ENOMEM;
		memcpy(name, strings_text(&profile->strings, function->name), size);
		r = profile_function(profile, name, size, kind_of(function, is_inlined, is_kernel),
			function->file, function->line, &function->as[is_inlined]);
		if (r < 0)
			return r;
	}
	*ret = function->as[is_inlined];
	return 0;
}

/* The slice of profile->inlined for a location of several lines. */
static int add_inlined(struct pprof_reader *reader, const Perftools__Profiles__Location *message,
	int is_kernel, struct frame *frame)
{
	struct stoke_profile *profile = reader->profile;
	size_t nr = message->n_line;
	int r = array_reserve(
		&profile->inlined, &profile->inlined_capacity, profile->nr_inlined, nr);

	for (size_t i = 0; r >= 0 && i < nr; i++) {
		struct inlined *entry = &profile->inlined[profile->nr_inlined + i];

		entry->line = message->line[i]->line > 0 && message->line[i]->line <= UINT32_MAX
				      ? (uint32_t)message->line[i]->line
				      : 0;
		r = use_function(reader, message->line[i], i + 1 < nr, is_kernel, &entry->function);
	}
	if (r < 0)
		return r;
	frame->function = (uint32_t)profile->nr_inlined;
	frame->line = profile->inlined[profile->nr_inlined].line;
	profile->nr_inlined += nr;
	return 0;
}

static int add_location(struct pprof_reader *reader, const Perftools__Profiles__Location *message)
{
	const struct id *mapping = pprof_find_id(&reader->mappings, message->mapping_id);
	int64_t flags = extra_of(&message->base);
	struct frame frame = {.address = message->address};
	uint32_t id;
	int r = 0, is_kernel;

	if (message->mapping_id && !mapping)
		return pprof_malformed(reader, "a location in a mapping that it does not have");
	if (message->n_line > UINT16_MAX)
		return pprof_malformed(reader, "a location with more than 65,535 lines");
	frame.module = mapping ? mapping->mine : 0;
	is_kernel = reader->profile->modules[frame.module].kind == MODULE_KERNEL;
	frame.flags = flags >= 0 ? (uint16_t)flags : is_kernel ? FRAME_KERNEL : 0;
	frame.nr_functions = (uint16_t)message->n_line;
	if (message->n_line == 1) {
		int64_t line = message->line[0]->line;

		frame.line = line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
		r = use_function(reader, message->line[0], 0, is_kernel, &frame.function);
	} else if (message->n_line) {
		r = add_inlined(reader, message, is_kernel, &frame);
	}
	if (r >= 0)
		r = profile_frame(reader->profile, &frame, &id);
	return r < 0 ? r : add_id(reader, &reader->locations, message->id, id, frame.nr_functions);
}

int pprof_read_mapping(struct pprof_reader *reader, const uint8_t *p, size_t size)
{
	Perftools__Profiles__Mapping *message;
	int r = UNPACK(reader, mapping, p, size, &message);

	if (r < 0)
		return r;
	r = add_mapping(reader, message);
	perftools__profiles__mapping__free_unpacked(message, &reader->allocator);
	return r;
}

int pprof_read_function(struct pprof_reader *reader, const uint8_t *p, size_t size)
{
	Perftools__Profiles__Function *message;
	int r = UNPACK(reader, function, p, size, &message);

	if (r < 0)
		return r;
	r = add_function(reader, message);
	perftools__profiles__function__free_unpacked(message, &reader->allocator);
	return r;
}

int pprof_read_location(struct pprof_reader *reader, const uint8_t *p, size_t size)
{
	Perftools__Profiles__Location *message;
	int r = UNPACK(reader, location, p, size, &message);

	if (r < 0)
		return r;
	r = add_location(reader, message);
	perftools__profiles__location__free_unpacked(message, &reader->allocator);
	return r;
}
