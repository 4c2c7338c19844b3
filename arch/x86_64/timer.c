/* SPDX-License-Identifier: BSD-2-Clause */
/* How is the local APIC's timer set to a time on the TSC? Intel SDM vol. 3, 10.5.4. */
#include "arch/x86_64/timer.h"

#include <arch/machine.h>

#include "arch/x86_64/cpu.h"
#include "arch/x86_64/percpu.h"
#include "lib/log.h"
#include "lib/wide.h"

#define MSR_TSC_DEADLINE 0x6e0u
#define LVT_TSC_DEADLINE (2u << 17)
#define DIVIDE_BY_1	 0xbu
#define COUNT_MAX	 UINT32_MAX
#define WINDOW_NS	 400000
#define LOOKS		 8

enum timer_kind { TIMER_NOT_ASKED, TIMER_STOPPED, TIMER_DEADLINE, TIMER_COUNT };

/* All CPUs have the same, and the same rate: the first that asks finds out. */
static enum timer_kind kind;
static uint64_t ticks_per_cycle; /* times 2^32 */

struct look {
	uint64_t cycles;
	uint32_t count;
};

/* The narrowest of several: what came between on a busy host is not counted. */
static struct look look(void)
{
	struct look best = {0};
	uint64_t narrowest = UINT64_MAX;

	for (unsigned i = 0; i < LOOKS; i++) {
		uint64_t before = cycles();
		uint32_t count = lapic_read(LAPIC_TIMER_CURRENT);
		uint64_t width = cycles() - before;

		if (width < narrowest) {
			narrowest = width;
			best = (struct look){before + width / 2, count};
		}
	}
	return best;
}

static void measure(void)
{
	struct look first, last;
	uint64_t start;

	lapic_write(LAPIC_LVT_TIMER, LVT_MASKED | VECTOR_TIMER);
	lapic_write(LAPIC_TIMER_DIVIDE, DIVIDE_BY_1);
	lapic_write(LAPIC_TIMER_INITIAL, COUNT_MAX);
	first = look();
	start = cycles();
	while (cycles() - start < ns_to_cycles(WINDOW_NS))
		cpu_relax();
	last = look();
	lapic_write(LAPIC_TIMER_INITIAL, 0);
	ticks_per_cycle =
		wide_div((u128)(first.count - last.count) << 32, last.cycles - first.cycles);
}

static bool has_tsc_deadline(void)
{
	return cpuid(1, 0).ecx >> 24 & 1;
}

void timer_choose(void)
{
	if (kind != TIMER_NOT_ASKED)
		return;
	kind = TIMER_DEADLINE;
	if (has_tsc_deadline())
		return;
	measure();
	kind = ticks_per_cycle ? TIMER_COUNT : TIMER_STOPPED;
	if (kind == TIMER_STOPPED)
		log_warn("timer: the local APIC's does not count: waiting without halting");
}

static void prepare(struct cpu *cpu)
{
	timer_choose();
	if (kind == TIMER_DEADLINE)
		lapic_write(LAPIC_LVT_TIMER, LVT_TSC_DEADLINE | VECTOR_TIMER);
	if (kind == TIMER_COUNT) {
		lapic_write(LAPIC_TIMER_DIVIDE, DIVIDE_BY_1);
		lapic_write(LAPIC_LVT_TIMER, VECTOR_TIMER);
	}
	barrier_full(); /* the mode is set before the first deadline */
	cpu->timer_ready = true;
}

static uint32_t ticks_until(uint64_t deadline)
{
	uint64_t now = cycles();
	u128 ticks = deadline > now ? ((u128)(deadline - now) * ticks_per_cycle >> 32) + 1 : 1;

	return ticks < COUNT_MAX ? (uint32_t)ticks : COUNT_MAX;
}

bool timer_arm(struct cpu *cpu, uint64_t deadline)
{
	if (deadline >= cpu->armed)
		return true;
	if (!cpu->timer_ready)
		prepare(cpu);
	if (kind == TIMER_STOPPED)
		return false;
	if (kind == TIMER_DEADLINE)
		msr_write(MSR_TSC_DEADLINE, deadline);
	else
		lapic_write(LAPIC_TIMER_INITIAL, ticks_until(deadline));
	cpu->armed = deadline;
	return true;
}
