/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_perfscript.c: text of perf script by anybody; what is read is a profile that can be written.
 */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "fuzz/profile.h"

extern const struct format format_folded, format_perfscript;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stoke_profile *profile = fuzz_read(&format_perfscript, data, size);
	size_t folded_size;

	if (!profile)
		return 0;
	for (size_t i = 0; i < profile->rows.nr; i++)
		REQUIRE(profile->rows.stack[i] < profile->stacks.nr);
	free(fuzz_write(profile, &format_folded, &folded_size));
	stoke_profile_free(profile);
	return 0;
}
