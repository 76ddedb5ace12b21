/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dwarf.c: DWARF by libdw, in a process that may end over it. Units are found by their ranges and
 * not by .debug_aranges, which clang leaves out; functions of a unit are listed when the first
 * address in it is asked for, since addresses come in order.
 */
#include "elf/dwarf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "elf/demangle.h"

#define MAX_DEPTH 64 /* of entries in each other */

/* Code that a unit, or a function of one, covers. */
struct span {
	uint64_t start, end;
	Dwarf_Off entry;
};

struct spans {
	struct span *items;
	size_t nr, capacity;
};

struct reader {
	Dwarf *dwarf;
	struct spans units;
	Dwarf_Off unit; /* whose functions are listed; 0: none, as a unit's entry is behind its head
			 */
	struct spans functions;
	Dwarf_Die inlined[LINES_MAX]; /* the function, then what is inlined into it, ever deeper */
	size_t nr_inlined;
	uint8_t reply[DWARF_REPLY_MAX];
	struct dwarf_place places[LINES_MAX];
	size_t nr_places, size; /* of the texts in reply */
};

static int by_start(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->entry > b->entry) - (a->entry < b->entry);
}

static void sort(struct spans *spans)
{
	if (spans->nr)
		qsort(spans->items, spans->nr, sizeof(struct span), by_start);
}

/* Code at 0 was thrown away by the linker. */
static int add_ranges(struct spans *spans, Dwarf_Die *entry)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(entry, at, &base, &start, &end)) > 0) {
		if (!start || start >= end)
			continue;
		if (array_reserve(&spans->items, &spans->capacity, spans->nr, 1) < 0)
			return -1;
		spans->items[spans->nr++] = (struct span){start, end, dwarf_dieoffset(entry)};
	}
	return 0;
}

static const struct span *find_span(const struct spans *spans, uint64_t address)
{
	size_t low = 0, high = spans->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (spans->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < spans->items[low - 1].end ? &spans->items[low - 1] : NULL;
}

static int list_units(struct reader *reader)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die entry;

	while (dwarf_get_units(reader->dwarf, unit, &unit, NULL, NULL, &entry, NULL) == 0) {
		if (dwarf_tag(&entry) == DW_TAG_compile_unit && add_ranges(&reader->units, &entry))
			return -1;
	}
	sort(&reader->units);
	return 0;
}

/* Functions stand in namespaces, classes and other functions. */
static int list_functions(struct reader *reader, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die child;

	if (depth == MAX_DEPTH || dwarf_child(parent, &child) != 0)
		return 0;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_subprogram && add_ranges(&reader->functions, &child))
			return -1;
		if (tag != DW_TAG_inlined_subroutine && list_functions(reader, &child, depth + 1))
			return -1;
	} while (dwarf_siblingof(&child, &child) == 0);
	return 0;
}

static int use_unit(struct reader *reader, Dwarf_Off offset, Dwarf_Die *ret)
{
	if (!dwarf_offdie(reader->dwarf, offset, ret))
		return -1;
	if (reader->unit == offset)
		return 0;
	reader->unit = offset;
	reader->functions.nr = 0;
	if (list_functions(reader, ret, 0))
		return -1;
	sort(&reader->functions);
	return 0;
}

