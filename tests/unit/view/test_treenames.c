/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/treenames.h"

#include <stdlib.h>
#include <string.h>

#include "unit/folded.h"

TestSuite(treenames, .fini = check_leaks);

/* All of a profile's frames have the same weight. */
static struct tree_names made(struct tree *tree, const struct stoke_profile *profile, bool left_out)
{
	struct tree_names names = {0};
	uint64_t *weight = calloc(profile->nr_frames, sizeof(*weight));

	cr_assert(ne(ptr, weight, NULL));
	for (size_t i = 1; i < profile->nr_frames; i++)
		weight[i] = 1;
	*tree = (struct tree){.profile = profile};
	cr_assert(eq(int, tree_names_make(tree, weight, left_out, &names), 0));
	free(weight);
	return names;
}

static const char *text_of(const struct tree *tree, size_t name)
{
	static char text[64];
	size_t size;
	const char *raw = tree_text(tree, (uint32_t)name, &size);

	cr_assert(lt(sz, size, sizeof(text)));
	memcpy(text, raw, size);
	text[size] = 0;
	return text;
}

Test(treenames, are_sorted_by_bytes_behind_the_root_and_found_by_frame)
{
	struct stoke_profile *profile = folded_profile("main;b 1\nmain;B;a 1\n");
	struct tree tree;
	struct tree_names names = made(&tree, profile, false);
	static const char *const order[] = {"all", "B", "a", "b", "main"};

	cr_assert(eq(sz, tree.nr_names, 5));
	for (size_t i = 0; i < 5; i++)
		cr_assert(eq(str, text_of(&tree, i), (char *)order[i]));
	for (size_t f = 1; f < profile->nr_frames; f++) {
		const struct frame *frame = &profile->frames[f];
		uint32_t name = tree_names_find(&names, profile, frame, 0);

		cr_assert(eq(u32, tree.names[name].name, profile->functions[frame->function].name));
	}
	tree_names_done(&names);
	free(tree.names);
	stoke_profile_free(profile);
}

Test(treenames, stand_once_for_each_class)
{
	struct stoke_profile *profile = folded_profile("x 1\nx_[k] 1\nx_[j] 1\nx_[m] 1\n");
	struct tree tree;
	struct tree_names names = made(&tree, profile, false);

	cr_assert(eq(sz, tree.nr_names, 4));
	cr_assert(eq(u8, tree.names[1].class, TREE_USER));
	cr_assert(eq(u8, tree.names[2].class, TREE_KERNEL));
	cr_assert(eq(u8, tree.names[3].class, TREE_MARK));
	tree_names_done(&names);
	free(tree.names);
	stoke_profile_free(profile);
}

Test(treenames, what_is_left_out_stands_before_a_frame_that_is_called_so)
{
	struct stoke_profile *profile = folded_profile("[left out]_[m] 1\n");
	struct tree tree;
	struct tree_names names = made(&tree, profile, true);

	cr_assert(eq(sz, tree.nr_names, 3));
	cr_assert(eq(u32, tree.names[names.left_out].name, TREE_LEFT_OUT));
	cr_assert(eq(str, text_of(&tree, names.left_out), "[left out]"));
	cr_assert(eq(u32, names.left_out, 2));
	tree_names_done(&names);
	free(tree.names);
	stoke_profile_free(profile);
}

Test(treenames, without_weight_a_frame_has_no_name)
{
	struct stoke_profile *profile = folded_profile("main 1\n");
	struct tree tree = {.profile = profile};
	struct tree_names names = {0};
	uint64_t weight[8] = {0};

	cr_assert(le(sz, profile->nr_frames, 8));
	cr_assert(eq(int, tree_names_make(&tree, weight, false, &names), 0));
	cr_assert(eq(sz, tree.nr_names, 1));
	tree_names_done(&names);
	free(tree.names);
	stoke_profile_free(profile);
}
