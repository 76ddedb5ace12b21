/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_UNWIND_MACHINE_H
#define STOKE_UNWIND_MACHINE_H

/*
 * What differs between machines: the numbers of registers, how frames start, and which states a
 * rule can stand for.
 */

#include <stddef.h>
#include <stdint.h>

#include "unwind/row.h"

enum place_kind {
	PLACE_SAME, /* in its register, untouched */
	PLACE_AT_CFA, /* *(CFA + offset) */
	PLACE_AT_FP, /* *(frame pointer + offset) */
	PLACE_UNDEFINED,
	PLACE_IN_REGISTER, /* that of the DWARF number `offset` */
	PLACE_ELSEWHERE, /* an expression */
};

struct place {
	uint8_t kind; /* enum place_kind */
	int64_t offset;
};

/* Registers that a compiler names; CFA_EXPRESSION is none. */
#define CFA_EXPRESSION UINT32_MAX

struct frame_state {
	uint32_t cfa_register;
	uint8_t cfa_kind; /* enum unwind_cfa of an expression */
	int64_t cfa_offset; /* of an expression: as unwind_rule's */
	struct place fp, ra;
	struct place kept; /* UNWIND_KEPT_REGISTER, where it is followed */
};

struct machine {
	uint16_t elf_machine; /* EM_* */
	uint8_t sp, fp; /* DWARF numbers */
	struct frame_state entry; /* at a function's first instruction, unless a CIE says else */
	/* An expression that only this machine has. 1: known, *state says it. NULL: none. */
	int (*expression)(const uint8_t *code, size_t size, struct frame_state *state);
	/* The rule that stands for a state; where there is none it is UNSUPPORTED, and its cause in
	 * causes[UNWIND_NR_CAUSES] one more. */
	void (*rule)(const struct frame_state *state, struct unwind_rule *ret, uint64_t *causes);
};

extern const struct machine machine_x86_64, machine_aarch64;

/* What they do alike: CFA and frame pointer, not the return address. */
void machine_common_rule(const struct machine *machine, const struct frame_state *state,
	struct unwind_rule *ret, uint64_t *causes);
void machine_no_rule(struct unwind_rule *ret, enum unwind_cause cause, uint64_t *causes);

#endif
