/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/ehframe.h"

#include <errno.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <zlib.h>

#include "unit/unwind/frames.h"

TestSuite(ehframe, .fini = check_leaks);

#define PUSH CODE("\x41\x0e\x10")

Test(ehframe, padding_is_bridged_and_gaps_are_not)
{
	struct frames f = {0};
	struct unwind_rows rows;
	size_t cie = frames_cie(&f, "zR");

	frames_fde(&f, cie, TEXT, 0x11, PUSH);
	frames_fde(&f, cie, TEXT + 0x20, 0x10, PUSH);
	frames_fde(&f, cie, TEXT + 0x40, 0x10, PUSH);
	cr_assert(rows_of(&f, NULL, &rows) == 0);
	cr_assert(rows.nr == 8);
	check_rule(rule_at(&rows, TEXT + 0x20), UNWIND_CFA_SP, 8);
	check_rule(rule_at(&rows, TEXT + 0x30), UNWIND_CFA_NONE, 0);
	check_rule(rule_at(&rows, TEXT + 0x40), UNWIND_CFA_SP, 8);
	check_rule(rule_at(&rows, TEXT + 0x50), UNWIND_CFA_NONE, 0);
	cr_assert(rows.nr_functions == 3);
	unwind_rows_done(&rows);
}

Test(ehframe, equal_rows_become_one_across_functions)
{
	struct frames f = {0};
	struct unwind_rows rows;
	size_t cie = frames_cie(&f, "zR");

	frames_fde(&f, cie, TEXT, 0x10, CODE(""));
	frames_fde(&f, cie, TEXT + 0x10, 0x10, CODE(""));
	cr_assert(rows_of(&f, NULL, &rows) == 0);
	cr_assert(rows.nr == 2 && rows.nr_raw == 3);
	cr_assert(rows.items[1].address == TEXT + 0x20);
	unwind_rows_done(&rows);
}

Test(ehframe, functions_come_in_any_order)
{
	struct frames f = {0};
	struct unwind_rows rows;
	size_t cie = frames_cie(&f, "zR");

	for (unsigned i = 0; i < 40; i++)
		frames_fde(&f, cie, TEXT + (i * 7 % 40) * 0x10, 0x10, PUSH);
	cr_assert(rows_of(&f, NULL, &rows) == 0);
	cr_assert(rows.nr == 81);
	for (unsigned i = 0; i < 40; i++)
		check_rule(rule_at(&rows, TEXT + i * 0x10 + 1), UNWIND_CFA_SP, 16);
	unwind_rows_done(&rows);
}

Test(ehframe, of_two_functions_over_each_other_the_later_start_has_it)
{
	struct frames f = {0};
	struct unwind_rows rows;
	size_t cie = frames_cie(&f, "zR");

	frames_fde(&f, cie, TEXT, 0x40, CODE("\x41\x0e\x10\x60\x0e\x20"));
	frames_fde(&f, cie, TEXT + 0x20, 0x40, PUSH);
	frames_fde(&f, cie, TEXT + 0x20, 0x10, CODE(""));
	cr_assert(rows_of(&f, NULL, &rows) == 0);
	check_rule(rule_at(&rows, TEXT + 1), UNWIND_CFA_SP, 16);
	check_rule(rule_at(&rows, TEXT + 0x20), UNWIND_CFA_SP, 8);
	for (size_t i = 1; i < rows.nr; i++)
		cr_assert(rows.items[i - 1].address < rows.items[i].address);
	unwind_rows_done(&rows);
}

Test(ehframe, signal_frames_are_marked_from_their_first_byte)
{
	struct frames f = {0};
	struct unwind_rows rows;

	frames_fde(&f, frames_cie(&f, "zRS"), TEXT, 0x10, CODE("\x0f\x03\x77\xa0\x01"));
	frames_fde(&f, frames_cie(&f, "zR"), TEXT + 0x10, 0x10, CODE(""));
	cr_assert(rows_of(&f, NULL, &rows) == 0);
	check_rule(rule_at(&rows, TEXT), UNWIND_CFA_SIGNAL, 0);
	check_rule(rule_at(&rows, TEXT + 0x10), UNWIND_CFA_SP, 8);
	unwind_rows_done(&rows);
}

