/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "elf/symbols.h"
#include "unit/elf/files.h"

TestSuite(elf_file, .fini = check_leaks);

static struct image image;
static struct elf_file *file;

/* Number of functions found in the image, or -errno of opening it. */
static int functions(void)
{
	struct elf_file *opened = NULL;
	struct symbols *symbols = NULL;
	int r = elf_file_open_image(image.bytes, image.size, &opened);

	if (r < 0)
		return r;
	cr_assert(eq(int, symbols_new(&symbols), 0));
	r = symbols_add(symbols, opened, SHT_SYMTAB);
	cr_assert(eq(int, symbols_sort(symbols), 0));
	symbols_free(symbols);
	elf_file_close(opened);
	return r;
}

static void sound_image(void)
{
	image_init(&image);
	image_add(&image, "work", 0x5100, 0x40, STB_GLOBAL, STT_FUNC);
}

static void open_image(void)
{
	elf_file_close(file);
	cr_assert(eq(int, elf_file_open_image(image.bytes, image.size, &file), 0));
}

static void close_image(void)
{
	elf_file_close(file);
	file = NULL;
}

Test(elf_file, address_comes_from_the_segment_that_holds_the_offset)
{
	static const char *const names[] = {"lld.so", "based.so", "together.so", "apart.so"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct elf_symbol symbol = {0};
		struct symbols *symbols = NULL;
		uint64_t vaddr = 0;

		cr_assert(eq(int, elf_file_open(open_elf(names[i]), &file), 0));
		cr_assert(eq(int,
			elf_file_vaddr(file, function_offset(names[i], SECRET_HOT), &vaddr), 0));
		cr_assert(eq(int, symbols_new(&symbols), 0));
		cr_assert(gt(int, symbols_add(symbols, file, SHT_SYMTAB), 0));
		cr_assert(eq(int, symbols_sort(symbols), 0));
		cr_assert(
			eq(int, symbols_read(symbols, symbols_locate(symbols, vaddr), &symbol), 1));
		cr_assert(eq(u64, symbol.address, vaddr), "%s", names[i]);
		cr_assert(eq(int, memcmp(symbol.name, "secret_hot", 10), 0), "%s", names[i]);
		symbols_free(symbols);
		elf_file_close(file);
	}
}

Test(elf_file, offset_outside_every_segment_has_no_address)
{
	uint64_t vaddr = 77;

	sound_image();
	open_image();
	cr_assert(eq(int, elf_file_vaddr(file, 0xfff, &vaddr), -ENOENT));
	cr_assert(eq(int, elf_file_vaddr(file, 0x3000, &vaddr), -ENOENT));
	cr_assert(eq(u64, vaddr, 77));
	cr_assert(eq(int, elf_file_vaddr(file, 0x2fff, &vaddr), 0));
	cr_assert(eq(u64, vaddr, 0x6fff));
	close_image();
}

Test(elf_file, executable_segment_wins_where_two_hold_an_offset)
{
	uint64_t vaddr = 0;

	sound_image();
	image.header.e_phnum = 2;
	image_segment(&image)[1] = image_segment(&image)[0];
	image_segment(&image)[0].p_flags = PF_R;
	image_segment(&image)[0].p_vaddr = 0x9000;
	open_image();
	cr_assert(eq(int, elf_file_vaddr(file, 0x1004, &vaddr), 0));
	cr_assert(eq(u64, vaddr, 0x5004));
	close_image();
}

Test(elf_file, reads_the_build_id)
{
	cr_assert(eq(int, elf_file_open(open_elf("full.so"), &file), 0));
	cr_assert(eq(int, file->build_id_size, 20));
	elf_file_close(file);
	cr_assert(eq(int, elf_file_open(open_elf("plain.so"), &file), 0));
	cr_assert(eq(int, file->build_id_size, 0));
	elf_file_close(file);
}

Test(elf_file, sound_image_has_its_function)
{
	sound_image();
	cr_assert(eq(int, functions(), 1));
}

Test(elf_file, refuses_what_is_no_elf_of_this_machine)
{
	sound_image();
	image.size = 51;
	cr_assert(eq(int, functions(), -ENOEXEC));
	sound_image();
	image.header.e_ident[EI_DATA] = ELFDATA2MSB;
	cr_assert(eq(int, functions(), -ENOEXEC));
	sound_image();
	image.header.e_ident[EI_CLASS] = 7;
	cr_assert(eq(int, functions(), -ENOEXEC));
	cr_assert(eq(int, elf_file_open_image(NULL, 0, &file), -ENOEXEC));
}

Test(elf_file, refuses_what_is_no_regular_file)
{
	int ends[2];

	cr_assert(eq(int, pipe(ends), 0));
	cr_assert(eq(int, elf_file_open(ends[0], &file), -EINVAL));
	cr_assert(eq(ptr, file, NULL));
	(void)close(ends[0]);
	(void)close(ends[1]);
}

Test(elf_file, tables_outside_the_file_are_not_there)
{
	sound_image();
	image.header.e_phoff = UINT64_MAX - 8;
	open_image();
	cr_assert(eq(sz, file->nr_segments, 0));
	cr_assert(eq(sz, file->nr_sections, 5));
	close_image();

	sound_image();
	image.header.e_shoff = image.size - 8;
	cr_assert(eq(int, functions(), 0));
	sound_image();
	image.header.e_shnum = 65535;
	cr_assert(eq(int, functions(), 0));
}

