/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_PROCESS_NOTE_H
#define STOKE_PROCESS_NOTE_H

/* Identity of an ELF file: its GNU build id, read from the notes that the program headers name. */

#include <stddef.h>
#include <stdint.h>

/* 0 with *ret_size 0 when it has none (or ids longer than max); -ENOEXEC not an ELF file; -errno
 * of reading. ELF of both sizes, byte order of this machine. */
int note_read_build_id(int fd, uint8_t *ret, size_t max, uint8_t *ret_size);

#endif
