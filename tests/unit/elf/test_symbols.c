/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/symbols.h"

#include <errno.h>
#include <stdlib.h>

#include "unit/elf/files.h"

TestSuite(symbols, .fini = check_leaks);

static struct image image;
static struct elf_file *file;
static struct symbols *symbols;

static void load(void)
{
	cr_assert(eq(int, elf_file_open_image(image.bytes, image.size, &file), 0));
	cr_assert(eq(int, symbols_new(&symbols), 0));
	cr_assert(ge(int, symbols_add(symbols, file, SHT_SYMTAB), 0));
	cr_assert(eq(int, symbols_sort(symbols), 0));
}

static void unload(void)
{
	symbols_free(symbols);
	elf_file_close(file);
	symbols = NULL;
	file = NULL;
}

static void function(const char *name, uint64_t address, uint64_t size)
{
	image_add(&image, name, address, size, STB_GLOBAL, STT_FUNC);
}

/* The name at an address, "" when there is none. */
static char *at(uint64_t vaddr)
{
	static struct elf_symbol symbol;
	uint32_t found = symbols_locate(symbols, vaddr);

	if (!found || !symbols_read(symbols, found, &symbol))
		return "";
	symbol.name[symbol.name_size] = '\0';
	return symbol.name;
}

Test(symbols, size_is_honoured)
{
	image_init(&image);
	function("second", 0x5200, 0x10);
	function("first", 0x5100, 0x20);
	load();
	cr_assert(eq(str, at(0x50ff), ""));
	cr_assert(eq(str, at(0x5100), "first"));
	cr_assert(eq(str, at(0x511f), "first"));
	cr_assert(eq(str, at(0x5120), ""));
	cr_assert(eq(str, at(0x520f), "second"));
	cr_assert(eq(str, at(0x5210), ""));
	unload();
}

Test(symbols, without_size_only_the_very_address_matches)
{
	image_init(&image);
	image_add(&image, "label", 0x5100, 0, STB_GLOBAL, STT_NOTYPE);
	load();
	cr_assert(eq(str, at(0x5100), "label"));
	cr_assert(eq(str, at(0x5101), ""));
	unload();
}

Test(symbols, label_inside_a_function_is_the_function)
{
	image_init(&image);
	image_add(&image, "loop", 0x5110, 0, STB_LOCAL, STT_NOTYPE);
	image_add(&image, "function", 0x5100, 0x40, STB_LOCAL, STT_FUNC);
	image_add(&image, "entry", 0x5100, 0, STB_GLOBAL, STT_FUNC);
	load();
	cr_assert(eq(str, at(0x5100), "function"));
	cr_assert(eq(str, at(0x5110), "function"));
	cr_assert(eq(str, at(0x5120), "function"));
	unload();
}

Test(symbols, innermost_of_nested_functions)
{
	image_init(&image);
	function("outer", 0x5100, 0x100);
	function("inner", 0x5140, 0x20);
	function("innermost", 0x5148, 0x8);
	function("prologue", 0x5100, 0x10);
	function("overlap", 0x51f0, 0x20);
	load();
	cr_assert(eq(str, at(0x5100), "prologue"));
	cr_assert(eq(str, at(0x5110), "outer"));
	cr_assert(eq(str, at(0x5147), "inner"));
	cr_assert(eq(str, at(0x514f), "innermost"));
	cr_assert(eq(str, at(0x5150), "inner"));
	cr_assert(eq(str, at(0x5160), "outer"));
	cr_assert(eq(str, at(0x51f0), "overlap"));
	cr_assert(eq(str, at(0x520f), "overlap"));
	cr_assert(eq(str, at(0x5210), ""));
	unload();
}

Test(symbols, best_of_several_names_wins_in_any_order)
{
	static const struct {
		const char *name;
		unsigned bind, type;
	} names[] = {
		{"a_mark", STB_GLOBAL, STT_NOTYPE},
		{"local", STB_LOCAL, STT_FUNC},
		{"weak", STB_WEAK, STT_FUNC},
		{"__libc_open", STB_GLOBAL, STT_FUNC},
		{"open_the_file", STB_GLOBAL, STT_FUNC},
		{"open64", STB_GLOBAL, STT_FUNC},
		{"open32", STB_GLOBAL, STT_FUNC},
		{"$x", STB_GLOBAL, STT_FUNC},
	};

	for (size_t shift = 0; shift < ARRAY_SIZE(names); shift++) {
		image_init(&image);
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			size_t n = (i * 3 + shift) % ARRAY_SIZE(names);

			image_add(
				&image, names[n].name, 0x5100, 0x10, names[n].bind, names[n].type);
		}
		load();
		cr_assert(eq(str, at(0x5104), "open32"));
		unload();
	}
}

