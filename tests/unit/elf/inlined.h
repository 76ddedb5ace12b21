/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_TESTS_UNIT_ELF_INLINED_H
#define STOKE_TESTS_UNIT_ELF_INLINED_H

/* What tests/data/elf/inlined.c is, by the dynamic linker and by its source. */

#include <link.h>

#include "unit/elf/files.h"

/* The line on which a remark stands. */
static inline unsigned line_with(const char *remark)
{
	_cleanup_fclose_ FILE *source = fopen(TEST_DATA "/elf/inlined.c", "re");
	char line[256];

	cr_assert(source != NULL);
	for (unsigned number = 1; fgets(line, sizeof(line), source); number++)
		if (strstr(line, remark))
			return number;
	cr_fatal("%s is not in the source", remark);
	return 0;
}

/* Where a function lies in the file, and how long it is. */
static inline uint64_t function_in(const char *file, const char *name, uint64_t *ret_size)
{
	void *library = dlopen(elf_path(file), RTLD_NOW | RTLD_LOCAL), *extra, *address;
	uint64_t offset;
	Dl_info info;

	cr_assert(library != NULL, "%s", dlerror());
	address = dlsym(library, name);
	cr_assert(address && dladdr1(address, &info, &extra, RTLD_DL_SYMENT));
	*ret_size = ((const ElfW(Sym) *)extra)->st_size;
	offset = mapped_offset(address);
	(void)dlclose(library);
	return offset;
}

#endif
