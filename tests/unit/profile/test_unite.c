/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/unite.h"

#include <errno.h>

#include "format/read_write.h"

extern const struct format format_folded;

TestSuite(unite, .fini = check_leaks);

static void read_into(struct stoke_profile *profile, const char *text)
{
	cr_assert(zero(int, read_bytes(profile, &format_folded, text, strlen(text), NULL, NULL)));
}

static struct stoke_profile *read_text(const char *text)
{
	struct stoke_profile *profile;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	read_into(profile, text);
	return profile;
}

/* The sum of a run for a stack that is given by its line; 0: none. */
static uint64_t value_of(const struct stoke_profile *profile, uint32_t run, const char *stack)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->rows.nr; i++) {
		char text[256] = "";

		for (uint32_t n = profile->rows.stack[i]; n; n = profile->stacks.parent[n]) {
			const struct frame *frame = &profile->frames[profile->stacks.frame[n]];
			char longer[256];

			(void)snprintf(longer, sizeof(longer), "%s%s%s",
				strings_text(&profile->strings,
					profile->functions[frame->function].name),
				*text ? ";" : "", text);
			memcpy(text, longer, sizeof(text));
		}
		if (profile->rows.run[i] == run && strcmp(text, stack) == 0)
			sum += profile->rows.value[0][i];
	}
	return sum;
}

static void assert_parents_come_first_and_siblings_differ(const struct stoke_profile *profile)
{
	const struct stacks *stacks = &profile->stacks;

	for (size_t i = 1; i < stacks->nr; i++) {
		cr_assert(lt(u32, stacks->parent[i], (uint32_t)i));
		for (size_t j = 1; j < i; j++)
			cr_assert(stacks->parent[i] != stacks->parent[j] ||
				  stacks->frame[i] != stacks->frame[j]);
	}
}

Test(unite, a_stack_of_three_files_is_stored_once_and_its_rows_keep_their_run)
{
	struct stoke_profile *profile = read_text("a;b 1\na;b;c 2\na;d 3\n");

	read_into(profile, "a;b 10\na;b;e 20\nz 30\n");
	read_into(profile, "z 300\na;b;c 200\na;b 100\n"); /* in no order */
	cr_assert(eq(sz, profile->stacks.nr, 7)); /* root a b c d e z */
	assert_parents_come_first_and_siblings_differ(profile);
	cr_assert(eq(u64, value_of(profile, 0, "a;b"), 1));
	cr_assert(eq(u64, value_of(profile, 1, "a;b"), 10));
	cr_assert(eq(u64, value_of(profile, 2, "a;b"), 100));
	cr_assert(eq(u64, value_of(profile, 0, "a;b;c"), 2));
	cr_assert(eq(u64, value_of(profile, 2, "a;b;c"), 200));
	cr_assert(eq(u64, value_of(profile, 0, "a;d"), 3));
	cr_assert(eq(u64, value_of(profile, 1, "a;b;e"), 20));
	cr_assert(eq(u64, value_of(profile, 1, "z"), 30));
	cr_assert(eq(u64, value_of(profile, 2, "z"), 300));
	cr_assert(eq(sz, profile->rows.nr, 9));
	stoke_profile_free(profile);
}

Test(unite, siblings_in_any_order_are_found)
{
	/* Sorted as bytes "a.x" comes before "a;b", as a tree behind it. */
	struct stoke_profile *profile = read_text("a.x;c 1\na;b 2\na;d 3\n");

	read_into(profile, "a;b 10\na;e 1\na.x;c 20\na.y 30\n");
	cr_assert(eq(sz, profile->stacks.nr, 8));
	assert_parents_come_first_and_siblings_differ(profile);
	cr_assert(eq(u64, value_of(profile, 0, "a.x;c"), 1));
	cr_assert(eq(u64, value_of(profile, 1, "a.x;c"), 20));
	cr_assert(eq(u64, value_of(profile, 1, "a;b"), 10));
	stoke_profile_free(profile);
}

