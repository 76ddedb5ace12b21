/* SPDX-License-Identifier: BSD-2-Clause */
/* symbols.c: which bytes of a file are which function, and which of its names a function goes by.
 */
#include "elf/symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "elf/dynamic.h"

#define MAX_TABLES  4
#define MAX_NESTING 64 /* functions around one address that are looked at */
#define MAX_ALIASES 64 /* names of one function that are compared */
#define CHUNK_SIZE  (64u << 10)

/* 16 bytes: sizes above 512 MiB are cut to it. */
struct entry {
	uint64_t address;
	uint32_t size : 29;
	uint32_t rank : 3; /* higher is better: type, then binding */
	uint32_t name; /* into the tables' string tables as if they lay one behind the other */
};

#define ENTRY_SIZE_MAX ((1u << 29) - 1)

/* Where names of some entries are: [first, first + size) of all name offsets. */
struct names {
	const struct elf_file *file;
	uint64_t offset;
	uint32_t first, size;
};

struct symbols {
	struct entry *entries;
	size_t nr, capacity;
	uint32_t *outer; /* entry + 1 of the function around this one, 0: none */
	struct names names[MAX_TABLES];
	unsigned nr_names;
};

int symbols_new(struct symbols **ret)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return -ENOMEM;
	*ret = symbols;
	return 0;
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->entries);
	free(symbols->outer);
	free(symbols);
}

size_t symbols_nr(const struct symbols *symbols)
{
	return symbols->nr;
}

static Elf64_Sym widen(const Elf32_Sym *s)
{
	return (Elf64_Sym){
		.st_name = s->st_name,
		.st_info = s->st_info,
		.st_other = s->st_other,
		.st_shndx = s->st_shndx,
		.st_value = s->st_value,
		.st_size = s->st_size,
	};
}

static unsigned rank(const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info) == STT_NOTYPE ? 0 : 4;

	switch (ELF64_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return type + 2;
	case STB_WEAK:
		return type + 1;
	default:
		return type;
	}
}

/* Where there are no sections to ask. */
static int in_code(const struct elf_file *file, uint64_t vaddr)
{
	for (size_t i = 0; i < file->nr_segments; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if ((segment->flags & PF_X) && vaddr >= segment->vaddr &&
			vaddr - segment->vaddr < segment->file_size)
			return 1;
	}
	return 0;
}

static int is_function(const struct elf_file *file, const Elf64_Sym *symbol)
{
	switch (ELF64_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_NOTYPE:
		break;
	default:
		return 0;
	}
	/* Reserved indexes (absolute, common) are not code, and linked files have few enough
	 * sections to do without SHN_XINDEX. */
	if (!file->nr_sections && symbol->st_shndx && symbol->st_shndx < SHN_LORESERVE)
		return in_code(file, symbol->st_value);
	return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < file->nr_sections &&
	       (file->sections[symbol->st_shndx].flags & SHF_EXECINSTR);
}

static int add_symbol(struct symbols *symbols, const struct names *names, const Elf64_Sym *symbol)
{
	int r;

	if (!symbol->st_name || symbol->st_name >= names->size || !is_function(names->file, symbol))
		return 0;
	if (symbols->nr >= ELF_MAX_SYMBOLS)
		return -E2BIG;
	r = array_reserve(&symbols->entries, &symbols->capacity, symbols->nr, 1);
	if (r < 0)
		return r;
	symbols->entries[symbols->nr++] = (struct entry){
		.address = symbol->st_value,
		.size = symbol->st_size < ENTRY_SIZE_MAX ? (uint32_t)symbol->st_size
							 : ENTRY_SIZE_MAX,
		.rank = rank(symbol) & 7,
		.name = names->first + symbol->st_name,
	};
	return 0;
}

/* The string table that goes with a symbol table, if both lie in the file. */
static int find_names(const struct symbols *symbols, const struct elf_file *file,
	const struct elf_section *table, struct names *ret)
{
	const struct names *last =
		symbols->nr_names ? &symbols->names[symbols->nr_names - 1] : NULL;
	const struct elf_section *strings;
	uint32_t first = last ? last->first + last->size : 0;

	if (!table || symbols->nr_names == MAX_TABLES || table->link >= file->nr_sections)
		return -ENOENT;
	strings = &file->sections[table->link];
	if (strings->type != SHT_STRTAB || strings->offset > file->size ||
		strings->size > file->size - strings->offset || strings->size > UINT32_MAX - first)
		return -ENOENT;
	*ret = (struct names){file, strings->offset, first, (uint32_t)strings->size};
	return 0;
}

