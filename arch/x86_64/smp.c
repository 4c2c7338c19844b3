/* SPDX-License-Identifier: BSD-2-Clause */
/* How are the other CPUs started? Intel SDM vol. 3, 8.4 (multiple-processor initialization). */
#include <arch/machine.h>
#include <arch/system.h>

#include "arch/x86_64/ap_start.h"
#include "arch/x86_64/cpu.h"
#include "arch/x86_64/madt.h"
#include "arch/x86_64/memory.h"
#include "arch/x86_64/percpu.h"
#include "arch/x86_64/skew.h"
#include "arch/x86_64/timer.h"
#include "lib/log.h"
#include "lib/mem.h"

#define XAPIC_ID_MAX	     254
#define TRAMPOLINE_FIRST     0x8000u /* above what firmware keeps for itself */
#define TRAMPOLINE_END	     0xa0000u
#define INIT_WAIT_NS	     10000000u
#define INIT_WAIT_VIRTUAL_NS 200000u
#define STARTUP_WAIT_NS	     1000000u
#define UP_WAIT_NS	     1000000000u /* on a busy host a CPU gets no time for long */

struct ap_start ap_start;
static unsigned nr_up = 1;
static uint32_t trampoline;
static struct cpu *spare; /* made for a CPU that did not come */

static void pause_since(uint64_t start, uint64_t ns)
{
	while (cycles() - start < ns_to_cycles(ns))
		cpu_relax();
}

/* A page of RAM that real mode reaches; the allocator leaves all of them alone. */
static uint32_t find_trampoline(void)
{
	const struct ranges *ram = memory_ram();

	for (unsigned i = 0; i < ram->n; i++) {
		uint64_t start = ram->range[i].start, end = ram->range[i].end;

		start = start > TRAMPOLINE_FIRST ? start : TRAMPOLINE_FIRST;
		end = end < TRAMPOLINE_END ? end : TRAMPOLINE_END;
		if (start + PAGE_BYTES <= end)
			return (uint32_t)start;
	}
	return 0;
}

static struct cpu *make_cpu(void)
{
	struct cpu *cpu = spare ? spare : dma_alloc(sizeof(*cpu), PAGE_BYTES);

	if (spare || !cpu) {
		spare = NULL;
		return cpu;
	}
	cpu->handlers = dma_alloc(DEVICE_VECTORS * sizeof(*cpu->handlers), PAGE_BYTES);
	if (!cpu->handlers || !stacks_make(cpu->stacks)) {
		dma_free(cpu->handlers, DEVICE_VECTORS * sizeof(*cpu->handlers));
		dma_free(cpu, sizeof(*cpu));
		return NULL;
	}
	cpu->self = cpu;
	cpu->start_stack = cpu->stacks[STACK_BOOT].high;
	cpu->armed = TIMER_NOT_ARMED;
	return cpu;
}

static void prepare_start(struct cpu *cpu, uint32_t apic_id)
{
	cpu->index = nr_up;
	cpu_set(nr_up, cpu);
	ap_start.fs_base = msr_read(MSR_FS_BASE);
	ap_start.cr3 = cr3_read();
	ap_start.cr0 = (uint32_t)cr0_read();
	ap_start.cr4 = (uint32_t)cr4_read();
	ap_start.efer = (uint32_t)msr_read(MSR_EFER) & ~EFER_LMA;
	ap_start.apic_id = apic_id;
	__atomic_store_n(&ap_start.cpu, cpu, __ATOMIC_RELEASE);
}

/* Two start-up IPIs, as one may be lost (F-018); the second does nothing to a CPU that runs. */
static bool send_startup(const struct cpu *cpu, uint32_t apic_id)
{
	for (unsigned i = 0; i < 2; i++) {
		if (!lapic_send(apic_id, COMMAND_STARTUP | COMMAND_ASSERT | trampoline >> 12))
			return false;
		if (wait_set(&cpu->up, STARTUP_WAIT_NS))
			return true;
	}
	return wait_set(&cpu->up, UP_WAIT_NS);
}

