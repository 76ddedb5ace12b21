/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_input.c: streams, packed and not; small windows see the same bytes as large ones. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/profile.h"

/* All that is there before the end or an error, which *ret_r is; bounded. */
static uint8_t *read_all(int fd, size_t want, size_t *ret_size, int *ret_r)
{
	uint8_t *bytes = NULL;
	struct input *input;
	const uint8_t *p;
	ssize_t n;

	*ret_size = 0;
	REQUIRE(lseek(fd, 0, SEEK_SET) == 0);
	REQUIRE(input_open(fd, "fuzz", &input, NULL) == 0);
	while ((n = input_fill(input, want, &p, NULL)) > 0 && *ret_size < 1u << 22) {
		size_t take = (size_t)n < want ? (size_t)n : want;

		bytes = realloc(bytes, *ret_size + take);
		REQUIRE(bytes);
		memcpy(bytes + *ret_size, p, take);
		*ret_size += take;
		input_skip(input, take);
	}
	*ret_r = n < 0 ? (int)n : 0;
	input_close(input);
	return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = fuzz_file(data, size), small_r, large_r;
	size_t small_size, large_size;
	uint8_t *small = read_all(fd, 1000, &small_size, &small_r);
	uint8_t *large = read_all(fd, 100000, &large_size, &large_r);
	size_t both = small_size < large_size ? small_size : large_size;

	REQUIRE(small_r == large_r || small_size >= 1u << 22 || large_size >= 1u << 22);
	REQUIRE(!both || memcmp(small, large, both) == 0);
	REQUIRE(small_r || large_r || small_size == large_size || both >= (1u << 22) - 100000);
	free(small);
	free(large);
	(void)close(fd); /* memory */
	return 0;
}
