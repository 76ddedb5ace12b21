/* SPDX-License-Identifier: BSD-2-Clause */
/* program.c: call frame instructions, of which there are few and most speak of registers that a
 * walk does not follow. */
#include "unwind/program.h"

#include <errno.h>

#define MAX_REMEMBERED 16 /* compilers nest 2 deep */

/* DWARF 5, table 7.29; GNU's and ARM's own. */
enum {
	CFA_advance_loc = 0x40, /* the upper two bits; the lower six are the operand */
	CFA_offset = 0x80,
	CFA_restore = 0xc0,
	CFA_nop = 0,
	CFA_set_loc = 0x01,
	CFA_advance_loc1 = 0x02,
	CFA_advance_loc2 = 0x03,
	CFA_advance_loc4 = 0x04,
	CFA_offset_extended = 0x05,
	CFA_restore_extended = 0x06,
	CFA_undefined = 0x07,
	CFA_same_value = 0x08,
	CFA_register = 0x09,
	CFA_remember_state = 0x0a,
	CFA_restore_state = 0x0b,
	CFA_def_cfa = 0x0c,
	CFA_def_cfa_register = 0x0d,
	CFA_def_cfa_offset = 0x0e,
	CFA_def_cfa_expression = 0x0f,
	CFA_expression = 0x10,
	CFA_offset_extended_sf = 0x11,
	CFA_def_cfa_sf = 0x12,
	CFA_def_cfa_offset_sf = 0x13,
	CFA_val_offset = 0x14,
	CFA_val_offset_sf = 0x15,
	CFA_val_expression = 0x16,
	CFA_AARCH64_negate_ra_state_with_pc = 0x2c,
	CFA_AARCH64_negate_ra_state = 0x2d,
	CFA_GNU_args_size = 0x2e,
	CFA_GNU_negative_offset_extended = 0x2f,
};

enum {
	OP_deref = 0x06,
	OP_plus = 0x22,
	OP_plus_uconst = 0x23,
	OP_lit0 = 0x30,
	OP_lit31 = 0x4f,
	OP_breg0 = 0x70,
	OP_breg31 = 0x8f,
};

struct run {
	const struct cfi *table;
	const struct machine *machine;
	const struct cie *cie;
	struct cursor code;
	struct frame_state state;
	const struct frame_state *initial; /* what "restore" leads back to */
	uint64_t pc, end, from;
	struct unwind_rows *rows; /* NULL: a CIE's */
	int changed; /* since the last row */
	unsigned nr_remembered;
	struct frame_state remembered[MAX_REMEMBERED];
};

uint64_t pointer_decode(const struct cfi *table, struct cursor *at, uint8_t encoding)
{
	uint64_t where = table->vaddr + (uint64_t)(at->at - table->bytes), value;

	switch (encoding & 0x0f) {
	case 0x00: /* absptr, and its sdata8 and udata8 */
	case 0x04:
	case 0x0c:
		value = cursor_u64(at);
		break;
	case 0x01:
		value = cursor_uleb(at);
		break;
	case 0x02:
		value = cursor_u16(at);
		break;
	case 0x03:
		value = cursor_u32(at);
		break;
	case 0x09:
		value = (uint64_t)cursor_sleb(at);
		break;
	case 0x0a:
		value = (uint64_t)(int16_t)cursor_u16(at);
		break;
	case 0x0b:
		value = (uint64_t)(int32_t)cursor_u32(at);
		break;
	default:
		cursor_fail(at);
		return 0;
	}
	switch (encoding & 0xf0) {
	case 0x00:
		return value;
	case 0x10: /* pcrel */
		return value + where;
	case 0x30: /* datarel */
		return value + table->data_base;
	default: /* indirect, aligned, relative to what a file cannot tell */
		cursor_fail(at);
		return 0;
	}
}

/* n * factor; what does not fit is as far as it gets, which no rule can say. */
static int64_t scaled(uint64_t n, int64_t factor)
{
	int64_t product;

	if (n > INT64_MAX || __builtin_mul_overflow((int64_t)n, factor, &product))
		return INT64_MAX;
	return product;
}

