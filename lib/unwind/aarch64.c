/* SPDX-License-Identifier: BSD-2-Clause */
/* aarch64.c: "bl" leaves the return address in x30, which a leaf need never store. That addresses
 * may be signed (DW_CFA_AARCH64_negate_ra_state) is the walk's business: it masks all of them. */
#include "unwind/machine.h"

#include <elf.h>
#include <string.h>

#define X29 29
#define SP  31

static void rule(const struct frame_state *state, struct unwind_rule *ret, uint64_t *causes)
{
	memset(ret, 0, sizeof(*ret));
	switch (state->ra.kind) {
	case PLACE_UNDEFINED:
		ret->cfa = UNWIND_CFA_STOP;
		return;
	case PLACE_SAME:
		ret->ra = UNWIND_RA_LINK;
		break;
	case PLACE_AT_CFA:
		ret->ra = UNWIND_RA_AT_CFA;
		ret->ra_offset = (int16_t)state->ra.offset;
		if (ret->ra_offset != state->ra.offset) {
			machine_no_rule(ret, UNWIND_FAR, causes);
			return;
		}
		break;
	default:
		machine_no_rule(ret, UNWIND_ODD_RA, causes);
		return;
	}
	machine_common_rule(&machine_aarch64, state, ret, causes);
}

const struct machine machine_aarch64 = {
	.elf_machine = EM_AARCH64,
	.sp = SP,
	.fp = X29,
	.entry = {.cfa_register = SP, .ra = {PLACE_SAME, 0}},
	.rule = rule,
};
