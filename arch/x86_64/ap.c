/* SPDX-License-Identifier: BSD-2-Clause */
/* What does a CPU other than the first do? It halts until it is given something to run. */
#include <arch/machine.h>
#include <arch/system.h>

#include "arch/x86_64/cpu.h"
#include "arch/x86_64/percpu.h"
#include "arch/x86_64/trap.h"

static _Noreturn void stay(struct cpu *cpu)
{
	for (;;) {
		void (*fn)(void *) = __atomic_load_n(&cpu->run, __ATOMIC_ACQUIRE);

		if (!fn) {
			interrupt_wait(UINT64_MAX);
			continue;
		}
		fn(cpu->run_context);
		__atomic_store_n(&cpu->run, NULL, __ATOMIC_RELEASE);
	}
}

void ap_main(struct cpu *cpu)
{
	segments_load(&cpu->segments, cpu->stacks);
	msr_write(MSR_GS_BASE, (uintptr_t)cpu);
	idt_load();
	if (!lapic_enable(cpu))
		panic("CPU %u has no local APIC, and was started by one", cpu->index);
	__atomic_store_n(&cpu->up, true, __ATOMIC_RELEASE);
	stay(cpu);
}

void cpu_run(unsigned cpu, void (*fn)(void *context), void *context)
{
	struct cpu *target = cpu_of(cpu);

	if (!target)
		panic("cpu_run: there is no CPU %u", cpu);
	if (target == this_cpu()) {
		fn(context);
		return;
	}
	while (__atomic_load_n(&target->run, __ATOMIC_ACQUIRE))
		cpu_relax();
	target->run_context = context;
	__atomic_store_n(&target->run, fn, __ATOMIC_RELEASE);
	cpu_wake(cpu);
}
