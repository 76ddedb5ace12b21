/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/read_write.h"

#include "profile/prune.h"

extern const struct format format_folded;

TestSuite(prune, .fini = check_leaks);

static struct stoke_profile *read_text(const char *text)
{
	struct stoke_profile *profile;

	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, read_bytes(profile, &format_folded, text, strlen(text), NULL, NULL)));
	return profile;
}

static void assert_folded(const struct stoke_profile *profile, const char *expected)
{
	char *text = write_bytes(profile, &format_folded, NULL);

	cr_assert(eq(str, text, (char *)expected));
	free(text);
}

Test(prune, narrow_subtrees_become_one_mark_with_their_sum)
{
	struct stoke_profile *profile = read_text("a 1\na;b;c 2\na;b;d 1\na;e 50\nf;g 3\n");
	uint64_t cut;

	cr_assert(zero(int, profile_prune(profile, 0, 4, NULL, 0, &cut)));
	assert_folded(profile, "[left out] 3\na 1\na;[left out] 3\na;e 50\n");
	cr_assert(eq(u64, cut, 5));
	cr_assert(eq(sz, profile->stacks.nr, 5));
	cr_assert(eq(u64, profile_total(profile, 0), 57));
	for (size_t i = 1; i < profile->stacks.nr; i++)
		cr_assert(lt(u32, profile->stacks.parent[i], i));
	stoke_profile_free(profile);
}

Test(prune, open_nodes_and_their_ancestors_stay_and_get_their_new_numbers)
{
	struct stoke_profile *profile = read_text("a;b 100\nc;d 1\nc;e 1\n");
	uint32_t open[2] = {(uint32_t)profile->stacks.nr - 1, (uint32_t)profile->stacks.nr - 3};
	uint64_t cut, one = 1;

	/* c;e and c are being read: d goes */
	cr_assert(zero(int, profile_prune(profile, 0, 10, open, 2, &cut)));
	cr_assert(eq(u64, cut, 1));
	cr_assert(zero(int, profile_row(profile, 0, open[0], 0, 0, &one)));
	cr_assert(zero(int, profile_row(profile, 0, open[1], 0, 0, &one)));
	assert_folded(profile, "a;b 100\nc 1\nc;[left out] 1\nc;e 2\n");
	stoke_profile_free(profile);
}

Test(prune, a_second_pass_adds_to_the_marks_of_the_first)
{
	struct stoke_profile *profile = read_text("a 5\na;b 1\na;c 2\nz;y 2\n");
	uint32_t node = 0, frame;
	uint64_t cut, three = 3;

	cr_assert(zero(int, profile_prune(profile, 0, 3, NULL, 0, &cut)));
	assert_folded(profile, "[left out] 2\na 5\na;[left out] 3\n");
	cr_assert(zero(int, profile_named_frame(profile, "n", 1, FUNCTION_UNKNOWN, &frame)));
	cr_assert(zero(int, stacks_child(&profile->stacks, 0, frame, &node)));
	cr_assert(zero(int, profile_row(profile, 0, node, 0, 0, &three)));
	cr_assert(zero(int, profile_prune(profile, 0, 4, NULL, 0, &cut)));
	cr_assert(eq(u64, cut, 1));
	assert_folded(profile, "[left out] 5\na 5\na;[left out] 3\n");
	stoke_profile_free(profile);
}

Test(prune, a_large_text_is_pruned_while_it_is_read)
{
	size_t size = 0, room = 16 << 20;
	struct stoke_read_options options = {.min_share = 0.001};
	struct stoke_profile *profile;
	char *text = malloc(room);
	uint64_t sum = 0;

	for (unsigned i = 0; i < 400000; i++) {
		uint64_t count = i % 1000 ? 1 : 5000;

		size += (size_t)snprintf(
			text + size, room - size, "main;f%06u;g%u %u\n", i, i % 7, (unsigned)count);
		sum += count;
	}
	cr_assert(zero(int, stoke_profile_new(&profile)));
	cr_assert(zero(int, read_bytes(profile, &format_folded, text, size, &options, NULL)));
	cr_assert(lt(sz, profile->stacks.nr, 300000));
	cr_assert(eq(u64, profile_total(profile, 0), sum));
	cr_assert(gt(u64, profile->runs[0].quality.count[QUALITY_HIDDEN_NODES], 500000));
	stoke_profile_free(profile);
	free(text);
}
