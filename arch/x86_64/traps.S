/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How does an exception or an interrupt reach C? Each vector has a stub that makes the frame the same for all:
 * struct trap_frame of trap.h. The CPU aligns RSP to 16 before it pushes; 22 words later it is
 * still aligned, as the ABI wants it at a call.
 */
#define STUB_BYTES 16

	.text
	.globl	trap_stubs
	.type	trap_stubs, @function
	.balign	STUB_BYTES
trap_stubs:
	vector = 0
	.rept	256
	.balign	STUB_BYTES
	/* Vectors 8, 10-14, 17, 21, 29 and 30 push an error code by themselves. */
	.if	(vector >= 32) || !((0x60227d00 >> (vector & 31)) & 1)
	pushq	$0
	.endif
	pushq	$vector
	jmp	trap_common
	vector = vector + 1
	.endr
	.size	trap_stubs, . - trap_stubs

	.type	trap_common, @function
trap_common:
	cld
	pushq	%rax
	pushq	%rbx
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%rbp
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rsp, %rdi
	call	trap_handle
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rbp
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rbx
	popq	%rax
	addq	$16, %rsp
	iretq
	.size	trap_common, . - trap_common

	.section .note.GNU-stack, "", @progbits
