/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * structs.c: rows of what is wanted against rows of what there is. HotSpot renames fields and moves
 * them between types from release to release; each of their names is a row, and of several that one
 * VM has the first row counts.
 */
#include "hotspot/structs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "hotspot/exports.h"
#include "process/pages.h"

#define NAME_BYTES  128
#define MAX_ENTRIES 20000 /* of one table; the largest has 850 */
#define MAX_STRIDE  512
#define MAX_OFFSET  65536

enum want {
	FIELD, /* struct hotspot_field */
	PLACE, /* uint32_t: the offset of a struct within another */
	VARIABLE, /* uint64_t: an address */
	SIZE /* uint32_t: of a type */
};

struct row {
	const char *type, *name;
	uint16_t at;
	uint8_t want;
};

#define ROW(want_, member, type_, name_)                                                           \
	{                                                                                          \
		.type = (type_), .name = (name_), .at = offsetof(struct hotspot_structs, member),  \
		.want = (want_)                                                                    \
	}

static const struct row rows[] = {
	ROW(VARIABLE, at.heap, "CodeCache", "_heap"),
	ROW(VARIABLE, at.heaps, "CodeCache", "_heaps"),
	ROW(VARIABLE, at.low_bound, "CodeCache", "_low_bound"),
	ROW(VARIABLE, at.high_bound, "CodeCache", "_high_bound"),
	ROW(VARIABLE, at.call_stub_return, "StubRoutines", "_call_stub_return_address"),
	ROW(VARIABLE, at.thread_list, "Threads", "_thread_list"),
	ROW(VARIABLE, at.threads, "ThreadsSMRSupport", "_java_thread_list"),
	ROW(VARIABLE, at.interpreter, "AbstractInterpreter", "_code"),
	ROW(VARIABLE, at.continuation_return, "ContinuationEntry", "_return_pc"),
	ROW(VARIABLE, at.oop_base, "CompressedOops", "_base"),
	ROW(VARIABLE, at.oop_base, "CompressedOops", "_narrow_oop._base"),
	ROW(VARIABLE, at.oop_base, "Universe", "_narrow_oop._base"),
	ROW(VARIABLE, at.oop_shift, "CompressedOops", "_shift"),
	ROW(VARIABLE, at.oop_shift, "CompressedOops", "_narrow_oop._shift"),
	ROW(VARIABLE, at.oop_shift, "Universe", "_narrow_oop._shift"),
	ROW(VARIABLE, at.klass_base, "CompressedKlassPointers", "_base"),
	ROW(VARIABLE, at.klass_base, "CompressedKlassPointers", "_narrow_klass._base"),
	ROW(VARIABLE, at.klass_base, "Universe", "_narrow_klass._base"),
	ROW(VARIABLE, at.klass_shift, "CompressedKlassPointers", "_shift"),
	ROW(VARIABLE, at.klass_shift, "CompressedKlassPointers", "_narrow_klass._shift"),
	ROW(VARIABLE, at.klass_shift, "Universe", "_narrow_klass._shift"),
	ROW(VARIABLE, at.flags, "JVMFlag", "flags"),
	ROW(VARIABLE, at.flags, "Flag", "flags"),
	ROW(VARIABLE, at.nr_flags, "JVMFlag", "numFlags"),
	ROW(VARIABLE, at.nr_flags, "Flag", "numFlags"),
	ROW(VARIABLE, at.major_version, "Abstract_VM_Version", "_vm_major_version"),
	ROW(VARIABLE, at.release, "Abstract_VM_Version", "_s_vm_release"),

	ROW(FIELD, array.length, "GrowableArrayBase", "_len"),
	ROW(FIELD, array.length, "GenericGrowableArray", "_len"),
	ROW(FIELD, array.data, "GrowableArray<int>", "_data"),

	ROW(PLACE, heap.memory, "CodeHeap", "_memory"),
	ROW(PLACE, heap.segments, "CodeHeap", "_segmap"),
	ROW(FIELD, heap.log2_segment, "CodeHeap", "_log2_segment_size"),
	ROW(FIELD, heap.low, "VirtualSpace", "_low"),
	ROW(FIELD, heap.high, "VirtualSpace", "_high"),
	ROW(FIELD, heap.low_limit, "VirtualSpace", "_low_boundary"),
	ROW(FIELD, heap.high_limit, "VirtualSpace", "_high_boundary"),
	ROW(FIELD, heap.block_length, "HeapBlock::Header", "_length"),
	ROW(FIELD, heap.block_used, "HeapBlock::Header", "_used"),
	ROW(SIZE, heap.block_size, "HeapBlock", NULL),

	ROW(FIELD, blob.name, "CodeBlob", "_name"),
	ROW(FIELD, blob.size, "CodeBlob", "_size"),
	ROW(FIELD, blob.frame_size, "CodeBlob", "_frame_size"),
	ROW(FIELD, blob.frame_complete, "CodeBlob", "_frame_complete_offset"),
	ROW(FIELD, blob.code_begin, "CodeBlob", "_code_begin"),
	ROW(FIELD, blob.code_begin, "CodeBlob", "_code_offset"),
	ROW(FIELD, blob.code_end, "CodeBlob", "_code_end"),
	ROW(FIELD, blob.data_offset, "CodeBlob", "_data_offset"),
	ROW(FIELD, blob.relocation_size, "CodeBlob", "_relocation_size"),
	ROW(FIELD, blob.mutable_data, "CodeBlob", "_mutable_data"),
	ROW(FIELD, blob.kind, "CodeBlob", "_kind"),
	ROW(SIZE, blob.header_size, "CodeBlob", NULL),

	ROW(FIELD, nmethod.method, "nmethod", "_method"),
	ROW(FIELD, nmethod.method, "CompiledMethod", "_method"),
	ROW(FIELD, nmethod.state, "nmethod", "_state"),
	ROW(FIELD, nmethod.compile_id, "nmethod", "_compile_id"),
	ROW(FIELD, nmethod.level, "nmethod", "_comp_level"),
	ROW(FIELD, nmethod.entry_bci, "nmethod", "_entry_bci"),
	ROW(FIELD, nmethod.verified_entry, "nmethod", "_verified_entry_point"),
	ROW(FIELD, nmethod.verified_entry, "nmethod", "_verified_entry_offset"),
	ROW(FIELD, nmethod.orig_pc, "nmethod", "_orig_pc_offset"),
	ROW(FIELD, nmethod.deopt_handler, "CompiledMethod", "_deopt_handler_begin"),
	ROW(FIELD, nmethod.deopt_handler, "nmethod", "_deoptimize_offset"),
	ROW(FIELD, nmethod.deopt_handler, "nmethod", "_deopt_handler_offset"),
	ROW(FIELD, nmethod.deopt_handler, "nmethod", "_deopt_handler_entry_offset"),
	ROW(FIELD, nmethod.metadata, "nmethod", "_metadata_offset"),
	ROW(FIELD, nmethod.scopes_data, "CompiledMethod", "_scopes_data_begin"),
	ROW(FIELD, nmethod.scopes_data, "nmethod", "_scopes_data_offset"),
	ROW(FIELD, nmethod.scopes_pcs, "nmethod", "_scopes_pcs_offset"),
	ROW(FIELD, nmethod.dependencies, "nmethod", "_dependencies_offset"),
	ROW(FIELD, nmethod.immutable_data, "nmethod", "_immutable_data"),
	ROW(FIELD, nmethod.immutable_size, "nmethod", "_immutable_data_size"),
	ROW(SIZE, nmethod.size, "nmethod", NULL),

	ROW(FIELD, pc_desc.offset, "PcDesc", "_pc_offset"),
	ROW(FIELD, pc_desc.scope, "PcDesc", "_scope_decode_offset"),
	ROW(SIZE, pc_desc.size, "PcDesc", NULL),
	ROW(FIELD, deopt.unpack, "DeoptimizationBlob", "_unpack_offset"),
	ROW(FIELD, queue.buffer, "StubQueue", "_stub_buffer"),
	ROW(FIELD, queue.limit, "StubQueue", "_buffer_limit"),

	ROW(FIELD, method.constants, "Method", "_constMethod"),
	ROW(FIELD, method.pool, "ConstMethod", "_constants"),
	ROW(FIELD, method.name, "ConstMethod", "_name_index"),
	ROW(FIELD, method.signature, "ConstMethod", "_signature_index"),
	ROW(FIELD, method.code_size, "ConstMethod", "_code_size"),
	ROW(FIELD, method.flags, "ConstMethod", "_flags"),
	ROW(FIELD, method.flags, "ConstMethod", "_flags._flags"),
	ROW(SIZE, method.code, "ConstMethod", NULL),
	ROW(FIELD, method.holder, "ConstantPool", "_pool_holder"),
	ROW(FIELD, method.source_file, "ConstantPool", "_source_file_name_index"),
	ROW(FIELD, method.klass_source_file, "InstanceKlass", "_source_file_name_index"),
	ROW(SIZE, method.slots, "ConstantPool", NULL),
	ROW(FIELD, method.klass_name, "Klass", "_name"),
	ROW(FIELD, method.klass_layout, "Klass", "_layout_helper"),
	ROW(FIELD, method.symbol_length, "Symbol", "_length"),
	ROW(FIELD, method.symbol_length, "Symbol", "_length_and_refcount"),
	ROW(PLACE, method.symbol_body, "Symbol", "_body"),
	ROW(PLACE, method.symbol_body, "Symbol", "_body[0]"),

	ROW(PLACE, thread.anchor, "JavaThread", "_anchor"),
	ROW(FIELD, thread.last_sp, "JavaFrameAnchor", "_last_Java_sp"),
	ROW(FIELD, thread.last_pc, "JavaFrameAnchor", "_last_Java_pc"),
	ROW(FIELD, thread.last_fp, "JavaFrameAnchor", "_last_Java_fp"),
	ROW(PLACE, thread.wrapper_anchor, "JavaCallWrapper", "_anchor"),
	ROW(FIELD, thread.next, "JavaThread", "_next"),
	ROW(FIELD, thread.os_thread, "JavaThread", "_osthread"),
	ROW(FIELD, thread.os_thread, "Thread", "_osthread"),
	ROW(FIELD, thread.object, "JavaThread", "_threadObj"),
	ROW(FIELD, thread.stack_base, "JavaThread", "_stack_base"),
	ROW(FIELD, thread.stack_base, "Thread", "_stack_base"),
	ROW(FIELD, thread.stack_size, "JavaThread", "_stack_size"),
	ROW(FIELD, thread.stack_size, "Thread", "_stack_size"),
	ROW(FIELD, thread.state, "JavaThread", "_thread_state"),
	ROW(FIELD, thread.continuation, "JavaThread", "_cont_entry"),
	ROW(FIELD, thread.tid, "OSThread", "_thread_id"),
	ROW(FIELD, thread.list_length, "ThreadsList", "_length"),
	ROW(FIELD, thread.list, "ThreadsList", "_threads"),

	ROW(FIELD, flag.name, "JVMFlag", "_name"),
	ROW(FIELD, flag.name, "Flag", "_name"),
	ROW(FIELD, flag.value, "JVMFlag", "_addr"),
	ROW(FIELD, flag.value, "Flag", "_addr"),
	ROW(SIZE, flag.size, "JVMFlag", NULL),
	ROW(SIZE, flag.size, "Flag", NULL),
};

