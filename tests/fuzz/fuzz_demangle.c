/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_demangle.c: any bytes as the name of a function. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "elf/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[DEMANGLE_MAX];

	if (demangle((const char *)data, size, text) > DEMANGLE_MAX)
		abort();
	return 0;
}
