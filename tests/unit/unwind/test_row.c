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
