/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_UNIT_UNWIND_FRAMES_H
#define STOKE_UNIT_UNWIND_FRAMES_H

/*
 * .eh_frame made by hand: an x86-64 ELF image with one executable segment and, as far as they are
 * not empty, sections .eh_frame and .debug_frame.
 */

#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "elf/file.h"
#include "unit/test.h"
#include "unwind/ehframe.h"

#define TEXT	   0x10000u
#define TEXT_SIZE  0x8000u
#define EH_VADDR   0x40000u
#define AT_PLT	   "\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"
#define CODE(text) (const uint8_t *)(text), sizeof(text) - 1

struct frames {
	uint8_t bytes[16384];
	size_t size;
	int is_debug;
};

static inline void frames_put(struct frames *f, const void *bytes, size_t size)
{
	cr_assert(size <= sizeof(f->bytes) - f->size);
	memcpy(f->bytes + f->size, bytes, size);
	f->size += size;
}

static inline void frames_put_number(struct frames *f, uint64_t value, size_t size)
{
	frames_put(f, &value, size);
}

/* Ends the entry that begins at `start` with its length. */
static inline void frames_end(struct frames *f, size_t start)
{
	uint32_t length;

	while (f->size % 8)
		frames_put(f, "", 1); /* DW_CFA_nop */
	length = (uint32_t)(f->size - start - 4);
	memcpy(f->bytes + start, &length, 4);
}

/* A CIE as GCC makes it, code factor 1, data factor -8, pointers pcrel sdata4. Its offset. */
static inline size_t frames_cie_of(
	struct frames *f, const char *letters, size_t ra, const uint8_t *code, size_t size)
{
	size_t start = f->size;

	frames_put_number(f, 0, 4);
	frames_put_number(f, f->is_debug ? UINT32_MAX : 0, 4);
	frames_put(f, "\x01", 1);
	frames_put(f, letters, strlen(letters) + 1);
	frames_put(f, "\x01\x78", 2);
	frames_put_number(f, ra, 1);
	if (letters[0] == 'z')
		frames_put(f, "\x01\x1b", 2);
	frames_put(f, code, size);
	frames_end(f, start);
	return start;
}

/* def_cfa rsp+8; rip at CFA-8. */
static inline size_t frames_cie(struct frames *f, const char *letters)
{
	return frames_cie_of(f, letters, 16, CODE("\x0c\x07\x08\x90\x01"));
}

static inline void frames_fde(struct frames *f, size_t cie, uint64_t start, uint64_t length,
	const uint8_t *code, size_t size)
{
	size_t at = f->size;

	frames_put_number(f, 0, 4);
	if (f->is_debug) {
		frames_put_number(f, cie, 4);
		frames_put_number(f, start, 8);
		frames_put_number(f, length, 8);
	} else {
		frames_put_number(f, at + 4 - cie, 4);
		frames_put_number(f, start - (EH_VADDR + f->size), 4);
		frames_put_number(f, length, 4);
		frames_put(f, "", 1); /* size of augmentation data */
	}
	frames_put(f, code, size);
	frames_end(f, at);
}

struct elf_image {
	union {
		Elf64_Ehdr header;
		uint8_t bytes[0x8000 + 2 * sizeof(((struct frames *)0)->bytes)];
	};
};

#define NAME_PLT     34 /* where the names of sections have these */
#define NAME_PLT_SEC 39

/* .text lies at file offset 0, which nothing reads. */
static inline void image_of(
	struct elf_image *image, const struct frames *eh, const struct frames *debug)
{
	static const char names[] = "\0.eh_frame\0.debug_frame\0.shstrtab\0.plt\0.plt.sec";
	Elf64_Shdr *sections = (Elf64_Shdr *)(image->bytes + 0x200);
	Elf64_Phdr *segments = (Elf64_Phdr *)(image->bytes + 0x100);

	memset(image, 0, sizeof(*image));
	image->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, 1},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_phoff = 0x100,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3,
		.e_shoff = 0x200,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
		.e_shstrndx = 3,
	};
	segments[0] = (Elf64_Phdr){PT_LOAD, PF_R | PF_X, 0, TEXT, TEXT, TEXT_SIZE, TEXT_SIZE, 0};
	segments[1] = (Elf64_Phdr){PT_LOAD, PF_R, 0x8000, EH_VADDR, EH_VADDR, 0x4000, 0x4000, 0};
	memcpy(image->bytes + 0x800, names, sizeof(names));
	sections[1] =
		(Elf64_Shdr){1, SHT_PROGBITS, SHF_ALLOC, EH_VADDR, 0x8000, eh->size, 0, 0, 8, 0};
	memcpy(image->bytes + 0x8000, eh->bytes, eh->size);
	if (debug) {
		sections[2] = (Elf64_Shdr){11, SHT_PROGBITS, 0, 0, 0xc000, debug->size, 0, 0, 8, 0};
		memcpy(image->bytes + 0xc000, debug->bytes, debug->size);
	}
	sections[3] = (Elf64_Shdr){24, SHT_STRTAB, 0, 0, 0x800, sizeof(names), 0, 0, 1, 0};
}

static inline int rows_of_image(const struct elf_image *image, struct unwind_rows *ret)
{
	struct elf_file *file = NULL;
	int r;

	cr_assert(elf_file_open_image(image->bytes, sizeof(image->bytes), &file) == 0);
	r = ehframe_rows(file, ret);
	elf_file_close(file);
	return r;
}

static inline int rows_of(
	const struct frames *eh, const struct frames *debug, struct unwind_rows *ret)
{
	_cleanup_free_ struct elf_image *image = malloc(sizeof(*image));

	cr_assert(image != NULL);
	image_of(image, eh, debug);
	return rows_of_image(image, ret);
}

/* The row that begins at an address. */
static inline const struct unwind_rule *rule_at(const struct unwind_rows *rows, uint64_t address)
{
	const struct unwind_row *row = unwind_rows_find(rows, address);

	cr_assert(row != NULL && row->address == address, "no row begins at %#lx", address);
	return &row->rule;
}

#define check_rule(rule, kind, offset)                                                             \
	do {                                                                                       \
		const struct unwind_rule *rule_ = (rule);                                          \
		cr_expect(rule_->cfa == (kind), "cfa is %u", rule_->cfa);                          \
		cr_expect(rule_->cfa_offset == (offset), "offset is %d", rule_->cfa_offset);       \
	} while (0)

#define check_fp(rule, kind, offset)                                                               \
	do {                                                                                       \
		const struct unwind_rule *rule_ = (rule);                                          \
		cr_expect(rule_->fp == (kind), "fp is %u", rule_->fp);                             \
		cr_expect(rule_->fp_offset == (offset), "fp offset is %d", rule_->fp_offset);      \
	} while (0)

#endif