/*
 * Takes back what was prepared. Whoever has taken it already is on his way; if he does not come
 * either, that memory is his for ever.
 */
static bool give_up(struct cpu *cpu)
{
	if (__atomic_exchange_n(&ap_start.cpu, NULL, __ATOMIC_ACQ_REL))
		spare = cpu;
	else if (wait_set(&cpu->up, UP_WAIT_NS))
		return false;
	else
		skew_release(cpu); /* nobody will ask him: he is to halt */
	cpu_set(nr_up, NULL);
	return true;
}

static bool can_reach(uint32_t apic_id)
{
	return apic_id <= XAPIC_ID_MAX || this_cpu()->lapic == LAPIC_X2APIC;
}

static void start_cpu(uint32_t apic_id)
{
	struct cpu *cpu;

	if (nr_up == CPUS_MAX) {
		log_warn("CPU with APIC id %u: beyond %u CPUs: left out", apic_id, CPUS_MAX);
		return;
	}
	if (!can_reach(apic_id)) {
		log_warn("CPU with APIC id %u: needs the x2APIC: left out", apic_id);
		return;
	}
	cpu = make_cpu();
	if (!cpu) {
		log_warn("CPU with APIC id %u: no memory for it: left out", apic_id);
		return;
	}
	prepare_start(cpu, apic_id);
	if (!send_startup(cpu, apic_id) && give_up(cpu)) {
		log_warn("CPU with APIC id %u: did not start: left out", apic_id);
		return;
	}
	if (!skew_measure(cpu)) {
		log_warn("CPU with APIC id %u: came up and then stopped: left out", apic_id);
		cpu_set(nr_up, NULL);
		return;
	}
	nr_up++;
}

static bool is_up(uint32_t apic_id)
{
	for (unsigned i = 0; i < nr_up; i++)
		if (cpu_of(i)->apic_id == apic_id)
			return true;
	return false;
}

static void for_each_other(void (*call)(uint32_t apic_id))
{
	struct madt_entry entry = {0};
	uint32_t apic_id;

	while (madt_next(&entry))
		if (madt_cpu(&entry, &apic_id) && !is_up(apic_id))
			call(apic_id);
}

unsigned cpus_count(void)
{
	return nr_up;
}

static void send_init(uint32_t apic_id)
{
	if (can_reach(apic_id))
		lapic_send(apic_id, COMMAND_INIT | COMMAND_ASSERT);
}

/* What hardware needs 10 ms for, a hypervisor does at once. */
static uint64_t init_wait_ns(void)
{
	return cpuid(1, 0).ecx >> 31 & 1 ? INIT_WAIT_VIRTUAL_NS : INIT_WAIT_NS;
}

static bool lists_others(void)
{
	struct madt_entry entry = {0};
	unsigned n = 0;
	uint32_t apic_id;

	while (madt_next(&entry))
		n += madt_cpu(&entry, &apic_id);
	return n > 1;
}

static bool place_trampoline(void)
{
	trampoline = find_trampoline();
	if (trampoline)
		memcpy((void *)(uintptr_t)trampoline, ap_trampoline,
		       (uintptr_t)ap_trampoline_end - (uintptr_t)ap_trampoline);
	return trampoline;
}

/* Where there is one CPU, nothing is touched: the first I/O does not wait for what is not there. */
unsigned cpus_start(void)
{
	static bool done;
	uint64_t start;

	if (done || !lists_others())
		return nr_up;
	done = true;
	if (!lapic_enable(this_cpu())) {
		log_warn("CPUs: no local APIC to start the others by");
		return nr_up;
	}
	if (!place_trampoline()) {
		log_warn("CPUs: no RAM below 640 KiB to start the others from");
		return nr_up;
	}
	start = cycles();
	for_each_other(send_init);
	timer_choose(); /* now, as the others must not do it at once; it takes most of the wait */
	pause_since(start, init_wait_ns());
	for_each_other(start_cpu);
	return nr_up;
}
