/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/columns.h"

#include <string.h>

#include "base/text.h"
#include "unit/test.h"

TestSuite(columns, .fini = check_leaks);

static char fitted[COLUMNS_TEXT_BYTES];

static char *fit(const char *name, size_t width, enum columns_cut cut)
{
	size_t columns = columns_fit(fitted, name, strlen(name), width, cut);

	cr_assert(le(sz, columns, width));
	cr_assert(eq(sz, columns, text_columns(fitted, strlen(fitted))));
	return fitted;
}

Test(columns, a_name_that_fits_is_left_alone)
{
	cr_assert(eq(str, fit("main", 4, COLUMNS_CUT_END), "main"));
	cr_assert(eq(str, fit("", 0, COLUMNS_CUT_END), ""));
}

Test(columns, a_name_that_does_not_is_cut_where_it_says_least)
{
	cr_assert(eq(str, fit("Handling GET /a", 9, COLUMNS_CUT_END), "Handling\xe2\x80\xa6"));
	cr_assert(eq(str, fit("io.netty.Loop.run", 9, COLUMNS_CUT_START), "\xe2\x80\xa6Loop.run"));
	cr_assert(eq(str, fit("abc", 0, COLUMNS_CUT_END), ""));
	cr_assert(eq(str, fit("abc", 1, COLUMNS_CUT_START), "\xe2\x80\xa6"));
}

Test(columns, wide_characters_are_kept_whole)
{
	/* Three characters of two columns each. */
	const char *name = "\xe5\xb7\xa5\xe4\xbd\x9c\xe7\xba\xbf";

	cr_assert(eq(str, fit(name, 6, COLUMNS_CUT_END), (char *)name));
	cr_assert(eq(str, fit(name, 4, COLUMNS_CUT_END), "\xe5\xb7\xa5\xe2\x80\xa6"));
	cr_assert(eq(str, fit(name, 4, COLUMNS_CUT_START), "\xe2\x80\xa6\xe7\xba\xbf"));
}

Test(columns, hostile_bytes_are_spelled_out)
{
	cr_assert(eq(str, fit("a\x1b[2J\xff", 20, COLUMNS_CUT_END), "a\\x1b[2J\xef\xbf\xbd"));
}

Test(columns, a_name_without_end_is_bounded)
{
	char *name = malloc(1 << 20);

	cr_assert(ne(ptr, name, NULL));
	memset(name, '\x01', 1 << 20);
	cr_assert(eq(sz, columns_fit(fitted, name, 1 << 20, 60, COLUMNS_CUT_START), 60));
	memset(name, 'x', 1 << 20);
	cr_assert(eq(sz, columns_fit(fitted, name, 1 << 20, 60, COLUMNS_CUT_START), 60));
	free(name);
}

Test(columns, shares_are_rounded_as_people_read_them)
{
	char text[32];

	cr_assert(eq(str, columns_share(text, 0, 0), "0 %"));
	cr_assert(eq(str, columns_share(text, 0, 10), "0 %"));
	cr_assert(eq(str, columns_share(text, 1, 100000000), "<0.01 %"));
	cr_assert(eq(str, columns_share(text, 62, 1000), "6.2 %"));
	cr_assert(eq(str, columns_share(text, 814, 1000), "81 %"));
	cr_assert(eq(str, columns_share(text, 9997, 10000), "99.9 %"));
	cr_assert(eq(str, columns_share(text, 10, 10), "100 %"));
	cr_assert(eq(str, columns_share(text, UINT64_MAX / 2, UINT64_MAX), "50 %"));
}

Test(columns, quotients_have_two_places)
{
	char text[32];

	cr_assert(eq(str, columns_quotient(text, 198, 100), "1.98"));
	cr_assert(eq(str, columns_quotient(text, 1, 1000), "<0.01"));
	cr_assert(eq(str, columns_quotient(text, 0, 1000), "0.00"));
	cr_assert(eq(str, columns_quotient(text, 1, 0), "<0.01"));
	cr_assert(eq(str, columns_quotient(text, 59400000000, 30000000000), "1.98"));
}
