/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How does the CPU get from a PVH loader's 32-bit entry to C in long mode?
 *
 * Xen, docs/misc/pvh.pandoc: protected mode, flat segments, paging off, interrupts off,
 * EBX = physical address of struct hvm_start_info. Nothing else may be relied on: not the
 * stack, not the descriptor table, and not that .bss reads as zero.
 */
#include "arch/x86_64/image.h"

#define XEN_ELFNOTE_PHYS32_ENTRY 18

#define CPUID_EXTENDED	 0x80000000
#define CPUID_LONG_MODE_BIT 29
#define MSR_EFER	 0xc0000080
#define EFER_LME	 (1 << 8)
#define CR0_PG		 (1 << 31)
#define CR4_PAE		 (1 << 5)
#define PAGE_PRESENT_RW	 0x3
#define PAGE_2M_RW	 0x83
#define BOOT_PDS	 4		/* 1 GiB each */
#define COM1		 0x3f8
#define DEBUG_CONSOLE	 0xe9
#define DEBUG_EXIT	 0xf4
#define EXIT_PANIC	 0x14

	.section .note.Xen, "a", @note
	.balign 4
	.long	4, 8, XEN_ELFNOTE_PHYS32_ENTRY
	.asciz	"Xen"
	.quad	pvh_entry

	.section .text.entry, "ax", @progbits
	.code32
	.globl	pvh_entry
	.type	pvh_entry, @function
pvh_entry:
	rdtsc
	cli
	cld
	movl	%eax, boot_entry_cycles
	movl	%edx, boot_entry_cycles + 4
	movl	%ebx, %ebp			/* CPUID writes EBX */

	movl	$CPUID_EXTENDED, %eax
	cpuid
	cmpl	$CPUID_EXTENDED + 1, %eax
	jb	no_long_mode
	movl	$CPUID_EXTENDED + 1, %eax
	cpuid
	btl	$CPUID_LONG_MODE_BIT, %edx
	jnc	no_long_mode

	/* Temporary tables: the first 4 GiB at their own addresses, by 2 MiB pages. */
	xorl	%eax, %eax
	movl	$boot_pml4, %edi
	movl	$(2 * PAGE_BYTES / 4), %ecx
	rep stosl
	movl	$boot_pdpt + PAGE_PRESENT_RW, boot_pml4
	movl	$boot_pd + PAGE_PRESENT_RW, %eax
	movl	$boot_pdpt, %edi
	movl	$BOOT_PDS, %ecx
1:	movl	%eax, (%edi)
	addl	$PAGE_BYTES, %eax
	addl	$8, %edi
	decl	%ecx
	jnz	1b
	movl	$PAGE_2M_RW, %eax
	movl	$boot_pd, %edi
	movl	$(BOOT_PDS * 512), %ecx
2:	movl	%eax, (%edi)
	movl	$0, 4(%edi)
	addl	$0x200000, %eax
	addl	$8, %edi
	decl	%ecx
	jnz	2b

	movl	$CR4_PAE, %eax
	movl	%eax, %cr4
	movl	$boot_pml4, %eax
	movl	%eax, %cr3
	movl	$MSR_EFER, %ecx
	rdmsr
	orl	$EFER_LME, %eax
	wrmsr
	movl	%cr0, %eax
	orl	$CR0_PG, %eax
	movl	%eax, %cr0
	lgdtl	boot_gdt_pointer
	ljmpl	$0x08, $long_mode

/* A CPU without long mode: say so wherever somebody may listen, then end as a panic does. */
no_long_mode:
	movl	$no_long_mode_text, %esi
3:	lodsb
	testb	%al, %al
	jz	4f
	movw	$COM1, %dx
	outb	%al, %dx
	outb	%al, $DEBUG_CONSOLE
	jmp	3b
4:	movb	$EXIT_PANIC, %al
	outb	%al, $DEBUG_EXIT
5:	hlt
	jmp	5b

	.code64
long_mode:
	movl	$0x10, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	xorl	%eax, %eax
	movl	%eax, %fs
	movl	%eax, %gs
	movl	%ebp, %ebx			/* clears the upper half too */
	movq	$(boot_stack + PAGE_BYTES + BOOT_STACK_BYTES), %rsp

	movq	$bss_start, %rdi
	movq	$bss_end, %rcx
	subq	%rdi, %rcx
	shrq	$3, %rcx
	rep stosq

	xorl	%ebp, %ebp			/* the last frame of every backtrace */
	call	stack_protector_init
	movq	%rbx, %rdi
	call	pvh_start
	ud2
	.size	pvh_entry, . - pvh_entry

	.section .rodata
no_long_mode_text:
	.asciz	"panic: this CPU has no 64-bit mode\r\n"
	.balign 8
boot_gdt:
	.quad	0
	.quad	0x00af9b000000ffff		/* 08h: 64-bit code */
	.quad	0x00cf93000000ffff		/* 10h: data */
boot_gdt_pointer:
	.word	. - boot_gdt - 1
	.long	boot_gdt

	.data
	.balign 8
	.globl	boot_entry_cycles
boot_entry_cycles:
	.quad	0

	.section .bss..noinit, "aw", @nobits
	.balign PAGE_BYTES
	.globl	boot_pml4
boot_pml4:
	.skip	PAGE_BYTES
boot_pdpt:
	.skip	PAGE_BYTES
boot_pd:
	.skip	BOOT_PDS * PAGE_BYTES

	.section .note.GNU-stack, "", @progbits
