/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/rules.h"

#include <errno.h>

#include "unit/test.h"

TestSuite(rules, .fini = check_leaks);

static struct unwind_rule sp(int32_t offset)
{
	return (struct unwind_rule){.cfa = UNWIND_CFA_SP, .cfa_offset = offset, .ra_offset = -8};
}

Test(rules, numbers_equal_rules_alike_and_nothing_zero)
{
	struct rules rules = {.max = 1000};
	struct unwind_rule none = {0}, a = sp(8), b = sp(16);
	uint32_t first, second, again, zero;

	cr_assert(eq(int, rules_add(&rules, &a, &first), 0));
	cr_assert(eq(int, rules_add(&rules, &b, &second), 0));
	cr_assert(eq(int, rules_add(&rules, &a, &again), 0));
	cr_assert(eq(int, rules_add(&rules, &none, &zero), 0));
	cr_assert(eq(u32, zero, 0));
	cr_assert(eq(u32, first, again));
	cr_assert(ne(u32, first, second));
	cr_assert(ne(u32, first, 0));
	rules_done(&rules);
}

Test(rules, tells_apart_rules_that_differ_in_their_last_bytes)
{
	struct rules rules = {.max = 1000};
	struct unwind_rule a = sp(8), b = sp(8);
	uint32_t first, second;

	b.ra = UNWIND_RA_LINK;
	cr_assert(eq(int, rules_add(&rules, &a, &first), 0));
	cr_assert(eq(int, rules_add(&rules, &b, &second), 0));
	cr_assert(ne(u32, first, second));
	rules_done(&rules);
}

Test(rules, finds_each_of_thousands_and_stops_at_its_bound)
{
	struct rules rules = {.max = 5000};
	struct unwind_rule rule;
	uint32_t number;

	for (int i = 1; i < 5000; i++) {
		rule = sp(i * 8);
		cr_assert(eq(int, rules_add(&rules, &rule, &number), 0));
		cr_assert(eq(u32, number, (uint32_t)i));
	}
	rule = sp(5000 * 8);
	cr_assert(eq(int, rules_add(&rules, &rule, &number), -ENOSPC));
	for (int i = 1; i < 5000; i++) {
		rule = sp(i * 8);
		cr_assert(eq(int, rules_add(&rules, &rule, &number), 0));
		cr_assert(eq(u32, number, (uint32_t)i));
	}
	rules_done(&rules);
}