static int64_t scaled_signed(int64_t n, int64_t factor)
{
	int64_t product;

	return __builtin_mul_overflow(n, factor, &product) ? INT64_MAX : product;
}

/* NULL: nobody asks for that register. */
static struct place *place_in(const struct run *run, struct frame_state *state, uint64_t reg)
{
	if (reg == run->machine->fp)
		return &state->fp;
	if (reg == run->cie->ra)
		return &state->ra;
	return run->table->follows_kept && reg == UNWIND_KEPT_REGISTER ? &state->kept : NULL;
}

static void place(struct run *run, uint64_t reg, enum place_kind kind, int64_t offset)
{
	struct place *of = place_in(run, &run->state, reg);

	if (!of)
		return;
	*of = (struct place){(uint8_t)kind, offset};
	run->changed = 1;
}

static void restore(struct run *run, uint64_t reg)
{
	struct frame_state initial = *run->initial;
	const struct place *to = place_in(run, &initial, reg);

	if (to)
		place(run, reg, (enum place_kind)to->kind, to->offset);
}

static void define_cfa(struct run *run, uint64_t reg, int64_t offset)
{
	/* UINT32_MAX - 1 is no register either, and not mistaken for an expression. */
	run->state.cfa_register = reg < CFA_EXPRESSION ? (uint32_t)reg : CFA_EXPRESSION - 1;
	run->state.cfa_offset = offset;
	run->changed = 1;
}

/* sp and fp expressions that need no stack: reg + n, and *(reg + n) [+ m]. */
static void define_cfa_expression(struct run *run, struct cursor code)
{
	struct frame_state *state = &run->state;
	int64_t inner, outer = 0;
	uint64_t reg;
	uint8_t op;

	run->changed = 1;
	state->cfa_register = CFA_EXPRESSION;
	state->cfa_kind = UNWIND_CFA_UNSUPPORTED;
	state->cfa_offset = 0;
	if (run->machine->expression &&
		run->machine->expression(code.at, cursor_left(&code), state))
		return;
	op = cursor_u8(&code);
	if (op < OP_breg0 || op > OP_breg31)
		return;
	reg = op - OP_breg0;
	inner = cursor_sleb(&code);
	if (!code.bad && !cursor_left(&code)) {
		define_cfa(run, reg, inner);
		return;
	}
	if ((reg != run->machine->sp && reg != run->machine->fp) || cursor_u8(&code) != OP_deref)
		return;
	if (cursor_left(&code)) {
		op = cursor_u8(&code);
		if (op == OP_plus_uconst)
			outer = scaled(cursor_uleb(&code), 1);
		else if (op >= OP_lit0 && op <= OP_lit31 && cursor_u8(&code) == OP_plus)
			outer = op - OP_lit0;
		else
			return;
	}
	if (code.bad || cursor_left(&code) || inner != (int16_t)inner || outer != (int16_t)outer)
		return;
	state->cfa_kind = reg == run->machine->sp ? UNWIND_CFA_DEREF_SP : UNWIND_CFA_DEREF_FP;
	state->cfa_offset = (int32_t)((uint32_t)(uint16_t)outer << 16 | (uint16_t)inner);
}

/* A register that lies where an expression says. Of those, fp + n occurs: realigned frames. */
static void place_by_expression(struct run *run, uint64_t reg, struct cursor code)
{
	uint8_t op = cursor_u8(&code);
	int64_t offset = cursor_sleb(&code);

	if (!code.bad && !cursor_left(&code) && op == OP_breg0 + run->machine->fp)
		place(run, reg, PLACE_AT_FP, offset);
	else
		place(run, reg, PLACE_ELSEWHERE, 0);
}

static struct cursor block(struct run *run)
{
	uint64_t size = cursor_uleb(&run->code);
	const uint8_t *at = cursor_skip(&run->code, size);

	/* A block that is not all there has failed run->code: an empty one will do. */
	return at ? (struct cursor){at, at + size, 0} : run->code;
}

