/* SPDX-License-Identifier: BSD-2-Clause */
/* What does the CPU do at each vector? All 256 lead to traps.S; the 8259s are kept silent. */
#include <arch/machine.h>
#include <arch/system.h>

#include "arch/x86_64/gdt.h"
#include "arch/x86_64/image.h"
#include "arch/x86_64/percpu.h"
#include "arch/x86_64/trap.h"

#define STUB_BYTES	16   /* as in traps.S */
#define GATE_INTERRUPT	0x8e /* present, ring 0, clears IF */
#define PIC_MASTER_MASK 0x21
#define PIC_SLAVE_MASK	0xa1

struct gate {
	uint16_t offset_low, selector;
	uint8_t ist, type;
	uint16_t offset_mid;
	uint32_t offset_high, reserved;
};

struct descriptor_pointer {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

extern const char trap_stubs[];
static struct gate idt[VECTORS];

/* A stack overflow shows as a page fault on the guard page: that too needs a stack of its own. */
static uint8_t ist_of(unsigned vector)
{
	switch (vector) {
	case VECTOR_NMI:
		return STACK_NMI;
	case VECTOR_DOUBLE_FAULT:
		return STACK_DOUBLE_FAULT;
	case VECTOR_MACHINE_CHECK:
		return STACK_MACHINE_CHECK;
	case VECTOR_PAGE_FAULT:
		return STACK_PAGE_FAULT;
	default:
		return 0;
	}
}

void idt_load(void)
{
	struct descriptor_pointer pointer = {sizeof(idt) - 1, (uintptr_t)idt};

	__asm__ volatile("lidt %0" : : "m"(pointer) : "memory");
}

void idt_init(void)
{
	for (unsigned vector = 0; vector < VECTORS; vector++) {
		uint64_t stub = (uintptr_t)trap_stubs + vector * STUB_BYTES;

		idt[vector] = (struct gate){
			.offset_low = (uint16_t)stub,
			.selector = SELECTOR_CODE,
			.ist = ist_of(vector),
			.type = GATE_INTERRUPT,
			.offset_mid = (uint16_t)(stub >> 16),
			.offset_high = (uint32_t)(stub >> 32),
		};
	}
	idt_load();
}

void traps_init(void)
{
	gdt_init();
	percpu_init();
	idt_init();
	port_write8(PIC_MASTER_MASK, 0xff);
	port_write8(PIC_SLAVE_MASK, 0xff);
}
