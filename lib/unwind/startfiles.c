/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * startfiles.c: as glibc's sysdeps/x86_64/crti.S, crtn.S and gcc's libgcc/crtstuff.c make it.
 *
 *	.init, .fini            [endbr64;] sub $8,%rsp; ..; add $8,%rsp; ret
 *	deregister_tm_clones    use no stack; they end at the next one
 *	register_tm_clones
 *	__do_global_dtors_aux   [endbr64;] cmpb $0,x(%rip); jne 1f; push %rbp; [cmpq $0,x(%rip);]
 *	                        mov %rsp,%rbp; [je ..; mov x(%rip),%rdi; call __cxa_finalize;]
 *	                        call deregister_tm_clones; movb $1,x(%rip); pop %rbp; ret; [nop;] 1:
 *ret frame_dummy             [endbr64;] jmp register_tm_clones
 */
#include "unwind/startfiles.h"

#include <elf.h>
#include <string.h>

#include "base/cleanup.h"

#define MAX_SECTION_BYTES 256
#define MAX_FINI_ENTRIES  8
#define MAX_CLONES_BYTES  256 /* of both */
#define AUX_BYTES	  80
#define DUMMY_BYTES	  9

static const uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa};

/* Where code is that was read from an address on. */
struct code {
	uint64_t address;
	const uint8_t *at, *end;
};

static int add(struct functions *functions, const struct elf_file *file, uint64_t start,
	uint64_t end, const struct frame_state *state)
{
	const struct cie cie = {.initial = *state, .is_usable = 1};

	return end > start
		       ? functions_add_one(functions, file, start, (uint32_t)(end - start), &cie)
		       : 0;
}

/* Is the next instruction this one, of so many bytes? It is passed by then. */
static int skip(struct code *code, const char *bytes, size_t nr, size_t size)
{
	if ((size_t)(code->end - code->at) < size || memcmp(code->at, bytes, nr) != 0)
		return 0;
	code->at += size;
	code->address += size;
	return 1;
}

/* Where the call or jump that was just passed leads to. */
static uint64_t target_of(const struct code *code)
{
	int32_t distance;

	memcpy(&distance, code->at - sizeof(distance), sizeof(distance));
	return code->address + (uint64_t)(int64_t)distance;
}

static int add_section(struct functions *functions, const struct elf_file *file,
	const struct machine *machine, const char *name)
{
	const struct elf_section *section = elf_file_section(file, name);
	struct frame_state inside = machine->entry;
	uint8_t bytes[MAX_SECTION_BYTES];
	struct code code;
	uint64_t end;
	int r;

	if (!section || section->size > sizeof(bytes) ||
		elf_file_read(file, section->offset, bytes, (size_t)section->size) < 0)
		return 0;
	code = (struct code){section->address, bytes, bytes + section->size};
	(void)skip(&code, (const char *)landing, sizeof(landing), sizeof(landing));
	if (!skip(&code, "\x48\x83\xec\x08", 4, 4) || code.end - code.at < 5 ||
		memcmp(code.end - 5, "\x48\x83\xc4\x08\xc3", 5) != 0)
		return 0;
	end = section->address + section->size;
	inside.cfa_offset += 8;
	r = add(functions, file, section->address, code.address, &machine->entry);
	if (r == 0)
		r = add(functions, file, code.address, end - 1, &inside);
	return r < 0 ? r : add(functions, file, end - 1, end, &machine->entry);
}

/* What of __do_global_dtors_aux a walk must know. */
struct aux {
	uint64_t start, pushed, popped, end;
	uint64_t clones; /* deregister_tm_clones */
};

