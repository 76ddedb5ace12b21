/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/starts.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "unit/elf/files.h"

TestSuite(starts, .fini = check_leaks);

static uint64_t vaddr_of(const struct elf_file *file, const char *name, int which)
{
	uint64_t vaddr = 0;

	cr_assert(eq(int, elf_file_vaddr(file, function_offset(name, which), &vaddr), 0));
	return vaddr;
}

Test(starts, knows_where_a_function_without_a_name_starts)
{
	static const char *const names[] = {"stripped.so", "lld.so", "based.so"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct elf_file *file = NULL;
		struct starts *starts = NULL;
		uint64_t hot, found = 0;

		cr_assert(eq(int, elf_file_open(open_elf(names[i]), &file), 0));
		cr_assert(eq(int, starts_open(file, &starts), 0));
		hot = vaddr_of(file, names[i], SECRET_HOT);
		cr_assert(eq(int, starts_find(starts, hot, &found), 0));
		cr_assert(eq(u64, found, hot));
		cr_assert(eq(int, starts_find(starts, hot + 9, &found), 0));
		cr_assert(eq(u64, found, hot));
		starts_close(starts);
		elf_file_close(file);
	}
}

Test(starts, ends_where_the_function_ends)
{
	struct elf_file *file = NULL;
	struct starts *starts = NULL;
	uint64_t last = 0, found = 77;

	cr_assert(eq(int, elf_file_open(open_elf("stripped.so"), &file), 0));
	cr_assert(eq(int, starts_open(file, &starts), 0));
	for (int which = API_FIRST; which <= API_LAST; which++) {
		uint64_t vaddr = vaddr_of(file, "stripped.so", which);

		last = vaddr > last ? vaddr : last;
	}
	cr_assert(eq(int, starts_find(starts, last + 0x1000, &found), -ENOENT));
	cr_assert(eq(int, starts_find(starts, 0, &found), -ENOENT));
	cr_assert(eq(int, starts_find(starts, UINT64_MAX, &found), -ENOENT));
	cr_assert(eq(u64, found, 77));
	starts_close(starts);
	elf_file_close(file);
}

/* A header at 0x2000 of the image (0x6000), a table behind it, entries at 0x2800. */
static void add_table(struct image *image, uint32_t nr)
{
	const uint8_t header[] = {1, 0x1b, 0x03, 0x3b};
	const int32_t pairs[] = {-0x1000, 0x800, -0xf00, 0x820};
	const int32_t entries[][4] = {
		{16, 4, 0x5000 - (0x6800 + 8), 0x80}, {16, 4, 0x5100 - (0x6820 + 8), 0x40}};

	image_init(image);
	image->header.e_phnum = 2;
	image_segment(image)[1] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME,
		.p_offset = 0x2000,
		.p_vaddr = 0x6000,
		.p_filesz = 0x400};
	memcpy(image->bytes + 0x2000, header, sizeof(header));
	memcpy(image->bytes + 0x2008, &nr, sizeof(nr));
	memcpy(image->bytes + 0x200c, pairs, sizeof(pairs));
	memcpy(image->bytes + 0x2800, entries[0], sizeof(entries[0]));
	memcpy(image->bytes + 0x2820, entries[1], sizeof(entries[1]));
}

static int find_in(struct image *image, uint64_t vaddr, uint64_t *ret)
{
	struct elf_file *file = NULL;
	struct starts *starts = NULL;
	int r;

	cr_assert(eq(int, elf_file_open_image(image->bytes, image->size, &file), 0));
	r = starts_open(file, &starts);
	if (r == 0)
		r = starts_find(starts, vaddr, ret);
	starts_close(starts);
	elf_file_close(file);
	return r;
}

Test(starts, tables_that_lie_find_nothing)
{
	static struct image image;
	uint64_t found = 0;

	add_table(&image, 2);
	cr_assert(eq(int, find_in(&image, 0x507f, &found), 0));
	cr_assert(eq(u64, found, 0x5000));
	cr_assert(eq(int, find_in(&image, 0x5080, &found), -ENOENT));
	cr_assert(eq(int, find_in(&image, 0x513f, &found), 0));
	cr_assert(eq(u64, found, 0x5100));

	add_table(&image, 0xffffffff); /* more than the segment holds */
	cr_assert(eq(int, find_in(&image, 0x5000, &found), -ENOENT));
	add_table(&image, 2);
	image_segment(&image)[1].p_filesz = UINT64_MAX;
	cr_assert(eq(int, find_in(&image, 0x5000, &found), -ENOENT));
	add_table(&image, 2);
	image_segment(&image)[1].p_offset = UINT64_MAX - 16;
	cr_assert(eq(int, find_in(&image, 0x5000, &found), -ENOENT));
	add_table(&image, 2);
	memset(image.bytes + 0x2010, 0x7f, 4); /* the entry lies outside the file */
	cr_assert(eq(int, find_in(&image, 0x5000, &found), -ENOENT));
	add_table(&image, 2);
	image.bytes[0x2003] = 0xff; /* says that there is no table */
	cr_assert(eq(int, find_in(&image, 0x5000, &found), -ENOENT));
}
