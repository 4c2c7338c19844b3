/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How does another CPU get from its start-up IPI to C in long mode?
 *
 * It begins in real mode at the page that the IPI names: a copy of ap_trampoline, which does no
 * more than to reach the image. What it needs, smp.c has left in struct ap_start.
 */
#include "arch/x86_64/ap_start.h"

#define MSR_EFER	0xc0000080
#define MSR_FS_BASE	0xc0000100
#define CR0_PE		1
#define CODE_64		0x08
#define DATA		0x10
#define CODE_32		0x18

	.section .text
	.code16
	.globl	ap_trampoline, ap_trampoline_end
ap_trampoline:
	cli
	cld
	movw	%cs, %ax
	movw	%ax, %ds
	lgdtl	gdt_pointer - ap_trampoline
	movl	%cr0, %eax
	orl	$CR0_PE, %eax
	movl	%eax, %cr0
	ljmpl	$CODE_32, $protected_mode
	.balign	4
gdt_pointer:
	.word	ap_gdt_end - ap_gdt - 1
	.long	ap_gdt
ap_trampoline_end:

	.code32
protected_mode:
	movl	$DATA, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movl	ap_start + AP_CR4, %eax
	movl	%eax, %cr4
	movl	$boot_pml4, %eax		/* the final tables forbid the change-over */
	movl	%eax, %cr3
	movl	$MSR_EFER, %ecx
	movl	ap_start + AP_EFER, %eax
	xorl	%edx, %edx
	wrmsr
	movl	ap_start + AP_CR0, %eax
	movl	%eax, %cr0
	ljmpl	$CODE_64, $ap_long_mode

	.code64
ap_long_mode:
	movq	ap_start + AP_CR3, %rax
	movq	%rax, %cr3

	/* A CPU that comes when another one is awaited, or nobody any more, stays out. */
	movl	$1, %eax
	cpuid
	shrl	$24, %ebx
	cmpb	%bl, ap_start + AP_APIC_ID
	jne	1f
	xorl	%edi, %edi
	xchgq	%rdi, ap_start + AP_CPU
	testq	%rdi, %rdi
	jz	1f

	movq	CPU_START_STACK(%rdi), %rsp
	movl	$MSR_FS_BASE, %ecx
	movl	ap_start + AP_FS_BASE, %eax
	movl	ap_start + AP_FS_BASE + 4, %edx
	wrmsr
	xorl	%ebp, %ebp			/* the last frame of every backtrace */
	call	ap_main
1:	cli
	hlt
	jmp	1b

	.section .rodata
	.balign	8
ap_gdt:
	.quad	0
	.quad	0x00af9b000000ffff
	.quad	0x00cf93000000ffff
	.quad	0x00cf9b000000ffff
ap_gdt_end:

	.section .note.GNU-stack, "", @progbits
