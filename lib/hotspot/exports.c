/* SPDX-License-Identifier: BSD-2-Clause */
/* exports.c: the ELF header is mapped at the bias, so it is where code is less what lies before;
 * linkers leave up to some pages between an offset and its address, which are tried. */
#include "hotspot/exports.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define PAGE_BYTES	  4096
#define MAX_GAP_PAGES	  64
#define LARGE_PAGE	  0x200000 /* ld's largest page of some years */
#define MAX_HEADERS	  32
#define MAX_DYNAMIC	  256
#define MAX_SYMBOLS	  (256u << 10)
#define MAX_STRINGS_BYTES (16u << 20)

struct object {
	Elf64_Phdr headers[MAX_HEADERS];
	size_t nr_headers;
	uint64_t bias;
};

/* Does the image whose header lies at base have that offset at start? */
static int fits(const struct memory *memory, uint64_t base, uint64_t start, uint64_t offset,
	struct object *object)
{
	Elf64_Ehdr header;

	if (memory_read(memory, base, &header, sizeof(header)) < 0 ||
		memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
		header.e_ident[EI_CLASS] != ELFCLASS64 ||
		header.e_phentsize != sizeof(Elf64_Phdr) || !header.e_phnum ||
		header.e_phnum > MAX_HEADERS || header.e_phoff > PAGE_BYTES ||
		memory_read(memory, base + header.e_phoff, object->headers,
			header.e_phnum * sizeof(Elf64_Phdr)) < 0)
		return 0;
	object->nr_headers = header.e_phnum;
	object->bias = base;
	for (size_t i = 0; i < object->nr_headers; i++) {
		const Elf64_Phdr *part = &object->headers[i];
		const uint64_t from = part->p_offset & ~(uint64_t)(PAGE_BYTES - 1);

		if (part->p_type == PT_LOAD && offset >= from &&
			offset - from < part->p_filesz + PAGE_BYTES &&
			base + part->p_vaddr - part->p_offset + offset == start)
			return 1;
	}
	return 0;
}

static int locate(
	const struct memory *memory, uint64_t start, uint64_t offset, struct object *object)
{
	for (uint64_t gap = 0; gap < MAX_GAP_PAGES; gap++) {
		if (fits(memory, start - offset - gap * PAGE_BYTES, start, offset, object))
			return 0;
	}
	return fits(memory, start - offset - LARGE_PAGE, start, offset, object) ? 0 : -ENOENT;
}

struct tables {
	uint64_t symbols, names, names_size;
};

/* glibc leaves addresses in the table, musl what the file said. */
static uint64_t address_of(const struct object *object, uint64_t value)
{
	return value < object->bias ? value + object->bias : value;
}

static int read_dynamic(
	const struct memory *memory, const struct object *object, struct tables *ret)
{
	_cleanup_free_ Elf64_Dyn *entries = NULL;
	uint64_t at = 0;
	size_t nr = 0;

	for (size_t i = 0; i < object->nr_headers; i++) {
		if (object->headers[i].p_type == PT_DYNAMIC) {
			at = object->bias + object->headers[i].p_vaddr;
			nr = object->headers[i].p_memsz / sizeof(Elf64_Dyn);
		}
	}
	nr = nr < MAX_DYNAMIC ? nr : MAX_DYNAMIC;
	entries = calloc(nr + 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	if (!nr || memory_read(memory, at, entries, nr * sizeof(*entries)) < 0)
		return -ENOENT;
	for (size_t i = 0; i < nr && entries[i].d_tag != DT_NULL; i++) {
		if (entries[i].d_tag == DT_SYMTAB)
			ret->symbols = address_of(object, entries[i].d_un.d_ptr);
		else if (entries[i].d_tag == DT_STRTAB)
			ret->names = address_of(object, entries[i].d_un.d_ptr);
		else if (entries[i].d_tag == DT_STRSZ)
			ret->names_size = entries[i].d_un.d_val;
	}
	return ret->symbols && ret->names && ret->names_size ? 0 : -ENOENT;
}

int hotspot_exports_read(
	const struct memory *memory, uint64_t start, uint64_t offset, struct hotspot_exports *ret)
{
	struct hotspot_exports exports = {0};
	struct tables tables = {0};
	struct object object;
	uint8_t first;
	int r;

	/* Memory that nobody lets us read is another thing than a library without tables. */
	r = memory_read(memory, start, &first, sizeof(first));
	if (r < 0 && r != -EFAULT)
		return r;
	r = locate(memory, start, offset, &object);
	if (r == 0)
		r = read_dynamic(memory, &object, &tables);
	if (r < 0)
		return r;
	/* Nothing counts them but hash tables; each linker puts the names behind the symbols. */
	if (tables.names <= tables.symbols || tables.names_size > MAX_STRINGS_BYTES)
		return -ENOENT;
	exports.bias = object.bias;
	exports.nr_symbols = (tables.names - tables.symbols) / sizeof(Elf64_Sym);
	if (exports.nr_symbols > MAX_SYMBOLS)
		return -ENOENT;
	exports.names_size = tables.names_size + 1;
	exports.symbols = calloc(exports.nr_symbols + 1, sizeof(Elf64_Sym));
	exports.names = calloc(1, exports.names_size);
	r = exports.symbols && exports.names ? 0 : -ENOMEM;
	if (r == 0)
		r = memory_read(memory, tables.symbols, exports.symbols,
			exports.nr_symbols * sizeof(Elf64_Sym));
	if (r == 0)
		r = memory_read(memory, tables.names, exports.names, tables.names_size);
	if (r < 0) {
		hotspot_exports_done(&exports);
		return r == -EFAULT ? -ENOENT : r;
	}
	*ret = exports;
	return 0;
}

void hotspot_exports_done(struct hotspot_exports *exports)
{
	free(exports->symbols);
	free(exports->names);
	*exports = (struct hotspot_exports){0};
}

uint64_t hotspot_exports_find(const struct hotspot_exports *exports, const char *name)
{
	for (size_t i = 0; i < exports->nr_symbols; i++) {
		Elf64_Sym symbol;

		memcpy(&symbol, exports->symbols + i * sizeof(symbol), sizeof(symbol));
		if (symbol.st_shndx != SHN_UNDEF && symbol.st_name < exports->names_size &&
			symbol.st_value && strcmp(exports->names + symbol.st_name, name) == 0)
			return exports->bias + symbol.st_value;
	}
	return 0;
}
