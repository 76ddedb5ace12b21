/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_svg.c: pictures of anybody; what is read is a profile that can be written. */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "fuzz/profile.h"

extern const struct format format_folded, format_svg;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stoke_profile *profile = fuzz_read(&format_svg, data, size);
	size_t folded_size;

	if (!profile)
		return 0;
	for (size_t i = 1; i < profile->stacks.nr; i++)
		REQUIRE(profile->stacks.parent[i] < i);
	free(fuzz_write(profile, &format_folded, &folded_size));
	stoke_profile_free(profile);
	return 0;
}
