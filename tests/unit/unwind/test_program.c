/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/program.h"

#include <errno.h>

#include "unit/unwind/frames.h"

TestSuite(program, .fini = check_leaks);

/* Rows of one function of 0x100 bytes at TEXT, by the CIE that compilers make. */
static struct unwind_rows run(const uint8_t *code, size_t size)
{
	struct frames f = {0};
	struct unwind_rows rows;

	frames_fde(&f, frames_cie(&f, "zR"), TEXT, 0x100, code, size);
	cr_assert(rows_of(&f, NULL, &rows) == 0);
	cr_assert(rows.items[rows.nr - 1].address == TEXT + 0x100);
	cr_assert(rows.items[rows.nr - 1].rule.cfa == UNWIND_CFA_NONE);
	return rows;
}

static void check_malformed(const uint8_t *code, size_t size)
{
	struct unwind_rows rows = run(code, size);

	cr_expect(rows.nr == 2);
	check_rule(rule_at(&rows, TEXT), UNWIND_CFA_UNSUPPORTED, 0);
	cr_expect(rows.causes[UNWIND_BAD_PROGRAM] == 1);
	unwind_rows_done(&rows);
}

Test(program, pushes_move_the_cfa_away_from_sp)
{
	struct unwind_rows rows = run(CODE("\x41\x0e\x10\x86\x02\x44\x0e\x20\x4a\x0e\x08\xc6"));

	cr_assert(rows.nr == 5);
	check_rule(rule_at(&rows, TEXT), UNWIND_CFA_SP, 8);
	check_fp(rule_at(&rows, TEXT), UNWIND_FP_SAME, 0);
	cr_assert(rule_at(&rows, TEXT)->ra_offset == -8);
	check_rule(rule_at(&rows, TEXT + 1), UNWIND_CFA_SP, 16);
	check_fp(rule_at(&rows, TEXT + 1), UNWIND_FP_AT_CFA, -16);
	check_rule(rule_at(&rows, TEXT + 5), UNWIND_CFA_SP, 32);
	check_rule(rule_at(&rows, TEXT + 15), UNWIND_CFA_SP, 8);
	check_fp(rule_at(&rows, TEXT + 15), UNWIND_FP_SAME, 0);
	unwind_rows_done(&rows);
}

Test(program, a_frame_pointer_takes_over_with_the_offset_so_far)
{
	struct unwind_rows rows = run(CODE("\x41\x0e\x10\x86\x02\x43\x0d\x06"));

	check_rule(rule_at(&rows, TEXT + 4), UNWIND_CFA_FP, 16);
	check_fp(rule_at(&rows, TEXT + 4), UNWIND_FP_AT_CFA, -16);
	unwind_rows_done(&rows);
}

Test(program, advances_of_every_size_add_up)
{
	struct unwind_rows rows =
		run(CODE("\x02\x05\x0e\x10\x03\x20\x00\x0e\x18\x04\x30\x00\x00\x00\x0e\x20"));

	check_rule(rule_at(&rows, TEXT + 5), UNWIND_CFA_SP, 16);
	check_rule(rule_at(&rows, TEXT + 0x25), UNWIND_CFA_SP, 24);
	check_rule(rule_at(&rows, TEXT + 0x55), UNWIND_CFA_SP, 32);
	unwind_rows_done(&rows);
}

Test(program, remembered_states_come_back_whole_and_nested)
{
	struct unwind_rows rows = run(CODE("\x41\x0e\x10\x86\x02\x0a\x41\x0e\x20\x0a\x41\x0e\x08"
					   "\xc6\x41\x0b\x41\x0b"));

	check_rule(rule_at(&rows, TEXT + 3), UNWIND_CFA_SP, 8);
	check_rule(rule_at(&rows, TEXT + 4), UNWIND_CFA_SP, 32);
	check_rule(rule_at(&rows, TEXT + 5), UNWIND_CFA_SP, 16);
	check_fp(rule_at(&rows, TEXT + 5), UNWIND_FP_AT_CFA, -16);
	unwind_rows_done(&rows);
}

Test(program, a_state_that_was_never_remembered_is_malformed)
{
	check_malformed(CODE("\x41\x0e\x10\x41\x0b"));
}

Test(program, states_are_remembered_to_a_limit)
{
	check_malformed(
		CODE("\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a"));
}

Test(program, an_undefined_return_address_is_the_first_frame)
{
	struct unwind_rows rows = run(CODE("\x07\x10"));

	check_rule(rule_at(&rows, TEXT), UNWIND_CFA_STOP, 0);
	unwind_rows_done(&rows);
}