static int leads_on(const struct unwind_rule *rule)
{
	return rule->cfa != UNWIND_CFA_NONE &&
	       (rule->cfa < UNWIND_CFA_SIGNAL || rule->cfa >= UNWIND_CFA_REGISTER);
}

static uint8_t kept_of(const struct frame_state *state)
{
	int64_t words = -(state->kept.offset / 8);

	if (state->kept.kind == PLACE_SAME)
		return UNWIND_KEPT_SAME;
	if (state->kept.kind != PLACE_AT_CFA || state->kept.offset % 8 ||
		words < UNWIND_KEPT_AT_CFA || words > UNWIND_KEPT_MAX)
		return UNWIND_KEPT_UNKNOWN;
	return (uint8_t)words;
}

/* What a rule is about to be changed at: the state so far becomes a row. */
static int add_row(struct run *run)
{
	struct unwind_rule rule = {.cfa = UNWIND_CFA_SIGNAL};

	run->changed = 0;
	if (!run->cie->is_signal)
		run->machine->rule(&run->state, &rule, run->rows->causes);
	if (run->table->follows_kept && leads_on(&rule))
		rule.kept = kept_of(&run->state);
	return unwind_rows_add(run->rows, run->pc > run->from ? run->pc : run->from, &rule);
}

/* 0, 1: the rest is of no interest; or an error. */
static int move_to(struct run *run, uint64_t pc)
{
	int r = 0;

	if (!run->rows)
		return -EINVAL; /* a CIE goes nowhere */
	if (pc < run->pc)
		return -EINVAL;
	if (run->changed && pc > run->from && pc != run->pc)
		r = add_row(run);
	run->pc = pc;
	return r < 0 ? r : pc >= run->end;
}

static int advance(struct run *run, uint64_t delta)
{
	uint64_t by, pc;

	if (__builtin_mul_overflow(delta, run->cie->code_factor, &by) ||
		__builtin_add_overflow(run->pc, by, &pc))
		pc = UINT64_MAX;
	return move_to(run, pc);
}

static int remember(struct run *run)
{
	if (run->nr_remembered == MAX_REMEMBERED)
		return -EINVAL;
	run->remembered[run->nr_remembered++] = run->state;
	return 0;
}

static int recall(struct run *run)
{
	if (!run->nr_remembered)
		return -EINVAL;
	run->state = run->remembered[--run->nr_remembered];
	run->changed = 1;
	return 0;
}

/* Instructions that say where a register is. */
static int step_register(struct run *run, uint8_t op)
{
	struct cursor *code = &run->code;
	uint64_t reg = cursor_uleb(code);

	switch (op) {
	case CFA_offset_extended:
		place(run, reg, PLACE_AT_CFA, scaled(cursor_uleb(code), run->cie->data_factor));
		return 0;
	case CFA_offset_extended_sf:
		place(run, reg, PLACE_AT_CFA,
			scaled_signed(cursor_sleb(code), run->cie->data_factor));
		return 0;
	case CFA_GNU_negative_offset_extended:
		place(run, reg, PLACE_AT_CFA,
			scaled_signed(scaled(cursor_uleb(code), -1), run->cie->data_factor));
		return 0;
	case CFA_restore_extended:
		restore(run, reg);
		return 0;
	case CFA_undefined:
		place(run, reg, PLACE_UNDEFINED, 0);
		return 0;
	case CFA_same_value:
		place(run, reg, PLACE_SAME, 0);
		return 0;
	case CFA_register:
		place(run, reg, PLACE_IN_REGISTER, (int64_t)(cursor_uleb(code) & INT64_MAX));
		return 0;
	case CFA_val_offset:
	case CFA_val_offset_sf:
		(void)cursor_sleb(code); /* of whichever sign: skipped */
		place(run, reg, PLACE_ELSEWHERE, 0);
		return 0;
	case CFA_val_expression:
		(void)block(run);
		place(run, reg, PLACE_ELSEWHERE, 0);
		return 0;
	case CFA_expression:
		place_by_expression(run, reg, block(run));
		return 0;
	default:
		return -EINVAL;
	}
}

