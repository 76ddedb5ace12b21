/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/difference.h"

#include "unit/folded.h"

TestSuite(difference, .fini = check_leaks);

Test(difference, functions_count_a_sample_once_and_those_with_evidence_come_first)
{
	struct stoke_profile *profile = folded_profile("m;f;g;f 10\nm;g 10\nm;h 80\n");
	const struct payload_chance untested = {PAYLOAD_UNTESTED, PAYLOAD_UNTESTED};
	/* By name: all, f, g, h, m. */
	const struct payload_chance total[] = {
		untested, untested, {1000, 900000}, untested, untested};
	struct difference d = {
		.exposure = {100, 100}, .evidence = {total, total, NULL}, .alpha = .05};
	struct difference_function *functions = NULL;
	struct tree *tree = NULL;
	size_t nr = 0;

	folded_add(profile, "m;f;g;f 20\nm;g 15\nm;h 65\n");
	cr_assert(eq(int, tree_build(profile, &(struct tree_options){.nr_before = 1}, &tree), 0));
	d.tree = tree;
	cr_assert(eq(int, difference_functions(&d, &functions, &nr), 0));
	cr_assert(eq(sz, nr, 4));
	cr_assert(eq(u32, functions[0].name, 2)); /* g: 20 to 35, sure */
	cr_assert(epsilon_eq(dbl, functions[0].total[1], .35, 1e-12));
	cr_assert(eq(u32, functions[1].name, 3)); /* h: fell by 15 */
	cr_assert(eq(u32, functions[2].name, 1)); /* f: 10 to 20, once a sample */
	cr_assert(epsilon_eq(dbl, functions[2].total[1], .2, 1e-12));
	cr_assert(epsilon_eq(dbl, functions[2].self[1], .2, 1e-12));
	cr_assert(eq(u32, difference_chance(&d, 2, -.1), 900000));
	cr_assert(eq(int, difference_is_sure(&d, 2, .1), 1));
	cr_assert(eq(int, difference_is_sure(&d, 2, -.1), 0));
	cr_assert(eq(int, difference_is_sure(&d, 3, -.15), 0));
	free(functions);
	tree_free(tree);
	stoke_profile_free(profile);
}

Test(difference, chance_of_exactly_alpha_is_evidence)
{
	const struct payload_chance total[] = {{50000, 50001}};
	const struct difference d = {.evidence = {total, total, NULL}, .alpha = .05};

	cr_assert(eq(int, difference_is_sure(&d, 0, 1), 1));
	cr_assert(eq(int, difference_is_sure(&d, 0, -1), 0));
}
