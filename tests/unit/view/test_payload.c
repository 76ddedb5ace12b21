/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/payload.h"

#include <errno.h>

#include "unit/folded.h"

TestSuite(payload, .fini = check_leaks);

static struct payload encoded(const struct stoke_profile *profile, size_t budget)
{
	struct payload payload = {0};
	struct tree *tree = NULL;

	cr_assert(eq(int, tree_build(profile, &(struct tree_options){0}, &tree), 0));
	cr_assert(eq(int, payload_make(tree, budget, NULL, &payload), 0));
	tree_free(tree);
	return payload;
}

static int decode(const char *names, const char *tree, struct stoke_profile **ret)
{
	uint32_t run = 0;
	unsigned value = 0;

	cr_assert(eq(int, stoke_profile_new(ret), 0));
	cr_assert(eq(int, profile_run(*ret, "read", &run), 0));
	cr_assert(eq(int, profile_value(*ret, "samples", "count", &value), 0));
	return payload_read(*ret, run, value, names, strlen(names), tree, strlen(tree));
}

static struct stoke_profile *decoded(const struct payload *payload)
{
	struct stoke_profile *profile = NULL;

	cr_assert(eq(int, decode(payload->names, payload->tree, &profile), 0));
	return profile;
}

Test(payload, is_written_as_the_header_says)
{
	struct stoke_profile *profile = folded_profile("main;a 3\nmain;b_[k];a 40\nmain;b_[k] 1\n");
	struct payload payload = encoded(profile, 0);

	/* "a" is used twice, so it is the first. */
	cr_assert(eq(str, payload.names, "na\nkb\nnmain\nrall"));
	/* all: up 0, no self, id 3; main: child, id 2; a: child, self 3; b: sibling, self 1;
	 * a: child, self 40 = 8 + 32 * 1 */
	cr_assert(eq(str, payload.tree,
		"AD"
		"AC"
		"BAD"
		"DBB"
		"BAoB"));
	cr_assert(eq(sz, payload.nr_nodes, 5));
	cr_assert(eq(sz, payload.nr_names, 4));
	payload_done(&payload);
	stoke_profile_free(profile);
}

Test(payload, comes_back_as_it_went_in)
{
	struct stoke_profile *profile =
		folded_profile("main;a<b> 3\nmain;\xc3\xa9;a<b> "
			       "18446744073709551615\nmain;x_[k];y_[j] 1048576\nz 7\n");
	struct payload first = encoded(profile, 0), second;
	struct stoke_profile *back = decoded(&first);

	second = encoded(back, 0);
	cr_assert(eq(str, first.names, second.names));
	cr_assert(eq(str, first.tree, second.tree));
	cr_assert(eq(u64, profile_total(back, 0), profile_total(profile, 0)));
	payload_done(&first);
	payload_done(&second);
	stoke_profile_free(profile);
	stoke_profile_free(back);
}

Test(payload, depth_is_no_matter)
{
	struct stoke_profile *profile = folded_profile("m 0\n"), *back;
	uint32_t node = 0;
	struct payload payload;

	for (int i = 0; i < 60000; i++)
		cr_assert(eq(int,
			stacks_append(&profile->stacks, node, profile->stacks.frame[1], &node), 0));
	cr_assert(eq(int, profile_row(profile, 0, node, 0, 0, (uint64_t[]){5}), 0));
	payload = encoded(profile, 0);
	back = decoded(&payload);

	cr_assert(eq(sz, back->stacks.nr, 60001));
	payload_done(&payload);
	stoke_profile_free(profile);
	stoke_profile_free(back);
}

Test(payload, what_exceeds_the_budget_becomes_counted_blocks_that_keep_the_sum)
{
	struct stoke_profile *profile = folded_profile("main;big 5000\nmain;big;x 8\n"), *back;
	struct payload whole, small;

	for (int i = 0; i < 3000; i++) {
		char line[64];
		uint32_t node = 0;
		int n = snprintf(line, sizeof(line), "leaf<%04d>", i);

		cr_assert(eq(int,
			stacks_child(&profile->stacks, profile->rows.stack[0],
				folded_frame(profile, line, (size_t)n), &node),
			0));
		cr_assert(eq(int, profile_row(profile, 0, node, 0, 0, (uint64_t[]){1 + i % 2}), 0));
	}
	whole = encoded(profile, 0);
	small = encoded(profile, 4096);
	back = decoded(&small);

	cr_assert(eq(u64, whole.nr_left_out, 0));
	cr_assert(eq(u64, small.nr_left_out, 3000));
	cr_assert(eq(u64, small.threshold, 4));
	cr_assert(strstr(small.names, "d3\xe2\x80\xaf"
				      "000 frames left out") != NULL);
	cr_assert(le(sz, small.names_size + small.tree_size, 4096));
	cr_assert(eq(sz, small.nr_nodes, 5)); /* all, main, big, x, left out */
	cr_assert(eq(u64, profile_total(back, 0), profile_total(profile, 0)));
	payload_done(&whole);
	payload_done(&small);
	stoke_profile_free(profile);
	stoke_profile_free(back);
}

