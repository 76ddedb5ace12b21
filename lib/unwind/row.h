/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_UNWIND_ROW_H
#define STOKE_UNWIND_ROW_H

/*
 * The unwind rows of a file: from this address on, this rule (bpf/rule.h). Addresses are the
 * file's own (as symbols and program headers say them), before any load bias.
 */

#include <stddef.h>
#include <stdint.h>

#include "bpf/rule.h"

struct unwind_row {
	uint64_t address;
	struct unwind_rule rule;
};

/* Why a row says UNSUPPORTED, or a function has no rows. */
enum unwind_cause {
	UNWIND_BAD_PROGRAM, /* a function whose entry or program is malformed; as are all of a
			       malformed CIE */
	UNWIND_ODD_CFA, /* an expression or register for the CFA that no rule stands for */
	UNWIND_ODD_RA, /* a return address that is neither in the usual place nor in x30 */
	UNWIND_FAR, /* an offset that does not fit into a rule */
	UNWIND_OUTSIDE, /* a function in no executable segment */
	UNWIND_LIMIT, /* functions left out because the file has too many of them, or rows */
	UNWIND_NR_CAUSES,
};

struct unwind_rows {
	/*
	 * Sorted, each address once, neighbours differ. A row holds up to the next. The first is
	 * not NONE, the last is: that is where what is known ends. Between functions further apart
	 * than padding is there is a NONE row. nr is 0 when nothing is known, else at least 2.
	 */
	struct unwind_row *items;
	size_t nr, capacity;
	uint64_t nr_taken; /* rows before these, which somebody has taken */
	uint64_t nr_functions; /* described by the file: FDEs */
	uint64_t nr_raw; /* rows before equal neighbours became one */
	uint64_t table_bytes; /* of .eh_frame and .debug_frame that were read */
	/* ODD and FAR count rows, the others functions. */
	uint64_t causes[UNWIND_NR_CAUSES];
};

/* Limits of one file, each counted when it is met. libLLVM: 95,000 functions, 820,000 rows. */
#define UNWIND_MAX_TABLE_BYTES (128u << 20)
#define UNWIND_MAX_FUNCTIONS   (4u << 20)
#define UNWIND_MAX_ROWS	       (8u << 20)

/* Takes a zeroed one too. */
void unwind_rows_done(struct unwind_rows *rows);

/* Adds a row behind the last, or in its place when the address is the same; a row that says what
 * the one before says is none. Addresses never fall. 0, -ENOMEM, -E2BIG: UNWIND_MAX_ROWS. */
int unwind_rows_add(struct unwind_rows *rows, uint64_t address, const struct unwind_rule *rule);

/* Whoever takes rows in their order. 0, or an error that ends it all. */
struct unwind_taker {
	int (*take)(void *arg, const struct unwind_row *items, size_t nr);
	void *arg;
};

/* Hands over all rows but the last two, which unwind_rows_add() may still change. What take()
 * says. */
int unwind_rows_hand_over(struct unwind_rows *rows, const struct unwind_taker *taker);

/* The row that holds at an address; NULL: the address lies before the first. */
const struct unwind_row *unwind_rows_find(const struct unwind_rows *rows, uint64_t address);

#endif
