/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_pprof.c: pprof files of anybody; what was read is written, and reads as the same stacks. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/profile.h"

extern const struct format format_folded, format_pprof;

static int is_too_large(const struct stoke_profile *profile)
{
	for (unsigned v = 0; v < profile->nr_values; v++) {
		if (profile_total(profile, v) > INT64_MAX)
			return 1;
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stoke_profile *profile = fuzz_read(&format_pprof, data, size);
	char *bytes, *once, *twice;
	size_t bytes_size, once_size, twice_size;

	if (!profile)
		return 0;
	if (is_too_large(profile)) {
		stoke_profile_free(profile); /* pprof cannot hold what sums may come to */
		return 0;
	}
	once = fuzz_write(profile, &format_folded, &once_size);
	bytes = fuzz_write(profile, &format_pprof, &bytes_size);
	stoke_profile_free(profile);
	profile = fuzz_read(&format_pprof, (const uint8_t *)bytes, bytes_size);
	REQUIRE(profile);
	twice = fuzz_write(profile, &format_folded, &twice_size);
	REQUIRE(once_size == twice_size && memcmp(once, twice, once_size) == 0);
	stoke_profile_free(profile);
	free(bytes);
	free(once);
	free(twice);
	return 0;
}
