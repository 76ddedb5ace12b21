/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_ELF_FILE_H
#define STOKE_ELF_FILE_H

/*
 * An ELF file that its owner may have made to hurt, and may truncate while it is read: every
 * offset and count is checked against the size, everything is read by pread (never mapped: a
 * truncated mapping is a SIGBUS), and what contradicts itself is not there. 32 and 64 bits, the
 * machine's own byte order.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ELF_BUILD_ID_MAX 20 /* as the kernel's BUILD_ID_SIZE_MAX: longer ones count as none */

/* A PT_LOAD program header. */
struct elf_segment {
	uint64_t offset, file_size; /* where it lies in the file */
	uint64_t vaddr; /* where symbols and objdump see it */
	uint32_t flags; /* PF_* */
};

/* Some bytes of the file that a program header of another kind tells of. */
struct elf_part {
	uint64_t offset, size, vaddr;
};

struct elf_section {
	const char *name; /* NUL-terminated, "" when the file lies about it */
	uint32_t type; /* SHT_* */
	uint32_t link;
	uint64_t flags; /* SHF_* */
	uint64_t address, offset, size;
	uint64_t entry_size;
};

struct elf_file {
	int fd; /* owned; -1: image */
	const uint8_t *image;
	uint8_t *owned_image;
	uint64_t size;
	int is_64;
	uint16_t type; /* ET_* */
	uint16_t machine; /* EM_* */
	uint64_t entry; /* vaddr of the first instruction; 0: none */
	uint32_t section_names; /* index of the section that holds names */
	struct elf_segment *segments;
	size_t nr_segments;
	struct elf_part unwind; /* PT_GNU_EH_FRAME; size 0: none */
	struct elf_part dynamic; /* PT_DYNAMIC, likewise */
	struct elf_section *sections; /* [0] is the file's own empty one */
	size_t nr_sections;
	char *names; /* contents of the section name table */
	uint8_t build_id[ELF_BUILD_ID_MAX];
	uint8_t build_id_size; /* 0: none */
};

/*
 * Takes over fd on success. -ENOEXEC: not an ELF file, or none of this machine's byte order;
 * -EINVAL not a regular file; -ENOMEM; -errno of reading. A file without usable headers is
 * opened all the same, with no segments or sections.
 */
int elf_file_open(int fd, struct elf_file **ret);
/* Same for memory. The image is borrowed and has to stay. */
int elf_file_open_image(const uint8_t *image, size_t size, struct elf_file **ret);
/* Same, the image becomes the file's on success and is freed by free(). */
int elf_file_take_image(uint8_t *image, size_t size, struct elf_file **ret);
void elf_file_close(struct elf_file *file);

/* All of size bytes at offset, or -ENODATA when the file ends before, or -errno. */
int elf_file_read(const struct elf_file *file, uint64_t offset, void *buffer, size_t size);
/* As much as there is, up to size bytes. Bytes read, or -errno. */
ssize_t elf_file_read_some(const struct elf_file *file, uint64_t offset, void *buffer, size_t size);

/* The virtual address of a file offset: by the segment that holds it, executable ones first.
 * 0, or -ENOENT: no segment holds it. */
int elf_file_vaddr(const struct elf_file *file, uint64_t offset, uint64_t *ret);
/* And back. */
int elf_file_offset(const struct elf_file *file, uint64_t vaddr, uint64_t *ret);

/* The first section of that name, or type, that has contents in the file; or NULL. */
const struct elf_section *elf_file_section(const struct elf_file *file, const char *name);
const struct elf_section *elf_file_section_of(const struct elf_file *file, uint32_t type);

/* The contents of a section in malloc'ed memory, with a NUL byte behind. -E2BIG: more than max. */
int elf_file_contents(
	const struct elf_file *file, const struct elf_section *section, size_t max, uint8_t **ret);

#endif
