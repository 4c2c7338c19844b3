/* SPDX-License-Identifier: BSD-2-Clause */
/* On which stack does a fault run? The TSS names a good one for those that may have none. */
#include "arch/x86_64/gdt.h"

#include "arch/x86_64/image.h"
#include "lib/mem.h"

/* Intel SDM vol. 3, 8.7: the 64-bit TSS. */
struct tss {
	uint32_t reserved0;
	uint64_t rsp[3];
	uint64_t reserved1;
	uint64_t ist[7];
	uint64_t reserved2;
	uint16_t reserved3, io_map_offset;
} __attribute__((packed));

struct descriptor_pointer {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

static struct tss tss;
/* A TSS descriptor takes two places. */
static uint64_t gdt[5] = {0, 0x00af9b000000ffffull, 0x00cf93000000ffffull};

static void set_tss_descriptor(void)
{
	uint64_t base = (uintptr_t)&tss, limit = sizeof(tss) - 1, type_present = 0x89;

	gdt[SELECTOR_TSS / 8] =
		limit | (base & 0xffffff) << 16 | type_present << 40 | (base >> 24 & 0xff) << 56;
	gdt[SELECTOR_TSS / 8 + 1] = base >> 32;
}

/* FS and GS are left alone: writing a selector would clear the base that holds the canary. */
static void load(void)
{
	struct descriptor_pointer pointer = {sizeof(gdt) - 1, (uintptr_t)gdt};

	__asm__ volatile("lgdt %0\n\t"
			 "pushq %1\n\t"
			 "leaq 1f(%%rip), %%rax\n\t"
			 "pushq %%rax\n\t"
			 "lretq\n"
			 "1:\tmovl %2, %%eax\n\t"
			 "movl %%eax, %%ds\n\t"
			 "movl %%eax, %%es\n\t"
			 "movl %%eax, %%ss\n\t"
			 "ltr %w3"
			 :
			 : "m"(pointer), "i"(SELECTOR_CODE), "i"(SELECTOR_DATA), "r"(SELECTOR_TSS)
			 : "rax", "memory");
}

void gdt_init(void)
{
	for (unsigned i = STACK_NMI; i < STACK_COUNT; i++)
		tss.ist[i - 1] = stacks[i].high;
	tss.io_map_offset = sizeof(tss);
	set_tss_descriptor();
	load();
}
