/* SPDX-License-Identifier: BSD-2-Clause */
/* nolines.c: stands for lines.c and dwarf.c where stoke is built without libdw. */
#include <errno.h>
#include <stddef.h>

#include "elf/lines.h"

int lines_open(const struct elf_file *file, struct lines **ret)
{
	return -EOPNOTSUPP;
}

int lines_find(struct lines *lines, uint64_t vaddr, struct symbol *ret, size_t max)
{
	return 0;
}

void lines_close(struct lines *lines)
{
}
