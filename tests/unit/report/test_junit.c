/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/compared.h"

TestSuite(junit, .fini = check_leaks);

static const char lines[] = "main;par<>&\"se\x01 %\nidle %\n";

Test(junit, a_rule_is_a_test_case)
{
	struct compared c = compared(5, lines, (unsigned[]){1000, 9000}, (unsigned[]){1500, 8500},
		"default total +9pp\nframe \"par*\" total +1pp\nframe idle max 99%\nignore x\n");
	char *text = compared_report(&c, "junit");

	cr_expect(ne(ptr,
		strstr(text, "<testsuites name=\"stoke\" tests=\"3\" failures=\"1\" "
			     "errors=\"0\">"),
		NULL));
	cr_expect(ne(ptr, strstr(text, "name=\"idle max 99%\"/>"), NULL));
	cr_expect(
		ne(ptr, strstr(text, "message=\"par&lt;&gt;&amp;&quot;se\\x01 total 10.0"), NULL));
	cr_expect(eq(ptr, strchr(text, 1), NULL));
	free(text);
	compared_done(&c);
}

Test(junit, what_cannot_be_told_is_an_error_and_no_rule_passes)
{
	struct compared c =
		compared(2, lines, (unsigned[]){1000, 9000}, (unsigned[]){1500, 8500}, "");
	char *text = compared_report(&c, "junit");

	cr_expect(ne(
		ptr, strstr(text, "tests=\"2\" failures=\"0\" errors=\"1\" skipped=\"1\""), NULL));
	cr_expect(ne(ptr, strstr(text, "<error type=\"cannot tell\""), NULL));
	cr_expect(ne(ptr, strstr(text, "<skipped message=\"cannot tell\"/>"), NULL));
	free(text);
	compared_done(&c);
}

Test(junit, speaks_of_checks_only)
{
	struct compared c =
		compared(2, lines, (unsigned[]){1000, 9000}, (unsigned[]){1500, 8500}, NULL);
	struct stoke_error err = {0};

	cr_expect(lt(int, stoke_comparison_report(c.comparison, "junit", stdout, &err), 0));
	compared_done(&c);
}
