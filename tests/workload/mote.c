/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mote: a program of a tenth of a millisecond, of which storm.c starts thousands. In each build its
 * functions WHO_outer, WHO_middle, WHO_inner have other names and other frames (FRAME bytes), and
 * lie (PAD bytes) mostly where other builds have something else. BARE: without a C library, as that
 * takes longer to start than all the rest.
 */
#include "work.h"

#define JOIN(a, b)  a##_##b
#define NAMED(a, b) JOIN(a, b)
#define NAME(part)  NAMED(WHO, part)

static volatile unsigned long sink;

HOT static void NAME(padding)(void)
{
	__asm__ volatile(".fill " PAD ", 1, 0x90");
	sink++;
}

HOT static void NAME(inner)(void)
{
	volatile char room[FRAME];

	room[0] = 1;
	burn_some();
	sink += (unsigned char)room[0];
}

HOT static void NAME(middle)(void)
{
	volatile char room[3 * FRAME];

	room[1] = 1;
	NAME(inner)();
	sink += (unsigned char)room[1];
}

HOT static void NAME(outer)(void)
{
	volatile char room[2 * FRAME];

	room[2] = 1;
	NAME(middle)();
	sink += (unsigned char)room[2];
}

int main(int argc, char **argv)
{
	if (argc > 1)
		NAME(padding)();
	NAME(outer)();
	return 0;
}

#ifdef BARE
/* Nothing called it: its return address is undefined. */
__asm__(".globl _start\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined rip\n"
	"	mov	(%rsp), %edi\n"
	"	lea	8(%rsp), %rsi\n"
	"	and	$-16, %rsp\n"
	"	call	main\n"
	"	mov	%eax, %edi\n"
	"	mov	$231, %eax\n" /* exit_group */
	"	syscall\n"
	"	hlt\n"
	".cfi_endproc\n"
	".type _start, @function\n"
	".size _start, . - _start\n");
#endif