Test(unite, equal_rows_become_one_and_different_slices_do_not)
{
	struct stoke_profile *profile = read_text("a;b 1\n");
	uint32_t node = profile->rows.stack[0];
	uint64_t big = UINT64_MAX - 1;

	cr_assert(zero(int, profile_row_append(profile, 0, node, 0, 7, &(uint64_t){5})));
	cr_assert(zero(int, profile_row_append(profile, 0, node, 0, 7, &(uint64_t){6})));
	cr_assert(zero(int, profile_row_append(profile, 0, node, 0, 3, &(uint64_t){9})));
	cr_assert(zero(int, profile_row_append(profile, 0, node, 0, 3, &big)));
	cr_assert(zero(int, profile_settle(profile)));
	cr_assert(eq(sz, profile->rows.nr, 3));
	cr_assert(eq(u32, profile->rows.slice[1], 3));
	cr_assert(eq(u64, profile->rows.value[0][0], 1));
	cr_assert(eq(u64, profile->rows.value[0][1], UINT64_MAX));
	cr_assert(eq(u64, profile->rows.value[0][2], 11));
	/* what is added afterwards finds its row */
	cr_assert(zero(int, profile_row(profile, 0, node, 0, 7, &(uint64_t){1})));
	cr_assert(eq(u64, profile->rows.value[0][2], 12));
	stoke_profile_free(profile);
}

Test(unite, a_part_that_is_put_back_is_as_it_was)
{
	struct stoke_profile *profile = read_text("a;b 1\nc 2\n");
	struct profile_part part = {0};
	uint32_t node = 0;

	cr_assert(zero(int, profile_part_take(profile, &part)));
	cr_assert(eq(sz, profile->stacks.nr, 1));
	cr_assert(eq(sz, profile->rows.nr, 0));
	cr_assert(zero(int, stacks_child(&profile->stacks, 0, 1, &node)));
	profile_part_put(profile, &part);
	cr_assert(eq(sz, profile->stacks.nr, 4));
	cr_assert(eq(u64, value_of(profile, 0, "a;b"), 1));
	cr_assert(zero(sz, part.stacks.nr));
	stoke_profile_free(profile);
}

Test(unite, a_file_that_is_refused_leaves_what_was_read_before)
{
	struct stoke_profile *profile = read_text("a;b 1\nc 2\n");
	struct stoke_error err = {0};

	cr_assert(eq(int, read_bytes(profile, &format_folded, "x\ny\n", 4, NULL, &err), -EINVAL));
	cr_assert(eq(sz, profile->stacks.nr, 4));
	cr_assert(eq(u64, profile_total(profile, 0), 3));
	stoke_profile_free(profile);
}

Test(unite, many_siblings_and_depth_are_no_matter)
{
	struct stoke_profile *profile = read_text("m 1\n");
	struct profile_part part = {0};
	uint32_t node[2] = {1, 0}, frame; /* the first has "m" */

	for (unsigned side = 0; side < 2; side++) {
		for (unsigned i = 0; i < 59999 + side; i++)
			cr_assert(zero(
				int, stacks_append(&profile->stacks, node[side], 1, &node[side])));
		for (unsigned i = 0; i < 1000; i++) {
			char name[16];
			int n = snprintf(name, sizeof(name), "f%u", (i * 7919 + side) % 1500);
			uint32_t child;

			cr_assert(zero(int, profile_named_frame(profile, name, (size_t)n,
						    FUNCTION_NATIVE, &frame)));
			cr_assert(zero(
				int, stacks_child(&profile->stacks, node[side], frame, &child)));
		}
		if (!side)
			cr_assert(zero(int, profile_part_take(profile, &part)));
	}
	cr_assert(zero(int, profile_part_unite(profile, &part)));
	cr_assert(ge(sz, profile->stacks.nr, 60001 + 1000));
	cr_assert(le(sz, profile->stacks.nr, 60001 + 1500));
	stoke_profile_free(profile);
}