/* Widths of types that not every release lists; enumerations are ints. */
static const struct {
	const char *name;
	uint8_t size, is_signed;
} plain[] = {
	{"bool", 1, 0},
	{"unsigned char", 1, 0},
	{"signed char", 1, 1},
	{"short", 2, 1},
	{"unsigned short", 2, 0},
	{"jushort", 2, 0},
	{"int", 4, 1},
	{"jint", 4, 1},
	{"pid_t", 4, 1},
	{"thread_id_t", 4, 1},
	{"OSThread::thread_id_t", 4, 1},
	{"JavaThreadState", 4, 1},
	{"unsigned", 4, 0},
	{"uint", 4, 0},
	{"oop", 8, 0},
	{"OopHandle", 8, 0},
	{"address", 8, 0},
};

struct type {
	char name[NAME_BYTES];
	uint64_t size;
	int is_signed;
};

struct reading {
	struct pages *pages;
	const struct hotspot_exports *exports;
	struct hotspot_structs *into;
	uint8_t found[ARRAY_SIZE(rows)];
	struct type *types;
	size_t nr_types, types_capacity;
};

/* A table and where its columns are, by the names that HotSpot gives them. */
struct table {
	uint64_t at, stride;
	uint64_t columns[5];
};

static int read_table(struct reading *reading, const char *name, const char *entry,
	const char *const *columns, size_t nr, struct table *ret)
{
	uint64_t at = hotspot_exports_find(reading->exports, name);
	char word[NAME_BYTES];

	if (!at)
		return -ENOENT;
	ret->at = pages_pointer(reading->pages, at);
	(void)snprintf(word, sizeof(word), "%sArrayStride", entry);
	ret->stride = pages_pointer(reading->pages, hotspot_exports_find(reading->exports, word));
	if (!ret->at)
		return -EAGAIN;
	if (ret->stride < 8 || ret->stride > MAX_STRIDE)
		return -EINVAL;
	for (size_t i = 0; i < nr; i++) {
		(void)snprintf(word, sizeof(word), "%s%sOffset", entry, columns[i]);
		at = hotspot_exports_find(reading->exports, word);
		if (!at || pages_read(reading->pages, at, &ret->columns[i], 8) < 0 ||
			ret->columns[i] > ret->stride - 4)
			return -EINVAL;
	}
	return 0;
}

