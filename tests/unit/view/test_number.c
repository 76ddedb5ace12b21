/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/number.h"

#include <string.h>

#include "unit/test.h"

TestSuite(number, .fini = check_leaks);

#define PCT "\xe2\x80\x89%"
#define K   "\xe2\x80\xaf"

Test(number, a_share_is_never_all_nor_nothing_by_rounding)
{
	static const struct {
		uint64_t part, whole;
		const char *text;
	} cases[] = {
		{0, 0, "0" PCT},
		{0, 7, "0" PCT},
		{7, 7, "100" PCT},
		{99999, 100000, "99.9" PCT},
		{1, 2, "50.0" PCT},
		{997, 10000, "9.97" PCT},
		{1, 10, "10.0" PCT},
		{1, 400, "0.25" PCT},
		{1, 4000, "0.025" PCT},
		{1, 400000, "<0.001" PCT},
		{UINT64_MAX - 1, UINT64_MAX, "99.9" PCT},
	};
	char buffer[NUMBER_ROOM];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		cr_assert(eq(str, number_share(buffer, cases[i].part, cases[i].whole),
			(char *)cases[i].text));
}

Test(number, thousands_are_parted)
{
	char buffer[NUMBER_ROOM];

	cr_assert(eq(str, number_count(buffer, 0), "0"));
	cr_assert(eq(str, number_count(buffer, 999), "999"));
	cr_assert(eq(str, number_count(buffer, 1234567), "1" K "234" K "567"));
	cr_assert(eq(str, number_count(buffer, UINT64_MAX),
		"18" K "446" K "744" K "073" K "709" K "551" K "615"));
}

Test(number, nanoseconds_are_a_time)
{
	char buffer[NUMBER_ROOM];

	cr_assert(eq(str, number_value(buffer, 1234567890, "ns"), "1.23 s"));
	cr_assert(eq(str, number_value(buffer, 30000000000, "ns"), "30 s"));
	cr_assert(eq(str, number_value(buffer, 12345678, "ns"), "12.3 ms"));
	cr_assert(eq(str, number_value(buffer, 456789000000, "ns"), "457 s"));
	cr_assert(eq(str, number_value(buffer, 1125000000, "ns"), "1.13 s"));
	cr_assert(eq(str, number_value(buffer, 99960000000, "ns"), "100.0 s"));
	cr_assert(eq(str, number_value(buffer, 999999, "ns"), "1" K "000 \xc2\xb5s"));
	cr_assert(eq(str, number_value(buffer, 17, "ns"), "17 ns"));
	cr_assert(eq(str, number_value(buffer, 285, "samples"), "285 samples"));
}

Test(number, rates_may_pass_all_and_changes_have_a_sign)
{
	static const struct {
		double rate;
		const char *rate_text, *points_text;
	} cases[] = {
		{0, "0" PCT,
			"\xc2\xb1"
			"0\xe2\x80\x89pts"},
		{.2283, "22.8" PCT, "+22.8\xe2\x80\x89pts"},
		{.0115, "1.15" PCT, "+1.15\xe2\x80\x89pts"},
		{1, "100" PCT, "+100.0\xe2\x80\x89pts"},
		{.9999, "99.9" PCT, "+100.0\xe2\x80\x89pts"},
		{1.0001, "100.1" PCT, "+100.0\xe2\x80\x89pts"},
		{1.2, "120.0" PCT, "+120.0\xe2\x80\x89pts"},
		{.000001, "<0.001" PCT,
			"\xc2\xb1"
			"0\xe2\x80\x89pts"},
		{.0994, "9.94" PCT, "+9.94\xe2\x80\x89pts"},
		{.0996, "9.96" PCT, "+10.0\xe2\x80\x89pts"},
		{-.05, "0" PCT,
			"\xe2\x88\x92"
			"5.00\xe2\x80\x89pts"},
	};
	char buffer[NUMBER_ROOM];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cr_assert(eq(str, number_rate(buffer, cases[i].rate), (char *)cases[i].rate_text));
		cr_assert(eq(
			str, number_points(buffer, cases[i].rate), (char *)cases[i].points_text));
	}
	cr_assert(eq(str, number_chance(buffer, 999), "<0.001"));
	cr_assert(eq(str, number_chance(buffer, 14286), "0.014"));
	cr_assert(eq(str, number_chance(buffer, 1000000), "1.000"));
}
