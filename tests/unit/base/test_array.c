/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"

/* Past where large pages begin, and no whole number of them. */
#define MANY_BYTES ((size_t)3 << 20)

TestSuite(array, .fini = check_leaks);

static size_t count_set(const uint8_t *bytes, size_t nr)
{
	size_t set = 0;

	for (size_t i = 0; i < nr; i++)
		set += bytes[i] != 0;
	return set;
}

Test(array, a_new_table_is_of_zeroes_whatever_its_size)
{
	static const size_t sizes[] = {0, 1, 1000, (1 << 20) - 1, 1 << 20, MANY_BYTES};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		_cleanup_free_ uint8_t *items = array_new(sizes[i], 1);

		cr_assert_not_null(items);
		cr_expect_eq(count_set(items, sizes[i]), 0, "of %zu", sizes[i]);
	}
}

Test(array, a_table_in_memory_that_was_used_before_is_of_zeroes_too)
{
	for (unsigned i = 0; i < 8; i++) {
		_cleanup_free_ uint8_t *items = array_new(MANY_BYTES, 1);

		cr_assert_not_null(items);
		cr_expect_eq(count_set(items, MANY_BYTES), 0);
		memset(items, 0xff, MANY_BYTES);
	}
}

Test(array, a_table_larger_than_memory_counts_is_none)
{
	cr_expect_null(array_new(SIZE_MAX, 2));
	cr_expect_null(array_new(SIZE_MAX - 1, 1));
}

Test(array, growing_keeps_what_there_is_and_tells_the_room)
{
	_cleanup_free_ uint32_t *items = NULL;
	size_t capacity = 0, nr = 0;

	for (; nr < MANY_BYTES / sizeof(*items); nr++) {
		cr_assert_eq(array_reserve(&items, &capacity, nr, 1), 0);
		cr_assert_gt(capacity, nr);
		items[nr] = (uint32_t)nr;
	}
	memset(items + nr, 0xff, (capacity - nr) * sizeof(*items));
	for (size_t i = 0; i < nr; i++)
		cr_assert_eq(items[i], i);
}

Test(array, ids_end_at_32_bits)
{
	_cleanup_free_ uint8_t *items = NULL;
	size_t capacity = 0;

	cr_expect_eq(array_reserve(&items, &capacity, UINT32_MAX, 1), -E2BIG);
	cr_expect_eq(array_reserve(&items, &capacity, SIZE_MAX, 2), -E2BIG);
	cr_expect_null(items);
	cr_expect_eq(capacity, 0);
}
