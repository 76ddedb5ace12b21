/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_UNWIND_EHFRAME_H
#define STOKE_UNWIND_EHFRAME_H

/*
 * The unwind rows of an ELF file, out of .eh_frame and .debug_frame: a pure function of its bytes,
 * which may be made to hurt and may change while they are read. Takes 10 ms per MB of .eh_frame;
 * memory is bounded by the limits of row.h.
 */

#include "elf/file.h"
#include "unwind/row.h"

/*
 * 0: *ret has rows. -ENOENT: the file tells nothing (no such section, or nothing usable in it);
 * *ret has the counts. -ENOTSUP: a machine without rules. -ENOMEM; -errno of reading. In each case
 * unwind_rows_done() may be called on *ret, whatever it held before.
 */
int ehframe_rows(const struct elf_file *file, struct unwind_rows *ret);
/* The same for somebody who wants each row once, in order: memory for all of them costs more than
 * to make them. *ret has the counts. Also what take() says. */
int ehframe_hand_over(
	const struct elf_file *file, const struct unwind_taker *taker, struct unwind_rows *ret);

#endif
