/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pprof.c: the capture file: profile.proto, gzipped, a message at a time, so that writing needs
 * little memory. Strings come last, when all are known; the order of fields is free in protobuf.
 */
#include "format/pprof.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "profile.pb-c.h"

#define PAGE	  4096u
#define LAST_RANK 2u

struct writer {
	const struct stoke_profile *profile;
	FILE *out;
	z_stream zlib;
	uint8_t packed[1u << 15]; /* on its way from zlib to out */
	uint8_t *message; /* one message */
	size_t message_capacity;
	struct strings strings; /* of the file: printable */
	uint32_t *string_of; /* string of the profile -> of the file; 0: not asked yet */
	uint8_t *frame_used, *function_used, *module_used;
	uint64_t *module_start, *module_limit;
	uint8_t *module_unnamed; /* has frames without a name */
	uint64_t *path; /* scratch: location ids of a sample */
	size_t path_capacity;
	Perftools__Profiles__Label *labels; /* scratch */
	Perftools__Profiles__Label **label_list;
	size_t labels_capacity, label_list_capacity;
};

static void writer_done(struct writer *writer)
{
	(void)deflateEnd(&writer->zlib); /* only frees */
	strings_done(&writer->strings);
	free(writer->message);
	free(writer->string_of);
	free(writer->frame_used);
	free(writer->function_used);
	free(writer->module_used);
	free(writer->module_start);
	free(writer->module_limit);
	free(writer->module_unnamed);
	free(writer->path);
	free(writer->labels);
	free(writer->label_list);
}

/* Through zlib to the stream, whose errors stick. */
static void put(struct writer *writer, const void *bytes, size_t size, int flush)
{
	z_stream *zlib = &writer->zlib;

	zlib->next_in = (uint8_t *)bytes;
	zlib->avail_in = (unsigned)size;
	do {
		zlib->next_out = writer->packed;
		zlib->avail_out = sizeof(writer->packed);
		(void)deflate(zlib, flush); /* fails on misuse only, zlib.h */
		(void)fwrite(
			writer->packed, 1, sizeof(writer->packed) - zlib->avail_out, writer->out);
	} while (!zlib->avail_out);
}

static size_t varint(uint8_t out[10], uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		out[n++] = (uint8_t)value | 0x80;
	out[n++] = (uint8_t)value;
	return n;
}

static void put_number(struct writer *writer, unsigned field, uint64_t value)
{
	uint8_t bytes[20];
	size_t n;

	if (!value)
		return; /* as proto3 has it */
	n = varint(bytes, field << 3 | WIRE_VARINT);
	n += varint(bytes + n, value);
	put(writer, bytes, n, Z_NO_FLUSH);
}

static void put_bytes(struct writer *writer, unsigned field, const void *bytes, size_t size)
{
	uint8_t head[20];
	size_t n = varint(head, field << 3 | WIRE_BYTES);

	n += varint(head + n, size);
	put(writer, head, n, Z_NO_FLUSH);
	put(writer, bytes, size, Z_NO_FLUSH);
}

static int put_message(struct writer *writer, unsigned field, const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	int r = array_reserve(&writer->message, &writer->message_capacity, 0, size);

	if (r < 0)
		return r;
	put_bytes(
		writer, field, writer->message, protobuf_c_message_pack(message, writer->message));
	return 0;
}

/* A string of the file: valid UTF-8 and harmless. */
static int add_text(struct writer *writer, const char *text, size_t size, int64_t *ret)
{
	_cleanup_free_ char *printed = NULL;
	uint32_t id;
	size_t room;
	int r;

	if (size_multiply(size, 6, &room) < 0)
		return -E2BIG;
	printed = malloc(room + 1);
	if (!printed)
		return -ENOMEM;
	r = strings_add(&writer->strings, printed, text_printable(printed, room, text, size), &id);
	if (r >= 0)
		*ret = id;
	return r;
}

static int add_string(struct writer *writer, uint32_t string, int64_t *ret)
{
	const struct strings *strings = &writer->profile->strings;
	int r;

	if (string && !writer->string_of[string]) {
		int64_t id;

		r = add_text(
			writer, strings_text(strings, string), strings_size(strings, string), &id);
		if (r < 0)
			return r;
		writer->string_of[string] = (uint32_t)id;
	}
	*ret = writer->string_of[string];
	return 0;
}

