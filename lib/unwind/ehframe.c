/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ehframe.c: from a file to its rows. .eh_frame is found by name and walked from end to end: its
 * type is not always the same, and the search table beside it is optional and knows no lengths.
 */
#include "unwind/ehframe.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "elf/packed.h"
#include "unwind/functions.h"
#include "unwind/known.h"

/* Functions are aligned to 16: what lies between two that are closer is padding, which nobody
 * runs, and needs no row. */
#define MAX_PADDING 15
/* Rows that are kept before they are handed over: what a processor has near. */
#define ROWS_AT_ONCE 512
/* Of .eh_frame, as much as a dynamic linker has. */
#define SMALL_BYTES (128u << 10)

/* What is read from a file, for functions to point into. */
struct contents {
	struct functions functions;
	uint8_t *bytes[FUNCTIONS_MAX_TABLES];
};

static void contents_done(struct contents *contents)
{
	functions_done(&contents->functions);
	for (size_t i = 0; i < ARRAY_SIZE(contents->bytes); i++)
		free(contents->bytes[i]);
}

static const struct machine *machine_of(const struct elf_file *file)
{
	static const struct machine *const machines[] = {&machine_x86_64, &machine_aarch64};

	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		if (file->is_64 && file->machine == machines[i]->elf_machine)
			return machines[i];
	}
	return NULL;
}

/* Section headers may be stripped, and a vDSO may have none: PT_GNU_EH_FRAME points to
 * .eh_frame_hdr, that to .eh_frame, which ends with an empty entry. 0 or -ENOENT, -errno. */
static int read_by_segment(const struct elf_file *file, struct cfi *table, uint8_t **ret_bytes)
{
	const struct elf_part *header = &file->unwind;
	struct cfi hdr = {.vaddr = header->vaddr, .data_base = header->vaddr};
	_cleanup_free_ uint8_t *bytes = NULL;
	uint8_t start[16] = {0};
	struct cursor c;
	uint64_t vaddr, offset;
	ssize_t n;

	if (header->size < 8 || elf_file_read_some(file, header->offset, start, sizeof(start)) < 8)
		return -ENOENT;
	hdr.bytes = start;
	c = (struct cursor){start + 4, start + sizeof(start), 0};
	vaddr = pointer_decode(&hdr, &c, start[1]);
	if (c.bad || start[0] != 1 || elf_file_offset(file, vaddr, &offset) < 0 ||
		offset >= file->size)
		return -ENOENT;
	table->size = UNWIND_MAX_TABLE_BYTES;
	for (size_t i = 0; i < file->nr_segments; i++) {
		const struct elf_segment *s = &file->segments[i];

		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->file_size &&
			s->file_size - (vaddr - s->vaddr) < table->size)
			table->size = (size_t)(s->file_size - (vaddr - s->vaddr));
	}
	if (table->size > file->size - offset)
		table->size = (size_t)(file->size - offset);
	bytes = malloc(table->size);
	if (!bytes)
		return -ENOMEM;
	n = elf_file_read_some(file, offset, bytes, table->size);
	if (n < 0)
		return (int)n;
	table->size = (size_t)n;
	table->vaddr = vaddr;
	table->data_base = header->vaddr;
	table->ends_early = 1;
	table->bytes = *ret_bytes = take_pointer(bytes);
	return 0;
}

static int read_by_name(
	const struct elf_file *file, const char *name, struct cfi *table, uint8_t **ret_bytes)
{
	const struct elf_section *section = elf_file_section(file, name);
	int r;

	if (!section)
		return -ENOENT;
	r = packed_contents(file, section, UNWIND_MAX_TABLE_BYTES, ret_bytes, &table->size);
	if (r < 0)
		return r == -ENOMEM || r == -E2BIG ? r : -ENOENT;
	table->bytes = *ret_bytes;
	table->vaddr = section->address;
	table->data_base = file->unwind.vaddr;
	return 0;
}

static int read_table(const struct elf_file *file, struct cfi *table, uint8_t **ret_bytes)
{
	int r;

	if (!table->is_debug) {
		r = read_by_name(file, ".eh_frame", table, ret_bytes);
		return r == -ENOENT ? read_by_segment(file, table, ret_bytes) : r;
	}
	r = read_by_name(file, ".debug_frame", table, ret_bytes);
	return r == -ENOENT ? read_by_name(file, ".zdebug_frame", table, ret_bytes) : r;
}

static int read_functions(const struct elf_file *file, const struct machine *machine,
	struct contents *contents, struct unwind_rows *rows)
{
	struct functions *functions = &contents->functions;
	int r;

	for (int is_debug = 0; is_debug < 2; is_debug++) {
		struct cfi table = {.machine = machine, .is_debug = is_debug};

		r = read_table(file, &table, &contents->bytes[is_debug]);
		if (r == -E2BIG)
			rows->causes[UNWIND_LIMIT]++;
		if (r == -ENOENT || r == -E2BIG)
			continue;
		if (r == 0)
			r = functions_add(functions, &table, file, rows);
		if (r < 0)
			return r;
	}
	return functions->nr ? known_add(functions, file, machine, rows) : 0;
}

