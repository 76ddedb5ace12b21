/* SPDX-License-Identifier: BSD-2-Clause */
/* x86_64.c: the return address lies right below the CFA, where "call" put it; but for vfork, whose
 * child would write over it. */
#include "unwind/machine.h"

#include <elf.h>
#include <string.h>

#define RBP	     6
#define RSP	     7
#define NR_REGISTERS 16

/* The linkers' expression for lazy PLT entries: rsp + 8, and 8 more from the entry's byte 11 on (10
 * where entries begin with a bnd prefix), behind its push. */
static int expression(const uint8_t *code, size_t size, struct frame_state *state)
{
	static const uint8_t plt[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0, 0x2a, 0x33, 0x24, 0x22};
	const size_t threshold = 6;

	if (size != sizeof(plt) || memcmp(code, plt, threshold) != 0 ||
		memcmp(code + threshold + 1, plt + threshold + 1, size - threshold - 1) != 0)
		return 0;
	if (code[threshold] < 0x30 || code[threshold] > 0x3f) /* DW_OP_lit0 to 15 */
		return 0;
	state->cfa_kind = UNWIND_CFA_PLT;
	state->cfa_offset = code[threshold] - 0x30;
	return 1;
}

static void rule(const struct frame_state *state, struct unwind_rule *ret, uint64_t *causes)
{
	memset(ret, 0, sizeof(*ret));
	if (state->ra.kind == PLACE_UNDEFINED) {
		ret->cfa = UNWIND_CFA_STOP;
		return;
	}
	if (state->ra.kind == PLACE_IN_REGISTER && state->ra.offset < NR_REGISTERS) {
		ret->ra = (uint8_t)(UNWIND_RA_REGISTER + state->ra.offset);
	} else if (state->ra.kind == PLACE_AT_CFA && state->ra.offset == -8) {
		ret->ra_offset = -8;
	} else {
		machine_no_rule(ret, UNWIND_ODD_RA, causes);
		return;
	}
	machine_common_rule(&machine_x86_64, state, ret, causes);
}

const struct machine machine_x86_64 = {
	.elf_machine = EM_X86_64,
	.sp = RSP,
	.fp = RBP,
	.entry = {.cfa_register = RSP, .cfa_offset = 8, .ra = {PLACE_AT_CFA, -8}},
	.expression = expression,
	.rule = rule,
};
