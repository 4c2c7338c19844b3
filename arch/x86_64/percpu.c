/* SPDX-License-Identifier: BSD-2-Clause */
/* Which CPU runs this? */
#include "arch/x86_64/percpu.h"

#include <arch/machine.h>

#include "arch/x86_64/cpu.h"

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
