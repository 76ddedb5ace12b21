/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_ELF_STARTS_H
#define STOKE_ELF_STARTS_H

/*
 * Where functions without a symbol start: what unwinds a stripped file knows all of its functions,
 * if not their names. So one function is one frame, however many addresses in it were sampled.
 */

#include <stdint.h>

#include "elf/file.h"

struct starts;

#define STARTS_MAX_SIZE (64u << 20) /* of a search table; libLLVM's is under 1 MB */

/* Reads the search table in .eh_frame_hdr. The file is borrowed and has to stay. -ENOENT: there
 * is none that can be used; -ENOMEM. */
int starts_open(const struct elf_file *file, struct starts **ret);
void starts_close(struct starts *starts);

/* The start of the function that holds vaddr. 0, or -ENOENT: none does, as far as is known. */
int starts_find(const struct starts *starts, uint64_t vaddr, uint64_t *ret);

#endif