static int read_aux(const struct elf_file *file, uint64_t start, struct aux *ret)
{
	uint8_t bytes[AUX_BYTES];
	struct code code = {start, bytes, bytes};
	uint64_t offset;
	ssize_t n;

	if (elf_file_offset(file, start, &offset) < 0)
		return 0;
	n = elf_file_read_some(file, offset, bytes, sizeof(bytes));
	code.end += n > 0 ? n : 0;
	ret->start = start;
	(void)skip(&code, (const char *)landing, sizeof(landing), sizeof(landing));
	if (!skip(&code, "\x80\x3d", 2, 7) || !skip(&code, "\x75", 1, 2) ||
		!skip(&code, "\x55", 1, 1))
		return 0;
	ret->pushed = code.address;
	(void)skip(&code, "\x48\x83\x3d", 3, 8);
	if (!skip(&code, "\x48\x89\xe5", 3, 3))
		return 0;
	if (skip(&code, "\x74", 1, 2) &&
		(!skip(&code, "\x48\x8b\x3d", 3, 7) ||
			(!skip(&code, "\xe8", 1, 5) && !skip(&code, "\xff\x15", 2, 6))))
		return 0;
	if (!skip(&code, "\xe8", 1, 5))
		return 0;
	ret->clones = target_of(&code);
	if (!skip(&code, "\xc6\x05", 2, 7) || !skip(&code, "\x5d", 1, 1))
		return 0;
	ret->popped = code.address;
	if (!skip(&code, "\xc3", 1, 1))
		return 0;
	(void)skip(&code, "\x90", 1, 1);
	(void)skip(&code, "\x0f\x1f\x00", 3, 3);
	if (!skip(&code, "\xc3", 1, 1))
		return 0;
	ret->end = code.address;
	return ret->clones < start && start - ret->clones <= MAX_CLONES_BYTES;
}

/* frame_dummy, if it follows: its end; else 0. */
static uint64_t read_dummy(const struct elf_file *file, const struct aux *aux, uint64_t *ret_start)
{
	uint64_t start = (aux->end + 15) & ~15ull, offset, target;
	uint8_t bytes[DUMMY_BYTES] = {0};
	struct code code = {start, bytes, bytes + sizeof(bytes)};

	if (elf_file_offset(file, start, &offset) < 0 ||
		elf_file_read(file, offset, bytes, sizeof(bytes)) < 0)
		return 0;
	(void)skip(&code, (const char *)landing, sizeof(landing), sizeof(landing));
	if (skip(&code, "\xe9", 1, 5))
		target = target_of(&code);
	else if (skip(&code, "\xeb", 1, 2))
		target = code.address + (uint64_t)(int64_t)(int8_t)code.at[-1];
	else
		return 0;
	*ret_start = start;
	return target > aux->clones && target < aux->start ? code.address : 0;
}

static int add_aux(struct functions *functions, const struct elf_file *file,
	const struct machine *machine, uint64_t start)
{
	struct frame_state pushed = machine->entry;
	uint64_t dummy = 0, dummy_end;
	struct aux aux;
	int r;

	if (!read_aux(file, start, &aux))
		return 0;
	pushed.cfa_offset += 8;
	pushed.fp = (struct place){PLACE_AT_CFA, -16};
	r = add(functions, file, aux.clones, aux.pushed, &machine->entry);
	if (r == 0)
		r = add(functions, file, aux.pushed, aux.popped, &pushed);
	if (r == 0)
		r = add(functions, file, aux.popped, aux.end, &machine->entry);
	dummy_end = r == 0 ? read_dummy(file, &aux, &dummy) : 0;
	return dummy_end ? add(functions, file, dummy, dummy_end, &machine->entry) : r;
}

int startfiles_add(
	struct functions *functions, const struct elf_file *file, const struct machine *machine)
{
	const struct elf_section *section = elf_file_section(file, ".fini_array");
	uint64_t entries[MAX_FINI_ENTRIES];
	size_t nr = 0;
	int r;

	if (machine->elf_machine != EM_X86_64)
		return 0;
	r = add_section(functions, file, machine, ".init");
	if (r == 0)
		r = add_section(functions, file, machine, ".fini");
	if (section && section->size <= sizeof(entries) &&
		elf_file_read(file, section->offset, entries, (size_t)section->size) == 0)
		nr = (size_t)section->size / sizeof(*entries);
	for (size_t i = 0; i < nr && r == 0; i++)
		r = add_aux(functions, file, machine, entries[i]);
	return r;
}
