/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/profile.h"

#include <string.h>

#include "unit/test.h"

TestSuite(profile, .fini = check_leaks);

static uint32_t named(struct stoke_profile *profile, const char *name)
{
	uint32_t frame = 0;

	cr_assert(eq(
		int, profile_named_frame(profile, name, strlen(name), FUNCTION_NATIVE, &frame), 0));
	return frame;
}

Test(profile, equal_rows_are_one_and_sums_are_exact)
{
	struct stoke_profile *profile = NULL;
	uint32_t run = 9, a = 0, b = 0;
	unsigned value = 9;

	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	cr_assert(eq(int, profile_run(profile, "one", &run), 0));
	cr_assert(eq(int, profile_value(profile, "samples", "count", &value), 0));
	cr_assert(eq(int, stacks_child(&profile->stacks, 0, named(profile, "main"), &a), 0));
	cr_assert(eq(int, stacks_child(&profile->stacks, a, named(profile, "work"), &b), 0));
	cr_assert(eq(int, profile_row(profile, run, b, 0, 0, (uint64_t[]){1ull << 53}), 0));
	cr_assert(eq(int, profile_row(profile, run, b, 0, 0, (uint64_t[]){1}), 0));
	cr_assert(eq(int, profile_row(profile, run, b, 0, 1, (uint64_t[]){5}), 0));

	cr_assert(eq(sz, profile->rows.nr, 2));
	cr_assert(eq(u64, profile->rows.value[0][0], (1ull << 53) + 1));
	cr_assert(eq(u64, profile_total(profile, 0), (1ull << 53) + 6));
	stoke_profile_free(profile);
}

Test(profile, a_stack_met_again_is_the_same_node)
{
	struct stoke_profile *profile = NULL;
	uint32_t first = 0, again = 0;

	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	for (int i = 0; i < 1000; i++) {
		char name[16];
		uint32_t node = 0;

		(void)snprintf(name, sizeof(name), "f%d", i);
		cr_assert(
			eq(int, stacks_child(&profile->stacks, 0, named(profile, name), &node), 0));
		if (i == 7)
			first = node;
	}
	cr_assert(eq(int, stacks_child(&profile->stacks, 0, named(profile, "f7"), &again), 0));

	cr_assert(eq(u32, again, first));
	cr_assert(eq(sz, profile->stacks.nr, 1001));
	stoke_profile_free(profile);
}

Test(profile, label_sets_are_interned_whatever_their_order)
{
	struct stoke_profile *profile = NULL;
	struct label set[2] = {{.num = 1}, {.num = 2}}, swapped[2];
	uint32_t a = 0, b = 0, none = 9;

	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	cr_assert(eq(int, profile_text(profile, "tid", &set[0].key), 0));
	cr_assert(eq(int, profile_text(profile, "pid", &set[1].key), 0));
	swapped[0] = set[1];
	swapped[1] = set[0];
	cr_assert(eq(int, profile_labels(profile, set, 2, &a), 0));
	cr_assert(eq(int, profile_labels(profile, swapped, 2, &b), 0));
	cr_assert(eq(int, profile_labels(profile, NULL, 0, &none), 0));

	cr_assert(eq(u32, a, b));
	cr_assert(ne(u32, a, 0));
	cr_assert(eq(u32, none, 0));
	cr_assert(eq(i64, profile_label(profile, a, "pid")->num, 2));
	cr_assert(zero(ptr, (void *)profile_label(profile, a, "cpu")));
	stoke_profile_free(profile);
}

Test(profile, a_nameless_frame_is_named_once_with_what_was_inlined)
{
	struct stoke_profile *profile = NULL;
	struct frame key = {.address = 0x1000, .module = 0};
	const struct symbol symbols[2] = {
		{.name = "inner", .name_size = 5, .line = 3, .kind = FUNCTION_INLINED},
		{.name = "outer", .name_size = 5, .line = 9, .kind = FUNCTION_NATIVE},
	};
	uint32_t frame = 0, function;

	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	cr_assert(eq(int, profile_frame(profile, &key, &frame), 0));
	cr_assert(eq(int, profile_name_frame(profile, frame, symbols, 2), 0));

	cr_assert(eq(u16, profile->frames[frame].nr_functions, 2));
	function = frame_function(profile, &profile->frames[frame], 1);
	cr_assert(
		eq(str, (char *)strings_text(&profile->strings, profile->functions[function].name),
			"outer"));
	stoke_profile_free(profile);
}
