/* SPDX-License-Identifier: BSD-2-Clause */
/* How is the local APIC of this CPU reached? Intel SDM vol. 3, chapter 10 (APIC). */
#ifndef ARCH_X86_64_LAPIC_H
#define ARCH_X86_64_LAPIC_H

#include <stdbool.h>
#include <stdint.h>

struct cpu;

enum lapic_mode {
	LAPIC_NOT_ASKED,
	LAPIC_NONE,
	LAPIC_XAPIC, /* registers in memory */
	LAPIC_X2APIC /* registers are MSRs */
};

/* Offsets of the xAPIC's page; the x2APIC's MSRs are 0x800 + offset / 16. */
enum lapic_register {
	LAPIC_ID = 0x020,
	LAPIC_VERSION = 0x030,
	LAPIC_TASK_PRIORITY = 0x080,
	LAPIC_EOI = 0x0b0,
	LAPIC_SPURIOUS = 0x0f0,
	LAPIC_IN_SERVICE = 0x100,
	LAPIC_ERROR_STATUS = 0x280,
	LAPIC_LVT_CMCI = 0x2f0,
	LAPIC_COMMAND = 0x300,
	LAPIC_COMMAND_HIGH = 0x310,
	LAPIC_LVT_TIMER = 0x320,
	LAPIC_LVT_THERMAL = 0x330,
	LAPIC_LVT_COUNTERS = 0x340,
	LAPIC_LVT_LINT0 = 0x350,
	LAPIC_LVT_LINT1 = 0x360,
	LAPIC_LVT_ERROR = 0x370,
	LAPIC_TIMER_INITIAL = 0x380,
	LAPIC_TIMER_CURRENT = 0x390,
	LAPIC_TIMER_DIVIDE = 0x3e0
};

#define LVT_NMI	   (4u << 8)
#define LVT_MASKED (1u << 16)

/* Of LAPIC_COMMAND. */
#define COMMAND_FIXED	0u
#define COMMAND_NMI	(4u << 8)
#define COMMAND_INIT	(5u << 8)
#define COMMAND_STARTUP (6u << 8)
#define COMMAND_ASSERT	(1u << 14)

/*
 * Finds out in which mode the local APIC of @cpu, the one that runs this, is, and enables it
 * (lapic_mode.h); on the first CPU, no line leads anywhere afterwards. Once; it costs a comparison
 * later on. False if there is none.
 */
bool lapic_enable(struct cpu *cpu);

/* The rest needs lapic_enable() to have said true on this CPU. */
uint32_t lapic_read(enum lapic_register reg);
void lapic_write(enum lapic_register reg, uint32_t value);
void lapic_eoi(void);

/* Whether @vector awaits its EOI; false where there is no local APIC. */
bool lapic_in_service(unsigned vector);

/* Sends an interprocessor interrupt; false if the one before did not leave within about 1 ms. */
bool lapic_send(uint32_t apic_id, uint32_t command);

#endif
