/* SPDX-License-Identifier: BSD-2-Clause */
/* What does a CPU other than the first do? It halts until it is given something to run. */
#include <arch/machine.h>
#include <arch/system.h>

#include "arch/x86_64/cpu.h"
#include "arch/x86_64/percpu.h"
#include "arch/x86_64/skew.h"
#include "arch/x86_64/trap.h"

#define IDLE_WAIT_NS 10000000000ull

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
	msr_write(MSR_GS_BASE, (uintptr_t)cpu);
	idt_load();
	segments_load(&cpu->segments, cpu->stacks);
	if (!lapic_enable(cpu))
		panic("CPU %u has no local APIC, and was started by one", cpu->index);
	__atomic_store_n(&cpu->up, true, __ATOMIC_RELEASE);
	skew_answer(cpu);
	stay(cpu);
}

static bool wait_idle(const struct cpu *cpu)
{
	uint64_t start = cycles(), wait = ns_to_cycles(IDLE_WAIT_NS);

	while (__atomic_load_n(&cpu->run, __ATOMIC_ACQUIRE)) {
		if (cycles() - start > wait)
			return false;
		cpu_relax();
	}
	return true;
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
	if (!wait_idle(target))
		panic("cpu_run: CPU %u still runs what it was given before, after %llu ms", cpu,
		      IDLE_WAIT_NS / 1000000);
	target->run_context = context;
	__atomic_store_n(&target->run, fn, __ATOMIC_RELEASE);
	cpu_wake(cpu);
}

static void nothing(void *context)
{
	(void)context;
}

/* It runs nothing while it is in a handler. */
void cpu_settle(unsigned cpu)
{
	cpu_run(cpu, nothing, NULL);
	if (!wait_idle(cpu_of(cpu)))
		panic("CPU %u is still in an interrupt, or in what it was given to run, after %llu ms",
		      cpu, IDLE_WAIT_NS / 1000000);
}