typedef int take_entry(struct reading *reading, const struct table *table, const uint8_t *entry);

static uint64_t column(const struct table *table, const uint8_t *entry, unsigned i)
{
	uint64_t value;

	memcpy(&value, entry + table->columns[i], sizeof(value));
	return value;
}

/* Until the entry without a name, which is in the first column. */
static int for_each(struct reading *reading, const struct table *table, take_entry *take)
{
	uint8_t entry[MAX_STRIDE + 8] = {0};

	for (size_t i = 0; i < MAX_ENTRIES; i++) {
		int r = pages_read(
			reading->pages, table->at + i * table->stride, entry, table->stride);

		if (r < 0)
			return r == -EFAULT ? -EINVAL : r;
		if (!column(table, entry, 0))
			return 0;
		r = take(reading, table, entry);
		if (r < 0)
			return r;
	}
	return -EINVAL;
}

static int read_name(struct reading *reading, uint64_t at, char *to)
{
	ssize_t n;

	to[0] = '\0';
	if (!at)
		return 0;
	n = pages_string(reading->pages, at, to, NAME_BYTES);
	if (n >= 0)
		return 0;
	to[0] = '\0';
	return n == -EFAULT || n == -E2BIG ? 0 : (int)n;
}

static int take_type(struct reading *reading, const struct table *table, const uint8_t *entry)
{
	struct type *type;
	uint64_t size = column(table, entry, 1);
	int r;

	r = array_reserve(&reading->types, &reading->types_capacity, reading->nr_types, 1);
	if (r < 0)
		return r;
	type = &reading->types[reading->nr_types];
	r = read_name(reading, column(table, entry, 0), type->name);
	if (r < 0)
		return r;
	type->size = size;
	/* An int each; integers only have signs. */
	type->is_signed =
		(uint32_t)column(table, entry, 2) != 0 && (uint32_t)column(table, entry, 3) == 0;
	reading->nr_types++;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].want == SIZE && strcmp(rows[i].type, type->name) == 0 &&
			size < MAX_OFFSET) {
			uint32_t size32 = (uint32_t)size;

			memcpy((char *)reading->into + rows[i].at, &size32, sizeof(size32));
		}
	}
	return 0;
}