Test(payload, what_is_no_tree_is_refused)
{
	static const struct {
		const char *names, *tree;
	} cases[] = {
		{"rall", "AB"}, /* no such name */
		{"rall\nnx", "AAEB"}, /* above the root */
		{"rall\nnx", "CA"}, /* a root with something above it */
		{"rall\nnx", "AACB"}, /* a second root */
		{"rall", "A"},
		{"rall", "BA"}, /* self is missing */
		{"rall", "A!"},
		{"rall", "Agggggggggggggggg"}, /* endless number */
		{"rall", "BA//"},
		{"rall\n\nnx", "AA"},
		{"", "AA"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct stoke_profile *profile = NULL;

		cr_assert(eq(int, decode(cases[i].names, cases[i].tree, &profile), -EINVAL),
			"%s %s", cases[i].names, cases[i].tree);
		stoke_profile_free(profile);
	}
}

Test(payload, an_empty_tree_is_a_root)
{
	struct stoke_profile *profile = folded_profile("m 0\n"), *back;
	struct payload payload = encoded(profile, 100);

	cr_assert(eq(str, payload.names, "rall"));
	cr_assert(eq(str, payload.tree, "AA"));
	back = decoded(&payload);
	cr_assert(eq(sz, back->rows.nr, 0));
	payload_done(&payload);
	stoke_profile_free(profile);
	stoke_profile_free(back);
}

Test(payload, of_two_sides_has_a_number_for_each_and_what_is_known_of_chance)
{
	struct stoke_profile *profile = folded_profile("main;a 3\nmain;b 2\n");
	const struct payload_chance untested = {PAYLOAD_UNTESTED, PAYLOAD_UNTESTED};
	/* By name: all, a, b, main, new. */
	const struct payload_chance total[] = {untested, untested, {40, 3}, untested, {1, 2}},
				    self[] = {untested, untested, {0, 31}, untested, untested};
	const uint8_t marks[] = {0, 0, 0, PAYLOAD_MOVED, PAYLOAD_INSERTED_AFTER};
	struct payload payload = {0};
	struct tree *tree = NULL;

	folded_add(profile, "main;b 5\nmain;new 32\n");
	cr_assert(eq(int, tree_build(profile, &(struct tree_options){.nr_before = 1}, &tree), 0));
	cr_assert(eq(int,
		payload_make(tree, 0, &(struct payload_evidence){total, self, marks}, &payload),
		0));
	cr_assert(eq(str, payload.names, "na\nnb\nnmain\nnnew\nrall"));
	/* all; main: child; a: child, 3 before; b: sibling, 2 and 5; new: sibling, 32 after */
	cr_assert(eq(str, payload.tree,
		"AE"
		"AC"
		"BAD"
		"HBCF"
		"GDgB"));
	/* b: id 1, both, 40 = 8 + 32 and 3, 0 and 31; new: 2 further, total only */
	cr_assert(eq(str, payload.evidence, "BDoBDAfCBBC"));
	cr_assert(eq(str, payload.marks, "DBBC"));
	payload_done(&payload);
	tree_free(tree);
	stoke_profile_free(profile);
}

Test(payload, what_is_left_out_of_two_sides_is_small_on_both)
{
	struct stoke_profile *profile = NULL;
	struct payload payload = {0};
	struct tree *tree = NULL;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (unsigned i = 0; i < 2000; i++)
		fprintf(out, "main;a_rather_long_name_%u 1\n", i);
	cr_assert(eq(int, fclose(out), 0));
	profile = folded_profile(text);
	folded_add(profile, "main;a_rather_long_name_7 500\nmain;gone 1\n");
	cr_assert(eq(int, tree_build(profile, &(struct tree_options){.nr_before = 1}, &tree), 0));
	cr_assert(eq(int, payload_make(tree, 3000, NULL, &payload), 0));
	cr_assert(lt(sz, payload.tree_size + payload.names_size, 3000));
	cr_assert(eq(u64, payload.nr_left_out, 2000));
	cr_assert(strstr(payload.names, "na_rather_long_name_7\n") != NULL);
	cr_assert(eq(sz, payload.nr_nodes, 4));
	payload_done(&payload);
	tree_free(tree);
	stoke_profile_free(profile);
	free(text);
}
