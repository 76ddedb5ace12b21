/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/known.h"

#include "unit/unwind/frames.h"

TestSuite(known, .fini = check_leaks);

Test(known, an_entry_point_without_a_function_is_the_first_frame)
{
	_cleanup_free_ struct elf_image *image = malloc(sizeof(*image));
	struct frames f = {0};
	struct unwind_rows rows;

	cr_assert(image != NULL);
	frames_fde(&f, frames_cie(&f, "zR"), TEXT + 0x20, 0x10, CODE(""));
	image_of(image, &f, NULL);
	image->header.e_entry = TEXT + 8;
	cr_assert(rows_of_image(image, &rows) == 0);
	check_rule(rule_at(&rows, TEXT + 8), UNWIND_CFA_STOP, 0);
	check_rule(rule_at(&rows, TEXT + 0x20), UNWIND_CFA_SP, 8);
	unwind_rows_done(&rows);
	image->header.e_entry = TEXT + 0x28;
	cr_assert(rows_of_image(image, &rows) == 0);
	check_rule(rule_at(&rows, TEXT + 0x20), UNWIND_CFA_SP, 8);
	check_rule(&unwind_rows_find(&rows, TEXT + 0x2c)->rule, UNWIND_CFA_SP, 8);
	unwind_rows_done(&rows);
}

/* One function, and a section of code at TEXT + 0x100 that no FDE describes. */
static void image_with(struct elf_image *image, uint32_t name, uint64_t size)
{
	struct frames f = {0};

	frames_fde(&f, frames_cie(&f, "zR"), TEXT, 0x10, CODE("\x41\x0e\x10"));
	image_of(image, &f, NULL);
	((Elf64_Shdr *)(image->bytes + 0x200))[2] = (Elf64_Shdr){name, SHT_PROGBITS,
		SHF_ALLOC | SHF_EXECINSTR, TEXT + 0x100, 0x100, size, 0, 0, 16, 0};
}

Test(known, a_lazy_plt_that_no_function_describes_has_rows)
{
	_cleanup_free_ struct elf_image *image = malloc(sizeof(*image));
	struct unwind_rows rows;

	cr_assert(image != NULL);
	image_with(image, NAME_PLT, 0x40);
	cr_assert(rows_of_image(image, &rows) == 0);
	check_rule(rule_at(&rows, TEXT + 0x100), UNWIND_CFA_SP, 16);
	check_rule(rule_at(&rows, TEXT + 0x106), UNWIND_CFA_SP, 24);
	check_rule(rule_at(&rows, TEXT + 0x110), UNWIND_CFA_PLT, 11);
	check_rule(rule_at(&rows, TEXT + 0x140), UNWIND_CFA_NONE, 0);
	unwind_rows_done(&rows);
}

Test(known, entries_that_only_jump_leave_the_frame_alone)
{
	_cleanup_free_ struct elf_image *image = malloc(sizeof(*image));
	struct unwind_rows rows;

	cr_assert(image != NULL);
	image_with(image, NAME_PLT_SEC, 0x40);
	cr_assert(rows_of_image(image, &rows) == 0);
	check_rule(rule_at(&rows, TEXT + 0x100), UNWIND_CFA_SP, 8);
	check_rule(rule_at(&rows, TEXT + 0x140), UNWIND_CFA_NONE, 0);
	unwind_rows_done(&rows);
}

Test(known, on_aarch64_a_plt_leaves_the_link_alone)
{
	_cleanup_free_ struct elf_image *image = malloc(sizeof(*image));
	struct unwind_rows rows;

	cr_assert(image != NULL);
	image_with(image, NAME_PLT, 0x40);
	image->header.e_machine = EM_AARCH64;
	cr_assert(rows_of_image(image, &rows) == 0);
	check_rule(rule_at(&rows, TEXT + 0x120), UNWIND_CFA_SP, 0);
	cr_assert(rule_at(&rows, TEXT + 0x120)->ra == UNWIND_RA_LINK);
	check_rule(rule_at(&rows, TEXT + 0x140), UNWIND_CFA_NONE, 0);
	unwind_rows_done(&rows);
}

Test(known, what_a_function_describes_is_not_overruled)
{
	_cleanup_free_ struct elf_image *image = malloc(sizeof(*image));
	struct unwind_rows rows;
	Elf64_Shdr *plt;

	cr_assert(image != NULL);
	image_with(image, NAME_PLT, 0x40);
	plt = (Elf64_Shdr *)(image->bytes + 0x200) + 2;
	plt->sh_addr = TEXT; /* the function has the first entry of this one */
	cr_assert(rows_of_image(image, &rows) == 0);
	check_rule(rule_at(&rows, TEXT), UNWIND_CFA_SP, 8);
	check_rule(rule_at(&rows, TEXT + 1), UNWIND_CFA_SP, 16);
	check_rule(rule_at(&rows, TEXT + 0x10), UNWIND_CFA_PLT, 11);
	unwind_rows_done(&rows);
}