/* Where two functions lie over each other, the one of the earlier table has it, else the later
 * start. */
static void clip(const struct functions *functions, size_t i, uint64_t covered, struct extent *ret)
{
	const struct function *f = &functions->items[i];

	ret->start = f->start;
	ret->from = f->start > covered ? f->start : covered;
	ret->end = f->start + f->size;
	if (i + 1 < functions->nr && f[1].start < ret->end &&
		functions_table_of(functions, f + 1) <= functions_table_of(functions, f))
		ret->end = f[1].start;
}

static int add_function_rows(const struct functions *functions, const struct function *f,
	const struct extent *extent, struct unwind_rows *rows)
{
	const struct cfi *table = &functions->tables[functions_table_of(functions, f)];
	const uint8_t *code = table->size ? table->bytes + f->code : NULL;
	const struct cursor c = {code, table->size ? code + f->code_size : NULL, 0};
	struct unwind_rule rule;
	int r;

	r = program_run(table, &functions->cies[f->cie], c, extent, rows);
	if (r != -EINVAL)
		return r;
	machine_no_rule(&rule, UNWIND_BAD_PROGRAM, rows->causes);
	return unwind_rows_add(rows, extent->from, &rule);
}

/* No room for another row: the last one tells where the rows end. */
static int end_at_last(struct unwind_rows *rows, const struct unwind_rule *none)
{
	return unwind_rows_add(rows, rows->items[rows->nr - 1].address, none);
}

/* taker NULL: all rows stay. */
static int add_rows(const struct functions *functions, const struct unwind_taker *taker,
	struct unwind_rows *rows)
{
	const struct unwind_rule none = {.cfa = UNWIND_CFA_NONE};
	uint64_t covered = 0;
	int r;

	for (size_t i = 0; i < functions->nr; i++) {
		struct extent extent;

		clip(functions, i, covered, &extent);
		if (extent.from >= extent.end)
			continue;
		r = 0;
		if (covered && extent.from - covered > MAX_PADDING)
			r = unwind_rows_add(rows, covered, &none);
		if (r == 0)
			r = add_function_rows(functions, &functions->items[i], &extent, rows);
		if (r == -E2BIG) {
			rows->causes[UNWIND_LIMIT] += functions->nr - i;
			return end_at_last(rows, &none);
		}
		if (r == 0 && taker && rows->nr >= ROWS_AT_ONCE)
			r = unwind_rows_hand_over(rows, taker);
		if (r < 0)
			return r;
		covered = extent.end;
	}
	if (!rows->nr)
		return -ENOENT;
	r = unwind_rows_add(rows, covered, &none);
	return r == -E2BIG ? end_at_last(rows, &none) : r;
}

/* Does a frame find its way by rbx, which the frames below may have saved? */
static int wants_kept(const struct unwind_rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++) {
		if (rows->items[i].rule.cfa == UNWIND_CFA_REGISTER + UNWIND_KEPT_REGISTER)
			return 1;
	}
	return 0;
}

/* ld.so is small: its rows are made a second time, now with what they need of rbx. */
static int add_rows_twice(struct functions *functions, struct unwind_rows *rows)
{
	const struct unwind_rows before = *rows;
	int r = add_rows(functions, NULL, rows);

	if (r < 0 || !wants_kept(rows))
		return r;
	for (unsigned i = 0; i < functions->nr_tables; i++)
		functions->tables[i].follows_kept = 1;
	free(rows->items);
	*rows = before;
	return add_rows(functions, NULL, rows);
}

static int read_rows(
	const struct elf_file *file, const struct unwind_taker *taker, struct unwind_rows *ret)
{
	_cleanup_(contents_done) struct contents contents = {0};
	const struct machine *machine = machine_of(file);
	int r;

	memset(ret, 0, sizeof(*ret));
	if (!machine)
		return -ENOTSUP;
	r = read_functions(file, machine, &contents, ret);
	if (r < 0)
		return r;
	functions_sort(&contents.functions);
	return ret->table_bytes <= SMALL_BYTES ? add_rows_twice(&contents.functions, ret)
					       : add_rows(&contents.functions, taker, ret);
}

int ehframe_rows(const struct elf_file *file, struct unwind_rows *ret)
{
	int r = read_rows(file, NULL, ret);

	if (r < 0 && r != -ENOENT)
		unwind_rows_done(ret);
	return r;
}

int ehframe_hand_over(
	const struct elf_file *file, const struct unwind_taker *taker, struct unwind_rows *ret)
{
	int r = read_rows(file, taker, ret);

	if (r == 0)
		r = taker->take(taker->arg, ret->items, ret->nr);
	if (r < 0 && r != -ENOENT)
		unwind_rows_done(ret);
	return r;
}
