/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_ELF_LINES_H
#define STOKE_ELF_LINES_H

/*
 * Source lines and inlined functions, from a file's DWARF. DWARF is a language that its owner may
 * have written to hurt, and whoever reads it follows it far; so a process of its own reads it,
 * which opens nothing, has little memory and time, and whose end costs no more than lines.
 */

#include "base/symbol.h"
#include "elf/file.h"

#define LINES_MAX	  64 /* functions inlined into each other at one place */
#define LINES_PATIENCE_MS 10000 /* for all answers about a file together */

struct lines;

/* Begins to read a file that has .debug_info: the one that runs, or its debug file. Borrowed until
 * it is closed. -ENOENT: it has none; -EOPNOTSUPP: stoke was built without libdw; -errno. */
int lines_open(const struct elf_file *file, struct lines **ret);

/*
 * What is at a virtual address, innermost first: each function with the file that it is defined in
 * and the line that it is at (0 when that is in another file). The last is the one that was not
 * inlined. Their number, at most max; 0: nothing is known of this place; -ETIMEDOUT or -EBADMSG:
 * the reader took too long or ended over this file, and will not answer again; -ENOMEM. What ret
 * points to is good until the next call.
 */
int lines_find(struct lines *lines, uint64_t vaddr, struct symbol *ret, size_t max);

/* Takes NULL. */
void lines_close(struct lines *lines);

#endif
