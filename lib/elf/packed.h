/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_ELF_PACKED_H
#define STOKE_ELF_PACKED_H

/*
 * Sections that may be compressed: debug sections, by zlib, in either of the two forms (a header
 * that SHF_COMPRESSED announces; "ZLIB" and a size in a section called .zdebug_*).
 */

#include "elf/file.h"

/*
 * The contents, unpacked where need be, in malloc'ed memory. -ENODATA: not in the file, or damaged;
 * -E2BIG: more than max, packed or unpacked; -ENOTSUP: packed in another way; -ENOMEM.
 */
int packed_contents(const struct elf_file *file, const struct elf_section *section, size_t max,
	uint8_t **ret, size_t *ret_size);

#endif
