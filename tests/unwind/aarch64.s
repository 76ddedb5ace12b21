// SPDX-License-Identifier: BSD-2-Clause
// aarch64.s: what compilers seldom write. Directives count, instructions only take room.
	.text
	.type	pair, %function
pair:	.cfi_startproc
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	mov	x29, sp
	.cfi_def_cfa 29, 32
	nop
	ldp	x29, x30, [sp], #32
	.cfi_def_cfa 31, 0
	.cfi_restore 29
	.cfi_restore 30
	ret
	.cfi_endproc
	.size	pair, .-pair

	.type	link_alone, %function
link_alone:
	.cfi_startproc
	str	x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 30, -16
	nop
	ldr	x30, [sp], #16
	.cfi_def_cfa_offset 0
	.cfi_restore 30
	ret
	.cfi_endproc
	.size	link_alone, .-link_alone

	.type	signed_link, %function
signed_link:
	.cfi_startproc
	hint	#25
	.cfi_negate_ra_state
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	nop
	ldp	x29, x30, [sp], #16
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	hint	#29
	.cfi_negate_ra_state
	ret
	.cfi_endproc
	.size	signed_link, .-signed_link

	.type	start, %function
start:	.cfi_startproc
	.cfi_undefined 30
	nop
	.cfi_endproc
	.size	start, .-start

	.type	odd, %function
odd:	.cfi_startproc
	mov	x9, x30
	.cfi_register 30, 9
	mov	x10, sp
	.cfi_def_cfa 10, 0
	nop
	.cfi_restore 30
	nop
	.cfi_endproc
	.size	odd, .-odd

	.type	trampoline, %function
trampoline:
	.cfi_startproc
	.cfi_signal_frame
	mov	x8, #139
	svc	#0
	.cfi_endproc
	.size	trampoline, .-trampoline
