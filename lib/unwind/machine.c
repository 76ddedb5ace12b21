/* SPDX-License-Identifier: BSD-2-Clause */
/* machine.c: the part of a rule that is the same on every machine. */
#include "unwind/machine.h"

#include <string.h>

#define NR_REGISTERS (UNWIND_CFA_REGISTER_END - UNWIND_CFA_REGISTER)

void machine_no_rule(struct unwind_rule *ret, enum unwind_cause cause, uint64_t *causes)
{
	memset(ret, 0, sizeof(*ret));
	ret->cfa = UNWIND_CFA_UNSUPPORTED;
	causes[cause]++;
}

static uint8_t cfa_kind(const struct machine *machine, const struct frame_state *state)
{
	if (state->cfa_register == CFA_EXPRESSION)
		return state->cfa_kind;
	if (state->cfa_register == machine->sp)
		return UNWIND_CFA_SP;
	if (state->cfa_register == machine->fp)
		return UNWIND_CFA_FP;
	return state->cfa_register < NR_REGISTERS
		       ? (uint8_t)(UNWIND_CFA_REGISTER + state->cfa_register)
		       : UNWIND_CFA_UNSUPPORTED;
}

void machine_common_rule(const struct machine *machine, const struct frame_state *state,
	struct unwind_rule *ret, uint64_t *causes)
{
	ret->cfa = cfa_kind(machine, state);
	if (ret->cfa == UNWIND_CFA_UNSUPPORTED) {
		machine_no_rule(ret, UNWIND_ODD_CFA, causes);
		return;
	}
	ret->cfa_offset = (int32_t)state->cfa_offset;
	switch (state->fp.kind) {
	case PLACE_SAME:
		ret->fp = UNWIND_FP_SAME;
		break;
	case PLACE_AT_CFA:
	case PLACE_AT_FP:
		ret->fp = state->fp.kind == PLACE_AT_CFA ? UNWIND_FP_AT_CFA : UNWIND_FP_AT_FP;
		ret->fp_offset = (int16_t)state->fp.offset;
		break;
	default:
		ret->fp = UNWIND_FP_UNKNOWN;
		break;
	}
	if (ret->cfa_offset != state->cfa_offset ||
		(ret->fp != UNWIND_FP_UNKNOWN && ret->fp_offset != state->fp.offset))
		machine_no_rule(ret, UNWIND_FAR, causes);
}
