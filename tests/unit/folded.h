/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_TESTS_UNIT_FOLDED_H
#define STOKE_TESTS_UNIT_FOLDED_H

/* Profiles for tests, from lines "main;read_[k] 3": _[k] kernel, _[j] JIT, _[i] inlined. */

#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "unit/test.h"

static inline uint32_t folded_frame(struct stoke_profile *profile, const char *name, size_t size)
{
	enum function_kind kind = FUNCTION_NATIVE;
	uint32_t frame = 0;

	if (size > 4 && name[size - 4] == '_' && name[size - 3] == '[' && name[size - 1] == ']') {
		char letter = name[size - 2];

		kind = letter == 'k'   ? FUNCTION_KERNEL
		       : letter == 'j' ? FUNCTION_JIT
		       : letter == 'i' ? FUNCTION_INLINED
				       : FUNCTION_MARK;
		size -= 4;
	}
	cr_assert(eq(int, profile_named_frame(profile, name, size, kind, &frame), 0));
	return frame;
}

/* Adds the lines as one run; values are samples. */
static inline void folded_add(struct stoke_profile *profile, const char *lines)
{
	uint32_t run = 0;
	unsigned value = 0;

	cr_assert(eq(int, profile_run(profile, "test", &run), 0));
	cr_assert(eq(int, profile_value(profile, "samples", "count", &value), 0));
	while (*lines) {
		size_t size = strcspn(lines, "\n"), end = size;
		uint32_t node = 0;

		while (end > 0 && lines[end - 1] != ' ')
			end--;
		for (size_t at = 0; at < end - 1;) {
			size_t n = 0;

			while (at + n < end - 1 && lines[at + n] != ';')
				n++;
			cr_assert(eq(int,
				stacks_child(&profile->stacks, node,
					folded_frame(profile, lines + at, n), &node),
				0));
			at += n + 1;
		}
		cr_assert(eq(int,
			profile_row(profile, run, node, 0, 0,
				(uint64_t[]){strtoull(lines + end, NULL, 10)}),
			0));
		lines += size + (lines[size] == '\n');
	}
}

static inline struct stoke_profile *folded_profile(const char *lines)
{
	struct stoke_profile *profile = NULL;

	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	folded_add(profile, lines);
	return profile;
}

#endif
