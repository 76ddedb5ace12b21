/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/places.h"

#include <errno.h>

#include "unit/test.h"

TestSuite(places, .fini = check_leaks);

Test(places, are_taken_where_they_fit_first)
{
	struct places places;
	uint32_t a, b, c;

	cr_assert(eq(int, places_init(&places, 10), 0));
	cr_assert(eq(int, places_reserve(&places, 4), 0));
	cr_assert(eq(int, places_take(&places, 4, 1, &a), 0));
	cr_assert(eq(int, places_take(&places, 6, 1, &b), 0));
	cr_assert(eq(int, places_take(&places, 1, 1, &c), -ENOSPC));
	cr_assert(eq(u32, a, 0));
	cr_assert(eq(u32, b, 4));
	places_leave(&places, a, 4, 1);
	cr_assert(eq(int, places_take(&places, 3, 1, &c), 0));
	cr_assert(eq(u32, c, 0));
	places_done(&places);
}

Test(places, that_were_left_become_one_when_all_are_free)
{
	struct places places;
	uint32_t at[3], whole;

	cr_assert(eq(int, places_init(&places, 30), 0));
	cr_assert(eq(int, places_reserve(&places, 4), 0));
	for (int i = 0; i < 3; i++)
		cr_assert(eq(int, places_take(&places, 10, 1, &at[i]), 0));
	places_leave(&places, at[1], 10, 50);
	places_leave(&places, at[2], 10, 20);
	places_leave(&places, at[0], 10, 20);
	cr_assert(eq(int, places_take(&places, 20, 49, &whole), -ENOSPC), "between two free ones");
	cr_assert(eq(int, places_take(&places, 30, 50, &whole), 0));
	cr_assert(eq(u32, whole, 0));
	places_done(&places);
}

Test(places, of_nothing_are_none)
{
	struct places places;
	uint32_t at;

	cr_assert(eq(int, places_init(&places, 0), 0));
	cr_assert(eq(int, places_take(&places, 1, 1, &at), -ENOSPC));
	places_done(&places);
}
