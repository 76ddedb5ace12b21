/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/gather.h"
#include "unit/compared.h"

TestSuite(gather, .fini = check_leaks);

static const char lines[] = "main;list;parse;next %\nmain;list;parse %\nmain;draw %\nidle %\n";

static double joint(struct gather *gather, size_t which, size_t of)
{
	double ret[8];

	cr_assert(eq(int, gather_joint(gather, which, ret), 0));
	return ret[of];
}

Test(gather, growth_of_callers_and_callees_is_the_growth_between)
{
	struct compared c = compared(5, lines, (unsigned[]){1000, 1000, 4000, 4000},
		(unsigned[]){2000, 1000, 4000, 3000}, NULL);
	const size_t changes[] = {
		compared_find(&c, "main", HYPOTHESIS_TOTAL),
		compared_find(&c, "parse", HYPOTHESIS_TOTAL),
		compared_find(&c, "next", HYPOTHESIS_TOTAL),
		compared_find(&c, "next", HYPOTHESIS_SELF),
		compared_find(&c, "draw", HYPOTHESIS_TOTAL),
	};
	struct gather *gather = NULL;

	cr_assert(eq(int, gather_new(c.comparison, changes, 5, 1, &gather), 0));
	cr_expect(epsilon_eq(dbl, gather_size(gather, 2), 0.1, 0.001));
	cr_expect(epsilon_eq(dbl, joint(gather, 2, 0), 0.1, 0.001));
	cr_expect(epsilon_eq(dbl, joint(gather, 2, 1), 0.1, 0.001));
	cr_expect(epsilon_eq(dbl, joint(gather, 1, 2), 0.1, 0.001));
	cr_expect(epsilon_eq(dbl, joint(gather, 1, 3), 0.1, 0.001));
	cr_expect(epsilon_eq(dbl, joint(gather, 3, 0), 0.1, 0.001));
	cr_expect(epsilon_eq(dbl, joint(gather, 2, 4), 0, 1e-12));
	cr_expect(gather_is_explained(gather, 0, 0.1));
	cr_expect(not(gather_is_explained(gather, 0, 0.02)));
	gather_free(gather);
	compared_done(&c);
}

Test(gather, one_change_stands_for_all_that_changed_with_it)
{
	struct compared c = compared(5, lines, (unsigned[]){1000, 1000, 4000, 4000},
		(unsigned[]){2000, 1000, 4000, 3000}, NULL);
	const size_t changes[] = {
		compared_find(&c, "main", HYPOTHESIS_TOTAL),
		compared_find(&c, "list", HYPOTHESIS_TOTAL),
		compared_find(&c, "parse", HYPOTHESIS_TOTAL),
		compared_find(&c, "next", HYPOTHESIS_TOTAL),
		compared_find(&c, "next", HYPOTHESIS_SELF),
	};
	struct gather *gather = NULL;
	size_t of[5], order[5], nr = 0;

	cr_assert(eq(int, gather_new(c.comparison, changes, 5, 1, &gather), 0));
	cr_assert(eq(int, gather_find(gather, of, order, &nr), 0));
	cr_assert(eq(sz, nr, 1));
	cr_expect(eq(sz, order[0], 3));
	for (size_t i = 0; i < 5; i++)
		cr_expect(eq(sz, of[i], 3));
	gather_free(gather);
	compared_done(&c);
}

Test(gather, two_causes_are_two)
{
	struct compared c = compared(5, "main;a %\nmain;b %\nmain;c %\nidle %\n",
		(unsigned[]){1000, 1000, 4000, 4000}, (unsigned[]){1500, 1800, 4000, 2700}, NULL);
	const size_t changes[] = {
		compared_find(&c, "main", HYPOTHESIS_TOTAL),
		compared_find(&c, "a", HYPOTHESIS_TOTAL),
		compared_find(&c, "b", HYPOTHESIS_TOTAL),
	};
	struct gather *gather = NULL;
	size_t of[3], order[3], nr = 0;

	cr_assert(eq(int, gather_new(c.comparison, changes, 3, 1, &gather), 0));
	cr_assert(eq(int, gather_find(gather, of, order, &nr), 0));
	cr_assert(eq(sz, nr, 2));
	cr_expect(eq(sz, of[1], 1));
	cr_expect(eq(sz, of[2], 2));
	cr_expect(eq(sz, of[0], 2));
	gather_free(gather);
	compared_done(&c);
}

Test(gather, what_shrank_is_gathered_as_well)
{
	struct compared c = compared(5, "main;a %\nmain;b %\nidle %\n",
		(unsigned[]){1500, 1000, 7500}, (unsigned[]){1000, 1000, 8000}, NULL);
	const size_t changes[] = {
		compared_find(&c, "a", HYPOTHESIS_SELF),
		compared_find(&c, "a", HYPOTHESIS_TOTAL),
	};
	struct gather *gather = NULL;
	size_t of[2], order[2], nr = 0;

	cr_assert(eq(int, gather_new(c.comparison, changes, 2, -1, &gather), 0));
	cr_expect(gather_size(gather, 0) > 0.03);
	cr_assert(eq(int, gather_find(gather, of, order, &nr), 0));
	cr_assert(eq(sz, nr, 1));
	cr_expect(eq(sz, order[0], 1));
	gather_free(gather);
	compared_done(&c);
}