Test(program, a_return_address_elsewhere_is_unsupported_unless_a_register_has_it)
{
	struct unwind_rows rows = run(CODE("\x41\x90\x03\x41\x09\x10\x05\x41\xd0"));

	check_rule(rule_at(&rows, TEXT), UNWIND_CFA_SP, 8);
	check_rule(rule_at(&rows, TEXT + 1), UNWIND_CFA_UNSUPPORTED, 0);
	check_rule(rule_at(&rows, TEXT + 2), UNWIND_CFA_SP, 8);
	cr_assert(eq(int, rule_at(&rows, TEXT + 2)->ra, UNWIND_RA_REGISTER + 5));
	cr_assert(eq(int, rule_at(&rows, TEXT + 2)->ra_offset, 0));
	check_rule(rule_at(&rows, TEXT + 3), UNWIND_CFA_SP, 8);
	cr_assert(rows.causes[UNWIND_ODD_RA] == 1);
	unwind_rows_done(&rows);
}

Test(program, other_registers_change_nothing)
{
	struct unwind_rows rows =
		run(CODE("\x41\x83\x02\x41\x8f\x03\x41\x05\x0c\x04\x41\x09\x03"
			 "\x08\x41\xc3\x41\x2e\x10\x41\x2d\x41\x07\x03\x41\x08\x03"));

	cr_assert(rows.nr == 2);
	cr_assert(rows.nr_raw == 2, "%lu", rows.nr_raw);
	unwind_rows_done(&rows);
}

Test(program, rbx_is_followed_in_files_where_a_frame_needs_it)
{
	/* push %rbx; mov %rsp,%rbx as CFA; and back; lost; too far away */
	struct unwind_rows rows = run(CODE("\x41\x0e\x10\x83\x02\x43\x0d\x03\x44\x0c\x07\x08\xc3"
					   "\x41\x07\x03\x41\x83\x80\x02"));

	cr_assert(eq(int, rule_at(&rows, TEXT)->kept, UNWIND_KEPT_SAME));
	cr_assert(eq(int, rule_at(&rows, TEXT + 1)->kept, 2));
	check_rule(rule_at(&rows, TEXT + 4), UNWIND_CFA_REGISTER + UNWIND_KEPT_REGISTER, 16);
	cr_assert(eq(int, rule_at(&rows, TEXT + 4)->kept, 2));
	cr_assert(eq(int, rule_at(&rows, TEXT + 8)->kept, UNWIND_KEPT_SAME));
	cr_assert(eq(int, rule_at(&rows, TEXT + 9)->kept, UNWIND_KEPT_UNKNOWN));
	cr_assert(eq(int, unwind_rows_find(&rows, TEXT + 10)->rule.kept, UNWIND_KEPT_UNKNOWN));
	unwind_rows_done(&rows);
	rows = run(CODE("\x41\x0e\x10\x83\x02"));
	cr_assert(eq(int, rule_at(&rows, TEXT + 1)->kept, UNWIND_KEPT_UNKNOWN), "nobody asks");
	unwind_rows_done(&rows);
}

Test(program, a_lost_frame_pointer_is_unknown)
{
	struct unwind_rows rows = run(CODE("\x41\x07\x06\x41\x08\x06\x41\x09\x06\x03"
					   "\x41\x14\x06\x02\x41\x08\x06"));

	check_fp(rule_at(&rows, TEXT + 1), UNWIND_FP_UNKNOWN, 0);
	check_fp(rule_at(&rows, TEXT + 2), UNWIND_FP_SAME, 0);
	check_fp(rule_at(&rows, TEXT + 3), UNWIND_FP_UNKNOWN, 0);
	check_fp(rule_at(&rows, TEXT + 5), UNWIND_FP_SAME, 0);
	unwind_rows_done(&rows);
}

Test(program, a_realigned_frame_finds_all_by_the_frame_pointer)
{
	/* lea 8(%rsp),%r10; and $-32,%rsp; ... CFA = *(rbp - 8), rbp at rbp + 0 */
	struct unwind_rows rows = run(CODE("\x45\x0c\x0a\x00\x49\x10\x06\x02\x76\x00\x44\x0f\x03"
					   "\x76\x78\x06\x41\x0c\x0a\x00\x44\x0c\x07\x08"));

	check_rule(rule_at(&rows, TEXT + 5), UNWIND_CFA_REGISTER + 10, 0);
	check_fp(rule_at(&rows, TEXT + 14), UNWIND_FP_AT_FP, 0);
	check_rule(rule_at(&rows, TEXT + 18), UNWIND_CFA_DEREF_FP, 0xfff8);
	cr_assert(unwind_inner(rule_at(&rows, TEXT + 18)->cfa_offset) == -8);
	unwind_rows_done(&rows);
}

Test(program, expressions_of_hand_written_code_are_understood)
{
	/* OpenSSL: *(rsp + 152) + 8; *(rbp + 88) + 8, by lit8 plus; rsp + 16 alone */
	struct unwind_rows rows =
		run(CODE("\x0f\x06\x77\x98\x01\x06\x23\x08"
			 "\x41\x0f\x06\x76\xd8\x00\x06\x38\x22\x41\x0f\x02\x77\x10"
			 "\x41\x0f\x0b" AT_PLT));

	check_rule(rule_at(&rows, TEXT), UNWIND_CFA_DEREF_SP, 8 << 16 | 152);
	check_rule(rule_at(&rows, TEXT + 1), UNWIND_CFA_DEREF_FP, 8 << 16 | 88);
	check_rule(rule_at(&rows, TEXT + 2), UNWIND_CFA_SP, 16);
	check_rule(rule_at(&rows, TEXT + 3), UNWIND_CFA_PLT, 11);
	cr_assert(rows.causes[UNWIND_ODD_CFA] == 0);
	unwind_rows_done(&rows);
}

