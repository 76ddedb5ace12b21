/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trampoline.c: CPython's Python/asm_trampoline.S for x86-64, with or without endbr64 in front:
 *
 *	3.12, 3.13	sub $8,%rsp; call *%rcx; add $8,%rsp; ret
 *	3.14		push %rbp; mov %rsp,%rbp; call *%rcx; pop %rbp; ret
 */
#include "unwind/trampoline.h"

#include <errno.h>
#include <string.h>

int trampoline_recognise(const uint8_t code[TRAMPOLINE_BYTES], struct unwind_rule *ret)
{
	static const uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const uint8_t bare[] = {
		0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3};
	static const uint8_t framed[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd1, 0x5d, 0xc3};
	struct unwind_rule rule = {.cfa = UNWIND_CFA_SP, .cfa_offset = 16, .ra_offset = -8};

	if (memcmp(code, landing, sizeof(landing)) == 0)
		code += sizeof(landing);
	if (memcmp(code, framed, sizeof(framed)) == 0) {
		rule.fp = UNWIND_FP_AT_CFA;
		rule.fp_offset = -16;
	} else if (memcmp(code, bare, sizeof(bare)) != 0) {
		return -ENOENT;
	}
	*ret = rule;
	return 0;
}
