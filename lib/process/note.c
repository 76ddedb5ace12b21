/* SPDX-License-Identifier: BSD-2-Clause */
/* note.c: the one fact about an ELF file that tells two builds apart. Small and bounded, as it is
 * asked for each file at the moment of its mapping; everything else about ELF is lib/elf. */
#include "process/note.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/file.h"

#define MAX_PROGRAM_HEADERS 512
#define MAX_NOTE_BYTES	    4096 /* of one segment; a build id lies near its start */

struct segment {
	uint32_t type;
	uint64_t offset, size, align;
};

static size_t align_up(size_t value, size_t align)
{
	return (value + align - 1) & ~(align - 1);
}

/* "GNU", NT_GNU_BUILD_ID: the id. Returns its size, 0: none here. */
static size_t find_in_notes(const uint8_t *notes, size_t size, size_t align, const uint8_t **ret)
{
	size_t at = 0;

	while (at < size && size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note; /* the same in 32-bit files */
		size_t name, id;

		memcpy(&note, notes + at, sizeof(note));
		if (note.n_namesz > MAX_NOTE_BYTES || note.n_descsz > MAX_NOTE_BYTES)
			return 0;
		name = at + sizeof(note);
		id = align_up(name + note.n_namesz, align);
		at = align_up(id + note.n_descsz, align);
		if (id + note.n_descsz > size)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
			memcmp(notes + name, "GNU", 4) == 0) {
			*ret = notes + id;
			return note.n_descsz;
		}
	}
	return 0;
}

static int read_notes(
	int fd, const struct segment *segment, uint8_t *ret, size_t max, uint8_t *ret_size)
{
	uint8_t notes[MAX_NOTE_BYTES];
	const uint8_t *id;
	ssize_t size;

	if (segment->type != PT_NOTE || segment->offset > INT64_MAX / 2)
		return 0;
	size = file_read(fd, notes,
		segment->size < sizeof(notes) ? (size_t)segment->size : sizeof(notes),
		(off_t)segment->offset);
	if (size < 0)
		return (int)size;
	size = (ssize_t)find_in_notes(notes, (size_t)size, segment->align == 8 ? 8 : 4, &id);
	if (!size || (size_t)size > max || size > UINT8_MAX)
		return 0;
	memcpy(ret, id, (size_t)size);
	*ret_size = (uint8_t)size;
	return 1;
}

static struct segment segment_of(const uint8_t *header, int class)
{
	Elf64_Phdr wide;
	Elf32_Phdr narrow;

	if (class == ELFCLASS64) {
		memcpy(&wide, header, sizeof(wide));
		return (struct segment){wide.p_type, wide.p_offset, wide.p_filesz, wide.p_align};
	}
	memcpy(&narrow, header, sizeof(narrow));
	return (struct segment){narrow.p_type, narrow.p_offset, narrow.p_filesz, narrow.p_align};
}

int note_read_build_id(int fd, uint8_t *ret, size_t max, uint8_t *ret_size)
{
	const int order = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	uint8_t headers[MAX_PROGRAM_HEADERS * sizeof(Elf64_Phdr)];
	Elf64_Ehdr file = {0};
	Elf32_Ehdr narrow;
	size_t each, nr;
	uint64_t offset;
	ssize_t size;

	size = file_read(fd, &file, sizeof(file), 0);
	if (size < 0)
		return (int)size;
	if ((size_t)size < sizeof(narrow) || memcmp(file.e_ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	*ret_size = 0;
	if (file.e_ident[EI_CLASS] == ELFCLASS64) {
		offset = file.e_phoff;
		nr = file.e_phnum;
		each = sizeof(Elf64_Phdr);
	} else {
		memcpy(&narrow, &file, sizeof(narrow));
		offset = narrow.e_phoff;
		nr = narrow.e_phnum;
		each = sizeof(Elf32_Phdr);
	}
	if (file.e_ident[EI_DATA] != order || offset > INT64_MAX / 2)
		return 0;
	if (nr > MAX_PROGRAM_HEADERS)
		nr = MAX_PROGRAM_HEADERS;
	size = file_read(fd, headers, nr * each, (off_t)offset);
	if (size < 0)
		return (int)size;
	for (size_t i = 0; (i + 1) * each <= (size_t)size; i++) {
		struct segment segment = segment_of(headers + i * each, file.e_ident[EI_CLASS]);
		int r = read_notes(fd, &segment, ret, max, ret_size);

		if (r)
			return r < 0 ? r : 0;
	}
	return 0;
}
