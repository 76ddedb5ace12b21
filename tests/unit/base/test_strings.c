/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/strings.h"

#include <stdio.h>
#include <string.h>

#include "unit/test.h"

TestSuite(strings, .fini = check_leaks);

Test(strings, same_bytes_are_the_same_id)
{
	struct strings strings;
	uint32_t a = 1, b = 2, empty = 3;

	cr_assert(eq(int, strings_init(&strings), 0));
	cr_assert(eq(int, strings_add(&strings, "main", 4, &a), 0));
	cr_assert(eq(int, strings_add(&strings, "mainly", 4, &b), 0));
	cr_assert(eq(int, strings_add(&strings, "", 0, &empty), 0));

	cr_assert(eq(u32, a, b));
	cr_assert(eq(u32, empty, 0));
	cr_assert(eq(str, (char *)strings_text(&strings, a), "main"));
	strings_done(&strings);
}

Test(strings, keeps_bytes_behind_a_nul)
{
	struct strings strings;
	uint32_t a = 0, b = 0;

	cr_assert(eq(int, strings_init(&strings), 0));
	cr_assert(eq(int, strings_add(&strings, "a\0b", 3, &a), 0));
	cr_assert(eq(int, strings_add(&strings, "a\0c", 3, &b), 0));

	cr_assert(ne(u32, a, b));
	cr_assert(eq(sz, strings_size(&strings, a), 3));
	strings_done(&strings);
}

Test(strings, finds_a_hundred_thousand_again)
{
	struct strings strings;
	char text[32];

	cr_assert(eq(int, strings_init(&strings), 0));
	for (uint32_t i = 1; i <= 100000; i++) {
		uint32_t id = 0;

		(void)snprintf(text, sizeof(text), "name %u", i);
		cr_assert(eq(int, strings_add(&strings, text, strlen(text), &id), 0));
		cr_assert(eq(u32, id, i));
	}
	for (uint32_t i = 1; i <= 100000; i++) {
		(void)snprintf(text, sizeof(text), "name %u", i);
		cr_assert(eq(u32, strings_find(&strings, text, strlen(text)), i));
	}
	cr_assert(eq(u32, strings_find(&strings, "other", 5), UINT32_MAX));
	strings_done(&strings);
}
