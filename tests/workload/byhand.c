/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * byhand SECONDS: assembly that says how its frame looks, and assembly that does not, but keeps a
 * frame pointer, between functions of C without.
 */
#include "work.h"

static volatile unsigned long sink;

void burn_shortly(void);
void told(void);

HOT void burn_shortly(void)
{
	for (unsigned long i = 0; i < 20000; i++)
		sink += i;
}

__asm__(".text\n"
	".p2align 4\n"
	".type told, @function\n"
	".globl told\n"
	"told:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	sub $208, %rsp\n"
	"	.cfi_adjust_cfa_offset 208\n"
	"	call untold\n"
	"	add $208, %rsp\n"
	"	.cfi_adjust_cfa_offset -208\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size told, .-told\n"
	".p2align 6\n"
	".type untold, @function\n"
	"untold:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	sub $96, %rsp\n"
	"	nop\n"
	"	call burn_shortly\n"
	"	mov %rbp, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	"	.p2align 6\n"
	".size untold, .-untold\n");

HOT static void work(uint64_t end)
{
	do {
		for (unsigned i = 0; i < 100; i++)
			told();
	} while (clock_ns(CLOCK_MONOTONIC) < end);
	sink++;
}

int main(int argc, char **argv)
{
	work(end_after(seconds_of(argc, argv, 1, 10)));
	return (int)(sink & 0);
}