Test(symbols, weak_before_local_before_what_is_no_function)
{
	static char *const names[] = {"weak", "local", "mark"};
	static const unsigned binds[] = {STB_WEAK, STB_LOCAL, STB_GLOBAL};
	static const unsigned types[] = {STT_FUNC, STT_FUNC, STT_NOTYPE};

	for (size_t from = 0; from < ARRAY_SIZE(names); from++) {
		image_init(&image);
		for (size_t i = from; i < ARRAY_SIZE(names); i++)
			image_add(&image, names[i], 0x5100, 0x10, binds[i], types[i]);
		load();
		cr_assert(eq(str, at(0x5100), names[from]));
		unload();
	}
}

Test(symbols, version_is_no_part_of_the_name)
{
	image_init(&image);
	image_add(&image, "memcpy@@GLIBC_2.14", 0x5100, 0x10, STB_GLOBAL, STT_GNU_IFUNC);
	load();
	cr_assert(eq(str, at(0x5100), "memcpy"));
	unload();
}

Test(symbols, data_and_undefined_symbols_are_no_functions)
{
	image_init(&image);
	image_add(&image, "object", 0x5100, 0x10, STB_GLOBAL, STT_OBJECT);
	function("undefined", 0x5100, 0x10);
	function("absolute", 0x5100, 0x10);
	function("in_data", 0x5100, 0x10);
	image_symbol(&image, 2)->st_shndx = SHN_UNDEF;
	image_symbol(&image, 3)->st_shndx = SHN_ABS;
	image_symbol(&image, 4)->st_shndx = 4;
	load();
	cr_assert(eq(sz, symbols_nr(symbols), 0));
	cr_assert(eq(str, at(0x5100), ""));
	unload();
}

Test(symbols, names_outside_the_string_table_are_no_names)
{
	image_init(&image);
	function("lost", 0x5100, 0x10);
	function("cut", 0x5200, 0x10);
	image_symbol(&image, 1)->st_name = 0xffffffff;
	image_section(&image, 3)->sh_size -= 1; /* without the last NUL */
	load();
	cr_assert(eq(str, at(0x5100), ""));
	cr_assert(eq(str, at(0x5200), ""));
	unload();
}

Test(symbols, long_names_are_whole)
{
	char name[1500];

	image_init(&image);
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	function(name, 0x5100, 0x10);
	load();
	cr_assert(eq(str, at(0x5100), name));
	unload();
}

Test(symbols, addresses_up_to_the_top_do_not_wrap)
{
	image_init(&image);
	function("top", UINT64_MAX - 15, UINT64_MAX);
	function("bottom", 0, 16);
	load();
	cr_assert(eq(str, at(0), "bottom"));
	cr_assert(eq(str, at(16), ""));
	cr_assert(eq(str, at(UINT64_MAX - 1), "top"));
	unload();
}

/* Sorting goes digit by digit: addresses that differ in each of the digits come out in order. */
Test(symbols, sorts_addresses_of_any_width)
{
	static const uint64_t addresses[] = {0x7fffffffffffff00, 0x5100, 0x12345678, 0x100000000,
		0x5000, 0xffff000000000000, 0x34fd200000, 0x5200};
	char name[32];

	image_init(&image);
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		(void)snprintf(name, sizeof(name), "f%zu", i);
		function(name, addresses[i], 16);
	}
	load();
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		(void)snprintf(name, sizeof(name), "f%zu", i);
		cr_assert(eq(str, at(addresses[i] + 8), name));
	}
	unload();
}

Test(symbols, reads_32_bit_files)
{
	static const char names[] = "\0narrow";
	const Elf32_Sym table[2] = {{0}, {.st_name = 1,
						 .st_value = 0x8049000,
						 .st_size = 0x20,
						 .st_info = ELF32_ST_INFO(STB_GLOBAL, STT_FUNC),
						 .st_shndx = 1}};
	const Elf32_Shdr sections[4] = {{0}, {.sh_type = SHT_PROGBITS, .sh_flags = SHF_EXECINSTR},
		{.sh_type = SHT_SYMTAB,
			.sh_offset = 0x800,
			.sh_size = sizeof(table),
			.sh_link = 3,
			.sh_entsize = sizeof(Elf32_Sym)},
		{.sh_type = SHT_STRTAB, .sh_offset = 0x900, .sh_size = sizeof(names)}};

	memset(&image, 0, sizeof(image));
	image.size = sizeof(image.bytes);
	*(Elf32_Ehdr *)image.bytes = (Elf32_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, 1},
		.e_type = ET_EXEC,
		.e_machine = EM_386,
		.e_shoff = 0x200,
		.e_shentsize = sizeof(Elf32_Shdr),
		.e_shnum = 4,
	};
	memcpy(image.bytes + 0x200, sections, sizeof(sections));
	memcpy(image.bytes + 0x800, table, sizeof(table));
	memcpy(image.bytes + 0x900, names, sizeof(names));
	load();
	cr_assert(eq(str, at(0x804901f), "narrow"));
	unload();
}
