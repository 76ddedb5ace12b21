/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/test.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"

TestSuite(text, .fini = check_leaks);

/* in as a string literal, so that NUL and high bytes can be said */
#define PRINTABLE(in, expected)                                                                    \
	do {                                                                                       \
		char out[6 * sizeof(in)];                                                          \
		size_t n = text_printable(out, sizeof(out), in, sizeof(in) - 1);                   \
		cr_assert(eq(sz, n, strlen(expected)));                                            \
		out[n] = '\0';                                                                     \
		cr_assert(eq(str, out, expected));                                                 \
	} while (0)

Test(text, plain_names_stay)
{
	PRINTABLE("std::map<int, char*>::operator[] & \"x\" \\", /* backslash too */
		"std::map<int, char*>::operator[] & \"x\" \\");
	PRINTABLE("good\xc3\xa9 \xe6\xbc\xa2\xf0\x9f\x94\xa5",
		"good\xc3\xa9 \xe6\xbc\xa2\xf0\x9f\x94\xa5");
	PRINTABLE("line\xe2\x80\xa8sep", "line\xe2\x80\xa8sep");
	PRINTABLE("", "");
}

Test(text, bytes_that_are_no_utf8_become_one_mark_for_each_maximal_part)
{
	PRINTABLE("a\xad"
		  "b",
		"a\xef\xbf\xbd"
		"b");
	PRINTABLE("\xff\xff", "\xef\xbf\xbd\xef\xbf\xbd");
	PRINTABLE("\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"); /* overlong '/' */
	PRINTABLE("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* surrogate */
	PRINTABLE("cut\xe4\xb8", "cut\xef\xbf\xbd"); /* two bytes of three: one part */
	PRINTABLE("\xf0\x9f\x94x", "\xef\xbf\xbdx");
	PRINTABLE("\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	PRINTABLE("\xc3(", "\xef\xbf\xbd(");
	PRINTABLE("\xe0\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

Test(text, characters_that_drive_or_forge_are_spelled_out)
{
	PRINTABLE("\x1b[31m", "\\x1b[31m");
	PRINTABLE("a\0b", "a\\x00b");
	PRINTABLE("\n\x7f", "\\x0a\\x7f");
	PRINTABLE("\xc2\x85", "\\x85"); /* C1 */
	PRINTABLE("\xc2\xa0", "\xc2\xa0");
	PRINTABLE("\xe2\x80\xae"
		  "evil",
		"\\u202eevil");
	PRINTABLE("\xe2\x80\x8b\xe2\x81\xa6\xef\xbb\xbf\xef\xbf\xbe\xef\xbf\xbf",
		"\\u200b\\u2066\\ufeff\\ufffe\\uffff");
}

Test(text, a_tab_is_a_blank)
{
	PRINTABLE("tab\there", "tab here");
}

Test(text, what_does_not_fit_is_refused_whole)
{
	char out[4] = "....";

	cr_assert(eq(sz, text_printable(out, 3, "\x1b", 1), SIZE_MAX));
	cr_assert(eq(sz, text_printable(out, 2, "\xe6\xbc\xa2", 3), SIZE_MAX));
	cr_assert(eq(sz, text_printable(out, 3, "\xe6\xbc\xa2", 3), 3));
	cr_assert(eq(chr, out[3], '.'));
}

Test(text, printing_writes_the_printable_form)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	text_print(out, "a\x1b\xff;", 4);
	fclose(out);
	cr_assert(eq(str, text, "a\\x1b\xef\xbf\xbd;"));
	free(text);
}

Test(text, columns_count_wide_and_combining_characters)
{
	cr_assert(eq(sz, text_columns("abc", 3), 3));
	cr_assert(eq(sz, text_columns("\xe6\xbc\xa2\xe5\xad\x97", 6), 4)); /* two CJK */
	cr_assert(eq(sz, text_columns("e\xcc\x81", 3), 1)); /* e + acute */
	cr_assert(eq(sz, text_columns("\xf0\x9f\x94\xa5", 4), 2)); /* fire */
	cr_assert(eq(sz, text_columns("\xef\xbd\xb1", 3), 1)); /* half-width katakana */
	cr_assert(eq(sz, text_columns("", 0), 0));
}

Test(text, cutting_keeps_characters_whole)
{
	const char *text = "a\xe6\xbc\xa2\xe5\xad\x97";

	cr_assert(eq(sz, text_cut(text, 7, 2), 1));
	cr_assert(eq(sz, text_cut(text, 7, 3), 4));
	cr_assert(eq(sz, text_cut(text, 7, 4), 4));
	cr_assert(eq(sz, text_cut(text, 7, 99), 7));
	cr_assert(eq(sz, text_cut("e\xcc\x81x", 4, 1), 3), "the mark stays with its letter");
	cr_assert(eq(sz, text_cut(text, 7, 0), 0));
}

Test(text, counts_have_commas)
{
	char buffer[32];

	cr_assert(eq(str, text_count(buffer, 0), "0"));
	cr_assert(eq(str, text_count(buffer, 999), "999"));
	cr_assert(eq(str, text_count(buffer, 1000), "1,000"));
	cr_assert(
		eq(str, text_count(buffer, 18446744073709551615ull), "18,446,744,073,709,551,615"));
}

Test(text, shares_are_short_and_never_claim_all_or_nothing_wrongly)
{
	char buffer[32];

	cr_assert(eq(str, text_share(buffer, 984, 1000), "98.4 %"));
	cr_assert(eq(str, text_share(buffer, 2, 10000), "0.02 %"));
	cr_assert(eq(str, text_share(buffer, 3, 1000), "0.3 %"));
	cr_assert(eq(str, text_share(buffer, 0, 0), "0 %"));
	cr_assert(eq(str, text_share(buffer, 0, 5), "0 %"));
	cr_assert(eq(str, text_share(buffer, 5, 5), "100 %"));
	cr_assert(eq(str, text_share(buffer, 99999, 100000), "99.9 %"));
	cr_assert(eq(str, text_share(buffer, 1, 1000000), "<0.01 %"));
	cr_assert(eq(str, text_share(buffer, UINT64_MAX / 2, UINT64_MAX), "50.0 %"));
}
