/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/packed.h"

#include <errno.h>
#include <zlib.h>

#include "unit/elf/files.h"

TestSuite(packed, .fini = check_leaks);

static const char text[] = "the same again and the same again and the same again";

static struct image image;

/* .text's contents: `header` and the packed text. */
static void pack(const void *header, size_t header_size)
{
	uLongf size = 0x1000;

	image_init(&image);
	memcpy(image.bytes + IMAGE_TEXT, header, header_size);
	cr_assert(compress(image.bytes + IMAGE_TEXT + header_size, &size, (const uint8_t *)text,
			  sizeof(text)) == Z_OK);
	image_section(&image, 1)->sh_size = header_size + size;
}

static int unpack(const char *name, size_t max, uint8_t **ret, size_t *ret_size)
{
	struct elf_file *file = NULL;
	int r;

	memcpy(image.bytes + IMAGE_NAMES + 1, name, strlen(name) + 1);
	cr_assert(elf_file_open_image(image.bytes, image.size, &file) == 0);
	r = packed_contents(file, &file->sections[1], max, ret, ret_size);
	elf_file_close(file);
	return r;
}

static void check_text(const char *name)
{
	_cleanup_free_ uint8_t *contents = NULL;
	size_t size = 0;

	cr_assert(unpack(name, 4096, &contents, &size) == 0);
	cr_assert(size == sizeof(text) && memcmp(contents, text, size) == 0);
}

Test(packed, what_is_not_packed_stays_as_it_is)
{
	image_init(&image);
	memcpy(image.bytes + IMAGE_TEXT, text, sizeof(text));
	image_section(&image, 1)->sh_size = sizeof(text);
	check_text(".t");
}

Test(packed, either_form_is_unpacked)
{
	Elf64_Chdr header = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = sizeof(text)};
	uint8_t old[12] = {'Z', 'L', 'I', 'B', 0, 0, 0, 0, 0, 0, 0, sizeof(text)};

	pack(&header, sizeof(header));
	image_section(&image, 1)->sh_flags = SHF_COMPRESSED;
	check_text(".t");
	pack(old, sizeof(old));
	check_text(".zdebug_frame");
}

Test(packed, a_size_that_lies_is_damage)
{
	Elf64_Chdr header = {.ch_type = ELFCOMPRESS_ZLIB};
	const size_t lies[] = {0, 1, sizeof(text) - 1, sizeof(text) + 1};
	uint8_t *contents = NULL;
	size_t size;

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		header.ch_size = lies[i];
		pack(&header, sizeof(header));
		image_section(&image, 1)->sh_flags = SHF_COMPRESSED;
		cr_expect(unpack(".t", 4096, &contents, &size) == -ENODATA);
	}
	header.ch_size = UINT64_MAX;
	pack(&header, sizeof(header));
	image_section(&image, 1)->sh_flags = SHF_COMPRESSED;
	cr_expect(unpack(".t", 4096, &contents, &size) == -E2BIG);
	image_section(&image, 1)->sh_size = sizeof(header) - 1;
	cr_expect(unpack(".t", 4096, &contents, &size) == -ENODATA);
	cr_assert(contents == NULL);
}

Test(packed, other_methods_are_not_supported)
{
	Elf64_Chdr header = {.ch_type = 2, .ch_size = sizeof(text)};
	uint8_t *contents = NULL;
	size_t size;

	pack(&header, sizeof(header));
	image_section(&image, 1)->sh_flags = SHF_COMPRESSED;
	cr_assert(unpack(".t", 4096, &contents, &size) == -ENOTSUP);
}