/* The names are the next of symbols->names, filled in. How many came, or -ENOMEM. */
static int add_table(struct symbols *symbols, uint64_t at, uint64_t left)
{
	const struct names *names = &symbols->names[symbols->nr_names];
	const struct elf_file *file = names->file;
	size_t entry_size = file->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	size_t before = symbols->nr, want = CHUNK_SIZE / entry_size * entry_size;
	_cleanup_free_ uint8_t *chunk = malloc(CHUNK_SIZE);
	int r = 0;

	if (!chunk)
		return -ENOMEM;
	symbols->nr_names++;
	while (left >= entry_size && r >= 0) {
		ssize_t n = elf_file_read_some(file, at, chunk, left < want ? left : want);

		if (n < (ssize_t)entry_size)
			break;
		for (size_t i = 0; i < (size_t)n / entry_size && r >= 0; i++) {
			const uint8_t *entry = chunk + i * entry_size;
			const Elf64_Sym symbol = file->is_64 ? *(const Elf64_Sym *)entry
							     : widen((const Elf32_Sym *)entry);

			r = add_symbol(symbols, names, &symbol);
		}
		at += (size_t)n;
		left -= (size_t)n < left ? (size_t)n : left;
	}
	return r == -ENOMEM ? r : (int)(symbols->nr - before);
}

int symbols_add(struct symbols *symbols, const struct elf_file *file, uint32_t type)
{
	const struct elf_section *table = elf_file_section_of(file, type);
	size_t entry_size = file->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	struct names *names = &symbols->names[symbols->nr_names];

	if (!table || find_names(symbols, file, table, names) < 0 ||
		table->entry_size != entry_size)
		return 0;
	return add_table(symbols, table->offset, table->size);
}

int symbols_add_dynamic(struct symbols *symbols, const struct elf_file *file)
{
	const struct names *last =
		symbols->nr_names ? &symbols->names[symbols->nr_names - 1] : NULL;
	uint32_t first = last ? last->first + last->size : 0;
	struct elf_dynamic dynamic;
	uint64_t nr;

	if (symbols->nr_names == MAX_TABLES || elf_dynamic_read(file, &dynamic) < 0 ||
		dynamic.strings > file->size ||
		dynamic.strings_size > file->size - dynamic.strings ||
		dynamic.strings_size > UINT32_MAX - first)
		return 0;
	nr = elf_dynamic_count(file, &dynamic);
	if (nr > ELF_MAX_SYMBOLS)
		nr = ELF_MAX_SYMBOLS;
	symbols->names[symbols->nr_names] =
		(struct names){file, dynamic.strings, first, (uint32_t)dynamic.strings_size};
	return add_table(symbols, dynamic.symbols, nr * sizeof(Elf64_Sym));
}

#define DIGIT_BITS 11
#define DIGITS	   (1u << DIGIT_BITS)

/* Sorts by address, a digit at a time and stable: symbols of one file span few bits, so this is
 * two or three passes, where comparing takes twenty. */
static void sort_by_digit(
	const struct entry *from, struct entry *to, size_t nr, uint64_t low, unsigned shift)
{
	size_t start[DIGITS] = {0}, sum = 0;

	for (size_t i = 0; i < nr; i++)
		start[((from[i].address - low) >> shift) & (DIGITS - 1)]++;
	for (size_t i = 0; i < DIGITS; i++) {
		size_t n = start[i];

		start[i] = sum;
		sum += n;
	}
	for (size_t i = 0; i < nr; i++)
		to[start[((from[i].address - low) >> shift) & (DIGITS - 1)]++] = from[i];
}

static int sort_by_address(struct symbols *symbols)
{
	uint64_t low = UINT64_MAX, high = 0;
	struct entry *other, *swap;
	size_t nr = symbols->nr;
	int sorted = 1;

	for (size_t i = 0; i < nr; i++) {
		uint64_t address = symbols->entries[i].address;

		sorted &= !i || symbols->entries[i - 1].address <= address;
		low = address < low ? address : low;
		high = address > high ? address : high;
	}
	if (sorted)
		return 0;
	other = calloc(nr, sizeof(*other));
	if (!other)
		return -ENOMEM;
	for (unsigned shift = 0; shift < 64 && (high - low) >> shift; shift += DIGIT_BITS) {
		sort_by_digit(symbols->entries, other, nr, low, shift);
		swap = symbols->entries;
		symbols->entries = other;
		other = swap;
	}
	symbols->capacity = nr;
	free(other);
	return 0;
}

/* Of one address: those without size first, then the larger (outer) before the smaller. */
static int compare_at_one_address(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->size != b->size) {
		if (!a->size || !b->size)
			return a->size ? 1 : -1;
		return a->size > b->size ? -1 : 1;
	}
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

static uint64_t end_of(const struct entry *entry)
{
	return entry->address > UINT64_MAX - entry->size ? UINT64_MAX
							 : entry->address + entry->size;
}

