/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_ELF_DEBUGFILE_H
#define STOKE_ELF_DEBUGFILE_H

/*
 * Where the symbols of a stripped file are. Symbols of what is found here are virtual addresses of
 * the file it belongs to; everything else in it (segments, offsets) means nothing.
 */

#include "elf/file.h"

#define DEBUGFILE_MAX_PACKED   (64u << 20) /* of .gnu_debugdata */
#define DEBUGFILE_MAX_UNPACKED (256u << 20)
#define DEBUGFILE_MAX_MEMORY   (80u << 20) /* of the decompressor: xz -9 asks for 65 MiB */

/*
 * The separate debug file: by build id below /usr/lib/debug/.build-id, in the target's root and
 * then in ours; by .gnu_debuglink beside the file, in .debug/ there and below /usr/lib/debug. It
 * has to have the build id of the file, or where one has none, the CRC in the link. root_fd: the
 * target's root, -1 for ours; path: of the file, seen from there. -ENOENT: there is none; -ESTALE:
 * there is one at the end of the link, of another build.
 */
int debugfile_find(
	const struct elf_file *file, int root_fd, const char *path, struct elf_file **ret);

/* MiniDebugInfo: the ELF file, compressed by xz, in .gnu_debugdata. -ENOENT: none, or no good. */
int debugfile_unpack(const struct elf_file *file, struct elf_file **ret);

#endif
