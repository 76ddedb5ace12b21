/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_UNWIND_PROGRAM_H
#define STOKE_UNWIND_PROGRAM_H

/*
 * The programs of CIEs and FDEs (DWARF 5, 6.4.2): a state is changed by one instruction after the
 * other, and holds from an address on until the next "advance". Of all registers only the CFA, the
 * frame pointer and the return address are kept.
 */

#include "unwind/cursor.h"
#include "unwind/machine.h"
#include "unwind/row.h"

struct cie {
	uint64_t offset; /* in its section */
	uint64_t code_factor;
	int64_t data_factor;
	uint64_t ra; /* DWARF number of the return address */
	uint8_t pointer_encoding;
	uint8_t has_size; /* augmentation 'z': what FDEs carry tells its size */
	uint8_t is_signal; /* 'S' */
	uint8_t is_usable;
	struct frame_state initial;
};

/* Where one function lies: its program speaks of [start, end), rows are wanted from `from` on. */
struct extent {
	uint64_t start, end, from;
};

/* A section of call frame information as programs and pointers in it see it. */
struct cfi {
	const struct machine *machine;
	const uint8_t *bytes;
	size_t size;
	uint64_t vaddr; /* of bytes[0] */
	uint64_t data_base; /* what DW_EH_PE_datarel is relative to */
	int is_debug; /* .debug_frame */
	int follows_kept; /* rules shall tell of UNWIND_KEPT_REGISTER */
	int ends_early; /* an empty entry is the end, not just of a part */
};

/* A pointer in the form `encoding` (DW_EH_PE_*) says. What has no form here is bad. */
uint64_t pointer_decode(const struct cfi *table, struct cursor *at, uint8_t encoding);

/* Runs the initial instructions of a CIE on cie->initial. 0 or -EINVAL. */
int program_run_initial(const struct cfi *table, struct cie *cie, struct cursor code);
/* Runs an FDE's and adds its rows as far as they lie in the extent. 0, -EINVAL when malformed (what
 * it added is taken back), or what unwind_rows_add says. */
int program_run(const struct cfi *table, const struct cie *cie, struct cursor code,
	const struct extent *extent, struct unwind_rows *rows);

#endif
