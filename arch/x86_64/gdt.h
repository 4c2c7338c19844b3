/* SPDX-License-Identifier: BSD-2-Clause */
/* Which segments are there? As few as long mode allows. */
#ifndef ARCH_X86_64_GDT_H
#define ARCH_X86_64_GDT_H

#include <stdint.h>

#include "arch/x86_64/image.h"

#define SELECTOR_CODE 0x08
#define SELECTOR_DATA 0x10
#define SELECTOR_TSS  0x18

/* Intel SDM vol. 3, 8.7: the 64-bit TSS. */
struct tss {
	uint32_t reserved0;
	uint64_t rsp[3];
	uint64_t reserved1;
	uint64_t ist[7];
	uint64_t reserved2;
	uint16_t reserved3, io_map_offset;
} __attribute__((packed));

/* Each CPU has its own: a TSS can be in use by one only. */
struct segments {
	uint64_t gdt[5]; /* a TSS descriptor takes two places */
	struct tss tss;
};

/* Fills @segments and makes this CPU use them, with @of for the traps that need a good stack. */
void segments_load(struct segments *segments, const struct stack_area of[STACK_COUNT]);

/* The boot CPU's. */
void gdt_init(void);

#endif
