/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/tree.h"

#include <errno.h>
#include <stdio.h>

#include "unit/folded.h"

TestSuite(tree, .fini = check_leaks);

static struct tree *built(const struct stoke_profile *profile, struct tree_options options)
{
	struct tree *tree = NULL;

	cr_assert(eq(int, tree_build(profile, &options, &tree), 0));
	return tree;
}

/* "all 10/0; main 10/3;" ...: depth first, indented by depth, total/self of each side. */
static char *drawn(const struct tree *tree)
{
	static char text[4096];
	size_t at = 0;

	text[0] = 0;
	for (size_t n = 0; n < tree->nr; n++) {
		size_t size;
		const char *name = tree_text(tree, tree->name[n], &size);

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%*s%.*s", tree->depth[n], "",
			(int)size, name);
		for (unsigned side = 0; side < tree->nr_sides; side++)
			at += (size_t)snprintf(text + at, sizeof(text) - at, " %llu/%llu",
				(unsigned long long)tree->total[side][n],
				(unsigned long long)tree->self[side][n]);
		at += (size_t)snprintf(text + at, sizeof(text) - at, "\n");
		cr_assert(lt(sz, at, sizeof(text)));
	}
	return text;
}

Test(tree, merges_by_name_and_sorts_siblings_by_bytes)
{
	struct stoke_profile *profile =
		folded_profile("main;b;z 3\nmain;a 2\nmain;b 1\nmain;B 4\n");
	struct tree *tree = built(profile, (struct tree_options){0});

	cr_assert(eq(
		str, drawn(tree), "all 10/0\n main 10/0\n  B 4/4\n  a 2/2\n  b 4/1\n   z 3/3\n"));
	cr_assert(eq(u32, tree->end[0], 6));
	cr_assert(eq(u32, tree->end[4], 6));
	cr_assert(eq(u32, tree->parent[5], 4));
	tree_free(tree);
	stoke_profile_free(profile);
}

Test(tree, kernel_user_and_mark_of_one_name_stay_apart_but_kinds_do_not)
{
	struct stoke_profile *profile =
		folded_profile("main;x 1\nmain;x_[k] 2\nmain;x_[m] 3\nmain;x_[j] 4\n");
	struct tree *tree = built(profile, (struct tree_options){0});

	cr_assert(eq(str, drawn(tree), "all 10/0\n main 10/0\n  x 5/5\n  x 2/2\n  x 3/3\n"));
	cr_assert(eq(u8, tree->names[tree->name[2]].kind, FUNCTION_JIT));
	cr_assert(eq(u8, tree->names[tree->name[3]].kind, FUNCTION_KERNEL));
	cr_assert(eq(u8, tree->names[tree->name[4]].kind, FUNCTION_MARK));
	tree_free(tree);
	stoke_profile_free(profile);
}

Test(tree, inlined_functions_are_nodes_of_their_own)
{
	struct stoke_profile *profile = NULL;
	struct frame key = {.address = 0x1000};
	const struct symbol symbols[2] = {
		{.name = "inner", .name_size = 5, .kind = FUNCTION_INLINED},
		{.name = "outer", .name_size = 5, .kind = FUNCTION_NATIVE},
	};
	uint32_t frame = 0, node = 0, run = 0;
	unsigned value = 0;
	struct tree *tree;

	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	cr_assert(eq(int, profile_run(profile, "r", &run), 0));
	cr_assert(eq(int, profile_value(profile, "samples", "count", &value), 0));
	cr_assert(eq(int, profile_frame(profile, &key, &frame), 0));
	cr_assert(eq(int, profile_name_frame(profile, frame, symbols, 2), 0));
	cr_assert(eq(int, stacks_child(&profile->stacks, 0, frame, &node), 0));
	cr_assert(eq(int, profile_row(profile, run, node, 0, 0, (uint64_t[]){7}), 0));
	tree = built(profile, (struct tree_options){0});

	cr_assert(eq(str, drawn(tree), "all 7/0\n outer 7/0\n  inner 7/7\n"));
	tree_free(tree);
	stoke_profile_free(profile);
}