Test(ehframe, an_empty_entry_in_the_middle_is_not_the_end)
{
	struct frames f = {0};
	struct unwind_rows rows;
	size_t cie = frames_cie(&f, "zR");

	frames_fde(&f, cie, TEXT, 0x10, PUSH);
	frames_put_number(&f, 0, 4);
	frames_fde(&f, cie, TEXT + 0x10, 0x10, PUSH);
	cr_assert(rows_of(&f, NULL, &rows) == 0);
	cr_assert(rows.nr_functions == 2);
	unwind_rows_done(&rows);
}

Test(ehframe, debug_frame_tells_where_eh_frame_does_not)
{
	struct frames eh = {0}, debug = {.is_debug = 1};
	struct unwind_rows rows;
	size_t cie = frames_cie(&debug, "");

	frames_fde(&eh, frames_cie(&eh, "zR"), TEXT + 0x20, 0x20, CODE(""));
	frames_fde(&debug, cie, TEXT, 0x30, CODE("\x0e\x18"));
	frames_fde(&debug, cie, TEXT + 0x30, 0x30, CODE("\x0e\x18"));
	cr_assert(rows_of(&eh, &debug, &rows) == 0);
	check_rule(rule_at(&rows, TEXT), UNWIND_CFA_SP, 24);
	check_rule(rule_at(&rows, TEXT + 0x20), UNWIND_CFA_SP, 8);
	check_rule(rule_at(&rows, TEXT + 0x40), UNWIND_CFA_SP, 24);
	check_rule(rule_at(&rows, TEXT + 0x60), UNWIND_CFA_NONE, 0);
	unwind_rows_done(&rows);
}

Test(ehframe, functions_outside_of_the_text_are_counted)
{
	struct frames f = {0}, debug = {.is_debug = 1};
	struct unwind_rows rows;
	size_t cie = frames_cie(&f, "zR");

	frames_fde(&f, cie, EH_VADDR, 0x10, CODE(""));
	frames_fde(&f, cie, TEXT + TEXT_SIZE - 8, 0x10000, CODE(""));
	frames_fde(&debug, frames_cie(&debug, ""), 0, 0x10, CODE(""));
	cr_assert(rows_of(&f, &debug, &rows) == 0);
	cr_assert(rows.causes[UNWIND_OUTSIDE] == 2);
	check_rule(rule_at(&rows, TEXT + TEXT_SIZE), UNWIND_CFA_NONE, 0);
	unwind_rows_done(&rows);
}

Test(ehframe, a_malformed_cie_costs_its_functions_alone)
{
	struct frames f = {0};
	struct unwind_rows rows;
	size_t bad = frames_cie_of(&f, "zR", 16, CODE("\x0b")), good;

	frames_fde(&f, bad, TEXT, 0x10, PUSH);
	good = frames_cie(&f, "zR");
	frames_fde(&f, good, TEXT + 0x40, 0x10, PUSH);
	frames_fde(&f, good + 8, TEXT + 0x60, 0x10, PUSH); /* leads into the middle of a CIE */
	frames_fde(&f, f.size, TEXT + 0x80, 0x10, PUSH); /* is its own */
	cr_assert(rows_of(&f, NULL, &rows) == 0);
	cr_assert(rows.items[0].address == TEXT + 0x40 && rows.nr == 3);
	cr_assert(rows.causes[UNWIND_BAD_PROGRAM] == 3);
	unwind_rows_done(&rows);
}

Test(ehframe, a_cie_that_moves_is_malformed)
{
	struct frames f = {0};
	struct unwind_rows rows;

	frames_fde(
		&f, frames_cie_of(&f, "zR", 16, CODE("\x0c\x07\x08\x90\x01\x41")), TEXT, 16, PUSH);
	cr_assert(rows_of(&f, NULL, &rows) == -ENOENT);
	cr_assert(rows.nr == 0 && rows.causes[UNWIND_BAD_PROGRAM] == 1);
	unwind_rows_done(&rows);
}

