/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>

#include "report/said.h"
#include "unit/compared.h"

TestSuite(said, .fini = check_leaks);

static void number_is(double value, int decimals, const char *expected)
{
	char text[SAID_ROOM];

	cr_expect(eq(str, said_number(text, value, decimals), (char *)expected));
}

Test(said, numbers_are_rounded_as_they_are_written)
{
	number_is(13.025, 2, "13.03");
	number_is(3.0249999999999995, 2, "3.03");
	number_is(-0.001, 2, "0.00");
	number_is(-1.005, 2, "-1.01");
	number_is(NAN, 2, "?");
	number_is(INFINITY, 2, "?");
}

Test(said, changes_carry_their_sign)
{
	char text[SAID_ROOM];

	cr_expect(eq(str, said_change(text, 3.025, 2), "+3.03"));
	cr_expect(eq(str, said_change(text, -3.025, 2), "-3.03"));
	cr_expect(eq(str, said_change(text, 0, 1), "+0.0"));
	cr_expect(eq(str, said_change(text, NAN, 1), "?"));
	cr_expect(eq(str, said_p(text, 1.0 / 70), "0.0143"));
	cr_expect(eq(str, said_p(text, 0.00001), "<0.0001"));
	cr_expect(eq(str, said_p(text, 0.5), "0.50"));
}

Test(said, a_line_that_accepts_is_one_that_the_budget_takes_and_that_covers_it)
{
	const char lines[] = "main;a|b*[c]\"d\\e %\nidle %\n";
	struct compared c =
		compared(5, lines, (unsigned[]){1000, 9000}, (unsigned[]){1500, 8500}, "");
	char *line;

	cr_assert(eq(sz, c.comparison->verdict->nr_failures, 1));
	line = said_allowance(c.comparison, &c.comparison->verdict->breaches[0]);
	cr_assert(ne(ptr, line, NULL));
	cr_expect(eq(str, line,
		"allow \"a\\\\|b\\\\*\\\\[c\\\\]\\\"d\\\\\\\\e\" total +6.0pp until 2027-03-01 "
		"reason \"...\""));
	compared_done(&c);
	c = compared(5, lines, (unsigned[]){1000, 9000}, (unsigned[]){1500, 8500}, line);
	cr_expect(eq(int, stoke_comparison_verdict(c.comparison), 0));
	compared_done(&c);
	free(line);
}

Test(said, a_sum_is_accepted_by_its_own_name)
{
	struct compared c = compared(5, "main;a %\nmain;b %\nidle %\n",
		(unsigned[]){1000, 1000, 8000}, (unsigned[]){1500, 1000, 7500},
		"default total +9pp\nframe \"a*\" in \"ma*\" total +1pp\n");
	char *line = said_allowance(c.comparison, &c.comparison->verdict->breaches[0]);

	cr_assert(ne(ptr, line, NULL));
	cr_expect(eq(int, strncmp(line, "allow \"a*\" in \"ma*\" total +", 27), 0), "%s", line);
	free(line);
	compared_done(&c);
}

Test(said, paths_keep_their_first_and_last_names)
{
	struct compared c = compared(5, "a;b;c;d;e;f %\nidle %\n", (unsigned[]){1000, 9000},
		(unsigned[]){1500, 8500}, NULL);
	uint32_t node = said_node(c.comparison, compared_find(&c, "f", HYPOTHESIS_TOTAL), 1);
	char *path = said_path(c.comparison, node, SIZE_MAX);

	cr_expect(eq(str, path, "all > a > b > c > d > e > f"));
	free(path);
	path = said_path(c.comparison, node, 4);
	cr_expect(eq(str, path, "all > ... > d > e > f"));
	free(path);
	compared_done(&c);
}

Test(said, without_runs_only_sampling_error_is_ruled_out)
{
	struct compared c = compared(1, "main;a %\nmain;b %\nidle %\n",
		(unsigned[]){1000, 1000, 8000}, (unsigned[]){1500, 1010, 7490}, NULL);
	struct said_changes changes = {0};

	cr_assert(eq(int, said_changes(c.comparison, 1, &changes), 0));
	cr_expect(changes.by_chance);
	cr_assert(eq(sz, changes.nr_order, 1));
	cr_expect(eq(sz, changes.hypotheses[changes.order[0]],
		compared_find(&c, "a", HYPOTHESIS_TOTAL)));
	said_changes_done(&changes);
	compared_done(&c);
}

Test(said, the_kernels_function_is_told_from_one_of_that_name)
{
	struct compared c = compared(5, "main;read;read_[k] %\nmain;sys_[k] %\nidle %\n",
		(unsigned[]){1000, 1000, 8000}, (unsigned[]){1500, 1500, 7000}, NULL);
	const struct units *units = c.comparison->units;
	unsigned nr_kernel = 0;

	for (size_t i = 0; i < units->nr_hypotheses; i++) {
		char *name = said_name(c.comparison, i, SIZE_MAX);
		char *plain = said_plain_name(c.comparison, i, SIZE_MAX);

		if (strcmp(plain, "read") == 0 && units->hypotheses[i].class == TREE_KERNEL) {
			cr_expect(eq(str, name, "read (kernel)"));
			nr_kernel++;
		} else {
			cr_expect(eq(str, name, plain));
		}
		free(name);
		free(plain);
	}
	cr_expect(eq(u32, nr_kernel, 2)); /* self and total */
	compared_done(&c);
}

Test(said, one_is_no_several)
{
	cr_expect(eq(str, (char *)said_s(0), "s"));
	cr_expect(eq(str, (char *)said_s(1), ""));
	cr_expect(eq(str, (char *)said_s(2), "s"));
}
