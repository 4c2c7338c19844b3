/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is called at a vector? Each CPU has its own table of handlers. */
#include "arch/x86_64/interrupt.h"

#include <arch/machine.h>
#include <arch/system.h>

#include "arch/x86_64/intx.h"
#include "arch/x86_64/percpu.h"

/* Intel SDM vol. 3, 10.11: a message names a CPU by 8 bits, of which 255 means all. */
#define MESSAGE_ADDRESS	    0xfee00000u
#define MESSAGE_APIC_ID_MAX 254
#define WAKE_TRIES	    100 /* of 1 ms */

static struct handler *handler_of(const struct cpu *cpu, unsigned vector)
{
	return &cpu->handlers[vector - VECTOR_DEVICE_FIRST];
}

/* Vectors are taken in turn, so that a late interrupt of a former owner rarely meets a new one. */
static unsigned take_vector(struct cpu *cpu)
{
	for (unsigned i = 0; i < DEVICE_VECTORS; i++) {
		unsigned at = (cpu->next_vector + i) % DEVICE_VECTORS;

		if (cpu->handlers[at].function)
			continue;
		cpu->next_vector = at + 1;
		return VECTOR_DEVICE_FIRST + at;
	}
	return 0;
}

/* A CPU other than this one has enabled its local APIC when it came up. */
static bool can_receive(struct cpu *cpu)
{
	if (!cpu || (cpu == this_cpu() ? !lapic_enable(cpu) : cpu->lapic < LAPIC_XAPIC))
		return false;
	return cpu->apic_id <= MESSAGE_APIC_ID_MAX;
}

bool interrupt_allocate(struct interrupt *irq, unsigned cpu, void (*handler)(void *), void *context)
{
	struct cpu *target = cpu_of(cpu);
	struct handler *h;

	boot_cpu_only("interrupt_allocate");
	*irq = (struct interrupt){.cpu = cpu};
	if (!can_receive(target))
		return false;
	irq->vector = (uint8_t)take_vector(target);
	if (!irq->vector)
		return false;
	h = handler_of(target, irq->vector);
	h->context = context;
	__atomic_store_n(&h->function, handler, __ATOMIC_RELEASE);
	return true;
}

void interrupt_free(struct interrupt *irq)
{
	struct handler *h;

	boot_cpu_only("interrupt_free");
	if (!irq->vector)
		return;
	if (irq->share) {
		intx_free(irq);
	} else {
		h = handler_of(cpu_of(irq->cpu), irq->vector);
		__atomic_store_n(&h->function, NULL, __ATOMIC_RELEASE);
	}
	cpu_settle(irq->cpu); /* what the handler uses may go */
	*irq = (struct interrupt){.cpu = irq->cpu};
}

struct msi_message interrupt_message(const struct interrupt *irq)
{
	return (struct msi_message){
		.address = MESSAGE_ADDRESS | cpu_of(irq->cpu)->apic_id << 12,
		.data = irq->vector, /* fixed, edge */
	};
}

/* SDM vol. 3, 10.5.3: a write makes the register show what happened since the last one. */
static void count_error(struct cpu *cpu)
{
	lapic_write(LAPIC_ERROR_STATUS, 0);
	cpu->error_bits |= lapic_read(LAPIC_ERROR_STATUS);
	cpu->errors++;
}

static bool call_handler(struct cpu *cpu, unsigned vector)
{
	const struct handler *h = handler_of(cpu, vector);
	void (*function)(void *) = __atomic_load_n(&h->function, __ATOMIC_ACQUIRE);

	if (!function)
		return false;
	cpu->handled++;
	cpu->in_handler = true;
	function(h->context);
	cpu->in_handler = false;
	return true;
}

/*
 * The spurious vector takes no EOI (SDM vol. 3, 10.9), nor does one that did not come by way of the
 * local APIC; one that has no handler any more does (F-127, F-128).
 */
static bool count_unexpected(struct cpu *cpu, unsigned vector)
{
	if (vector == VECTOR_SPURIOUS)
		cpu->spurious++;
	else
		cpu->unexpected++;
	return lapic_in_service(vector);
}

static bool dispatch(struct cpu *cpu, unsigned vector)
{
	switch (vector) {
	case VECTOR_SPURIOUS:
		return count_unexpected(cpu, vector);
	case VECTOR_ERROR:
		count_error(cpu);
		return true;
	case VECTOR_TIMER:
		cpu->armed = TIMER_NOT_ARMED;
		return true;
	case VECTOR_WAKE:
		cpu->handled++;
		return true;
	default:
		return call_handler(cpu, vector) || count_unexpected(cpu, vector);
	}
}

void interrupt_dispatch(unsigned vector)
{
	if (dispatch(this_cpu(), vector))
		lapic_eoi();
}

void cpu_wake(unsigned cpu)
{
	const struct cpu *target = cpu_of(cpu);

	if (!target || !lapic_enable(this_cpu()) || target->lapic < LAPIC_XAPIC)
		return;
	for (unsigned i = 0; i < WAKE_TRIES; i++)
		if (lapic_send(target->apic_id, COMMAND_FIXED | COMMAND_ASSERT | VECTOR_WAKE))
			return;
	panic("CPU %u: its local APIC does not send the interrupt that wakes CPU %u",
	      this_cpu()->index, cpu);
}

void interrupt_stats(unsigned cpu, struct interrupt_stats *stats)
{
	const struct cpu *of = cpu_of(cpu);

	*stats = (struct interrupt_stats){0};
	if (!of)
		return;
	stats->handled = of->handled;
	stats->spurious = of->spurious;
	stats->unexpected = of->unexpected;
	stats->errors = of->errors;
	stats->error_bits = of->error_bits;
}
