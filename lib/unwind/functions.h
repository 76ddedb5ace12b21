/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_UNWIND_FUNCTIONS_H
#define STOKE_UNWIND_FUNCTIONS_H

/*
 * The functions that .eh_frame and .debug_frame describe (FDEs), and what they have in common
 * (CIEs). Nothing is run here but the initial instructions of CIEs.
 */

#include "elf/file.h"
#include "unwind/program.h"

#define FUNCTIONS_MAX_TABLES 3 /* .eh_frame, .debug_frame, what is known without them */

/* Where a function's program is. */
struct function {
	uint64_t start;
	uint32_t size;
	uint32_t code, code_size; /* in its table */
	uint32_t cie; /* index */
};

struct functions {
	struct cfi tables[FUNCTIONS_MAX_TABLES];
	uint32_t first_cie[FUNCTIONS_MAX_TABLES]; /* index of a table's first */
	unsigned nr_tables;
	struct cie *cies;
	size_t nr_cies, cie_capacity;
	struct function *items;
	size_t nr, capacity;
	int unsorted;
};

void functions_done(struct functions *functions);

/*
 * Adds the functions of a table, which has to stay, as far as they lie in executable segments of
 * the file. Those of tables added first win where two lie over each other. What cannot be used is
 * counted in `rows`. 0 or -ENOMEM.
 */
int functions_add(struct functions *functions, const struct cfi *table, const struct elf_file *file,
	struct unwind_rows *rows);
/* One more in the last table, whose CIE tells all of it. None where no segment holds `start`. */
int functions_add_one(struct functions *functions, const struct elf_file *file, uint64_t start,
	uint32_t size, const struct cie *cie);
/* By start; of those that start alike the one of the earlier table first. */
void functions_sort(struct functions *functions);

/* The number of the table that a function comes from. */
unsigned functions_table_of(const struct functions *functions, const struct function *of);

#endif