static int is_width(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* Size and sign of a field's type. */
static void measure(const struct reading *reading, const char *type, struct hotspot_field *ret)
{
	static const char *const prefixes[] = {"volatile ", "const "};
	const size_t size = strlen(type);

	for (size_t i = 0; i < reading->nr_types; i++) {
		if (strcmp(reading->types[i].name, type) == 0 && is_width(reading->types[i].size)) {
			ret->size = (uint8_t)reading->types[i].size;
			ret->is_signed = (uint8_t)reading->types[i].is_signed;
			return;
		}
	}
	if (size && (type[size - 1] == '*' || strstr(type, "*const"))) {
		ret->size = 8;
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		if (strcmp(plain[i].name, type) == 0) {
			ret->size = plain[i].size;
			ret->is_signed = plain[i].is_signed;
			return;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		if (strncmp(type, prefixes[i], strlen(prefixes[i])) == 0)
			measure(reading, type + strlen(prefixes[i]), ret);
	}
}

static void put_row(struct reading *reading, const struct row *row, const char *type,
	uint64_t offset, uint64_t address)
{
	void *to = (char *)reading->into + row->at;
	struct hotspot_field field = {.offset = (uint32_t)offset};
	uint32_t place = (uint32_t)offset;

	if (row->want == VARIABLE) {
		memcpy(to, &address, sizeof(address));
	} else if (row->want == PLACE) {
		memcpy(to, &place, sizeof(place));
	} else {
		measure(reading, type, &field);
		if (!type[0])
			field.size = 8; /* JVMFlag::_addr: a pointer of no type */
		memcpy(to, &field, sizeof(field));
	}
}

/* Is there an earlier row for the same that this VM had? */
static int is_taken(const struct reading *reading, size_t row)
{
	for (size_t i = 0; i < row; i++) {
		if (rows[i].at == rows[row].at && reading->found[i])
			return 1;
	}
	return 0;
}

static int take_field(struct reading *reading, const struct table *table, const uint8_t *entry)
{
	char type[NAME_BYTES], name[NAME_BYTES], of[NAME_BYTES];
	const uint64_t offset = column(table, entry, 3), address = column(table, entry, 4);
	int r;

	r = read_name(reading, column(table, entry, 0), type);
	if (r == 0)
		r = read_name(reading, column(table, entry, 1), name);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];

		if (row->want == SIZE || strcmp(row->type, type) != 0 ||
			strcmp(row->name, name) != 0 || is_taken(reading, i) ||
			(row->want == VARIABLE ? !address : offset >= MAX_OFFSET))
			continue;
		r = read_name(reading, column(table, entry, 2), of);
		if (r < 0)
			return r;
		reading->found[i] = 1;
		put_row(reading, row, of, offset, address);
	}
	return 0;
}

