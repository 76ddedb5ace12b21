/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_ELF_DWARF_H
#define STOKE_ELF_DWARF_H

/*
 * What lines.c and the process that reads DWARF for it say to each other, in packets: a virtual
 * address goes there; back come a uint32_t, so many struct dwarf_place, and behind them the bytes
 * of name and file of each in turn.
 */

#include <stdint.h>

#include "elf/lines.h"

#define DWARF_NAME_MAX 1024 /* longer ones are cut */
#define DWARF_FILE_MAX 512
#define DWARF_REPLY_MAX                                                                            \
	(sizeof(uint32_t) +                                                                        \
		LINES_MAX * (sizeof(struct dwarf_place) + DWARF_NAME_MAX + DWARF_FILE_MAX))

struct dwarf_place {
	uint32_t line;
	uint32_t kind; /* enum function_kind of the function where it is not inlined */
	uint16_t name_size, file_size;
};

/* Answers about the ELF file at fd until the other end of the socket is closed. */
void dwarf_serve(int fd, int socket);

#endif