Test(ehframe, unknown_augmentation_is_skipped_by_its_size_or_not_at_all)
{
	struct frames f = {0};
	struct unwind_rows rows;

	frames_fde(&f, frames_cie(&f, "zRx"), TEXT, 0x10, PUSH);
	frames_fde(&f, frames_cie(&f, "x"), TEXT + 0x40, 0x10, PUSH);
	cr_assert(rows_of(&f, NULL, &rows) == 0);
	cr_assert(rows.nr == 3 && rows.causes[UNWIND_BAD_PROGRAM] == 1);
	unwind_rows_done(&rows);
}

Test(ehframe, a_length_beyond_the_end_ends_the_table)
{
	struct frames f = {0};
	struct unwind_rows rows;
	size_t cie = frames_cie(&f, "zR");

	frames_fde(&f, cie, TEXT, 0x10, PUSH);
	frames_put_number(&f, 0x7fffffff, 4);
	frames_put_number(&f, 0, 8);
	cr_assert(rows_of(&f, NULL, &rows) == 0);
	cr_assert(rows.nr_functions == 1);
	unwind_rows_done(&rows);
}

Test(ehframe, entries_of_64_bits_are_read)
{
	struct frames f = {0};
	struct unwind_rows rows;
	size_t cie = frames_cie(&f, "zR");

	frames_put_number(&f, UINT32_MAX, 4);
	frames_put_number(&f, 16, 8);
	frames_put_number(&f, f.size - cie, 4);
	frames_put_number(&f, TEXT - (EH_VADDR + f.size), 4);
	frames_put_number(&f, 0x10, 4);
	frames_put(&f, "\0\x0e\x18\0", 4);
	cr_assert(rows_of(&f, NULL, &rows) == 0);
	check_rule(rule_at(&rows, TEXT), UNWIND_CFA_SP, 24);
	unwind_rows_done(&rows);
}

Test(ehframe, without_section_headers_the_program_header_leads_there)
{
	_cleanup_free_ struct elf_image *image = malloc(sizeof(*image));
	const uint8_t header[] = {1, 0x1b, 3, 0x3b, 0xfc, 0xff, 0xff, 0xff};
	struct frames f = {0};
	struct unwind_rows rows;
	size_t cie, at;

	cr_assert(image != NULL);
	cie = frames_cie(&f, "zR");
	frames_fde(&f, cie, TEXT, 0x10, PUSH);
	frames_put_number(&f, 0, 4);
	frames_fde(&f, cie, TEXT + 0x40, 0x10, PUSH); /* behind the end */
	at = f.size;
	frames_put(&f, header, sizeof(header));
	image_of(image, &f, NULL);
	((Elf64_Phdr *)(image->bytes + 0x100))[2] = (Elf64_Phdr){PT_GNU_EH_FRAME, PF_R, 0x8000 + at,
		EH_VADDR + at, EH_VADDR + at, sizeof(header), sizeof(header), 4};
	*(int32_t *)(image->bytes + 0x8000 + at + 4) = -(int32_t)at - 4;
	image->header.e_shnum = 0;
	image->header.e_shoff = 0;
	cr_assert(rows_of_image(image, &rows) == 0);
	cr_assert(rows.nr_functions == 1 && rows.items[0].address == TEXT);
	unwind_rows_done(&rows);
	image->bytes[0x8000 + at + 1] = 0xff; /* no pointer */
	cr_assert(rows_of_image(image, &rows) == -ENOENT);
	unwind_rows_done(&rows);
}

Test(ehframe, a_compressed_debug_frame_is_unpacked)
{
	_cleanup_free_ struct elf_image *image = malloc(sizeof(*image));
	struct frames f = {.is_debug = 1}, packed = {0}, none = {0};
	struct unwind_rows rows;
	uLongf size = sizeof(packed.bytes) - sizeof(Elf64_Chdr);
	Elf64_Chdr header = {.ch_type = ELFCOMPRESS_ZLIB};

	cr_assert(image != NULL);
	frames_fde(&f, frames_cie(&f, ""), TEXT, 0x10, PUSH);
	header.ch_size = f.size;
	frames_put(&packed, &header, sizeof(header));
	cr_assert(compress(packed.bytes + packed.size, &size, f.bytes, f.size) == Z_OK);
	packed.size += size;
	image_of(image, &none, &packed);
	((Elf64_Shdr *)(image->bytes + 0x200))[2].sh_flags = SHF_COMPRESSED;
	cr_assert(rows_of_image(image, &rows) == 0);
	check_rule(rule_at(&rows, TEXT + 1), UNWIND_CFA_SP, 16);
	unwind_rows_done(&rows);
}

