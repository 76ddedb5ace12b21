/* SPDX-License-Identifier: BSD-2-Clause */
/* packed.c: the two headers in front of compressed sections. */
#include "elf/packed.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/cleanup.h"

#define GNU_HEADER_SIZE 12 /* "ZLIB", the size as a big-endian u64 */

/* Where the stream begins and how large it says it unpacks to. 0: not packed. */
static int read_header(const struct elf_file *file, const struct elf_section *section,
	const uint8_t *contents, size_t *ret_start, uint64_t *ret_size)
{
	Elf64_Chdr wide;
	Elf32_Chdr narrow;
	uint64_t size;

	if (strncmp(section->name, ".zdebug", 7) == 0) {
		if (section->size < GNU_HEADER_SIZE || memcmp(contents, "ZLIB", 4) != 0)
			return -ENODATA;
		memcpy(&size, contents + 4, sizeof(size));
		*ret_size = be64toh(size);
		*ret_start = GNU_HEADER_SIZE;
		return 1;
	}
	if (!(section->flags & SHF_COMPRESSED))
		return 0;
	*ret_start = file->is_64 ? sizeof(wide) : sizeof(narrow);
	if (section->size < *ret_start)
		return -ENODATA;
	if (file->is_64) {
		memcpy(&wide, contents, sizeof(wide));
	} else {
		memcpy(&narrow, contents, sizeof(narrow));
		wide = (Elf64_Chdr){.ch_type = narrow.ch_type, .ch_size = narrow.ch_size};
	}
	*ret_size = wide.ch_size;
	return wide.ch_type == ELFCOMPRESS_ZLIB ? 1 : -ENOTSUP;
}

int packed_contents(const struct elf_file *file, const struct elf_section *section, size_t max,
	uint8_t **ret, size_t *ret_size)
{
	_cleanup_free_ uint8_t *contents = NULL, *unpacked = NULL;
	uint64_t size = 0;
	size_t start = 0;
	uLongf done;
	int r;

	r = elf_file_contents(file, section, max, &contents);
	if (r < 0)
		return r;
	r = read_header(file, section, contents, &start, &size);
	if (r < 0)
		return r;
	if (r == 0) {
		*ret_size = (size_t)section->size;
		*ret = take_pointer(contents);
		return 0;
	}
	if (size > max)
		return -E2BIG;
	unpacked = malloc(size ? (size_t)size : 1);
	if (!unpacked)
		return -ENOMEM;
	done = (uLongf)size;
	r = uncompress(unpacked, &done, contents + start, (uLong)(section->size - start));
	if (r != Z_OK || done != size)
		return r == Z_MEM_ERROR ? -ENOMEM : -ENODATA;
	*ret_size = (size_t)size;
	*ret = take_pointer(unpacked);
	return 0;
}