static int take_constant(struct reading *reading, const struct table *table, const uint8_t *entry)
{
	char name[NAME_BYTES];
	int r;

	r = read_name(reading, column(table, entry, 0), name);
	if (r == 0 && strcmp(name, "frame::entry_frame_call_wrapper_offset") == 0)
		reading->into->thread.wrapper = (int32_t)column(table, entry, 1);
	return r;
}

static int read_tables(struct reading *reading)
{
	static const char *const types[] = {"TypeName", "Size", "IsIntegerType", "IsUnsigned"};
	static const char *const fields[] = {
		"TypeName", "FieldName", "TypeString", "Offset", "Address"};
	static const char *const constants[] = {"Name", "Value"};
	struct table table;
	int r;

	r = read_table(reading, "gHotSpotVMTypes", "gHotSpotVMTypeEntry", types, ARRAY_SIZE(types),
		&table);
	if (r == 0)
		r = for_each(reading, &table, take_type);
	if (r == 0)
		r = read_table(reading, "gHotSpotVMStructs", "gHotSpotVMStructEntry", fields,
			ARRAY_SIZE(fields), &table);
	if (r == 0)
		r = for_each(reading, &table, take_field);
	if (r == 0)
		r = read_table(reading, "gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntry",
			constants, ARRAY_SIZE(constants), &table);
	return r == 0 ? for_each(reading, &table, take_constant) : r;
}

