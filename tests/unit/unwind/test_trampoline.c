/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/trampoline.h"

#include <errno.h>

#include "unit/test.h"

TestSuite(trampoline, .fini = check_leaks);

Test(trampoline, of_python_is_recognised_with_and_without_a_landing_pad)
{
	static const uint8_t debian[TRAMPOLINE_BYTES] = {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec,
		0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3, 0};
	static const uint8_t plain[TRAMPOLINE_BYTES] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48,
		0x83, 0xc4, 0x08, 0xc3, 0x48, 0x83, 0xec, 0x08, 0xff};
	struct unwind_rule rule;

	cr_assert(eq(int, trampoline_recognise(debian, &rule), 0));
	cr_assert(eq(u8, rule.cfa, UNWIND_CFA_SP));
	cr_assert(eq(i32, rule.cfa_offset, 16));
	cr_assert(eq(u8, rule.fp, UNWIND_FP_SAME));
	cr_assert(eq(int, trampoline_recognise(plain, &rule), 0));
	cr_assert(eq(i32, rule.cfa_offset, 16));
}

Test(trampoline, with_a_frame_pointer_restores_it)
{
	static const uint8_t framed[TRAMPOLINE_BYTES] = {
		0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd1, 0x5d, 0xc3, 0, 0, 0, 0};
	struct unwind_rule rule;

	cr_assert(eq(int, trampoline_recognise(framed, &rule), 0));
	cr_assert(eq(i32, rule.cfa_offset, 16));
	cr_assert(eq(u8, rule.fp, UNWIND_FP_AT_CFA));
	cr_assert(eq(i16, rule.fp_offset, -16));
}

Test(trampoline, is_not_seen_in_other_code)
{
	static const uint8_t other[TRAMPOLINE_BYTES] = {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec,
		0x18, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x18, 0xc3, 0};
	static const uint8_t nothing[TRAMPOLINE_BYTES] = {0};
	struct unwind_rule rule;

	cr_assert(eq(int, trampoline_recognise(other, &rule), -ENOENT));
	cr_assert(eq(int, trampoline_recognise(nothing, &rule), -ENOENT));
}
