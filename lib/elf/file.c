/* SPDX-License-Identifier: BSD-2-Clause */
/* file.c: the layout of ELF headers, and that none of it can be believed before it is checked. */
#include "elf/file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

/* The kernel runs nothing with more than 64 KiB of program headers (fs/binfmt_elf.c). */
#define MAX_SEGMENTS   (65536 / sizeof(Elf64_Phdr))
#define MAX_SECTIONS   (1u << 16)
#define MAX_NAME_TABLE (8u << 20)
#define MAX_NOTES_SIZE (64u << 10)
#define MAX_NOTE_PARTS 64 /* sections or segments of notes looked at */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_BYTE_ORDER ELFDATA2LSB
#else
#define OWN_BYTE_ORDER ELFDATA2MSB
#endif

ssize_t elf_file_read_some(const struct elf_file *file, uint64_t offset, void *buffer, size_t size)
{
	size_t done = 0;

	if (offset >= file->size)
		return 0;
	if (size > file->size - offset)
		size = (size_t)(file->size - offset);
	if (file->image) {
		memcpy(buffer, file->image + offset, size);
		return (ssize_t)size;
	}
	while (done < size) {
		ssize_t n = pread(
			file->fd, (uint8_t *)buffer + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break; /* truncated since it was opened */
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int elf_file_read(const struct elf_file *file, uint64_t offset, void *buffer, size_t size)
{
	ssize_t n = elf_file_read_some(file, offset, buffer, size);

	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : -ENODATA;
}

/* nr entries of entry_size at offset, malloc'ed; NULL and 0 when they do not lie in the file. */
static int read_table(
	const struct elf_file *file, uint64_t offset, size_t nr, size_t entry_size, void **ret)
{
	_cleanup_free_ void *table = NULL;
	size_t size = nr * entry_size; /* callers bound both */
	int r;

	*ret = NULL;
	if (!nr || offset > file->size || size > file->size - offset)
		return 0;
	table = malloc(size);
	if (!table)
		return -ENOMEM;
	r = elf_file_read(file, offset, table, size);
	if (r < 0)
		return r == -ENODATA ? 0 : r;
	*ret = take_pointer(table);
	return 0;
}

static Elf64_Ehdr widen_header(const Elf32_Ehdr *h)
{
	Elf64_Ehdr wide = {
		.e_type = h->e_type,
		.e_machine = h->e_machine,
		.e_entry = h->e_entry,
		.e_phoff = h->e_phoff,
		.e_shoff = h->e_shoff,
		.e_phentsize = h->e_phentsize,
		.e_phnum = h->e_phnum,
		.e_shentsize = h->e_shentsize,
		.e_shnum = h->e_shnum,
		.e_shstrndx = h->e_shstrndx,
	};

	memcpy(wide.e_ident, h->e_ident, sizeof(wide.e_ident));
	return wide;
}

static Elf64_Phdr program_header(const struct elf_file *file, const void *table, size_t i)
{
	const Elf32_Phdr *p = (const Elf32_Phdr *)table + i;

	if (file->is_64)
		return ((const Elf64_Phdr *)table)[i];
	return (Elf64_Phdr){
		.p_type = p->p_type,
		.p_flags = p->p_flags,
		.p_offset = p->p_offset,
		.p_vaddr = p->p_vaddr,
		.p_filesz = p->p_filesz,
		.p_memsz = p->p_memsz,
		.p_align = p->p_align,
	};
}

static Elf64_Shdr section_header(const struct elf_file *file, const void *table, size_t i)
{
	const Elf32_Shdr *s = (const Elf32_Shdr *)table + i;

	if (file->is_64)
		return ((const Elf64_Shdr *)table)[i];
	return (Elf64_Shdr){
		.sh_name = s->sh_name,
		.sh_type = s->sh_type,
		.sh_flags = s->sh_flags,
		.sh_addr = s->sh_addr,
		.sh_offset = s->sh_offset,
		.sh_size = s->sh_size,
		.sh_link = s->sh_link,
		.sh_info = s->sh_info,
		.sh_addralign = s->sh_addralign,
		.sh_entsize = s->sh_entsize,
	};
}

static int read_header(struct elf_file *file, Elf64_Ehdr *ret)
{
	union {
		Elf64_Ehdr wide;
		Elf32_Ehdr narrow;
	} header = {0};
	ssize_t n = elf_file_read_some(file, 0, &header, sizeof(header));

	if (n < 0)
		return (int)n;
	if (n < (ssize_t)sizeof(header.narrow) ||
		memcmp(header.wide.e_ident, ELFMAG, SELFMAG) != 0 ||
		header.wide.e_ident[EI_DATA] != OWN_BYTE_ORDER)
		return -ENOEXEC;
	switch (header.wide.e_ident[EI_CLASS]) {
	case ELFCLASS32:
		*ret = widen_header(&header.narrow);
		break;
	case ELFCLASS64:
		if (n < (ssize_t)sizeof(header.wide))
			return -ENOEXEC;
		file->is_64 = 1;
		*ret = header.wide;
		break;
	default:
		return -ENOEXEC;
	}
	file->type = ret->e_type;
	file->machine = ret->e_machine;
	file->entry = ret->e_entry;
	return 0;
}

/* Looks for NT_GNU_BUILD_ID in notes; alignment is 8 where the header says so, else 4. */
static void find_build_id(
	struct elf_file *file, const uint8_t *notes, size_t size, uint64_t alignment)
{
	size_t mask = alignment == 8 ? 7 : 3, at = 0;

	while (size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note; /* same as Elf32_Nhdr */
		size_t name, description;

		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		if (note.n_namesz > size - name)
			return;
		description = (name + note.n_namesz + mask) & ~mask;
		if (description > size || note.n_descsz > size - description)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
			memcmp(notes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0) {
			if (!note.n_descsz || note.n_descsz > ELF_BUILD_ID_MAX)
				return;
			memcpy(file->build_id, notes + description, note.n_descsz);
			file->build_id_size = (uint8_t)note.n_descsz;
			return;
		}
		at = (description + note.n_descsz + mask) & ~mask;
		if (at > size)
			return;
	}
}

static int read_notes(struct elf_file *file, uint64_t offset, uint64_t size, uint64_t alignment)
{
	_cleanup_free_ uint8_t *notes = NULL;
	ssize_t n;

	if (file->build_id_size || !size)
		return 0;
	if (size > MAX_NOTES_SIZE)
		size = MAX_NOTES_SIZE;
	notes = malloc(size);
	if (!notes)
		return -ENOMEM;
	n = elf_file_read_some(file, offset, notes, size);
	if (n > 0)
		find_build_id(file, notes, (size_t)n, alignment);
	return 0; /* unreadable notes are no build id */
}

static int read_segments(struct elf_file *file, const Elf64_Ehdr *header)
{
	size_t entry_size = file->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	_cleanup_free_ void *table = NULL;
	unsigned nr_notes = 0;
	int r;

	if (header->e_phentsize != entry_size || header->e_phnum > MAX_SEGMENTS)
		return 0;
	r = read_table(file, header->e_phoff, header->e_phnum, entry_size, &table);
	if (r < 0 || !table)
		return r;
	file->segments = calloc(header->e_phnum, sizeof(*file->segments));
	if (!file->segments)
		return -ENOMEM;
	for (size_t i = 0; i < header->e_phnum; i++) {
		const Elf64_Phdr p = program_header(file, table, i);

		if (p.p_type == PT_NOTE && nr_notes++ < MAX_NOTE_PARTS) {
			r = read_notes(file, p.p_offset, p.p_filesz, p.p_align);
			if (r < 0)
				return r;
		}
		if (p.p_type == PT_GNU_EH_FRAME)
			file->unwind = (struct elf_part){p.p_offset, p.p_filesz, p.p_vaddr};
		if (p.p_type == PT_DYNAMIC)
			file->dynamic = (struct elf_part){p.p_offset, p.p_filesz, p.p_vaddr};
		if (p.p_type == PT_LOAD)
			file->segments[file->nr_segments++] = (struct elf_segment){
				.offset = p.p_offset,
				.file_size = p.p_filesz,
				.vaddr = p.p_vaddr,
				.flags = p.p_flags,
			};
	}
	return 0;
}

/* More than 65,279 sections: the number, and the index of names, stand in section 0 (gABI 4). */
static int count_sections(struct elf_file *file, const Elf64_Ehdr *header, size_t *ret)
{
	size_t entry_size = file->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	_cleanup_free_ void *first = NULL;
	Elf64_Shdr section;
	int r;

	*ret = header->e_shnum;
	file->section_names = header->e_shstrndx;
	if (!header->e_shoff || header->e_shentsize != entry_size) {
		*ret = 0;
		return 0;
	}
	if (header->e_shnum && header->e_shstrndx != SHN_XINDEX)
		return 0;
	r = read_table(file, header->e_shoff, 1, entry_size, &first);
	if (r < 0 || !first)
		return r;
	section = section_header(file, first, 0);
	if (!header->e_shnum)
		*ret = section.sh_size > MAX_SECTIONS ? 0 : (size_t)section.sh_size;
	if (header->e_shstrndx == SHN_XINDEX)
		file->section_names = section.sh_link;
	return 0;
}

static int name_sections(struct elf_file *file, const void *table)
{
	const struct elf_section *of;
	int r;

	if (file->section_names >= file->nr_sections)
		return 0;
	of = &file->sections[file->section_names];
	r = elf_file_contents(file, of, MAX_NAME_TABLE, (uint8_t **)&file->names);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; i < file->nr_sections; i++) {
		uint32_t at = section_header(file, table, i).sh_name;

		if (at < of->size)
			file->sections[i].name = file->names + at;
	}
	return 0;
}

static int read_sections(struct elf_file *file, const Elf64_Ehdr *header)
{
	size_t entry_size = file->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), nr;
	_cleanup_free_ void *table = NULL;
	unsigned nr_notes = 0;
	int r;

	r = count_sections(file, header, &nr);
	if (r < 0)
		return r;
	r = read_table(file, header->e_shoff, nr, entry_size, &table);
	if (r < 0 || !table)
		return r;
	file->sections = calloc(nr, sizeof(*file->sections));
	if (!file->sections)
		return -ENOMEM;
	file->nr_sections = nr;
	for (size_t i = 0; i < nr; i++) {
		const Elf64_Shdr s = section_header(file, table, i);

		file->sections[i] = (struct elf_section){
			.name = "",
			.type = s.sh_type,
			.link = s.sh_link,
			.flags = s.sh_flags,
			.address = s.sh_addr,
			.offset = s.sh_offset,
			.size = s.sh_size,
			.entry_size = s.sh_entsize,
		};
		/* Sections first: in a debug file the segments may lead nowhere. */
		if (s.sh_type == SHT_NOTE && nr_notes++ < MAX_NOTE_PARTS) {
			r = read_notes(file, s.sh_offset, s.sh_size, s.sh_addralign);
			if (r < 0)
				return r;
		}
	}
	return name_sections(file, table);
}

static int read_headers(struct elf_file *file)
{
	Elf64_Ehdr header = {0};
	int r;

	r = read_header(file, &header);
	if (r < 0)
		return r;
	r = read_sections(file, &header);
	if (r < 0)
		return r;
	return read_segments(file, &header);
}

static int make(const struct elf_file *from, struct elf_file **ret)
{
	struct elf_file *file = malloc(sizeof(*file));
	int r;

	if (!file)
		return -ENOMEM;
	*file = *from;
	r = read_headers(file);
	if (r < 0) {
		file->fd = -1; /* stay the caller's */
		file->owned_image = NULL;
		elf_file_close(file);
		return r;
	}
	*ret = file;
	return 0;
}

int elf_file_open(int fd, struct elf_file **ret)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_size < 0)
		return -EINVAL;
	return make(&(struct elf_file){.fd = fd, .size = (uint64_t)status.st_size}, ret);
}

