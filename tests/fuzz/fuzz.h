/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_TESTS_FUZZ_H
#define STOKE_TESTS_FUZZ_H

#include <stdint.h>
#include <stdlib.h>

/* What a target promises for every input, sanitizers or not. */
#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!(condition))                                                                  \
			abort();                                                                   \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
