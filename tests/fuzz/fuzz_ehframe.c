/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_ehframe.c: any bytes as the .eh_frame or .debug_frame of a file, for both machines. Whatever
 * they say, the rows are sorted, end with NONE, lie in the text, and rules have no loose ends. The
 * first byte of the input chooses machine and section, the rest are the section.
 */
#include <elf.h>
#include <string.h>

#include "fuzz.h"
#include "unwind/ehframe.h"

#define TEXT	  0x1000u
#define TEXT_SIZE 0x100000u
#define MAX_SIZE  (1u << 16)

static void check_rule(const struct unwind_rule *rule, int is_x86_64)
{
	REQUIRE(rule->cfa <= UNWIND_CFA_UNSUPPORTED ||
		(rule->cfa >= UNWIND_CFA_REGISTER && rule->cfa < UNWIND_CFA_REGISTER_END));
	REQUIRE(rule->fp <= UNWIND_FP_UNKNOWN &&
		(rule->ra <= UNWIND_RA_LINK ||
			(rule->ra >= UNWIND_RA_REGISTER && rule->ra < UNWIND_RA_REGISTER_END)));
	REQUIRE((rule->fp != UNWIND_FP_SAME && rule->fp != UNWIND_FP_UNKNOWN) || !rule->fp_offset);
	if (rule->cfa == UNWIND_CFA_NONE ||
		(rule->cfa >= UNWIND_CFA_SIGNAL && rule->cfa <= UNWIND_CFA_UNSUPPORTED)) {
		REQUIRE(!rule->fp && !rule->fp_offset && !rule->cfa_offset);
		REQUIRE(!rule->ra && !rule->ra_offset && !rule->kept);
	} else if (is_x86_64) {
		REQUIRE(rule->ra != UNWIND_RA_LINK);
		REQUIRE(rule->ra_offset == (rule->ra == UNWIND_RA_AT_CFA ? -8 : 0));
	}
}

static void check_rows(const struct unwind_rows *rows, int is_x86_64)
{
	REQUIRE(rows->nr != 1);
	for (size_t i = 0; i < rows->nr; i++) {
		const struct unwind_row *row = &rows->items[i];

		REQUIRE(row->address >= TEXT && row->address <= TEXT + TEXT_SIZE);
		REQUIRE(!i || row[-1].address < row->address);
		REQUIRE(!i || memcmp(&row[-1].rule, &row->rule, sizeof(row->rule)) != 0);
		check_rule(&row->rule, is_x86_64);
	}
	if (rows->nr) {
		REQUIRE(rows->items[0].rule.cfa != UNWIND_CFA_NONE);
		REQUIRE(rows->items[rows->nr - 1].rule.cfa == UNWIND_CFA_NONE);
	}
}

/* An image of headers and the section, of exactly its size, so that reading behind it is found. */
static size_t make_image(uint8_t *image, uint8_t choice, const uint8_t *data, size_t size)
{
	static const char names[] = "\0.eh_frame\0.debug_frame\0.shstrtab";
	const Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, 1},
		.e_machine = choice & 1 ? EM_AARCH64 : EM_X86_64,
		.e_entry = TEXT + 0x10,
		.e_phoff = 0x40,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shoff = 0x80,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 2,
	};
	const Elf64_Phdr segment = {PT_LOAD, PF_R | PF_X, 0, TEXT, TEXT, TEXT_SIZE, TEXT_SIZE, 0};
	const Elf64_Shdr sections[3] = {{0},
		{choice & 2 ? 11 : 1, SHT_PROGBITS, choice & 4 ? SHF_COMPRESSED : 0,
			TEXT + TEXT_SIZE / 2, 0x180, size, 0, 0, 8, 0},
		{24, SHT_STRTAB, 0, 0, 0x150, sizeof(names), 0, 0, 1, 0}};

	memcpy(image, &header, sizeof(header));
	memcpy(image + 0x40, &segment, sizeof(segment));
	memcpy(image + 0x80, sections, sizeof(sections));
	memcpy(image + 0x150, names, sizeof(names));
	memcpy(image + 0x180, data, size);
	return 0x180 + size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_file *file = NULL;
	struct unwind_rows rows = {0};
	uint8_t *image;
	int r;

	if (!size || size > MAX_SIZE)
		return 0;
	image = malloc(0x180 + size);
	REQUIRE(image != NULL);
	memset(image, 0, 0x180);
	REQUIRE(elf_file_take_image(image, make_image(image, data[0], data + 1, size - 1), &file) ==
		0);
	r = ehframe_rows(file, &rows);
	REQUIRE((r == 0) == (rows.nr > 0));
	check_rows(&rows, !(data[0] & 1));
	unwind_rows_done(&rows);
	elf_file_close(file);
	return 0;
}
