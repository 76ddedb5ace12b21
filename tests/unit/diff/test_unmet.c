/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "unit/compared.h"
#include "unit/test.h"

TestSuite(unmet, .fini = check_leaks);

static const unsigned counts[] = {2000, 1, 8000};

/* Lines of the rules that match nothing, "3 7". */
static void finds(const char *budget, const char *expected)
{
	struct compared c =
		compared(3, "main;a %\nmain;rare %\nmain;b %\n", counts, counts, budget);
	const struct verdict *verdict = c.comparison->verdict;
	char text[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < verdict->nr_unmet; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u", i ? " " : "",
			verdict->unmet[i]->line);
	cr_expect(eq(str, text, (char *)expected));
	compared_done(&c);
}

Test(unmet, are_rules_for_names_that_are_nowhere)
{
	finds("frame a total +1pp\nframe rare total +1pp\nframe c total +1pp\nignore \"d*\"\n"
	      "ignore \"*\"\n",
		"3 4");
	finds("allow c total +1pp until 2027-01-01 reason \"r\"\n"
	      "allow b self +1pp until 2027-01-01 reason \"r\"\n",
		"1");
}

Test(unmet, are_sums_of_which_nothing_was_counted)
{
	finds("frame \"a*\" max 90%\nframe \"x*\" max 1%\nframe b in a max 1%\n", "2 3");
	finds("group g = \"x|y\"\nframe @g total +1pp\n", "2");
}

Test(unmet, are_allowances_for_sums_that_no_rule_limits)
{
	finds("frame b in main total +1pp\n"
	      "allow b in main total +1pp until 2027-01-01 reason \"r\"\n"
	      "allow a in main total +1pp until 2027-01-01 reason \"r\"\n",
		"3");
}

Test(unmet, are_not_rules_without_names)
{
	finds("version 1\nalpha 0.01\ndefault total +1pp\n", "");
}
