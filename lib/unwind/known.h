/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_UNWIND_KNOWN_H
#define STOKE_UNWIND_KNOWN_H

/*
 * Code that unwinds in a way which is known although no FDE says so: entry points, and the PLTs of
 * linkers that describe none (lld).
 */

#include "elf/file.h"
#include "unwind/functions.h"

/* Adds them as a table of their own, to be added last: any other has precedence. 0 or -ENOMEM. */
int known_add(struct functions *functions, const struct elf_file *file,
	const struct machine *machine, struct unwind_rows *rows);

#endif
