/* SPDX-License-Identifier: BSD-2-Clause */
/* known.c: the code that a linker or a start file puts into every program. */
#include "unwind/known.h"

#include <elf.h>

#include "base/cleanup.h"
#include "unwind/startfiles.h"

/* As much of a start-up routine without an FDE: musl's _start has 22 bytes, ld.so's 13. */
#define MAX_START_BYTES 64
/* x86-64's lazy PLT begins with an entry that others jump to, behind their push: 6 bytes push once
 * more, then it jumps to the dynamic linker. */
#define PLT_ENTRY_BYTES 16
#define PLT_PUSH_BYTES	6
/* In an entry the stack pointer moves behind "jmp *n(%rip); push $n", or where .plt.sec has the
 * jump, "endbr64; push $n". */
#define PLT_THRESHOLD	  11
#define PLT_THRESHOLD_IBT 9

static int add(struct functions *functions, const struct elf_file *file, uint64_t start,
	uint64_t size, const struct frame_state *state)
{
	const struct cie cie = {.initial = *state, .is_usable = 1};

	return functions_add_one(
		functions, file, start, size > UINT32_MAX ? UINT32_MAX : (uint32_t)size, &cie);
}

/* The first instruction of a program has no caller, whether its file says so or not. */
static int add_start(
	struct functions *functions, const struct elf_file *file, const struct machine *machine)
{
	struct frame_state state = machine->entry;

	state.ra = (struct place){PLACE_UNDEFINED, 0};
	return add(functions, file, file->entry, MAX_START_BYTES, &state);
}

/* Entries that only jump leave a frame as its caller made it. */
static int add_jumps(
	struct functions *functions, const struct elf_file *file, const struct machine *machine)
{
	static const char *const names[] = {".plt.sec", ".plt.got", ".iplt"};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names) && r == 0; i++) {
		const struct elf_section *plt = elf_file_section(file, names[i]);

		if (plt)
			r = add(functions, file, plt->address, plt->size, &machine->entry);
	}
	return r;
}

static int add_lazy_plt(
	struct functions *functions, const struct elf_file *file, const struct machine *machine)
{
	const struct elf_section *plt = elf_file_section(file, ".plt");
	struct frame_state state = machine->entry;
	int r;

	if (!plt || plt->size <= 2ull * PLT_ENTRY_BYTES)
		return 0;
	/* aarch64's entries push nothing but in the first, which is as long as two. */
	if (machine->elf_machine != EM_X86_64)
		return add(functions, file, plt->address + 2ull * PLT_ENTRY_BYTES,
			plt->size - 2ull * PLT_ENTRY_BYTES, &state);
	state.cfa_offset = 16;
	r = add(functions, file, plt->address, PLT_PUSH_BYTES, &state);
	if (r < 0)
		return r;
	state.cfa_offset = 24;
	r = add(functions, file, plt->address + PLT_PUSH_BYTES, PLT_ENTRY_BYTES - PLT_PUSH_BYTES,
		&state);
	if (r < 0)
		return r;
	state.cfa_register = CFA_EXPRESSION;
	state.cfa_kind = UNWIND_CFA_PLT;
	state.cfa_offset = elf_file_section(file, ".plt.sec") ? PLT_THRESHOLD_IBT : PLT_THRESHOLD;
	return add(functions, file, plt->address + PLT_ENTRY_BYTES, plt->size - PLT_ENTRY_BYTES,
		&state);
}

int known_add(struct functions *functions, const struct elf_file *file,
	const struct machine *machine, struct unwind_rows *rows)
{
	const struct cfi none = {.machine = machine};
	int r;

	r = functions_add(functions, &none, file, rows);
	if (r == 0)
		r = add_start(functions, file, machine);
	if (r == 0)
		r = add_jumps(functions, file, machine);
	if (r == 0)
		r = add_lazy_plt(functions, file, machine);
	return r < 0 ? r : startfiles_add(functions, file, machine);
}