/* What rows need: frames, their functions and modules with the range of addresses. */
static int mark_used(struct writer *writer)
{
	const struct stoke_profile *profile = writer->profile;
	_cleanup_free_ uint8_t *node_used = calloc(profile->stacks.nr, 1);

	if (!node_used)
		return -ENOMEM;
	for (size_t i = 0; i < profile->rows.nr; i++)
		node_used[profile->rows.stack[i]] = 1;
	for (size_t i = profile->stacks.nr; i-- > 1;) {
		if (node_used[i]) {
			node_used[profile->stacks.parent[i]] = 1;
			writer->frame_used[profile->stacks.frame[i]] = 1;
		}
	}
	for (size_t i = 1; i < profile->nr_frames; i++) {
		const struct frame *frame = &profile->frames[i];
		uint32_t module = frame->module;

		if (!writer->frame_used[i])
			continue;
		for (unsigned f = 0; f < frame->nr_functions; f++)
			writer->function_used[frame_function(profile, frame, f)] = 1;
		if (!writer->module_used[module] || frame->address < writer->module_start[module])
			writer->module_start[module] = frame->address;
		if (frame->address >= writer->module_limit[module])
			writer->module_limit[module] = frame->address;
		writer->module_used[module] = 1;
		/* Names in brackets are what resolve_profile() gives to what it cannot name. */
		if (!frame->nr_functions ||
			strings_text(&profile->strings,
				profile->functions[frame_function(profile, frame, 0)].name)[0] ==
				'[')
			writer->module_unnamed[module] = 1;
	}
	return 0;
}

static int put_value_type(struct writer *writer, unsigned field, const struct value_type *value)
{
	Perftools__Profiles__ValueType message = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	int r = add_string(writer, value->type, &message.type);

	if (r >= 0)
		r = add_string(writer, value->unit, &message.unit);
	return r < 0 ? r : put_message(writer, field, &message.base);
}

static int set_label(struct writer *writer, const struct label *label, size_t nr)
{
	Perftools__Profiles__Label *message = &writer->labels[nr];
	int r;

	*message = (Perftools__Profiles__Label)PERFTOOLS__PROFILES__LABEL__INIT;
	writer->label_list[nr] = message;
	r = add_string(writer, label->key, &message->key);
	if (r >= 0 && label->str)
		return add_string(writer, label->str, &message->str);
	message->num = label->num;
	return r < 0 ? r : add_string(writer, label->unit, &message->num_unit);
}

/* The labels of a row, and the time of its slice as one more. The number, or -errno. */
static int set_labels(struct writer *writer, size_t row)
{
	const struct stoke_profile *profile = writer->profile;
	const struct rows *rows = &profile->rows;
	uint32_t set = rows->labels[row], first = profile->label_sets[set];
	size_t nr = profile->label_sets[set + 1] - first;
	uint64_t slice_ns = profile->runs[rows->run[row]].slice_ns;
	Perftools__Profiles__Label *time;
	int r;

	r = array_reserve(&writer->labels, &writer->labels_capacity, nr, 1);
	if (r >= 0)
		r = array_reserve(&writer->label_list, &writer->label_list_capacity, nr, 1);
	for (size_t i = 0; r >= 0 && i < nr; i++)
		r = set_label(writer, &profile->labels[first + i], i);
	if (r < 0 || !slice_ns)
		return r < 0 ? r : (int)nr;
	time = &writer->labels[nr];
	*time = (Perftools__Profiles__Label)PERFTOOLS__PROFILES__LABEL__INIT;
	writer->label_list[nr] = time;
	time->num = (int64_t)(rows->slice[row] * slice_ns);
	r = add_text(writer, PPROF_TIME, strlen(PPROF_TIME), &time->key);
	if (r >= 0)
		r = add_text(writer, "nanoseconds", strlen("nanoseconds"), &time->num_unit);
	return r < 0 ? r : (int)nr + 1;
}

