/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/startfiles.h"

#include "unit/unwind/frames.h"

TestSuite(startfiles, .fini = check_leaks);

#define SECTION 0x380 /* where the section is that has a name */
#define AUX	0x4f0 /* and where that of .fini_array leads to */

/* One function at TEXT, a section with these bytes, and code. */
static struct unwind_rows rows_with(
	const char *name, const void *bytes, size_t size, const void *code, size_t code_size)
{
	_cleanup_free_ struct elf_image *image = malloc(sizeof(*image));
	const uint32_t name_at = 0x80; /* behind the others' */
	struct unwind_rows rows;
	struct frames f = {0};
	Elf64_Shdr *sections;

	cr_assert(image != NULL);
	frames_fde(&f, frames_cie(&f, "zR"), TEXT, 0x10, CODE("\x41\x0e\x10"));
	image_of(image, &f, NULL);
	sections = (Elf64_Shdr *)(image->bytes + 0x200);
	memcpy(image->bytes + 0x800 + name_at, name, strlen(name) + 1);
	sections[3].sh_size = name_at + strlen(name) + 1;
	sections[2] = (Elf64_Shdr){name_at, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT + SECTION,
		SECTION, size, 0, 0, 4, 0};
	memcpy(image->bytes + SECTION, bytes, size);
	memcpy(image->bytes + AUX, code, code_size);
	cr_assert(rows_of_image(image, &rows) == 0);
	return rows;
}

static const struct unwind_rule *at(const struct unwind_rows *rows, uint64_t offset)
{
	return &unwind_rows_find(rows, TEXT + offset)->rule;
}

#define INIT                                                                                       \
	"\x48\x83\xec\x08\x48\x8b\x05\x55\x2f\x02\x00\x48\x85\xc0\x74\x02\xff\xd0"                 \
	"\x48\x83\xc4\x08\xc3"

Test(startfiles, init_has_a_frame_of_8_bytes)
{
	struct unwind_rows rows = rows_with(".init", CODE(INIT), CODE(""));

	check_rule(rule_at(&rows, TEXT + SECTION), UNWIND_CFA_SP, 8);
	check_rule(rule_at(&rows, TEXT + SECTION + 4), UNWIND_CFA_SP, 16);
	check_rule(rule_at(&rows, TEXT + SECTION + 22), UNWIND_CFA_SP, 8);
	check_rule(rule_at(&rows, TEXT + SECTION + 23), UNWIND_CFA_NONE, 0);
	unwind_rows_done(&rows);
	rows = rows_with(".fini", CODE("\xf3\x0f\x1e\xfa" INIT), CODE(""));
	check_rule(rule_at(&rows, TEXT + SECTION + 8), UNWIND_CFA_SP, 16);
	unwind_rows_done(&rows);
}

Test(startfiles, another_init_is_left_alone)
{
	struct unwind_rows rows =
		rows_with(".init", CODE("\x48\x83\xec\x18\xff\xd0\x48\x83\xc4\x08\xc3"), CODE(""));

	check_rule(at(&rows, SECTION + 4), UNWIND_CFA_NONE, 0);
	unwind_rows_done(&rows);
	rows = rows_with(".init", CODE("\x48\x83\xec\x08\x90"), CODE(""));
	check_rule(at(&rows, SECTION + 4), UNWIND_CFA_NONE, 0);
	unwind_rows_done(&rows);
}

/* __do_global_dtors_aux and frame_dummy; deregister_tm_clones is 0x70 before. */
#define POSITION_INDEPENDENT                                                                       \
	"\xf3\x0f\x1e\xfa\x80\x3d\xcd\xad\x01\x00\x00\x75\x2b\x55\x48\x83\x3d\x52\xac\x01\x00\x00" \
	"\x48\x89\xe5\x74\x0c\x48\x8b\x3d\x26\x2a\x02\x00\xe8\x59\xff\xff\xff\xe8\x64\xff\xff\xff" \
	"\xc6\x05\x1d\x2a\x02\x00\x01\x5d\xc3\x0f\x1f\x00\xc3\x0f\x1f\x80\x00\x00\x00\x00"         \
	"\xf3\x0f\x1e\xfa\xe9\x77\xff\xff\xff"
#define FIXED                                                                                      \
	"\xf3\x0f\x1e\xfa\x80\x3d\xc5\x3d\x01\x00\x00\x75\x13\x55\x48\x89\xe5\xe8\x7a\xff\xff\xff" \
	"\xc6\x05\xb3\x3d\x01\x00\x01\x5d\xc3\x90\xc3\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00" \
	"\x0f\x1f\x40\x00\xf3\x0f\x1e\xfa\xeb\x8a"

static struct unwind_rows rows_of_code(const void *code, size_t size)
{
	const uint64_t entry = TEXT + AUX;

	return rows_with(".fini_array", &entry, sizeof(entry), code, size);
}

Test(startfiles, what_fini_array_leads_to_has_rows)
{
	struct unwind_rows rows = rows_of_code(CODE(POSITION_INDEPENDENT));

	check_rule(at(&rows, AUX - 0x71), UNWIND_CFA_NONE, 0);
	check_rule(rule_at(&rows, TEXT + AUX - 0x70), UNWIND_CFA_SP, 8);
	check_rule(at(&rows, AUX), UNWIND_CFA_SP, 8);
	check_rule(rule_at(&rows, TEXT + AUX + 14), UNWIND_CFA_SP, 16);
	check_fp(rule_at(&rows, TEXT + AUX + 14), UNWIND_FP_AT_CFA, -16);
	check_rule(rule_at(&rows, TEXT + AUX + 0x34), UNWIND_CFA_SP, 8);
	check_rule(at(&rows, AUX + 0x40), UNWIND_CFA_SP, 8);
	check_rule(rule_at(&rows, TEXT + AUX + 0x49), UNWIND_CFA_NONE, 0);
	unwind_rows_done(&rows);
}

Test(startfiles, in_a_program_at_a_fixed_address_too)
{
	struct unwind_rows rows = rows_of_code(CODE(FIXED));

	check_rule(rule_at(&rows, TEXT + AUX - 0x70), UNWIND_CFA_SP, 8);
	check_rule(rule_at(&rows, TEXT + AUX + 14), UNWIND_CFA_SP, 16);
	check_rule(rule_at(&rows, TEXT + AUX + 0x1e), UNWIND_CFA_SP, 8);
	check_rule(rule_at(&rows, TEXT + AUX + 0x36), UNWIND_CFA_NONE, 0);
	unwind_rows_done(&rows);
}

Test(startfiles, what_is_cut_or_changed_anywhere_is_left_alone)
{
	static const char code[] = FIXED;

	for (size_t i = 0; i < 31; i++) {
		char changed[sizeof(code)];
		struct unwind_rows rows = rows_of_code(code, i);

		check_rule(at(&rows, AUX + 14), UNWIND_CFA_NONE, 0);
		unwind_rows_done(&rows);
		memcpy(changed, code, sizeof(code));
		changed[i] = (char)~changed[i];
		rows = rows_of_code(changed, sizeof(changed));
		/* Or it is the same code that leads elsewhere. */
		if (unwind_rows_find(&rows, TEXT + AUX + 14)->rule.cfa != UNWIND_CFA_NONE)
			check_rule(rule_at(&rows, TEXT + AUX + 14), UNWIND_CFA_SP, 16);
		unwind_rows_done(&rows);
	}
}