/* 0, 1: the rest is of no interest; or an error. */
static int step_other(struct run *run, uint8_t op)
{
	struct cursor *code = &run->code;
	uint64_t reg;

	switch (op) {
	case CFA_nop:
	case CFA_AARCH64_negate_ra_state:
	case CFA_AARCH64_negate_ra_state_with_pc:
		return 0;
	case CFA_set_loc:
		return move_to(run, pointer_decode(run->table, code, run->cie->pointer_encoding));
	case CFA_advance_loc1:
		return advance(run, cursor_u8(code));
	case CFA_advance_loc2:
		return advance(run, cursor_u16(code));
	case CFA_advance_loc4:
		return advance(run, cursor_u32(code));
	case CFA_remember_state:
		return remember(run);
	case CFA_restore_state:
		return recall(run);
	case CFA_def_cfa:
		reg = cursor_uleb(code);
		define_cfa(run, reg, scaled(cursor_uleb(code), 1));
		return 0;
	case CFA_def_cfa_sf:
		reg = cursor_uleb(code);
		define_cfa(run, reg, scaled_signed(cursor_sleb(code), run->cie->data_factor));
		return 0;
	case CFA_def_cfa_register:
		define_cfa(run, cursor_uleb(code), run->state.cfa_offset);
		return 0;
	case CFA_def_cfa_offset:
		define_cfa(run, run->state.cfa_register, scaled(cursor_uleb(code), 1));
		return 0;
	case CFA_def_cfa_offset_sf:
		define_cfa(run, run->state.cfa_register,
			scaled_signed(cursor_sleb(code), run->cie->data_factor));
		return 0;
	case CFA_def_cfa_expression:
		define_cfa_expression(run, block(run));
		return 0;
	case CFA_GNU_args_size:
		(void)cursor_uleb(code); /* for unwinders that run landing pads */
		return 0;
	default:
		return step_register(run, op);
	}
}

static int run_all(struct run *run)
{
	struct cursor *code = &run->code;
	int r = 0;

	while (r == 0 && code->at < code->end) {
		uint8_t op = *code->at++, operand = op & 0x3f;

		switch (op & 0xc0) {
		case CFA_advance_loc:
			r = advance(run, operand);
			break;
		case CFA_offset:
			place(run, operand, PLACE_AT_CFA,
				scaled(cursor_uleb(code), run->cie->data_factor));
			break;
		case CFA_restore:
			restore(run, operand);
			break;
		default:
			r = step_other(run, op);
			break;
		}
	}
	if (r < 0)
		return r;
	return code->bad ? -EINVAL : r;
}

int program_run_initial(const struct cfi *table, struct cie *cie, struct cursor code)
{
	struct run run;
	int r;

	run.table = table;
	run.machine = table->machine;
	run.cie = cie;
	run.code = code;
	run.state = cie->initial;
	run.initial = &cie->initial;
	run.pc = run.from = run.end = 0;
	run.rows = NULL;
	run.nr_remembered = 0;
	r = run_all(&run);
	if (r < 0)
		return r;
	cie->initial = run.state;
	return 0;
}

int program_run(const struct cfi *table, const struct cie *cie, struct cursor code,
	const struct extent *extent, struct unwind_rows *rows)
{
	const size_t nr = rows->nr, nr_raw = rows->nr_raw;
	struct run run; /* not zeroed: the remembered states are 1 KB that are hardly ever used */
	int r;

	run.table = table;
	run.machine = table->machine;
	run.cie = cie;
	run.code = code;
	run.state = cie->initial;
	run.initial = &cie->initial;
	run.pc = extent->start;
	run.from = extent->from;
	run.end = extent->end;
	run.rows = rows;
	run.changed = 1;
	run.nr_remembered = 0;
	r = run_all(&run);
	if (r == 0 && run.changed && run.pc < run.end)
		r = add_row(&run);
	if (r == -EINVAL) {
		rows->nr = nr;
		rows->nr_raw = nr_raw;
	}
	return r < 0 ? r : 0;
}