static int put_samples(struct writer *writer)
{
	const struct stoke_profile *profile = writer->profile;
	const struct stacks *stacks = &profile->stacks;
	const struct rows *rows = &profile->rows;
	int64_t values[PROFILE_MAX_VALUES];
	int r = 0, nr_labels;

	for (size_t i = 0; r >= 0 && i < rows->nr; i++) {
		Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT;

		for (uint32_t node = rows->stack[i]; node; node = stacks->parent[node]) {
			r = array_reserve(
				&writer->path, &writer->path_capacity, sample.n_location_id, 1);
			if (r < 0)
				return r;
			writer->path[sample.n_location_id++] = stacks->frame[node];
		}
		nr_labels = set_labels(writer, i);
		if (nr_labels < 0)
			return nr_labels;
		for (unsigned v = 0; v < profile->nr_values; v++)
			values[v] = rows->value[v][i] > INT64_MAX ? INT64_MAX
								  : (int64_t)rows->value[v][i];
		sample.location_id = writer->path;
		sample.value = values;
		sample.n_value = profile->nr_values;
		sample.label = writer->label_list;
		sample.n_label = (size_t)nr_labels;
		r = put_message(writer, PPROF_SAMPLE, &sample.base);
	}
	return r;
}

/*
 * A mapping's range and offset are such that address - start + offset is the place in the file:
 * addresses of file modules are that already.
 */
static void set_range(
	const struct writer *writer, uint32_t module, Perftools__Profiles__Mapping *message)
{
	const struct module *of = &writer->profile->modules[module];
	uint64_t limit = writer->module_limit[module] | (PAGE - 1);

	if (of->kind == MODULE_FOREIGN) {
		message->memory_start = of->start;
		message->memory_limit = of->limit;
		message->file_offset = of->offset;
		return;
	}
	message->memory_limit = limit == UINT64_MAX ? limit : limit + 1;
	if (of->kind != MODULE_FILE && of->kind != MODULE_VDSO)
		message->memory_start = writer->module_start[module] & ~(uint64_t)(PAGE - 1);
}

static int put_mapping(struct writer *writer, uint32_t id)
{
	Perftools__Profiles__Mapping message = PERFTOOLS__PROFILES__MAPPING__INIT;
	const struct module *module = &writer->profile->modules[id];
	char build_id[2 * MODULE_BUILD_ID_MAX + 1] = "", name[32];
	const char *path = module->path ? module->path : "";
	int r;

	message.id = id;
	set_range(writer, id, &message);
	if (module->kind == MODULE_KERNEL)
		path = PPROF_KERNEL;
	else if (module->kind == MODULE_VDSO)
		path = "[vdso]";
	else if (module->kind == MODULE_JIT)
		path = name;
	(void)snprintf(name, sizeof(name), "[jit %d]", (int)module->pid);
	for (size_t i = 0; i < module->build_id_size; i++)
		(void)snprintf(build_id + 2 * i, 3, "%02x", module->build_id[i]);
	message.has_functions = !writer->module_unnamed[id];
	r = add_text(writer, path, strlen(path), &message.filename);
	if (r >= 0)
		r = add_text(writer, build_id, strlen(build_id), &message.build_id);
	return r < 0 ? r : put_message(writer, PPROF_MAPPING, &message.base);
}

/* pprof's first mapping is the main binary: programs stand before libraries, the kernel last. */
static unsigned mapping_rank(const struct module *module)
{
	const char *path = module->path ? module->path : "", *name = strrchr(path, '/');

	if (module->kind == MODULE_KERNEL || strncmp(path, "[kernel", 7) == 0)
		return LAST_RANK;
	if (module->kind == MODULE_VDSO || module->kind == MODULE_JIT || path[0] != '/')
		return 1;
	return strstr(name, ".so") != NULL;
}

/* Without any mapping, go tool pprof invents one and misses its binary. */
static int put_mappings(struct writer *writer)
{
	Perftools__Profiles__Mapping nothing = PERFTOOLS__PROFILES__MAPPING__INIT;
	size_t nr = 0;
	int r = 0;

	for (unsigned rank = 0; rank <= LAST_RANK; rank++) {
		for (size_t i = 1; r >= 0 && i < writer->profile->nr_modules; i++) {
			if (writer->module_used[i] &&
				mapping_rank(&writer->profile->modules[i]) == rank) {
				r = put_mapping(writer, (uint32_t)i);
				nr++;
			}
		}
	}
	if (r < 0 || nr)
		return r;
	nothing.id = 1;
	nothing.has_functions = 1;
	return put_message(writer, PPROF_MAPPING, &nothing.base);
}

/* The extra field, whose varint is bytes[0..size). */
static ProtobufCMessageUnknownField extra_field(uint8_t bytes[10], uint64_t value)
{
	return (ProtobufCMessageUnknownField){.tag = PPROF_EXTRA,
		.wire_type = PROTOBUF_C_WIRE_TYPE_VARINT,
		.len = varint(bytes, value),
		.data = bytes};
}