int elf_file_open_image(const uint8_t *image, size_t size, struct elf_file **ret)
{
	return make(&(struct elf_file){.fd = -1, .image = image, .size = size}, ret);
}

int elf_file_take_image(uint8_t *image, size_t size, struct elf_file **ret)
{
	const struct elf_file from = {.fd = -1, .image = image, .owned_image = image, .size = size};

	return make(&from, ret);
}

void elf_file_close(struct elf_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		(void)close(file->fd); /* read only */
	free(file->owned_image);
	free(file->segments);
	free(file->sections);
	free(file->names);
	free(file);
}

int elf_file_vaddr(const struct elf_file *file, uint64_t offset, uint64_t *ret)
{
	const struct elf_segment *found = NULL;

	for (size_t i = 0; i < file->nr_segments; i++) {
		const struct elf_segment *s = &file->segments[i];

		if (offset < s->offset || offset - s->offset >= s->file_size)
			continue;
		if (!found || (!(found->flags & PF_X) && (s->flags & PF_X)))
			found = s;
	}
	if (!found)
		return -ENOENT;
	*ret = offset - found->offset + found->vaddr;
	return 0;
}

int elf_file_offset(const struct elf_file *file, uint64_t vaddr, uint64_t *ret)
{
	for (size_t i = 0; i < file->nr_segments; i++) {
		const struct elf_segment *s = &file->segments[i];

		if (vaddr < s->vaddr || vaddr - s->vaddr >= s->file_size)
			continue;
		*ret = vaddr - s->vaddr + s->offset;
		return 0;
	}
	return -ENOENT;
}

