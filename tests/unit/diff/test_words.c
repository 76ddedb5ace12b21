/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "diff/words.h"
#include "unit/test.h"

TestSuite(words, .fini = check_leaks);

/* The words of a line with '|' between them, or "! complaint". */
static void splits(const char *line, const char *expected)
{
	char *words[WORDS_MAX], text[4096] = "";
	const char *complaint;
	size_t nr = 0;
	int r = words_split(scan_of(line, strlen(line)), words, &nr, &complaint);

	for (size_t i = 0, n = 0; r == 0 && i < nr; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? "|" : "", words[i]);
	if (r == -EINVAL)
		(void)snprintf(text, sizeof(text), "! %s", complaint);
	cr_expect(eq(str, text, (char *)expected));
	if (r == 0)
		words_done(words, &nr);
}

Test(words, are_parted_by_blanks)
{
	splits("", "");
	splits(" \t ", "");
	splits("frame a  total\t+1pp\r", "frame|a|total|+1pp");
}

Test(words, hold_blanks_and_quotes_when_quoted)
{
	splits("frame \"Handling *\" max 1%", "frame|Handling *|max|1%");
	splits("reason \"\"", "reason|");
	splits("\"say \\\"no\\\" \\\\ \\*\"", "say \"no\" \\ \\*");
}

Test(words, end_at_a_comment)
{
	splits("# all of it", "");
	splits("alpha 0.05 # usual", "alpha|0.05");
	splits("frame a#b \"#c\"", "frame|a#b|#c");
}

Test(words, that_cannot_be_meant_are_told)
{
	splits("frame \"a", "! a quote is not closed; names with blanks stand between two of them");
	splits("frame \"a\"b", "! something is glued to a closing quote; a blank parts words");
	splits("frame a\"b\"", "! a quote in the middle of a word; quote all of it");
}

Test(words, are_bounded_in_number_and_size)
{
	static char line[WORDS_MAX_SIZE + 1];
	char *words[WORDS_MAX];
	const char *complaint;
	size_t nr = 0;

	memset(line, 'x', sizeof(line));
	cr_expect(eq(int, words_split(scan_of(line, WORDS_MAX_SIZE + 1), words, &nr, &complaint),
		-EINVAL));
	cr_assert(eq(int, words_split(scan_of(line, WORDS_MAX_SIZE), words, &nr, &complaint), 0));
	cr_expect(eq(sz, strlen(words[0]), WORDS_MAX_SIZE));
	words_done(words, &nr);
	for (size_t i = 1; i < 2 * WORDS_MAX + 2; i += 2)
		line[i] = ' ';
	cr_expect(eq(int, words_split(scan_of(line, 2 * WORDS_MAX + 2), words, &nr, &complaint),
		-EINVAL));
	cr_expect(eq(int, words_split(scan_of("a\0b", 3), words, &nr, &complaint), -EINVAL));
}

Test(words, amounts_end_in_their_unit)
{
	cr_expect(eq(dbl, words_amount("5%", "%"), 5));
	cr_expect(eq(dbl, words_amount("0.05cores", "cores"), 0.05));
	cr_expect(eq(dbl, words_amount(".5pp", "pp"), 0.5));
	cr_expect(isnan(words_amount("5", "%")));
	cr_expect(isnan(words_amount("%", "%")));
	cr_expect(isnan(words_amount("-5%", "%")));
	cr_expect(isnan(words_amount("1e9", "")));
	cr_expect(isnan(words_amount("99999999999999999999", "")));
}

Test(words, dates_have_one_form)
{
	cr_expect(eq(int, words_is_date("2027-03-31"), 1));
	cr_expect(eq(int, words_is_date("2027-3-31"), 0));
	cr_expect(eq(int, words_is_date("2027-13-01"), 0));
	cr_expect(eq(int, words_is_date("2027-01-32"), 0));
	cr_expect(eq(int, words_is_date("2027-01-011"), 0));
	cr_expect(eq(int, words_is_date(""), 0));
}

Test(words, dates_are_days_that_there_are)
{
	cr_expect(eq(int, words_is_date("2027-02-28"), 1));
	cr_expect(eq(int, words_is_date("2027-02-29"), 0));
	cr_expect(eq(int, words_is_date("2027-02-31"), 0));
	cr_expect(eq(int, words_is_date("2028-02-29"), 1));
	cr_expect(eq(int, words_is_date("2100-02-29"), 0));
	cr_expect(eq(int, words_is_date("2027-04-31"), 0));
	cr_expect(eq(int, words_is_date("2027-00-10"), 0));
}
