/* SPDX-License-Identifier: BSD-2-Clause */
/* functions.c: the layout of .eh_frame and .debug_frame (LSB 5, 10.6; DWARF 5, 6.4.1). */
#include "unwind/functions.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define PE_ABSPTR 0x00

/* Length, CIE, start, size, augmentation, and padding to 8. */
#define MIN_FUNCTION_BYTES 24

/* An entry of a table, without its length: `at` stands behind the id. */
struct entry {
	struct cursor at;
	uint64_t offset; /* of its length */
	uint64_t id_offset; /* of its id */
	uint64_t id;
	int is_cie;
};

/* Executable segments, the one used last first: functions come in order. */
struct text {
	const struct elf_file *file;
	const struct elf_segment *last;
};

void functions_done(struct functions *functions)
{
	free(functions->cies);
	free(functions->items);
	memset(functions, 0, sizeof(*functions));
}

static int segment_holds(const struct elf_segment *segment, uint64_t vaddr)
{
	return (segment->flags & PF_X) && vaddr >= segment->vaddr &&
	       vaddr - segment->vaddr < segment->file_size;
}

/* How many of size bytes from start on lie in the executable segment that holds start. */
static uint64_t text_holds(struct text *text, uint64_t start, uint64_t size)
{
	const struct elf_file *file = text->file;

	for (size_t i = 0; (!text->last || !segment_holds(text->last, start)); i++) {
		if (i == file->nr_segments)
			return 0;
		text->last = &file->segments[i];
	}
	if (size > text->last->file_size - (start - text->last->vaddr))
		size = text->last->file_size - (start - text->last->vaddr);
	return size;
}

/* 1: *ret is the entry at *offset, which moves on; 0: there is none left. */
static int next_entry(const struct cfi *table, uint64_t *offset, struct entry *ret)
{
	while (*offset < table->size) {
		struct cursor c = {table->bytes + *offset, table->bytes + table->size, 0};
		uint64_t length = cursor_u32(&c);
		int is_64 = length == UINT32_MAX, wide_id = is_64 && table->is_debug;

		if (is_64)
			length = cursor_u64(&c);
		if (c.bad || length > cursor_left(&c))
			return 0;
		ret->offset = *offset;
		*offset = (uint64_t)(c.at - table->bytes) + length;
		if (!length && table->ends_early)
			return 0;
		if (!length)
			continue; /* ends one object file's part: crtend.o need not come last */
		c.end = c.at + length;
		ret->id_offset = (uint64_t)(c.at - table->bytes);
		ret->id = wide_id ? cursor_u64(&c) : cursor_u32(&c);
		if (table->is_debug)
			ret->is_cie = ret->id == (wide_id ? UINT64_MAX : UINT32_MAX);
		else
			ret->is_cie = ret->id == 0;
		ret->at = c;
		if (!c.bad)
			return 1;
	}
	return 0;
}

/* What 'z' announces, letter by letter; letters behind an unknown one cannot be read, but are
 * skipped by size. 0 or -EINVAL. */
static int read_augmentation(
	const struct cfi *table, const char *letters, struct cursor *c, struct cie *cie)
{
	const uint8_t *end = NULL;
	struct cursor data;

	if (letters[0] == 'z') {
		uint64_t size = cursor_uleb(c);
		const uint8_t *start = cursor_skip(c, size);

		if (!start)
			return -EINVAL;
		cie->has_size = 1;
		end = start + size;
		data = (struct cursor){start, end, 0};
		letters++;
	} else {
		data = *c;
	}
	for (; *letters; letters++) {
		uint8_t encoding;

		switch (*letters) {
		case 'R':
			cie->pointer_encoding = cursor_u8(&data);
			continue;
		case 'L':
			(void)cursor_u8(&data); /* of the language's data */
			continue;
		case 'P':
			encoding = cursor_u8(&data);
			if ((encoding & 0x70) == 0x50)
				return -EINVAL; /* aligned: nobody does */
			/* The personality's place, directly or not, is of no interest. */
			(void)pointer_decode(table, &data, encoding & 0x0f);
			continue;
		case 'S':
			cie->is_signal = 1;
			continue;
		case 'B': /* aarch64: signed with the B key */
		case 'G': /* aarch64: tagged stack */
			continue;
		default:
			if (!end)
				return -EINVAL;
			break;
		}
		break;
	}
	if (!end)
		*c = data;
	return data.bad ? -EINVAL : 0;
}

static int read_cie(const struct cfi *table, struct entry *entry, struct cie *cie)
{
	struct cursor *c = &entry->at;
	uint8_t version = cursor_u8(c);
	const char *letters = (const char *)c->at;
	const uint8_t *nul = memchr(c->at, '\0', cursor_left(c));

	if (!nul || (version != 1 && version != 3 && version != 4))
		return -EINVAL;
	c->at = nul + 1;
	if (strncmp(letters, "eh", 2) == 0) { /* GCC 2: a pointer to its own data */
		(void)cursor_u64(c);
		letters += 2;
	}
	if (version == 4 && (cursor_u8(c) != 8 || cursor_u8(c) != 0))
		return -EINVAL; /* size of addresses, of segment selectors */
	cie->code_factor = cursor_uleb(c);
	cie->data_factor = cursor_sleb(c);
	cie->ra = version == 1 ? cursor_u8(c) : cursor_uleb(c);
	cie->pointer_encoding = PE_ABSPTR;
	cie->initial = table->machine->entry;
	if (c->bad || read_augmentation(table, letters, c, cie) < 0 || c->bad)
		return -EINVAL;
	return program_run_initial(table, cie, *c);
}

