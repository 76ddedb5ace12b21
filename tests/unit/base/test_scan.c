/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/scan.h"

#include <errno.h>
#include <string.h>

#include "unit/test.h"

TestSuite(scan, .fini = check_leaks);

static struct scan text(const char *s)
{
	return scan_of(s, strlen(s));
}

Test(scan, hex_takes_either_case_and_stops_at_others)
{
	struct scan scan = text("7F6c00ffZ");
	uint64_t value = 0;

	cr_assert(eq(int, scan_hex(&scan, &value), 0));
	cr_assert(eq(u64, value, 0x7f6c00ff));
	cr_assert(eq(sz, scan_left(&scan), 1));
}

Test(scan, numbers_that_do_not_fit_are_refused_and_move_nothing)
{
	struct scan hex = text("10000000000000000"), decimal = text("18446744073709551616");
	uint64_t value = 7;

	cr_assert(eq(int, scan_hex(&hex, &value), -ERANGE));
	cr_assert(eq(sz, scan_left(&hex), 17));
	cr_assert(eq(int, scan_decimal(&decimal, &value), -ERANGE));
	cr_assert(eq(sz, scan_left(&decimal), 20));
	cr_assert(eq(u64, value, 7));

	hex = text("000000000000000000ffffffffffffffff");
	decimal = text("18446744073709551615");
	cr_assert(eq(int, scan_hex(&hex, &value), 0));
	cr_assert(eq(u64, value, UINT64_MAX));
	cr_assert(eq(int, scan_decimal(&decimal, &value), 0));
	cr_assert(eq(u64, value, UINT64_MAX));
}

Test(scan, a_prefix_without_digits_is_no_number)
{
	struct scan scan = text("0x 40");
	uint64_t value = 7;

	cr_assert(eq(int, scan_hex_prefixed(&scan, &value), -EINVAL));
	cr_assert(eq(sz, scan_left(&scan), 5));
	scan = text("0X7F");
	cr_assert(eq(int, scan_hex_prefixed(&scan, &value), 0));
	cr_assert(eq(u64, value, 0x7f));
	scan = text("0");
	cr_assert(eq(int, scan_hex_prefixed(&scan, &value), 0));
	cr_assert(eq(u64, value, 0));
	scan = text("");
	cr_assert(eq(int, scan_hex_prefixed(&scan, &value), -EINVAL));
}

Test(scan, the_rest_without_a_newline_stays)
{
	struct scan scan = text("a b\n\nrest"), line;

	cr_assert(eq(int, scan_line(&scan, &line), 1));
	cr_assert(eq(sz, scan_left(&line), 3));
	cr_assert(eq(int, scan_line(&scan, &line), 1));
	cr_assert(eq(sz, scan_left(&line), 0));
	cr_assert(eq(int, scan_line(&scan, &line), 0));
	cr_assert(eq(sz, scan_left(&scan), 4));
}

Test(scan, fields_end_at_blanks_tabs_and_the_end)
{
	struct scan scan = text("one \t two");
	const char *field;

	cr_assert(eq(sz, scan_field(&scan, &field), 3));
	cr_assert(eq(sz, scan_blanks(&scan), 3));
	cr_assert(eq(sz, scan_field(&scan, &field), 3));
	cr_assert(eq(int, memcmp(field, "two", 3), 0));
	cr_assert(eq(sz, scan_field(&scan, &field), 0));
	cr_assert(eq(int, scan_byte(&scan, 'x'), -EINVAL));
}