static int has_contents(const struct elf_section *section)
{
	return section->type != SHT_NULL && section->type != SHT_NOBITS && section->size;
}

const struct elf_section *elf_file_section(const struct elf_file *file, const char *name)
{
	for (size_t i = 1; i < file->nr_sections; i++) {
		if (has_contents(&file->sections[i]) && strcmp(file->sections[i].name, name) == 0)
			return &file->sections[i];
	}
	return NULL;
}

const struct elf_section *elf_file_section_of(const struct elf_file *file, uint32_t type)
{
	for (size_t i = 1; i < file->nr_sections; i++) {
		if (has_contents(&file->sections[i]) && file->sections[i].type == type)
			return &file->sections[i];
	}
	return NULL;
}

int elf_file_contents(
	const struct elf_file *file, const struct elf_section *section, size_t max, uint8_t **ret)
{
	_cleanup_free_ uint8_t *contents = NULL;
	int r;

	if (!has_contents(section) || section->offset > file->size ||
		section->size > file->size - section->offset)
		return -ENODATA;
	if (section->size > max)
		return -E2BIG;
	contents = array_new((size_t)section->size + 1, 1);
	if (!contents)
		return -ENOMEM;
	r = elf_file_read(file, section->offset, contents, (size_t)section->size);
	if (r < 0)
		return r;
	*ret = take_pointer(contents);
	return 0;
}
