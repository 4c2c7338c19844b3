/* SPDX-License-Identifier: BSD-2-Clause */
/* Which stacks are there, and what is below them? A page that is never mapped. */
#include "arch/x86_64/image.h"

#include <stddef.h>

/* Outside the zeroed part of .bss: the boot stack is in use while that is cleared. */
#define GUARDED_STACK(name, bytes)        \
	struct name##_layout {            \
		char guard[PAGE_BYTES];   \
		char stack[bytes];        \
	};                                \
	extern struct name##_layout name; \
	struct name##_layout name __attribute__((aligned(PAGE_BYTES), section(".bss..noinit")))

GUARDED_STACK(boot_stack, BOOT_STACK_BYTES);
GUARDED_STACK(nmi_stack, TRAP_STACK_BYTES);
GUARDED_STACK(double_fault_stack, TRAP_STACK_BYTES);
GUARDED_STACK(machine_check_stack, TRAP_STACK_BYTES);
GUARDED_STACK(page_fault_stack, TRAP_STACK_BYTES);

#define AREA(text, name)                                                                  \
	{                                                                                 \
		text, (uintptr_t)name.stack, (uintptr_t)(name.stack + sizeof(name.stack)) \
	}

const struct stack_area stacks[STACK_COUNT] = {
	[STACK_BOOT] = AREA("boot", boot_stack),
	[STACK_NMI] = AREA("NMI", nmi_stack),
	[STACK_DOUBLE_FAULT] = AREA("double fault", double_fault_stack),
	[STACK_MACHINE_CHECK] = AREA("machine check", machine_check_stack),
	[STACK_PAGE_FAULT] = AREA("page fault", page_fault_stack),
};

const struct stack_area *stack_of(uint64_t addr)
{
	for (unsigned i = 0; i < STACK_COUNT; i++)
		if (addr >= stacks[i].low && addr < stacks[i].high)
			return &stacks[i];
	return NULL;
}