Test(program, other_expressions_are_unsupported_and_counted)
{
	/* OpenSSL: *(rsp + 8 + r9 * 8) + 8; *(rsp + 1 MiB); empty; cut short */
	struct unwind_rows rows =
		run(CODE("\x0f\x0b\x77\x08\x79\x00\x38\x1e\x22\x06\x23\x08\x96"
			 "\x41\x0f\x06\x77\x80\x80\xc0\x00\x06\x41\x0f\x00\x41\x0f\x02\x77\x80"));

	check_rule(rule_at(&rows, TEXT), UNWIND_CFA_UNSUPPORTED, 0);
	cr_assert(rows.nr == 2);
	cr_assert(rows.causes[UNWIND_ODD_CFA] == 4, "%lu", rows.causes[UNWIND_ODD_CFA]);
	unwind_rows_done(&rows);
}

Test(program, offsets_that_do_not_fit_are_counted)
{
	struct unwind_rows rows = run(CODE("\x41\x0e\xff\xff\xff\xff\x0f\x41\x0e\x08"
					   "\x86\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));

	check_rule(rule_at(&rows, TEXT + 1), UNWIND_CFA_UNSUPPORTED, 0);
	cr_assert(rows.causes[UNWIND_FAR] == 2);
	unwind_rows_done(&rows);
}

Test(program, signed_and_negative_forms_are_scaled)
{
	struct unwind_rows rows = run(CODE("\x41\x12\x07\x7e\x41\x13\x7d\x41\x11\x06\x02"
					   "\x41\x2f\x06\x02"));

	check_rule(rule_at(&rows, TEXT + 1), UNWIND_CFA_SP, 16);
	check_rule(rule_at(&rows, TEXT + 2), UNWIND_CFA_SP, 24);
	check_fp(rule_at(&rows, TEXT + 3), UNWIND_FP_AT_CFA, -16);
	check_fp(rule_at(&rows, TEXT + 4), UNWIND_FP_AT_CFA, 16);
	unwind_rows_done(&rows);
}

Test(program, set_loc_goes_forward_only)
{
	struct unwind_rows rows;
	struct frames f = {.is_debug = 1}, none = {0};
	size_t cie = frames_cie(&f, "");

	frames_fde(&f, cie, TEXT, 0x40, CODE("\x01\x10\x00\x01\x00\0\0\0\0\x0e\x10"));
	frames_fde(&f, cie, TEXT + 0x40, 0x40, CODE("\x01\x10\x00\x01\x00\0\0\0\0\x0e\x10"));
	cr_assert(rows_of(&none, &f, &rows) == 0);
	check_rule(rule_at(&rows, TEXT + 0x10), UNWIND_CFA_SP, 16);
	check_rule(rule_at(&rows, TEXT + 0x40), UNWIND_CFA_UNSUPPORTED, 0);
	unwind_rows_done(&rows);
}

Test(program, nothing_lasts_beyond_the_function)
{
	struct unwind_rows rows =
		run(CODE("\x02\xff\x0e\x10\x02\xff\x0e\x18\x04\xff\xff\xff\xff\x0e\x20"));

	cr_assert(rows.nr == 3);
	check_rule(rule_at(&rows, TEXT + 0xff), UNWIND_CFA_SP, 16);
	unwind_rows_done(&rows);
}

Test(program, two_states_at_one_address_are_one_row)
{
	struct unwind_rows rows = run(CODE("\x40\x0e\x10\x40\x0e\x18\x41\x0e\x20\x40\x0e\x18"));

	cr_assert(rows.nr == 2);
	check_rule(rule_at(&rows, TEXT), UNWIND_CFA_SP, 24);
	unwind_rows_done(&rows);
}

Test(program, unknown_instructions_and_cut_ones_are_malformed)
{
	check_malformed(CODE("\x41\x0e\x10\x41\x3c"));
	check_malformed(CODE("\x0f\xff\x7f\x77\x08\x06\x23\x08\x00\x00\x00\x00"));
	check_malformed(CODE("\x0e\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02"));
}

Test(program, an_offset_to_an_expression_is_unsupported)
{
	struct unwind_rows rows = run(CODE("\x0f\x0b" AT_PLT "\x41\x0e\x10"));

	check_rule(rule_at(&rows, TEXT), UNWIND_CFA_PLT, 11);
	check_rule(rule_at(&rows, TEXT + 1), UNWIND_CFA_UNSUPPORTED, 0);
	unwind_rows_done(&rows);
}
