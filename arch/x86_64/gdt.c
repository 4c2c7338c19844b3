/* SPDX-License-Identifier: BSD-2-Clause */
/* On which stack does a fault run? The TSS names a good one for those that may have none. */
#include "arch/x86_64/gdt.h"

#include "arch/x86_64/image.h"
#include "lib/mem.h"

struct descriptor_pointer {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

static void fill_gdt(struct segments *s)
{
	uint64_t base = (uintptr_t)&s->tss, limit = sizeof(s->tss) - 1, type_present = 0x89;

	s->gdt[0] = 0;
	s->gdt[SELECTOR_CODE / 8] = 0x00af9b000000ffffull;
	s->gdt[SELECTOR_DATA / 8] = 0x00cf93000000ffffull;
	s->gdt[SELECTOR_TSS / 8] =
		limit | (base & 0xffffff) << 16 | type_present << 40 | (base >> 24 & 0xff) << 56;
	s->gdt[SELECTOR_TSS / 8 + 1] = base >> 32;
}

/* FS and GS are left alone: writing a selector would clear the base that holds the canary. */
static void load(const struct segments *s)
{
	struct descriptor_pointer pointer = {sizeof(s->gdt) - 1, (uintptr_t)s->gdt};

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

void segments_load(struct segments *s, const struct stack_area of[STACK_COUNT])
{
	s->tss = (struct tss){.io_map_offset = sizeof(s->tss)};
	for (unsigned i = STACK_NMI; i < STACK_COUNT; i++)
		s->tss.ist[i - 1] = of[i].high;
	fill_gdt(s);
	load(s);
}

void gdt_init(void)
{
	static struct segments boot_segments;

	segments_load(&boot_segments, stacks);
}
