/* SPDX-License-Identifier: BSD-2-Clause */
/* What does an exception leave on the stack? traps.S builds it. */
#ifndef ARCH_X86_64_TRAP_H
#define ARCH_X86_64_TRAP_H

#include <stdint.h>

struct trap_frame {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8;
	uint64_t rbp, rdi, rsi, rdx, rcx, rbx, rax;
	uint64_t vector, error;
	uint64_t rip, cs, rflags, rsp, ss;
};
_Static_assert(sizeof(struct trap_frame) == 22 * 8, "traps.S pushes 22 words");

enum {
	VECTOR_NMI = 2,
	VECTOR_DOUBLE_FAULT = 8,
	VECTOR_PAGE_FAULT = 14,
	VECTOR_MACHINE_CHECK = 18,
	EXCEPTIONS = 32,
	VECTORS = 256
};

void idt_init(void);
/* What idt_init() made, for another CPU. */
void idt_load(void);
void trap_handle(const struct trap_frame *frame);

#endif
