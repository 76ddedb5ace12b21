/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/choose.h"

#include "unit/folded.h"

TestSuite(choose, .fini = check_leaks);

Test(choose, the_kind_of_most_weight_wins_the_smaller_of_equals)
{
	struct tree_name names[4] = {{.kind = FUNCTION_ROOT}, {0}, {0}, {.kind = FUNCTION_MARK}};
	struct tree tree = {.names = names, .nr_names = 4};
	uint64_t weight[4 * NR_FUNCTION_KINDS] = {0};

	weight[NR_FUNCTION_KINDS + FUNCTION_JIT] = 5;
	weight[NR_FUNCTION_KINDS + FUNCTION_NATIVE] = 4;
	weight[2 * NR_FUNCTION_KINDS + FUNCTION_JIT] = 5;
	weight[2 * NR_FUNCTION_KINDS + FUNCTION_NATIVE] = 5;
	choose_kinds(&tree, weight);

	cr_assert(eq(u8, names[0].kind, FUNCTION_ROOT));
	cr_assert(eq(u8, names[1].kind, FUNCTION_JIT));
	cr_assert(eq(u8, names[2].kind, FUNCTION_NATIVE));
	cr_assert(eq(u8, names[3].kind, FUNCTION_MARK));
}

Test(choose, the_module_of_most_weight_wins_the_first_path_of_equals)
{
	struct tree_name names[4] = {{0}, {0}, {0}, {0}};
	struct stoke_profile *profile = folded_profile("m 1\n");
	struct tree tree = {.profile = profile, .names = names, .nr_names = 4};
	struct module b = {
		.kind = MODULE_FOREIGN, .path = (char *)"/b.so", .fd = -1, .root_fd = -1};
	struct module a = {
		.kind = MODULE_FOREIGN, .path = (char *)"/a.so", .fd = -1, .root_fd = -1};
	uint32_t second = 0, first = 0;
	struct choose_weight list[6];

	cr_assert(eq(int, profile_module(profile, &b, &second), 0));
	cr_assert(eq(int, profile_module(profile, &a, &first), 0));
	list[0] = (struct choose_weight){1, second, 3};
	list[1] = (struct choose_weight){2, second, 4};
	list[2] = (struct choose_weight){1, first, 5};
	list[3] = (struct choose_weight){2, first, 4};
	list[4] = (struct choose_weight){1, second, 3};
	list[5] = (struct choose_weight){0, first, 0};
	choose_modules(&tree, list, 6);

	cr_assert(eq(u32, names[1].module, second));
	cr_assert(eq(u32, names[2].module, first));
	cr_assert(eq(u32, names[3].module, 0));
	stoke_profile_free(profile);
}