/* What names need, in any release. Unwinding looks for what it needs itself. */
static int is_complete(const struct hotspot_structs *s)
{
	const struct hotspot_field *const needed[] = {
		&s->heap.log2_segment,
		&s->heap.low,
		&s->heap.high,
		&s->heap.low_limit,
		&s->heap.high_limit,
		&s->heap.block_length,
		&s->heap.block_used,
		&s->blob.name,
		&s->blob.size,
		&s->blob.code_begin,
		&s->blob.code_end,
		&s->nmethod.method,
		&s->nmethod.state,
		&s->nmethod.compile_id,
		&s->nmethod.level,
		&s->method.constants,
		&s->method.pool,
		&s->method.name,
		&s->method.signature,
		&s->method.holder,
		&s->method.klass_name,
		&s->method.symbol_length,
	};

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (!needed[i]->size)
			return 0;
	}
	return (s->at.heap || (s->at.heaps && s->array.length.size && s->array.data.size)) &&
	       s->heap.block_size && s->heap.segments && s->nmethod.size && s->method.code &&
	       s->method.slots && s->method.symbol_body;
}

static void settle(struct hotspot_structs *s, struct pages *pages)
{
	int32_t major = 0;

	if (!s->blob.code_end.size)
		s->blob.code_end = s->blob.data_offset;
	if (s->method.symbol_length.size == 4) { /* 12 to 16: the upper half of a word */
		s->method.symbol_length.offset += 2;
		s->method.symbol_length.size = 2;
	}
	if (s->at.major_version)
		(void)pages_read(
			pages, s->at.major_version, &major, sizeof(major)); /* 0: unknown */
	s->major = s->at.heap ? 8 : major;
	s->excluded = s->major >= 20;
	s->call_stub_return = pages_pointer(pages, s->at.call_stub_return);
}

int hotspot_structs_read(
	const struct memory *memory, uint64_t start, uint64_t offset, struct hotspot_structs *ret)
{
	struct hotspot_exports exports;
	struct hotspot_structs structs = {0};
	struct reading reading = {.exports = &exports, .into = &structs};
	struct pages pages;
	int r;

	r = hotspot_exports_read(memory, start, offset, &exports);
	if (r < 0)
		return r;
	pages_init(&pages, memory);
	reading.pages = &pages;
	r = read_tables(&reading);
	if (r == 0)
		settle(&structs, &pages);
	if (r == 0 && !is_complete(&structs))
		r = -EINVAL;
	hotspot_exports_done(&exports);
	pages_done(&pages);
	free(reading.types);
	if (r == 0)
		*ret = structs;
	return r;
}

uint64_t hotspot_get(const struct hotspot_field *field, const void *copy, size_t size)
{
	const uint8_t *from = (const uint8_t *)copy + field->offset;
	uint64_t value = 0;

	if (!is_width(field->size) || field->offset > size || field->size > size - field->offset)
		return 0;
	memcpy(&value, from, field->size);
	return value;
}

int64_t hotspot_get_signed(const struct hotspot_field *field, const void *copy, size_t size)
{
	const uint64_t value = hotspot_get(field, copy, size);

	switch (field->size) {
	case 1:
		return (int8_t)value;
	case 2:
		return (int16_t)value;
	case 4:
		return (int32_t)value;
	default:
		return (int64_t)value;
	}
}
