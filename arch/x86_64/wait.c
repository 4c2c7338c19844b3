/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a CPU sleep without missing what it sleeps for? */
#include <arch/machine.h>

#include "arch/x86_64/percpu.h"
#include "arch/x86_64/timer.h"

/* STI takes effect after the next instruction: nothing can come in between it and HLT. */
static inline void halt(void)
{
	__asm__ volatile("sti\n\thlt\n\tcli" ::: "memory");
}

static inline void let_pending_in(void)
{
	__asm__ volatile("sti\n\tnop\n\tcli" ::: "memory");
}

/* The timer is a reason to look at the time, never the deadline itself: it may be early. */
void interrupt_wait(uint64_t deadline)
{
	struct cpu *cpu = this_cpu();
	uint64_t handled = cpu->handled;

	if (!lapic_enable(cpu)) {
		while (cycles() < deadline)
			cpu_relax();
		return;
	}
	do {
		if (cycles() < deadline && timer_arm(cpu, deadline))
			halt();
		else
			let_pending_in();
	} while (*(volatile uint64_t *)&cpu->handled == handled && cycles() < deadline);
}