Test(tree, a_frame_without_a_name_is_shown_as_such)
{
	struct stoke_profile *profile = folded_profile("main;;x 1\n");
	struct frame key = {.address = 0x1000};
	uint32_t frame = 0, node = 0;
	struct tree *tree;

	cr_assert(eq(int, profile_frame(profile, &key, &frame), 0));
	cr_assert(eq(int, stacks_child(&profile->stacks, 0, frame, &node), 0));
	cr_assert(eq(int, profile_row(profile, 0, node, 0, 0, (uint64_t[]){2}), 0));
	tree = built(profile, (struct tree_options){0});

	cr_assert(eq(str, drawn(tree),
		"all 3/0\n [no name] 2/2\n main 1/0\n  [no name] 1/0\n   x 1/1\n"));
	tree_free(tree);
	stoke_profile_free(profile);
}

Test(tree, a_name_takes_the_module_that_most_of_its_weight_has)
{
	struct stoke_profile *profile = folded_profile("main 1\n");
	struct module small = {
		.kind = MODULE_FOREIGN, .path = (char *)"/lib/a.so", .fd = -1, .root_fd = -1};
	struct module big = {
		.kind = MODULE_FOREIGN, .path = (char *)"/lib/libc.so.6", .fd = -1, .root_fd = -1};
	struct frame frame = {.nr_functions = 1};
	struct tree *tree;
	size_t size = 0;

	cr_assert(eq(
		int, profile_function(profile, "f", 1, FUNCTION_NATIVE, 0, 0, &frame.function), 0));
	for (int i = 0; i < 3; i++) {
		uint32_t id = 0, node = 0;

		cr_assert(eq(int, profile_module(profile, i ? &big : &small, &frame.module), 0));
		frame.address = (uint64_t)i;
		cr_assert(eq(int, profile_frame(profile, &frame, &id), 0));
		cr_assert(eq(int, stacks_child(&profile->stacks, 0, id, &node), 0));
		cr_assert(eq(int, profile_row(profile, 0, node, 0, 0, (uint64_t[]){i ? 3 : 5}), 0));
	}
	tree = built(profile, (struct tree_options){0});

	cr_assert(eq(str, drawn(tree), "all 12/0\n f 11/11\n main 1/1\n"));
	cr_assert(eq(str, (char *)tree_module(tree, tree->name[1], &size), "libc.so.6"));
	cr_assert(eq(sz, size, 9));
	cr_assert(eq(str, (char *)tree_module(tree, tree->name[2], &size), ""));
	tree_free(tree);
	stoke_profile_free(profile);
}

Test(tree, two_sides_have_a_column_each)
{
	struct stoke_profile *profile = folded_profile("main;a 3\nmain;b 1\n");
	struct tree *tree;

	folded_add(profile, "main;a 5\nmain;c 2\n");
	tree = built(profile, (struct tree_options){.nr_before = 1});

	cr_assert(eq(str, drawn(tree),
		"all 4/0 7/0\n main 4/0 7/0\n  a 3/3 5/5\n  b 1/1 0/0\n  c 0/0 2/2\n"));
	tree_free(tree);
	stoke_profile_free(profile);
}

Test(tree, what_is_narrow_is_cut_and_its_sum_kept)
{
	struct stoke_profile *profile =
		folded_profile("main;big 95\nmain;s;deep 2\nmain;t 1\nmain;[left out] 2\n");
	struct tree *tree = built(profile, (struct tree_options){.min_share = 0.1});

	cr_assert(eq(str, drawn(tree), "all 100/0\n main 100/0\n  [left out] 5/5\n  big 95/95\n"));
	cr_assert(eq(u32, tree->names[tree->name[2]].name, TREE_LEFT_OUT));
	tree_free(tree);
	stoke_profile_free(profile);
}

