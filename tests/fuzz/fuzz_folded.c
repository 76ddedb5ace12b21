/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_folded.c: folded text of anybody; what was read is written, and reads as the same. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/profile.h"

extern const struct format format_folded;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stoke_profile *profile = fuzz_read(&format_folded, data, size);
	char *once, *twice;
	size_t once_size, twice_size;

	if (!profile)
		return 0;
	once = fuzz_write(profile, &format_folded, &once_size);
	stoke_profile_free(profile);
	profile = fuzz_read(&format_folded, (const uint8_t *)once, once_size);
	REQUIRE(profile);
	REQUIRE(profile->runs[0].quality.count[QUALITY_LINES_BAD] == 0);
	twice = fuzz_write(profile, &format_folded, &twice_size);
	REQUIRE(once_size == twice_size && memcmp(once, twice, once_size) == 0);
	stoke_profile_free(profile);
	free(once);
	free(twice);
	return 0;
}
