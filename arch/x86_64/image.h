/* SPDX-License-Identifier: BSD-2-Clause */
/* Where do the parts of the image and its stacks lie? Shared with the assembly at the entry. */
#ifndef ARCH_X86_64_IMAGE_H
#define ARCH_X86_64_IMAGE_H

#define PAGE_BYTES	 4096
#define BOOT_STACK_BYTES (64 * 1024)
#define TRAP_STACK_BYTES (8 * 1024)

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

/* linker/ringlab.lds; all but data_end, which .bss follows, are page boundaries. */
extern char image_start[], text_end[], rodata_end[], data_end[], image_end[];

/* Each stack has an unmapped page just below @low; @high is its top. */
struct stack_area {
	const char *name;
	uint64_t low, high;
};

/* In the order of their IST numbers: 0 is the boot stack, which no IST names. */
enum stack_index {
	STACK_BOOT,
	STACK_NMI,
	STACK_DOUBLE_FAULT,
	STACK_MACHINE_CHECK,
	STACK_PAGE_FAULT,
	STACK_COUNT
};
extern const struct stack_area stacks[STACK_COUNT];

/* The stack, of whichever CPU, that holds @addr, or NULL. */
const struct stack_area *stack_of(uint64_t addr);
/* The stack whose guard page holds @addr, or NULL. */
const struct stack_area *stack_guarded_at(uint64_t addr);

/* Stacks of another CPU, with their guards; false if there is no memory left. */
bool stacks_make(struct stack_area of[STACK_COUNT]);

#endif
#endif
