/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "diff/budget.h"
#include "unit/test.h"

TestSuite(glob, .fini = check_leaks);

static int matches(const char *glob, const char *text)
{
	return budget_matches(glob, text, strlen(text));
}

Test(glob, means_all_of_a_name)
{
	cr_expect(eq(int, matches("parse", "parse"), 1));
	cr_expect(eq(int, matches("parse", "parser"), 0));
	cr_expect(eq(int, matches("parse", "reparse"), 0));
	cr_expect(eq(int, matches("", ""), 1));
	cr_expect(eq(int, matches("", "a"), 0));
}

Test(glob, takes_any_bytes_for_a_star_and_one_for_a_question_mark)
{
	cr_expect(eq(int, matches("net.sf.json.*", "net.sf.json.util.JSONTokener.matches"), 1));
	cr_expect(eq(int,
		matches("*.parkNanos", "java.util.concurrent.locks.LockSupport.parkNanos"), 1));
	cr_expect(eq(int, matches("*a*b*", "xxaxxbxx"), 1));
	cr_expect(eq(int, matches("*a*b*", "xxbxxaxx"), 0));
	cr_expect(eq(int, matches("a?c", "abc"), 1));
	cr_expect(eq(int, matches("a?c", "ac"), 0));
	cr_expect(eq(int, matches("*", ""), 1));
	cr_expect(eq(int, matches("**", "x"), 1));
}

Test(glob, knows_classes_of_bytes)
{
	cr_expect(eq(int, matches("f[0-9]", "f7"), 1));
	cr_expect(eq(int, matches("f[0-9]", "fx"), 0));
	cr_expect(eq(int, matches("f[!0-9]", "fx"), 1));
	cr_expect(eq(int, matches("f[^0-9]", "f7"), 0));
	cr_expect(eq(int, matches("f[]]", "f]"), 1));
	cr_expect(eq(int, matches("f[a-]", "f-"), 1));
	cr_expect(eq(int, matches("f[abc", "f[abc"), 1));
	cr_expect(eq(int, matches("[\x80-\xff]*", "\xc3\xa9t\xc3\xa9"), 1));
}

Test(glob, has_alternatives)
{
	cr_expect(eq(int, matches("db|query", "query"), 1));
	cr_expect(eq(int, matches("db|query", "db|query"), 0));
	cr_expect(eq(int, matches("db|", ""), 1));
	cr_expect(eq(int, matches("a*|b*", "bc"), 1));
	cr_expect(eq(int, matches("a*|b*", "cb"), 0));
}

Test(glob, matches_a_name_as_it_stands)
{
	cr_expect(eq(int, matches("[unknown]", "[unknown]"), 1));
	cr_expect(eq(int, matches("x|[kernel]", "[kernel]"), 1));
	cr_expect(eq(int, matches("\\[un*", "[unknown]"), 1));
	cr_expect(eq(int, matches("operator\\|", "operator|"), 1));
	cr_expect(eq(int, matches("a\\*", "ab"), 0));
	cr_expect(eq(int, matches("a\\*", "a*"), 1));
	cr_expect(eq(int, matches("a\\", "a\\"), 1));
}

Test(glob, looks_at_no_byte_behind_the_name)
{
	cr_expect(eq(int, budget_matches("ab*", "abcd", 2), 1));
	cr_expect(eq(int, budget_matches("abc", "abcd", 3), 1));
	cr_expect(eq(int, budget_matches("*d", "abcd", 3), 0));
}

Test(glob, takes_no_exponential_time)
{
	char text[20001];

	memset(text, 'a', sizeof(text));
	cr_expect(eq(
		int, budget_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text, sizeof(text)), 0));
}

Test(glob, that_cannot_be_meant_is_told)
{
	cr_expect(eq(ptr, (void *)budget_glob_complaint("a[bc]*|\\[x|[]]"), NULL));
	cr_expect(ne(ptr, (void *)budget_glob_complaint("a[bc"), NULL));
	cr_expect(ne(ptr, (void *)budget_glob_complaint("ok|a["), NULL));
	cr_expect(ne(ptr, (void *)budget_glob_complaint("[a|b]"), NULL));
	cr_expect(ne(ptr, (void *)budget_glob_complaint(""), NULL));
	cr_expect(eq(ptr, (void *)budget_glob_complaint("a\\"), NULL));
}