static int put_location(struct writer *writer, uint32_t id)
{
	const struct stoke_profile *profile = writer->profile;
	const struct frame *frame = &profile->frames[id];
	Perftools__Profiles__Location message = PERFTOOLS__PROFILES__LOCATION__INIT;
	_cleanup_free_ Perftools__Profiles__Line *lines = NULL;
	_cleanup_free_ Perftools__Profiles__Line **list = NULL;
	ProtobufCMessageUnknownField extra;
	uint8_t bytes[10];

	lines = calloc(frame->nr_functions + 1u, sizeof(*lines));
	list = calloc(frame->nr_functions + 1u, sizeof(Perftools__Profiles__Line *));
	if (!lines || !list)
		return -ENOMEM;
	for (unsigned i = 0; i < frame->nr_functions; i++) {
		lines[i] = (Perftools__Profiles__Line)PERFTOOLS__PROFILES__LINE__INIT;
		lines[i].function_id = frame_function(profile, frame, i);
		lines[i].line = frame->nr_functions == 1
					? frame->line
					: profile->inlined[frame->function + i].line;
		list[i] = &lines[i];
	}
	message.id = id;
	message.mapping_id = frame->module;
	message.address = frame->address;
	message.line = list;
	message.n_line = frame->nr_functions;
	if (frame->flags !=
		(profile->modules[frame->module].kind == MODULE_KERNEL ? FRAME_KERNEL : 0)) {
		extra = extra_field(bytes, frame->flags);
		message.base.unknown_fields = &extra;
		message.base.n_unknown_fields = 1;
	}
	return put_message(writer, PPROF_LOCATION, &message.base);
}

static int put_function(struct writer *writer, uint32_t id)
{
	const struct function *function = &writer->profile->functions[id];
	Perftools__Profiles__Function message = PERFTOOLS__PROFILES__FUNCTION__INIT;
	ProtobufCMessageUnknownField extra;
	uint8_t bytes[10];
	int r;

	message.id = id;
	message.start_line = function->line;
	r = function->name ? add_string(writer, function->name, &message.name)
			   : add_text(writer, "[unknown]", strlen("[unknown]"), &message.name);
	message.system_name = message.name;
	if (r >= 0)
		r = add_string(writer, function->file, &message.filename);
	extra = extra_field(bytes, function->kind);
	message.base.unknown_fields = &extra;
	message.base.n_unknown_fields = 1;
	return r < 0 ? r : put_message(writer, PPROF_FUNCTION, &message.base);
}

static int put_comment(struct writer *writer, const char *text)
{
	int64_t id;
	int r = add_text(writer, text, strlen(text), &id);

	if (r >= 0)
		put_number(writer, PPROF_COMMENT, (uint64_t)id);
	return r;
}

static int put_pair(struct writer *writer, const char *group, const char *key, const char *value)
{
	_cleanup_free_ char *text = NULL;

	if (asprintf(&text, PPROF_COMMENT_PREFIX "%s%s=%s", group, key, value) < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return put_comment(writer, text);
}

/* What the run says of itself; comments of another tool's file are as they were. */
static int put_facts(struct writer *writer, const struct run *run)
{
	const struct strings *strings = &writer->profile->strings;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < run->nr_facts; i++) {
		const char *key = strings_text(strings, run->facts[i].key);
		const char *value = strings_text(strings, run->facts[i].value);

		r = strcmp(key, "comment") == 0 ? put_comment(writer, value)
						: put_pair(writer, "", key, value);
	}
	return r;
}

static int put_comments(struct writer *writer)
{
	const struct stoke_profile *profile = writer->profile;
	struct quality quality;
	char number[24];
	int r = 0;

	for (size_t i = 0; r >= 0 && i < profile->nr_runs; i++)
		r = put_facts(writer, &profile->runs[i]);
	quality_sum(profile, &quality);
	for (size_t i = 0; r >= 0 && i < NR_QUALITY_COUNTS; i++) {
		if (!quality.count[i])
			continue;
		(void)snprintf(number, sizeof(number), "%" PRIu64, quality.count[i]);
		r = put_pair(writer, PPROF_QUALITY, quality_name((enum quality_count)i), number);
	}
	if (r >= 0 && profile->nr_runs && profile->runs[0].slice_ns) {
		(void)snprintf(number, sizeof(number), "%" PRIu64, profile->runs[0].slice_ns);
		r = put_pair(writer, "", PPROF_SLICE, number);
	}
	return r;
}

