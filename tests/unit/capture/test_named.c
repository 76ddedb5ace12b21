/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/named.h"

#include "unit/test.h"

TestSuite(named, .fini = check_leaks);

static const struct symbol chain[2] = {
	{.name = "leaf", .name_size = 4, .line = 7, .kind = FUNCTION_INLINED},
	{.name = "outer", .name_size = 5, .line = 9, .kind = FUNCTION_JIT},
};

Test(named, the_same_answer_at_the_same_address_is_the_same_frame)
{
	struct frame here = {.address = 0x1000, .module = 0}, there = {.address = 0x2000};
	struct symbol other[2] = {chain[0], chain[1]};
	struct stoke_profile *profile;
	struct named named = {0};
	uint32_t a, b, c, d, e;
	size_t nr_inlined;

	other[0].line = 8;
	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	cr_assert(eq(int, named_frame(&named, profile, &here, chain, 2, &a), 0));
	nr_inlined = profile->nr_inlined;
	cr_assert(eq(int, named_frame(&named, profile, &here, chain, 2, &b), 0));
	cr_assert(eq(u32, a, b));
	cr_assert(eq(sz, profile->nr_inlined, nr_inlined)); /* no slice anew */
	cr_assert(eq(int, named_frame(&named, profile, &there, chain, 2, &c), 0));
	cr_assert(ne(u32, a, c));
	cr_assert(eq(int, named_frame(&named, profile, &here, other, 2, &d), 0));
	cr_assert(ne(u32, a, d));
	cr_assert(eq(int, named_frame(&named, profile, &here, chain + 1, 1, &e), 0));
	cr_assert(ne(u32, a, e));
	cr_assert(eq(u16, profile->frames[a].nr_functions, 2));
	cr_assert(eq(u16, profile->frames[e].nr_functions, 1));
	cr_assert(eq(u32, profile->frames[a].line, 7));
	named_forget(&named);
	stoke_profile_free(profile);
}

Test(named, thousands_of_frames_are_each_found_again)
{
	struct stoke_profile *profile;
	struct named named = {0};
	uint32_t first[3000], again;

	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	for (uint64_t i = 0; i < 3000; i++) {
		const struct frame key = {.address = 0x1000 + i};

		cr_assert(eq(int, named_frame(&named, profile, &key, chain, 2, &first[i]), 0));
	}
	for (uint64_t i = 0; i < 3000; i++) {
		const struct frame key = {.address = 0x1000 + i};

		cr_assert(eq(int, named_frame(&named, profile, &key, chain, 2, &again), 0));
		cr_assert(eq(u32, again, first[i]));
	}
	named_forget(&named);
	stoke_profile_free(profile);
}
