/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_ELF_SYMBOLS_H
#define STOKE_ELF_SYMBOLS_H

/*
 * The functions of one program or library, by virtual address. 20 bytes a symbol, names stay in
 * the file until they are asked for: two million symbols are 40 MB and a fraction of a second.
 */

#include <stddef.h>
#include <stdint.h>

#include "elf/file.h"

struct symbols;

#define ELF_NAME_MAX	4096 /* of a name in a file; longer ones count as none */
#define ELF_MAX_SYMBOLS (8u << 20) /* of one module; what comes behind is left out */

struct elf_symbol {
	uint64_t address; /* where it starts */
	uint64_t size; /* 0: the file does not say */
	char name[ELF_NAME_MAX]; /* as it stands there: mangled, without "@VERSION" */
	size_t name_size;
};

int symbols_new(struct symbols **ret);
void symbols_free(struct symbols *symbols);

/*
 * Adds the functions of the file's table of that type (SHT_SYMTAB or SHT_DYNSYM): STT_FUNC,
 * STT_GNU_IFUNC and STT_NOTYPE in executable sections. The file is borrowed and has to stay.
 * Returns how many came; 0 when the table is missing or lies; -ENOMEM.
 */
int symbols_add(struct symbols *symbols, const struct elf_file *file, uint32_t type);
/* Same, of what the dynamic linker reads: for files without section headers. */
int symbols_add_dynamic(struct symbols *symbols, const struct elf_file *file);
/* Makes what was added ready to be looked up. 0 or -ENOMEM. */
int symbols_sort(struct symbols *symbols);
size_t symbols_nr(const struct symbols *symbols);

/*
 * The innermost function whose [address, address + size) holds vaddr; one without size is only
 * found at its very address. 0: between functions; else a number that is the same for all of one
 * function.
 */
uint32_t symbols_locate(const struct symbols *symbols, uint64_t vaddr);

/*
 * Reads what symbols_locate() found. Of several names of one function: FUNC before NOTYPE, global
 * before weak before local, then fewer leading underscores, then the shorter, then in byte order,
 * so that the answer never depends on the order of the table. 1, or 0: no name that can be shown.
 */
int symbols_read(const struct symbols *symbols, uint32_t function, struct elf_symbol *ret);

#endif