Test(elf_file, entry_sizes_have_to_be_the_known_ones)
{
	sound_image();
	image.header.e_shentsize = 0;
	cr_assert(eq(int, functions(), 0));
	sound_image();
	image_section(&image, 2)->sh_entsize = 0;
	cr_assert(eq(int, functions(), 0));
	sound_image();
	image_section(&image, 2)->sh_entsize = 1;
	cr_assert(eq(int, functions(), 0));
	sound_image();
	image.header.e_phentsize = 1;
	open_image();
	cr_assert(eq(sz, file->nr_segments, 0));
	close_image();
}

Test(elf_file, number_of_sections_may_stand_in_the_first_one)
{
	sound_image();
	image.header.e_shnum = 0;
	image.header.e_shstrndx = SHN_XINDEX;
	image_section(&image, 0)->sh_size = 5;
	image_section(&image, 0)->sh_link = 4;
	cr_assert(eq(int, functions(), 1));
	image_section(&image, 0)->sh_size = UINT64_MAX / 64;
	cr_assert(eq(int, functions(), 0));
}

Test(elf_file, names_of_sections_outside_their_table_are_empty)
{
	sound_image();
	image_section(&image, 1)->sh_name = 0xffffffff;
	image_section(&image, 4)->sh_size = 30; /* ends within the last name, without its NUL */
	open_image();
	cr_assert(eq(str, (char *)file->sections[1].name, ""));
	cr_assert(eq(str, (char *)file->sections[4].name, ".shstrt"));
	image_section(&image, 4)->sh_size = UINT64_MAX;
	open_image();
	cr_assert(eq(str, (char *)file->sections[2].name, ""));
	close_image();
}

Test(elf_file, symbol_tables_that_lie_are_not_there)
{
	sound_image();
	image_section(&image, 3)->sh_size = UINT64_MAX;
	cr_assert(eq(int, functions(), 0));
	sound_image();
	image_section(&image, 2)->sh_link = 99;
	cr_assert(eq(int, functions(), 0));
	sound_image();
	image_section(&image, 2)->sh_offset = UINT64_MAX - 3;
	cr_assert(eq(int, functions(), 0));
}

/* A table that claims to go on past the end of the file is read as far as there is a file. */
Test(elf_file, symbol_table_ends_with_the_file)
{
	sound_image();
	image.size = IMAGE_SYMBOLS + 2 * sizeof(Elf64_Sym) + 5;
	image_section(&image, 2)->sh_size = UINT64_MAX;
	cr_assert(eq(int, functions(), 1));
}

static void note(uint32_t name_size, uint32_t size)
{
	const uint32_t header[3] = {name_size, size, NT_GNU_BUILD_ID};

	memcpy(image.bytes + IMAGE_TEXT, header, sizeof(header));
	memcpy(image.bytes + IMAGE_TEXT + 12, "GNU", 4);
	open_image();
}

Test(elf_file, build_ids_have_to_fit)
{
	sound_image();
	image_section(&image, 1)->sh_type = SHT_NOTE;
	image_section(&image, 1)->sh_size = 12 + 4 + 64;
	note(4, 64);
	cr_assert(eq(int, file->build_id_size, 0)); /* longer than the kernel takes */
	note(4, 8);
	cr_assert(eq(int, file->build_id_size, 8));
	note(0xfffffff0, 8);
	cr_assert(eq(int, file->build_id_size, 0));
	note(4, 0xfffffff0);
	cr_assert(eq(int, file->build_id_size, 0));
	close_image();
}

Test(elf_file, reading_goes_on_when_the_file_is_truncated)
{
	char path[] = "/tmp/stoke-elf-XXXXXX";
	uint8_t buffer[64];
	int fd = mkostemp(path, O_CLOEXEC);

	sound_image();
	cr_assert(ge(int, fd, 0));
	(void)unlink(path);
	cr_assert(eq(int, (int)write(fd, image.bytes, image.size), (int)image.size));
	cr_assert(eq(int, elf_file_open(fd, &file), 0));
	cr_assert(eq(int, ftruncate(fd, 0x1010), 0));
	cr_assert(eq(int, (int)elf_file_read_some(file, 0x1000, buffer, 64), 16));
	cr_assert(eq(int, elf_file_read(file, 0x1000, buffer, 64), -ENODATA));
	close_image();
}

static void expect_no_symbols(int fd, const char *name)
{
	struct elf_file *opened = NULL;
	struct symbols *symbols = NULL;

	if (elf_file_open(fd, &opened) < 0) {
		(void)close(fd);
		return;
	}
	cr_assert(eq(int, symbols_new(&symbols), 0));
	cr_assert(eq(int, symbols_add(symbols, opened, SHT_SYMTAB), 0), "%s", name);
	cr_assert(eq(int, symbols_add(symbols, opened, SHT_DYNSYM), 0), "%s", name);
	symbols_free(symbols);
	elf_file_close(opened);
}

/* Malformed files kept beside the sources, where there are some. */
Test(elf_file, malformed_files_have_no_symbols)
{
	DIR *files = opendir(MALFORMED_FILES);
	struct dirent *entry;
	int nr = 0;

	if (!files)
		cr_skip("no malformed files here");
	while ((entry = readdir(files))) {
		const char *dot = strrchr(entry->d_name, '.');
		int fd;

		if (!dot || strcmp(dot, ".elf") != 0)
			continue;
		nr++;
		fd = openat(dirfd(files), entry->d_name, O_RDONLY | O_CLOEXEC);
		cr_assert(ge(int, fd, 0));
		expect_no_symbols(fd, entry->d_name);
	}
	(void)closedir(files);
	cr_assert(gt(int, nr, 0));
}
