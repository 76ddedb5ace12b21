/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_UNWIND_STARTFILES_H
#define STOKE_UNWIND_STARTFILES_H

/*
 * Code of crti.o and crtbegin.o, which every file on x86-64 begins and ends with and no FDE
 * describes: .init, .fini, and what .fini_array leads to. A page of it is touched by nobody else,
 * so samples in a program's start often lie there. Recognised byte for byte, or left alone.
 */

#include "elf/file.h"
#include "unwind/functions.h"

/* Adds it to the last table. 0 or -ENOMEM. */
int startfiles_add(
	struct functions *functions, const struct elf_file *file, const struct machine *machine);

#endif