Test(ehframe, a_file_that_shrinks_while_it_is_open_has_no_rows)
{
	_cleanup_free_ struct elf_image *image = malloc(sizeof(*image));
	struct elf_file *file = NULL;
	struct frames f = {0};
	struct unwind_rows rows;
	int fd = memfd_create("shrinks", MFD_CLOEXEC);

	cr_assert(image != NULL && fd >= 0);
	frames_fde(&f, frames_cie(&f, "zR"), TEXT, 0x10, PUSH);
	image_of(image, &f, NULL);
	cr_assert(write(fd, image->bytes, sizeof(image->bytes)) == sizeof(image->bytes));
	cr_assert(elf_file_open(fd, &file) == 0);
	cr_assert(ehframe_rows(file, &rows) == 0);
	unwind_rows_done(&rows);
	cr_assert(ftruncate(fd, 0x8010) == 0);
	cr_assert(ehframe_rows(file, &rows) == -ENOENT);
	unwind_rows_done(&rows);
	elf_file_close(file);
}

struct taken {
	const struct unwind_rows *expected;
	size_t nr, calls;
};

static int take(void *arg, const struct unwind_row *items, size_t nr)
{
	struct taken *taken = arg;

	cr_assert(le(sz, taken->nr + nr, taken->expected->nr));
	for (size_t i = 0; i < nr; i++) {
		const struct unwind_row *expected = &taken->expected->items[taken->nr++];

		cr_assert(items[i].address == expected->address);
		cr_assert(memcmp(&items[i].rule, &expected->rule, sizeof(expected->rule)) == 0);
	}
	taken->calls++;
	return taken->calls == 7 ? -EXDEV : 0;
}

Test(ehframe, hands_over_the_rows_it_would_have_kept)
{
	struct unwind_rows rows, counts;
	struct taken taken = {.expected = &rows};
	const struct unwind_taker taker = {take, &taken};
	struct elf_file *file = NULL;
	Dl_info libc;

	cr_assert(dladdr((void *)&getauxval, &libc) != 0);
	cr_assert(elf_file_open(open(libc.dli_fname, O_RDONLY | O_CLOEXEC), &file) == 0);
	cr_assert(ehframe_rows(file, &rows) == 0);
	taken.calls = 7;
	cr_assert(ehframe_hand_over(file, &taker, &counts) == 0);
	cr_assert(eq(sz, taken.nr, rows.nr));
	cr_assert(gt(sz, taken.calls, 9), "a buffer at a time");
	cr_assert(eq(u64, counts.nr_taken + counts.nr, rows.nr));
	cr_assert(eq(u64, counts.nr_raw, rows.nr_raw));
	unwind_rows_done(&counts);
	taken = (struct taken){.expected = &rows};
	cr_assert(ehframe_hand_over(file, &taker, &counts) == -EXDEV, "an error ends it");
	cr_assert(eq(sz, taken.calls, 7));
	unwind_rows_done(&rows);
	elf_file_close(file);
}

Test(ehframe, a_machine_without_rules_is_said)
{
	_cleanup_free_ struct elf_image *image = malloc(sizeof(*image));
	struct frames none = {0};
	struct unwind_rows rows;

	cr_assert(image != NULL);
	image_of(image, &none, NULL);
	cr_assert(rows_of_image(image, &rows) == -ENOENT);
	image->header.e_machine = EM_RISCV;
	cr_assert(rows_of_image(image, &rows) == -ENOTSUP);
	unwind_rows_done(&rows);
}

Test(ehframe, the_vdso_has_rows)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	struct elf_file *file = NULL;
	struct unwind_rows rows;

	cr_assert(vdso != NULL);
	cr_assert(
		elf_file_open_image(vdso, 4096, &file) == 0); /* its size is not told; 1 page is */
	file->nr_sections = 0;
	cr_assert(ehframe_rows(file, &rows) == 0);
	cr_assert(rows.nr > 2 && rows.items[0].rule.cfa == UNWIND_CFA_SP);
	unwind_rows_done(&rows);
	elf_file_close(file);
}