Test(tree, names_merge_before_anything_is_judged_narrow)
{
	/* Two places of one function, each under the limit, are one node over it. */
	struct stoke_profile *profile = folded_profile("main 90\nf 10\n");
	struct frame frame = {.nr_functions = 1, .address = 7};
	uint32_t id = 0, node = 0;
	struct tree *tree;

	frame.function = profile->frames[profile->nr_frames - 1].function;
	cr_assert(eq(int, profile_frame(profile, &frame, &id), 0));
	cr_assert(eq(int, stacks_child(&profile->stacks, 0, id, &node), 0));
	cr_assert(eq(int, profile_row(profile, 0, node, 0, 0, (uint64_t[]){10}), 0));
	tree = built(profile, (struct tree_options){.min_share = 0.15});

	cr_assert(eq(str, drawn(tree), "all 110/0\n f 20/20\n main 90/90\n"));
	tree_free(tree);
	stoke_profile_free(profile);
}

Test(tree, an_empty_profile_is_a_root_of_nothing)
{
	struct stoke_profile *profile = NULL;
	struct tree *tree;

	cr_assert(eq(int, stoke_profile_new(&profile), 0));
	tree = built(profile, (struct tree_options){.min_share = 0.5});

	cr_assert(eq(str, drawn(tree), "all 0/0\n"));
	cr_assert(eq(u32, tree->end[0], 1));
	tree_free(tree);
	stoke_profile_free(profile);
}

Test(tree, output_does_not_depend_on_the_order_of_input)
{
	struct stoke_profile *a = folded_profile("m;x;y 1\nm;a 2\nk;a_[k] 3\n");
	struct stoke_profile *b = folded_profile("k;a_[k] 3\nm;a 2\nm;x;y 1\n");
	struct tree *x = built(a, (struct tree_options){0}),
		    *y = built(b, (struct tree_options){0});
	_cleanup_free_ char *first = strdup(drawn(x));

	cr_assert(eq(str, first, drawn(y)));
	tree_free(x);
	tree_free(y);
	stoke_profile_free(a);
	stoke_profile_free(b);
}

/* One stack of nr frames, made without text. */
static struct stoke_profile *deep_profile(uint32_t nr)
{
	struct stoke_profile *profile = folded_profile("main 1\n");
	uint32_t node = 0;

	for (uint32_t i = 0; i < nr; i++)
		cr_assert(eq(int,
			stacks_append(&profile->stacks, node, profile->stacks.frame[1], &node), 0));
	cr_assert(eq(int, profile_row(profile, 0, node, 0, 0, (uint64_t[]){1}), 0));
	return profile;
}

Test(tree, depth_is_bounded_by_memory_and_said_where_it_is_not)
{
	struct stoke_profile *deep = deep_profile(UINT16_MAX),
			     *deeper = deep_profile(UINT16_MAX + 1);
	struct tree *tree = built(deep, (struct tree_options){0}), *none = NULL;

	cr_assert(eq(sz, tree->nr, UINT16_MAX + 1));
	cr_assert(eq(u16, tree->depth[UINT16_MAX], UINT16_MAX));
	cr_assert(eq(int, tree_build(deeper, &(struct tree_options){0}, &none), -E2BIG));
	cr_assert(zero(ptr, none));
	tree_free(tree);
	stoke_profile_free(deep);
	stoke_profile_free(deeper);
}

Test(tree, sums_saturate)
{
	struct stoke_profile *profile =
		folded_profile("main;a 18446744073709551615\nmain;b 18446744073709551615\n");
	struct tree *tree = built(profile, (struct tree_options){0});

	cr_assert(eq(u64, tree->total[0][0], UINT64_MAX));
	cr_assert(eq(u64, tree->total[0][3], UINT64_MAX));
	tree_free(tree);
	stoke_profile_free(profile);
}
