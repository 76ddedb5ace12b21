/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/row.h"

#include "unit/test.h"

TestSuite(row, .fini = check_leaks);

Test(row, a_row_holds_up_to_the_next)
{
	struct unwind_row items[] = {{.address = 0x1000, .rule.cfa = UNWIND_CFA_SP},
		{.address = 0x1004, .rule.cfa = UNWIND_CFA_FP}, {.address = 0x1010}};
	struct unwind_rows rows = {.items = items, .nr = ARRAY_SIZE(items)};

	cr_assert(unwind_rows_find(&rows, 0xfff) == NULL);
	cr_assert(unwind_rows_find(&rows, 0x1000) == &items[0]);
	cr_assert(unwind_rows_find(&rows, 0x1003) == &items[0]);
	cr_assert(unwind_rows_find(&rows, 0x1004) == &items[1]);
	cr_assert(unwind_rows_find(&rows, 0x100f) == &items[1]);
	cr_assert(unwind_rows_find(&rows, UINT64_MAX) == &items[2]);
}

Test(row, no_rows_hold_nowhere)
{
	struct unwind_rows rows = {0};

	cr_assert(unwind_rows_find(&rows, 0) == NULL);
	cr_assert(unwind_rows_find(&rows, UINT64_MAX) == NULL);
	unwind_rows_done(&rows);
}

static int note_last(void *arg, const struct unwind_row *items, size_t nr)
{
	*(uint64_t *)arg = items[nr - 1].address;
	return 0;
}

Test(row, what_is_handed_over_cannot_change_any_more)
{
	const struct unwind_rule a = {.cfa = UNWIND_CFA_SP}, b = {.cfa = UNWIND_CFA_FP};
	uint64_t last = 0;
	const struct unwind_taker taker = {note_last, &last};
	struct unwind_rows rows = {0};

	for (uint64_t i = 1; i <= 9; i++)
		cr_assert(unwind_rows_add(&rows, i, i % 2 ? &a : &b) == 0);
	cr_assert(unwind_rows_hand_over(&rows, &taker) == 0);
	cr_assert(eq(u64, last, 7));
	/* The last says the same as the one before, so it goes. */
	cr_assert(unwind_rows_add(&rows, 9, &b) == 0);
	cr_assert(eq(sz, rows.nr, 1));
	cr_assert(eq(u64, rows.items[0].address, 8));
	cr_assert(unwind_rows_hand_over(&rows, &taker) == 0);
	cr_assert(eq(u64, rows.nr_taken + rows.nr, 8));
	unwind_rows_done(&rows);
}

Test(row, an_offset_pair_keeps_both_signs)
{
	cr_assert(unwind_inner((int32_t)0x0008fff8) == -8);
	cr_assert(unwind_outer((int32_t)0x0008fff8) == 8);
	cr_assert(unwind_inner((int32_t)0xfff00098) == 152);
	cr_assert(unwind_outer((int32_t)0xfff00098) == -16);
}

Test(row, a_rule_has_no_holes)
{
	cr_assert(sizeof(struct unwind_rule) == 12);
}
