/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_TESTS_UNIT_ELF_FILES_H
#define STOKE_TESTS_UNIT_ELF_FILES_H

/*
 * The ELF files that tests/data/elf/make.sh builds, and what is true of them, learnt from the
 * dynamic linker and the kernel: tests never take an ELF reader's word for it. Also small ELF
 * images made byte by byte.
 */

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "elf/file.h"
#include "unit/test.h"

enum { API_FIRST, SECRET_HOT, ONLY_IN_SYMTAB, API_LAST };

static inline const char *elf_path(const char *name)
{
	static char path[4096];

	(void)snprintf(path, sizeof(path), ELF_FILES "/%s", name);
	return path;
}

static inline int open_elf(const char *name)
{
	int fd = open(elf_path(name), O_RDONLY | O_CLOEXEC);

	cr_assert(fd >= 0, "%s is missing", name);
	return fd;
}

/* Where an address of this process lies in the file that is mapped there. */
static inline uint64_t mapped_offset(const void *address)
{
	_cleanup_fclose_ FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];

	cr_assert(maps != NULL);
	while (fgets(line, sizeof(line), maps)) {
		uint64_t start, end, offset;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &offset) ==
				3 &&
			(uintptr_t)address >= start && (uintptr_t)address < end)
			return (uintptr_t)address - start + offset;
	}
	cr_fatal("address in no mapping");
	return 0;
}

/* File offset of a function of the library, as it runs. */
static inline uint64_t function_offset(const char *name, int which)
{
	void *library = dlopen(elf_path(name), RTLD_NOW | RTLD_LOCAL);
	const void *(*address_of)(int);
	uint64_t offset;

	cr_assert(library != NULL, "%s", dlerror());
	*(void **)&address_of = dlsym(library, "address_of");
	cr_assert(address_of != NULL);
	offset = mapped_offset(address_of(which));
	(void)dlclose(library);
	return offset;
}

/*
 * A small 64-bit ELF image: one executable segment, sections .text, .symtab, .strtab, .shstrtab.
 * File offset 0x1000 + x is virtual address 0x5000 + x. Tests then break it.
 */
struct image {
	union {
		Elf64_Ehdr header;
		uint8_t bytes[0x6000];
	};
	size_t size;
};

#define IMAGE_SEGMENTS 0x100
#define IMAGE_SECTIONS 0x200
#define IMAGE_NAMES    0x400
#define IMAGE_STRINGS  0x800
#define IMAGE_TEXT     0x1000
#define IMAGE_VADDR    0x5000
#define IMAGE_SYMBOLS  0x3000

static inline Elf64_Shdr *image_section(struct image *image, unsigned i)
{
	return (Elf64_Shdr *)(image->bytes + IMAGE_SECTIONS) + i;
}

static inline Elf64_Phdr *image_segment(struct image *image)
{
	return (Elf64_Phdr *)(image->bytes + IMAGE_SEGMENTS);
}

static inline Elf64_Sym *image_symbol(struct image *image, unsigned i)
{
	return (Elf64_Sym *)(image->bytes + IMAGE_SYMBOLS) + i;
}

static inline void image_init(struct image *image)
{
	static const char names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";

	memset(image, 0, sizeof(*image));
	image->size = sizeof(image->bytes);
	image->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, 1},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phoff = IMAGE_SEGMENTS,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shoff = IMAGE_SECTIONS,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 5,
		.e_shstrndx = 4,
	};
	*image_segment(image) = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = IMAGE_TEXT,
		.p_vaddr = IMAGE_VADDR,
		.p_filesz = 0x2000,
		.p_memsz = 0x2000,
		.p_align = 0x1000,
	};
	memcpy(image->bytes + IMAGE_NAMES, names, sizeof(names));
	*image_section(image, 1) = (Elf64_Shdr){1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
		IMAGE_VADDR, IMAGE_TEXT, 0x2000, 0, 0, 16, 0};
	*image_section(image, 2) = (Elf64_Shdr){
		7, SHT_SYMTAB, 0, 0, IMAGE_SYMBOLS, sizeof(Elf64_Sym), 3, 1, 8, sizeof(Elf64_Sym)};
	*image_section(image, 3) = (Elf64_Shdr){15, SHT_STRTAB, 0, 0, IMAGE_STRINGS, 1, 0, 0, 1, 0};
	*image_section(image, 4) =
		(Elf64_Shdr){23, SHT_STRTAB, 0, 0, IMAGE_NAMES, sizeof(names), 0, 0, 1, 0};
}

static inline void image_add(struct image *image, const char *name, uint64_t address, uint64_t size,
	unsigned bind, unsigned type)
{
	Elf64_Shdr *symbols = image_section(image, 2), *strings = image_section(image, 3);

	*image_symbol(image, (unsigned)(symbols->sh_size / sizeof(Elf64_Sym))) = (Elf64_Sym){
		.st_name = (uint32_t)strings->sh_size,
		.st_info = ELF64_ST_INFO(bind, type),
		.st_shndx = 1,
		.st_value = address,
		.st_size = size,
	};
	memcpy(image->bytes + IMAGE_STRINGS + strings->sh_size, name, strlen(name) + 1);
	strings->sh_size += strlen(name) + 1;
	symbols->sh_size += sizeof(Elf64_Sym);
}

#endif