static int add_cie(struct functions *functions, const struct cie *cie)
{
	int r = array_reserve(&functions->cies, &functions->cie_capacity, functions->nr_cies, 1);

	if (r < 0)
		return r == -E2BIG ? -ENOMEM : r;
	functions->cies[functions->nr_cies++] = *cie;
	return 0;
}

/* Of the last table, by offset; they were added in order. Most often it is the last. NULL: none. */
static const struct cie *find_cie(const struct functions *functions, uint64_t offset)
{
	size_t low = functions->first_cie[functions->nr_tables - 1], high = functions->nr_cies;

	if (high > low && functions->cies[high - 1].offset == offset)
		return &functions->cies[high - 1];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (functions->cies[middle].offset == offset)
			return &functions->cies[middle];
		if (functions->cies[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static int add_function(struct functions *functions, const struct function *function)
{
	int r = array_reserve(&functions->items, &functions->capacity, functions->nr, 1);

	if (r < 0)
		return r == -E2BIG ? -ENOMEM : r;
	if (functions->nr && function->start <= functions->items[functions->nr - 1].start)
		functions->unsorted = 1;
	functions->items[functions->nr++] = *function;
	return 0;
}

/* Which CIE is an FDE's: in .eh_frame so far before its id, in .debug_frame so far from the start.
 */
static const struct cie *cie_of(
	const struct functions *functions, const struct cfi *table, const struct entry *entry)
{
	if (!table->is_debug && entry->id > entry->id_offset)
		return NULL;
	return find_cie(functions, table->is_debug ? entry->id : entry->id_offset - entry->id);
}

static int read_fde(struct functions *functions, struct entry *entry, struct text *text,
	struct unwind_rows *rows)
{
	const struct cfi *table = &functions->tables[functions->nr_tables - 1];
	const struct cie *cie = cie_of(functions, table, entry);
	struct cursor *c = &entry->at;
	uint64_t start, size, held;

	rows->nr_functions++;
	if (!cie || !cie->is_usable) {
		rows->causes[UNWIND_BAD_PROGRAM]++;
		return 0;
	}
	start = pointer_decode(table, c, cie->pointer_encoding);
	size = pointer_decode(table, c, cie->pointer_encoding & 0x0f);
	if (cie->has_size)
		(void)cursor_skip(c, cursor_uleb(c));
	if (c->bad) {
		rows->causes[UNWIND_BAD_PROGRAM]++;
		return 0;
	}
	held = text_holds(text, start, size);
	if (!start || !held || held > UINT32_MAX) {
		/* Linkers set to 0 what they left out of .debug_frame's functions. */
		rows->causes[UNWIND_OUTSIDE]++;
		return 0;
	}
	if (functions->nr >= UNWIND_MAX_FUNCTIONS) {
		rows->causes[UNWIND_LIMIT]++;
		return 0;
	}
	return add_function(functions, &(struct function){
					       .start = start,
					       .size = (uint32_t)held,
					       .code = (uint32_t)(c->at - table->bytes),
					       .code_size = (uint32_t)cursor_left(c),
					       .cie = (uint32_t)(cie - functions->cies),
				       });
}

static void begin_table(struct functions *functions, const struct cfi *table)
{
	functions->tables[functions->nr_tables] = *table;
	functions->first_cie[functions->nr_tables] = (uint32_t)functions->nr_cies;
	functions->nr_tables++;
}

int functions_add(struct functions *functions, const struct cfi *table, const struct elf_file *file,
	struct unwind_rows *rows)
{
	struct text text = {.file = file};
	struct entry entry;
	uint64_t offset = 0;
	int r;

	begin_table(functions, table);
	rows->table_bytes += table->size;
	/* At once as many as there can be: growing would copy them. */
	r = array_reserve(&functions->items, &functions->capacity, functions->nr,
		table->size / MIN_FUNCTION_BYTES);
	while (r == 0 && next_entry(table, &offset, &entry)) {
		if (entry.is_cie) {
			struct cie cie = {.offset = entry.offset};

			cie.is_usable = read_cie(table, &entry, &cie) == 0;
			r = add_cie(functions, &cie);
		} else {
			r = read_fde(functions, &entry, &text, rows);
		}
	}
	return r;
}

int functions_add_one(struct functions *functions, const struct elf_file *file, uint64_t start,
	uint32_t size, const struct cie *cie)
{
	struct text text = {.file = file};
	struct function function = {
		.start = start,
		.size = (uint32_t)text_holds(&text, start, size),
		.cie = (uint32_t)functions->nr_cies,
	};
	int r;

	if (!start || !function.size)
		return 0;
	r = add_cie(functions, cie);
	return r < 0 ? r : add_function(functions, &function);
}

static int compare(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->cie != b->cie)
		return a->cie < b->cie ? -1 : 1; /* so the earlier table first */
	return (a->code > b->code) - (a->code < b->code);
}

void functions_sort(struct functions *functions)
{
	if (functions->unsorted)
		qsort(functions->items, functions->nr, sizeof(*functions->items), compare);
	functions->unsorted = 0;
}

unsigned functions_table_of(const struct functions *functions, const struct function *of)
{
	unsigned i = functions->nr_tables - 1;

	while (i && of->cie < functions->first_cie[i])
		i--;
	return i;
}
