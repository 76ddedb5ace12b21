/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_elf.c: any bytes as an ELF file: opened, its symbols sorted, found and read. */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/debugfile.h"
#include "elf/dynamic.h"
#include "elf/file.h"
#include "elf/starts.h"
#include "elf/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(const struct elf_file *file, const struct elf_file *debug)
{
	struct symbols *symbols = NULL;
	struct starts *starts = NULL;
	struct elf_symbol symbol;
	struct elf_dynamic dynamic;
	char name[ELF_PLT_NAME_MAX];
	uint64_t vaddr, start;
	int linked = elf_dynamic_read(file, &dynamic) == 0;

	if (symbols_new(&symbols) < 0)
		return;
	(void)symbols_add(symbols, file, SHT_SYMTAB); /* what comes is looked up */
	(void)symbols_add(symbols, file, SHT_DYNSYM);
	(void)symbols_add_dynamic(symbols, file);
	if (debug)
		(void)symbols_add(symbols, debug, SHT_SYMTAB);
	(void)starts_open(file, &starts);
	if (symbols_sort(symbols) == 0) {
		for (uint64_t offset = 0; offset < file->size; offset += 16) {
			uint32_t function;

			if (elf_file_vaddr(file, offset, &vaddr) < 0)
				continue;
			function = symbols_locate(symbols, vaddr);
			if (function)
				(void)symbols_read(symbols, function, &symbol);
			if (!function && linked && offset < 4096)
				(void)elf_plt_name(file, &dynamic, vaddr, name);
			if (starts)
				(void)starts_find(starts, vaddr, &start);
		}
	}
	starts_close(starts);
	symbols_free(symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_file *file = NULL, *debug = NULL;

	if (size > 1u << 20 || elf_file_open_image(data, size, &file) < 0)
		return 0;
	(void)debugfile_unpack(file, &debug); /* NULL: none */
	look_up(file, debug);
	elf_file_close(debug);
	elf_file_close(file);
	return 0;
}
