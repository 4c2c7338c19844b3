/* SPDX-License-Identifier: BSD-2-Clause */
/* Which local APIC has this CPU, and how are its registers reached? Each CPU asks for itself. */
#include "arch/x86_64/lapic.h"

#include <arch/machine.h>

#include "arch/x86_64/cpu.h"
#include "arch/x86_64/ioapic.h"
#include "arch/x86_64/lapic_mode.h"
#include "arch/x86_64/percpu.h"
#include "lib/log.h"

#define MSR_APIC_BASE	     0x1bu
#define APIC_BASE_ADDRESS    0x000ffffffffff000ull
#define MSR_X2APIC	     0x800u
#define XAPIC_BYTES	     4096
#define SPURIOUS_ENABLE	     (1u << 8)
#define COMMAND_PENDING	     (1u << 12)
#define COMMAND_POLLS_MIN    1000
#define COMMAND_WAIT_NS	     1000000
#define VERSION_LVT_SHIFT    16
#define LVT_WITH_THERMAL     5 /* the highest entry's number where there is such an entry */
#define LVT_WITH_COUNTERS    4
#define LVT_WITH_CMCI	     6
#define IN_SERVICE_REGISTERS 8

static volatile char *xapic;

static uint32_t msr_of(enum lapic_register reg)
{
	return MSR_X2APIC + reg / 16;
}

uint32_t lapic_read(enum lapic_register reg)
{
	if (this_cpu()->lapic == LAPIC_X2APIC)
		return (uint32_t)msr_read(msr_of(reg));
	return mmio_read32(xapic + reg);
}

void lapic_write(enum lapic_register reg, uint32_t value)
{
	if (this_cpu()->lapic == LAPIC_X2APIC)
		msr_write(msr_of(reg), value);
	else
		mmio_write32(xapic + reg, value);
}

void lapic_eoi(void)
{
	lapic_write(LAPIC_EOI, 0);
}

static uint32_t in_service_bits(unsigned index)
{
	return lapic_read((enum lapic_register)(LAPIC_IN_SERVICE + index * 16));
}

bool lapic_in_service(unsigned vector)
{
	if (this_cpu()->lapic < LAPIC_XAPIC)
		return false;
	return in_service_bits(vector / 32) >> vector % 32 & 1;
}

static bool command_left(void)
{
	uint64_t end = cycles() + ns_to_cycles(COMMAND_WAIT_NS);

	for (unsigned polls = 0; polls < COMMAND_POLLS_MIN || cycles() < end; polls++) {
		if (!(lapic_read(LAPIC_COMMAND) & COMMAND_PENDING))
			return true;
		cpu_relax();
	}
	return false;
}

/* WRMSR to an x2APIC does not wait for earlier stores (SDM vol. 3, 10.12.3): the fences do. */
bool lapic_send(uint32_t apic_id, uint32_t command)
{
	if (this_cpu()->lapic == LAPIC_X2APIC) {
		__asm__ volatile("mfence\n\tlfence" ::: "memory");
		msr_write(msr_of(LAPIC_COMMAND), (uint64_t)apic_id << 32 | command);
		return true;
	}
	if (!command_left())
		return false;
	lapic_write(LAPIC_COMMAND_HIGH, apic_id << 24);
	lapic_write(LAPIC_COMMAND, command);
	return true;
}

/* CPUID's bit is also clear where the APIC is switched off for good. */
static enum lapic_mode choose_mode(void)
{
	struct cpuid_regs features = cpuid(1, 0);
	uint64_t base, next;
	bool x2apic;

	if (!(features.edx >> 9 & 1))
		return LAPIC_NONE;
	base = msr_read(MSR_APIC_BASE);
	x2apic = lapic_wants_x2apic(features.ecx, cpu_of(0)->lapic == LAPIC_X2APIC);
	for (; (next = lapic_next_base(base, x2apic)) != base; base = next)
		msr_write(MSR_APIC_BASE, next);
	if (base & APIC_BASE_X2APIC)
		return LAPIC_X2APIC;
	if (!xapic)
		xapic = mmio_map(base & APIC_BASE_ADDRESS, XAPIC_BYTES);
	return xapic ? LAPIC_XAPIC : LAPIC_NONE;
}

/* LINT0 would bring the 8259's interrupts, so it is masked; LINT1 brings NMIs. */
static void set_local_vectors(void)
{
	unsigned last = lapic_read(LAPIC_VERSION) >> VERSION_LVT_SHIFT & 0xff;

	lapic_write(LAPIC_LVT_TIMER, LVT_MASKED | VECTOR_TIMER);
	lapic_write(LAPIC_LVT_LINT0, LVT_MASKED);
	lapic_write(LAPIC_LVT_LINT1, LVT_NMI);
	if (last >= LVT_WITH_COUNTERS)
		lapic_write(LAPIC_LVT_COUNTERS, LVT_MASKED);
	if (last >= LVT_WITH_THERMAL)
		lapic_write(LAPIC_LVT_THERMAL, LVT_MASKED);
	if (last >= LVT_WITH_CMCI)
		lapic_write(LAPIC_LVT_CMCI, LVT_MASKED);
	lapic_write(LAPIC_ERROR_STATUS, 0);
	lapic_write(LAPIC_LVT_ERROR, VECTOR_ERROR);
}

/* What firmware took and never ended would hold back every lower vector. */
static void end_left_over(void)
{
	for (unsigned i = 0; i < IN_SERVICE_REGISTERS; i++)
		for (uint32_t bits = in_service_bits(i); bits; bits &= bits - 1)
			lapic_eoi();
}

bool lapic_enable(struct cpu *cpu)
{
	if (cpu->lapic != LAPIC_NOT_ASKED)
		return cpu->lapic != LAPIC_NONE;
	cpu->lapic = choose_mode();
	if (cpu->lapic == LAPIC_NONE)
		return false;
	cpu->apic_id = lapic_read(LAPIC_ID);
	if (cpu->lapic == LAPIC_XAPIC)
		cpu->apic_id >>= 24;
	lapic_write(LAPIC_SPURIOUS, SPURIOUS_ENABLE | VECTOR_SPURIOUS);
	set_local_vectors();
	end_left_over();
	lapic_write(LAPIC_TASK_PRIORITY, 0);
	if (cpu == cpu_of(0))
		ioapic_mask_all();
	return true;
}