/* A file holds one run: of several, it began with the first and took as long as all. */
static int put_run(struct writer *writer)
{
	const struct stoke_profile *profile = writer->profile;
	uint64_t start_ns = 0, duration_ns = 0;
	const struct run *run = profile->runs;
	int64_t id;
	int r;

	for (size_t i = 0; i < profile->nr_runs; i++) {
		if (run[i].start_ns && (!start_ns || run[i].start_ns < start_ns))
			start_ns = run[i].start_ns;
		duration_ns += run[i].duration_ns;
	}
	put_number(writer, PPROF_TIME_NANOS, start_ns);
	put_number(writer, PPROF_DURATION_NANOS, duration_ns);
	if (profile->nr_runs && run->period) {
		r = put_value_type(writer, PPROF_PERIOD_TYPE, &run->period_type);
		if (r < 0)
			return r;
		put_number(writer, PPROF_PERIOD, run->period);
	}
	if (profile->nr_values) {
		r = add_string(writer, profile->values[profile->default_value].type, &id);
		if (r < 0)
			return r;
		put_number(writer, PPROF_DEFAULT_SAMPLE_TYPE, (uint64_t)id);
	}
	return put_comments(writer);
}

static int make_room(struct writer *writer)
{
	const struct stoke_profile *profile = writer->profile;

	writer->string_of = calloc(profile->strings.nr, sizeof(*writer->string_of));
	writer->frame_used = calloc(profile->nr_frames, 1);
	writer->function_used = calloc(profile->nr_functions, 1);
	writer->module_used = calloc(profile->nr_modules, 1);
	writer->module_start = calloc(profile->nr_modules, sizeof(*writer->module_start));
	writer->module_limit = calloc(profile->nr_modules, sizeof(*writer->module_limit));
	writer->module_unnamed = calloc(profile->nr_modules, 1);
	if (!writer->string_of || !writer->frame_used || !writer->function_used ||
		!writer->module_used || !writer->module_start || !writer->module_limit ||
		!writer->module_unnamed)
		return -ENOMEM;
	/* 15: the largest window; 16: gzip, whose header zlib writes without a time. */
	if (deflateInit2(&writer->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
		    Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	return strings_init(&writer->strings);
}

static int put_all(struct writer *writer)
{
	const struct stoke_profile *profile = writer->profile;
	int r = mark_used(writer);

	for (unsigned v = 0; r >= 0 && v < profile->nr_values; v++)
		r = put_value_type(writer, PPROF_SAMPLE_TYPE, &profile->values[v]);
	if (r >= 0)
		r = put_samples(writer);
	if (r >= 0)
		r = put_mappings(writer);
	for (size_t i = 1; r >= 0 && i < profile->nr_frames; i++) {
		if (writer->frame_used[i])
			r = put_location(writer, (uint32_t)i);
	}
	for (size_t i = 1; r >= 0 && i < profile->nr_functions; i++) {
		if (writer->function_used[i])
			r = put_function(writer, (uint32_t)i);
	}
	if (r >= 0)
		r = put_run(writer);
	for (uint32_t i = 0; r >= 0 && i < writer->strings.nr; i++)
		put_bytes(writer, PPROF_STRING_TABLE, strings_text(&writer->strings, i),
			strings_size(&writer->strings, i));
	return r;
}

static int pprof_write(const struct stoke_profile *profile, const void *params, FILE *out)
{
	struct writer *writer = calloc(1, sizeof(*writer)); /* larger than a stack should bear */
	int r;

	(void)params; /* has none */
	if (!writer)
		return -ENOMEM;
	writer->profile = profile;
	writer->out = out;
	r = make_room(writer);
	if (r >= 0)
		r = put_all(writer);
	if (r >= 0)
		put(writer, NULL, 0, Z_FINISH);
	writer_done(writer);
	free(writer);
	return r < 0 ? r : 0;
}

const struct format format_pprof = {
	.name = "pprof",
	.summary = "profile.proto, gzipped: complete, read by go tool pprof and many others",
	.suffixes = ".pb.gz .pprof .pb",
	.binary = 1,
	.recognise = pprof_recognise,
	.read = pprof_read,
	.write = pprof_write,
};
