/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_ELF_DYNAMIC_H
#define STOKE_ELF_DYNAMIC_H

/*
 * What the dynamic linker reads of a file: there even when its section headers are not. Every
 * address is looked for in the segments, every size bounded by them.
 */

#include <stdint.h>

#include "elf/file.h"

struct elf_dynamic {
	uint64_t symbols, strings, strings_size; /* offsets in the file; 0: none */
	uint64_t hash, gnu_hash; /* offsets */
	uint64_t calls, calls_size; /* relocations of the PLT */
	uint64_t others, others_size; /* of the rest */
};

/* 0, or -ENOENT: the file is linked statically, or not 64 bits wide. */
int elf_dynamic_read(const struct elf_file *file, struct elf_dynamic *ret);
/* Number of symbols, as the hash tables say; 0: they do not. */
uint64_t elf_dynamic_count(const struct elf_file *file, const struct elf_dynamic *dynamic);

/*
 * The function that a jump through the global offset table leads to, as compilers and linkers write
 * them for calls of other libraries (.plt, .plt.sec, .plt.got): vaddr lies in such a stub. name
 * gets "memcpy@plt". Its size, or 0: no stub, or nobody knows whose.
 */
#define ELF_PLT_NAME_MAX 512
size_t elf_plt_name(const struct elf_file *file, const struct elf_dynamic *dynamic, uint64_t vaddr,
	char name[ELF_PLT_NAME_MAX]);

#endif