/* Sorted starts are enough to find a function, unless it lies in another one: then the way out. */
static void link_outer(struct symbols *symbols)
{
	uint32_t open = 0; /* entry + 1: innermost function that reaches this far */

	for (size_t i = 0; i < symbols->nr; i++) {
		const struct entry *entry = &symbols->entries[i];

		while (open && end_of(&symbols->entries[open - 1]) <= entry->address)
			open = symbols->outer[open - 1];
		symbols->outer[i] = open;
		if (entry->size)
			open = (uint32_t)i + 1;
	}
}

int symbols_sort(struct symbols *symbols)
{
	struct entry *entries;
	size_t end;
	int r;

	if (!symbols->nr)
		return 0;
	r = sort_by_address(symbols);
	if (r < 0)
		return r;
	entries = symbols->entries;
	for (size_t i = 0; i < symbols->nr; i = end) {
		for (end = i + 1; end < symbols->nr; end++) {
			if (entries[end].address != entries[i].address)
				break;
		}
		if (end - i > 1)
			qsort(entries + i, end - i, sizeof(*entries), compare_at_one_address);
	}
	free(symbols->outer);
	symbols->outer = calloc(symbols->nr, sizeof(*symbols->outer));
	if (!symbols->outer)
		return -ENOMEM;
	link_outer(symbols);
	return 0;
}

/* Reads a name up to its NUL or "@VERSION". 1, or 0: there is none that could be shown. */
static int read_name(
	const struct symbols *symbols, uint32_t name, char buffer[ELF_NAME_MAX], size_t *ret_size)
{
	for (unsigned i = 0; i < symbols->nr_names; i++) {
		const struct names *names = &symbols->names[i];
		size_t room = ELF_NAME_MAX, size, n = 128; /* most names are shorter than that */

		if (name < names->first || name - names->first >= names->size)
			continue;
		if (room > names->size - (name - names->first))
			room = names->size - (name - names->first);
		for (;;) {
			const char *at;

			n = n < room ? n : room;
			if (elf_file_read(names->file, names->offset + (name - names->first),
				    buffer, n) < 0)
				return 0;
			at = memchr(buffer, '\0', n);
			if (at) {
				size = (size_t)(at - buffer);
				break;
			}
			if (n == room)
				return 0;
			n = room;
		}
		if (size > 1 && memchr(buffer + 1, '@', size - 1))
			size = (size_t)((char *)memchr(buffer + 1, '@', size - 1) - buffer);
		*ret_size = size;
		/* "$x", "$d.1": ARM's marks of code and data. */
		return size && buffer[0] != '$';
	}
	return 0;
}

static size_t leading_underscores(const char *name, size_t size)
{
	size_t n = 0;

	while (n < size && name[n] == '_')
		n++;
	return n;
}

static int better_name(const char *a, size_t a_size, const struct elf_symbol *b)
{
	size_t of_a = leading_underscores(a, a_size);
	size_t of_b = leading_underscores(b->name, b->name_size);

	if (of_a != of_b)
		return of_a < of_b;
	if (a_size != b->name_size)
		return a_size < b->name_size;
	return memcmp(a, b->name, a_size) < 0;
}

/* Number of entries that start at vaddr or before. */
static size_t count_before(const struct symbols *symbols, uint64_t vaddr)
{
	size_t low = 0, high = symbols->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->entries[middle].address <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t symbols_locate(const struct symbols *symbols, uint64_t vaddr)
{
	uint32_t last = (uint32_t)count_before(symbols, vaddr), at = last;

	for (unsigned n = 0; at && n < MAX_NESTING; n++) {
		if (vaddr < end_of(&symbols->entries[at - 1]))
			return at;
		at = symbols->outer[at - 1];
	}
	if (last && symbols->entries[last - 1].address == vaddr && !symbols->entries[last - 1].size)
		return last;
	return 0;
}

/* Names of one function stand together, the best rank last. */
int symbols_read(const struct symbols *symbols, uint32_t function, struct elf_symbol *ret)
{
	const struct entry *entries = symbols->entries, *entry = &entries[function - 1];
	char name[ELF_NAME_MAX];
	int found = 0;

	for (size_t i = function, n = 0; i-- > 0 && n < MAX_ALIASES; n++) {
		size_t size;

		if (entries[i].address != entry->address || entries[i].size != entry->size ||
			(found && entries[i].rank != entry->rank))
			break;
		if (!read_name(symbols, entries[i].name, name, &size) ||
			(found && !better_name(name, size, ret)))
			continue;
		memcpy(ret->name, name, size);
		ret->name_size = size;
		entry = &entries[i];
		found = 1;
	}
	if (found) {
		ret->address = entry->address;
		ret->size = entry->size;
	}
	return found;
}
