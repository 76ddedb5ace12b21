/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STOKE_BPF_RULE_H
#define STOKE_BPF_RULE_H

/*
 * How a frame leads to its caller: what compilers write into .eh_frame, reduced to what a walk
 * needs. Three answers: the CFA (the stack pointer as it was before the call), the caller's frame
 * pointer, the return address. fp is rbp or x29. Values are never renumbered.
 */

#include <linux/types.h>

enum unwind_cfa {
	UNWIND_CFA_NONE = 0, /* nothing is known here: a frame pointer may do */
	UNWIND_CFA_SP = 1, /* sp + cfa_offset */
	UNWIND_CFA_FP = 2, /* fp + cfa_offset */
	UNWIND_CFA_PLT = 3, /* lazy x86-64 PLT entry: sp + 8, 8 more where ip % 16 is cfa_offset
			       or more */
	UNWIND_CFA_DEREF_SP = 4, /* *(sp + unwind_inner) + unwind_outer */
	UNWIND_CFA_DEREF_FP = 5, /* *(fp + unwind_inner) + unwind_outer */
	UNWIND_CFA_SIGNAL = 6, /* the kernel's signal frame: sp, fp, ip lie in its ucontext. The
				  caller was interrupted: its ip is not a return address */
	UNWIND_CFA_STOP = 7, /* the first frame: nothing above */
	UNWIND_CFA_UNSUPPORTED = 8, /* known to the file, but to no walk */
	/* + DWARF number (x86-64: 0 rax, 1 rdx, 2 rcx, 3 rbx, 4 rsi, 5 rdi, 8.. r8..; aarch64: xN):
	 * that register + cfa_offset. Only in the sampled frame or one that a signal interrupted:
	 * elsewhere the register's value is not known, but for UNWIND_KEPT_REGISTER's. */
	UNWIND_CFA_REGISTER = 32,
	UNWIND_CFA_REGISTER_END = 64,
};

/* Where the caller's fp is. */
enum unwind_fp {
	UNWIND_FP_SAME = 0, /* still in its register */
	UNWIND_FP_AT_CFA = 1, /* *(CFA + fp_offset) */
	UNWIND_FP_AT_FP = 2, /* *(fp + fp_offset): frames that were realigned */
	UNWIND_FP_UNKNOWN = 3, /* lost: rules that need it cannot be used further up, until one
				  tells it again */
};

/* Where the return address is. */
enum unwind_ra {
	UNWIND_RA_AT_CFA = 0, /* *(CFA + ra_offset); on x86-64 ra_offset is always -8 */
	UNWIND_RA_LINK = 1, /* aarch64: still in x30. Only where UNWIND_CFA_REGISTER would do */
	/* + DWARF number: in that register (vfork's, which has no stack of its own to return on).
	 * Likewise. */
	UNWIND_RA_REGISTER = 32,
	UNWIND_RA_REGISTER_END = 64,
};

/*
 * Where the caller's rbx is: the register that ld.so's lazy binding keeps its stack pointer in.
 * Told in files alone that have such a CFA, since else it costs rows and nobody asks.
 * UNWIND_KEPT_AT_CFA and more: *(CFA - 8 * kept).
 */
enum unwind_kept {
	UNWIND_KEPT_UNKNOWN = 0,
	UNWIND_KEPT_SAME = 1, /* still where it was */
	UNWIND_KEPT_AT_CFA = 2,
	UNWIND_KEPT_MAX = 255,
};

/* x86-64's rbx, by its DWARF number. aarch64's files know no such CFA. */
#define UNWIND_KEPT_REGISTER 3

/* 12 bytes without holes, so that equal rules are equal bytes. Fields that its kind does not use
 * are 0; all but `cfa` are 0 for NONE, SIGNAL, STOP and UNSUPPORTED. */
struct unwind_rule {
	__u8 cfa; /* enum unwind_cfa */
	__u8 fp; /* enum unwind_fp */
	__s16 fp_offset;
	__s32 cfa_offset;
	__s16 ra_offset;
	__u8 ra; /* enum unwind_ra */
	__u8 kept; /* enum unwind_kept */
};

/* cfa_offset of the DEREF kinds: what is added before, and after, the word is read. */
static inline __s32 unwind_inner(__s32 cfa_offset)
{
	return (__s16)(cfa_offset & 0xffff);
}

static inline __s32 unwind_outer(__s32 cfa_offset)
{
	return (__s16)(((__u32)cfa_offset >> 16) & 0xffff);
}

#endif