/* Goes down from a function to the innermost that is inlined there. */
static void descend(struct reader *reader, uint64_t address)
{
	Dwarf_Die scope = reader->inlined[0], child;
	unsigned depth = 0;

	while (depth++ < MAX_DEPTH && dwarf_child(&scope, &child) == 0) {
		int tag, found = 0;

		do {
			tag = dwarf_tag(&child);
			found = (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
					tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
				dwarf_haspc(&child, address) == 1;
		} while (!found && dwarf_siblingof(&child, &child) == 0);
		if (!found)
			return;
		scope = child;
		if (tag != DW_TAG_inlined_subroutine)
			continue;
		if (reader->nr_inlined == LINES_MAX)
			return;
		reader->inlined[reader->nr_inlined++] = child;
	}
}

static const char *name_of(Dwarf_Die *entry)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(entry, DW_AT_linkage_name, &attribute) ||
		dwarf_attr_integrate(entry, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(entry);
}

static uint16_t put_text(struct reader *reader, const char *text, size_t size, size_t max)
{
	if (size > max)
		size = max;
	memcpy(reader->reply + reader->size, text, size);
	reader->size += size;
	return (uint16_t)size;
}

/* A function, and the line that it is at, which is of `file`. */
static void put_place(struct reader *reader, Dwarf_Die *function, const char *file, int line)
{
	struct dwarf_place *place = &reader->places[reader->nr_places++];
	const char *name = name_of(function), *own = dwarf_decl_file(function);
	char plain[DEMANGLE_MAX];
	int n = name ? demangle(name, strlen(name), plain) : 0;

	*place = (struct dwarf_place){.kind = n ? FUNCTION_CPP : FUNCTION_NATIVE};
	if (n > 0)
		place->name_size = put_text(reader, plain, (size_t)n, DWARF_NAME_MAX);
	else if (name)
		place->name_size = put_text(reader, name, strlen(name), DWARF_NAME_MAX);
	if (!own)
		own = file;
	if (own)
		place->file_size = put_text(reader, own, strlen(own), DWARF_FILE_MAX);
	if (own && file && line > 0 && strcmp(own, file) == 0)
		place->line = (uint32_t)line;
}

/* Where a function was inlined to. */
static const char *call_of(Dwarf_Die *inlined, Dwarf_Die *unit, int *ret_line)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file = 0, line = 0;
	Dwarf_Files *files;
	size_t nr;

	if (!dwarf_attr(inlined, DW_AT_call_line, &attribute) ||
		dwarf_formudata(&attribute, &line) != 0 || line > INT32_MAX ||
		!dwarf_attr(inlined, DW_AT_call_file, &attribute) ||
		dwarf_formudata(&attribute, &file) != 0 ||
		dwarf_getsrcfiles(unit, &files, &nr) != 0 || file >= nr)
		return NULL;
	*ret_line = (int)line;
	return dwarf_filesrc(files, file, NULL, NULL);
}

static void look_up(struct reader *reader, uint64_t address)
{
	const struct span *span = find_span(&reader->units, address);
	const char *file = NULL;
	Dwarf_Line *line;
	Dwarf_Die unit;
	int number = 0;

	if (!span || use_unit(reader, span->entry, &unit))
		return;
	span = find_span(&reader->functions, address);
	if (!span || !dwarf_offdie(reader->dwarf, span->entry, &reader->inlined[0]))
		return;
	reader->nr_inlined = 1;
	descend(reader, address);
	line = dwarf_getsrc_die(&unit, address);
	if (line && dwarf_lineno(line, &number) == 0)
		file = dwarf_linesrc(line, NULL, NULL);
	for (size_t i = reader->nr_inlined; i-- > 0;) {
		put_place(reader, &reader->inlined[i], file, number);
		file = i ? call_of(&reader->inlined[i], &unit, &number) : NULL;
	}
}

/* The reply, with its head in front of the texts. Its size. */
static size_t finish(struct reader *reader)
{
	uint32_t nr = (uint32_t)reader->nr_places;
	size_t head = sizeof(nr) + nr * sizeof(reader->places[0]);

	memmove(reader->reply + head, reader->reply, reader->size);
	memcpy(reader->reply, &nr, sizeof(nr));
	memcpy(reader->reply + sizeof(nr), reader->places, nr * sizeof(reader->places[0]));
	return head + reader->size;
}

void dwarf_serve(int fd, int socket)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	uint64_t address;
	size_t size;

	if (!reader)
		return;
	reader->dwarf = dwarf_begin(fd, DWARF_C_READ);
	if (!reader->dwarf || list_units(reader))
		return; /* what it holds goes with the process */
	while (recv(socket, &address, sizeof(address), 0) == sizeof(address)) {
		reader->nr_places = 0;
		reader->size = 0;
		look_up(reader, address);
		size = finish(reader);
		if (send(socket, reader->reply, size, MSG_NOSIGNAL) != (ssize_t)size)
			return;
	}
}
