/* SPDX-License-Identifier: BSD-2-Clause */
/* Which CPU runs this? */
#include "arch/x86_64/percpu.h"

#include <arch/machine.h>
#include <arch/system.h>

#include "arch/x86_64/cpu.h"

#define POLLS_MIN 1000

static struct handler boot_handlers[DEVICE_VECTORS];
static struct cpu boot_cpu = {
	.self = &boot_cpu,
	.armed = TIMER_NOT_ARMED,
	.handlers = boot_handlers,
};

static struct cpu *cpus[CPUS_MAX] = {&boot_cpu};

void percpu_init(void)
{
	msr_write(MSR_GS_BASE, (uintptr_t)&boot_cpu);
}

struct cpu *cpu_of(unsigned index)
{
	return index < CPUS_MAX ? cpus[index] : NULL;
}

void cpu_set(unsigned index, struct cpu *cpu)
{
	cpus[index] = cpu;
}

unsigned cpu_index(void)
{
	return this_cpu()->index;
}

void boot_cpu_only(const char *call)
{
	if (this_cpu() != &boot_cpu)
		panic("%s on CPU %u: only CPU 0 may, while no job runs", call, cpu_index());
	if (boot_cpu.in_handler)
		panic("%s in the handler of an interrupt", call);
}

bool wait_set(const bool *flag, uint64_t ns)
{
	uint64_t start = cycles(), wait = ns_to_cycles(ns);

	for (unsigned polls = 0; polls < POLLS_MIN || cycles() - start < wait; polls++) {
		if (__atomic_load_n(flag, __ATOMIC_ACQUIRE))
			return true;
		cpu_relax();
	}
	return false;
}
