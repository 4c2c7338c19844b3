/* SPDX-License-Identifier: BSD-2-Clause */
/* Where does a fake interrupt go? To its handler, inside interrupt_wait() of its CPU only. */
#include <string.h>

#include <arch/machine.h>

#include "tests/host/fake_inside.h"

#define CPUS	     8
#define VECTOR_FIRST 32u
#define LINE_VECTOR  31u /* what an INTx has for its vector */
#define LINES	     16
#define MSI_BASE     0xfee00000u

static struct slot {
	void (*handler)(void *context);
	void *context;
	bool pending; /* also set by a device's thread */
} slots[CPUS][256];

static struct sharer {
	const struct interrupt *irq; /* by which it is freed */
	uint8_t line;
	unsigned cpu;
	bool (*handler)(void *context);
	void *context;
} sharers[LINES];

static bool woken[CPUS];
static _Thread_local unsigned thread_cpu; /* one more than the number; 0: host.cpu says */

void fake_apic_reset(void)
{
	memset(slots, 0, sizeof(slots));
	memset(sharers, 0, sizeof(sharers));
	memset(woken, 0, sizeof(woken));
}

unsigned cpu_index(void)
{
	return thread_cpu ? thread_cpu - 1 : host.cpu;
}

void host_thread_is(unsigned cpu)
{
	thread_cpu = cpu + 1;
}

bool interrupt_allocate(struct interrupt *irq, unsigned cpu, void (*handler)(void *context),
			void *context)
{
	unsigned vector = VECTOR_FIRST;

	if (host.fail_interrupt > 0 && --host.fail_interrupt == 0)
		return false;
	while (cpu < CPUS && vector < VECTOR_FIRST + host.cpu_vectors && slots[cpu][vector].handler)
		vector++;
	if (cpu >= CPUS || vector >= VECTOR_FIRST + host.cpu_vectors)
		return false;
	slots[cpu][vector] = (struct slot){.handler = handler, .context = context};
	*irq = (struct interrupt){cpu, (uint8_t)vector};
	host.interrupts_live++;
	return true;
}

bool interrupt_intx(struct interrupt *irq, uint8_t line, bool (*handler)(void *context),
		    void *context)
{
	unsigned i = 0;

	while (i < LINES && sharers[i].handler)
		i++;
	if (host.no_ioapic || i == LINES || irq->cpu >= CPUS)
		return false;
	sharers[i] = (struct sharer){irq, line, irq->cpu, handler, context};
	irq->vector = LINE_VECTOR;
	host.interrupts_live++;
	return true;
}

void interrupt_free(struct interrupt *irq)
{
	struct slot *slot = &slots[irq->cpu % CPUS][irq->vector];
	bool found = slot->handler != NULL;
	unsigned i;

	memset(slot, 0, sizeof(*slot));
	for (i = 0; i < LINES && irq->vector == LINE_VECTOR; i++)
		if (sharers[i].irq == irq) {
			memset(&sharers[i], 0, sizeof(sharers[i]));
			found = true;
		}
	if (found)
		host.interrupts_live--;
	else
		fake_violate("interrupt_free: vector %u of CPU %u is not allocated", irq->vector,
			     irq->cpu);
	irq->vector = 0;
}

struct msi_message interrupt_message(const struct interrupt *irq)
{
	return (struct msi_message){MSI_BASE | (uint64_t)irq->cpu << 12, irq->vector};
}

void fake_apic_message(uint64_t address, uint32_t data)
{
	unsigned cpu = (unsigned)(address >> 12 & 0xff);

	if ((address & ~0xff000ull) != MSI_BASE || cpu >= CPUS || data > 0xff ||
	    !slots[cpu][data].handler)
		fake_violate("F-123: message %#x to %#llx, which nobody allocated", data,
			     (unsigned long long)address);
	else
		__atomic_store_n(&slots[cpu][data].pending, true, __ATOMIC_RELEASE);
}

void cpu_wake(unsigned cpu)
{
	host_add(&host.wakes, 1);
	if (cpu < CPUS)
		__atomic_store_n(&woken[cpu], true, __ATOMIC_RELEASE);
}

/* ---- Waiting ---- */

static bool line_up(uint8_t line)
{
	const struct fake_disk *disk;

	for (disk = fake_disks(); disk; disk = disk->next)
		if (disk->line == line && fake_line_up(disk))
			return true;
	return false;
}

/* All sharers are asked: with a level-triggered line nobody knows which of them it was. */
static bool ask_sharers(uint8_t line)
{
	bool claimed = false;
	unsigned i;

	for (i = 0; i < LINES; i++)
		if (sharers[i].handler && sharers[i].line == line)
			claimed |= sharers[i].handler(sharers[i].context);
	host.intx_interrupts++;
	host.intx_unclaimed += !claimed;
	return true;
}

static bool handle_lines(void)
{
	bool handled = false;
	unsigned i;

	for (i = 0; i < LINES; i++)
		if (sharers[i].handler && sharers[i].cpu == cpu_index() && line_up(sharers[i].line))
			handled |= ask_sharers(sharers[i].line);
	return handled;
}

static bool handle_messages(void)
{
	bool handled = false;
	unsigned vector;

	for (vector = VECTOR_FIRST; vector < 256; vector++) {
		struct slot *slot = &slots[cpu_index()][vector];

		if (!__atomic_exchange_n(&slot->pending, false, __ATOMIC_ACQUIRE))
			continue;
		host_add(&host.interrupts, 1);
		slot->handler(slot->context);
		handled = true;
	}
	return handled;
}

void interrupt_wait(uint64_t deadline)
{
	bool handled;

	host_add(&host.waits, 1);
	for (;;) {
		handled = __atomic_exchange_n(&woken[cpu_index()], false, __ATOMIC_ACQUIRE);
		handled |= handle_messages();
		handled |= handle_lines();
		if (handled)
			return;
		if (__atomic_load_n(&host.clock_ns, __ATOMIC_RELAXED) >= deadline ||
		    fake_violation())
			break;
		host_relax();
	}
	host_add(&host.waits_in_vain, 1);
}
