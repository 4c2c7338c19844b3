/* SPDX-License-Identifier: BSD-2-Clause */
/* How do a device's interrupts reach its queues, and what if there are too few? (4.1.5.1.2, 4.1.5.5) */
#include "drivers/virtio/irq.h"

#include "lib/format.h"
#include "lib/log.h"

#define PCI_INTERRUPT_LINE 0x3c
#define PCI_INTERRUPT_PIN  0x3d
#define LINE_UNKNOWN	   0xff

/* ISR status (4.1.4.5). */
#define ISR_QUEUE  1u
#define ISR_CONFIG 2u

enum { ENTRY_CONFIG = 0, ENTRY_QUEUES = 1 };

enum step { STEP_OWN, STEP_SHARED, STEP_ONE, STEPS };
static const char *const step_name[STEPS] = {
	"an MSI-X vector for each queue",
	"an MSI-X vector that the queues share",
	"one MSI-X vector for all",
};

/* Why a step failed. */
struct why {
	char text[VIRTIO_IRQ_WHY];
};
#define because(why, ...) (format((why)->text, sizeof((why)->text), __VA_ARGS__), false)

/* The first reason why a queue has no vector of its own is the one that is kept. */
static void not_own(struct virtio_irqs *irqs, const char *why)
{
	if (!irqs->not_own[0])
		format(irqs->not_own, sizeof(irqs->not_own), "%s", why);
}

/* ---- When one is raised ---- */

static void tell_queues(const struct virtio_irqs *irqs, enum virtio_irq got, uint16_t vector)
{
	unsigned here = cpu_index();

	for (unsigned i = 0; i < irqs->n; i++) {
		const struct virtio_irq_queue *q = &irqs->queue[i];

		if (q->got != got || q->vector != vector)
			continue;
		q->handler(q->context);
		if (q->cpu != here)
			cpu_wake(q->cpu);
	}
}

/* 4.1.5.4.2: one message may mean both, and the ISR status is not read to find out. */
static void shared_raised(void *context)
{
	const struct virtio_irq_shared *shared = context;
	const struct virtio_irqs *irqs = shared->irqs;

	if (shared->vector == irqs->config_vector)
		irqs->config_handler(irqs->config_context);
	tell_queues(irqs, VIRTIO_IRQ_SHARED, shared->vector);
}

/* 4.1.4.5: the read also clears it and lowers the line, so both causes come from this one value. */
static bool intx_raised(void *context)
{
	const struct virtio_irqs *irqs = context;
	uint8_t isr = region_read8(&irqs->dev->isr, 0);

	if ((isr & ISR_CONFIG) && irqs->config_handler)
		irqs->config_handler(irqs->config_context);
	if (isr & ISR_QUEUE)
		tell_queues(irqs, VIRTIO_IRQ_INTX, VIRTIO_NO_VECTOR);
	return isr & (ISR_QUEUE | ISR_CONFIG);
}

/* ---- MSI-X ---- */

static unsigned count(const struct virtio_irqs *irqs, bool with_vector)
{
	unsigned n = 0;

	for (unsigned i = 0; i < irqs->n; i++)
		n += irqs->queue[i].wanted &&
		     (!with_vector || irqs->queue[i].vector != VIRTIO_NO_VECTOR);
	return n;
}

static unsigned entries_needed(const struct virtio_irqs *irqs, enum step step)
{
	if (step == STEP_OWN)
		return count(irqs, false) + 1;
	return step == STEP_SHARED ? 2 : 1;
}

/* Where shared ones lead: to the CPU of the first queue that wants one. */
static unsigned shared_cpu(const struct virtio_irqs *irqs)
{
	for (unsigned i = 0; i < irqs->n; i++)
		if (irqs->queue[i].wanted)
			return irqs->queue[i].cpu;
	return 0;
}

static void give_back(const struct virtio_irqs *irqs, struct interrupt *interrupt, unsigned vector)
{
	if (!interrupt->vector)
		return;
	if (irqs->msix_on)
		msix_mask(&irqs->msix, vector);
	interrupt_free(interrupt);
	*interrupt = (struct interrupt){0};
}

static void forget(struct virtio_irqs *irqs)
{
	for (unsigned i = 0; i < irqs->n; i++) {
		struct virtio_irq_queue *q = &irqs->queue[i];

		give_back(irqs, &q->interrupt, q->vector);
		q->got = VIRTIO_IRQ_NONE;
		q->vector = VIRTIO_NO_VECTOR;
	}
	for (unsigned i = 0; i < 2; i++)
		give_back(irqs, &irqs->shared[i].interrupt, i);
	irqs->config_vector = VIRTIO_NO_VECTOR;
}

/* What was allocated before a failure is for forget() to give back. */
static bool program(const struct virtio_irqs *irqs, unsigned vector, struct interrupt *interrupt,
		    unsigned cpu, void (*handler)(void *), void *context, struct why *why)
{
	struct msi_message message;

	if (!interrupt_allocate(interrupt, cpu, handler, context)) {
		*interrupt = (struct interrupt){0};
		return because(why, "CPU %u has no interrupt left", cpu);
	}
	message = interrupt_message(interrupt);
	if (msix_set(&irqs->msix, vector, &message))
		return true;
	return because(why, "entry %u of the table does not read back as written", vector);
}

static bool program_shared(struct virtio_irqs *irqs, uint16_t vector, struct why *why)
{
	struct virtio_irq_shared *shared = &irqs->shared[vector];

	shared->vector = vector;
	return program(irqs, vector, &shared->interrupt, shared_cpu(irqs), shared_raised, shared,
		       why);
}

static bool program_step(struct virtio_irqs *irqs, enum step step, struct why *why)
{
	unsigned needed = entries_needed(irqs, step);
	uint16_t next = 1;

	if (needed > irqs->msix.n)
		return because(why, "%u needed, the device has %u", needed, irqs->msix.n);
	if (!program_shared(irqs, ENTRY_CONFIG, why) ||
	    (step == STEP_SHARED && !program_shared(irqs, ENTRY_QUEUES, why)))
		return false;
	for (unsigned i = 0; i < irqs->n; i++) {
		struct virtio_irq_queue *q = &irqs->queue[i];

		if (!q->wanted)
			continue;
		q->got = step == STEP_OWN ? VIRTIO_IRQ_OWN : VIRTIO_IRQ_SHARED;
		q->vector = step == STEP_OWN	  ? next++
			    : step == STEP_SHARED ? ENTRY_QUEUES
						  : ENTRY_CONFIG;
		if (step == STEP_OWN &&
		    !program(irqs, q->vector, &q->interrupt, q->cpu, q->handler, q->context, why))
			return false;
	}
	return true;
}

/* ---- What the device agrees to (4.1.5.1.2.2) ---- */

static void map_config(struct virtio_irqs *irqs)
{
	uint16_t got;

	if (!irqs->config_handler)
		return;
	got = virtio_map_config(irqs->dev, ENTRY_CONFIG);
	if (got == ENTRY_CONFIG)
		irqs->config_vector = ENTRY_CONFIG;
	else
		log_warn("%s: configuration changes: device refused MSI-X vector 0 (read back "
			 "0x%04x); they are not told",
			 irqs->dev->name, got);
}

static void map_queue(struct virtio_irqs *irqs, unsigned i)
{
	struct virtio_irq_queue *q = &irqs->queue[i];
	uint16_t asked = q->vector, got = virtio_map_queue(irqs->dev, (uint16_t)i, asked);
	struct why why;

	if (got == asked)
		return;
	format(why.text, sizeof(why.text), "the device refused vector %u of queue %u", asked, i);
	not_own(irqs, why.text);
	give_back(irqs, &q->interrupt, asked);
	if (asked != ENTRY_CONFIG &&
	    virtio_map_queue(irqs->dev, (uint16_t)i, ENTRY_CONFIG) == ENTRY_CONFIG) {
		q->got = VIRTIO_IRQ_SHARED;
		q->vector = ENTRY_CONFIG;
	} else {
		q->got = VIRTIO_IRQ_NONE;
		q->vector = VIRTIO_NO_VECTOR;
	}
	log_warn("%s: queue %u: device refused MSI-X vector %u (read back 0x%04x); using %s",
		 irqs->dev->name, i, asked, got,
		 q->got == VIRTIO_IRQ_SHARED ? "vector 0, shared" : "polled completion");
}

/*
 * While MSI-X is on, some vhost-user backends stall a queue that has no vector. So a polled one has
 * the entry after those in use, which stays masked, or where there is none that of configuration
 * changes; the ring asks for no interrupt anyway.
 */
static void map_polled(struct virtio_irqs *irqs, unsigned i, unsigned spare)
{
	uint16_t vector = spare < irqs->msix.n ? (uint16_t)spare : ENTRY_CONFIG;

	if (virtio_map_queue(irqs->dev, (uint16_t)i, vector) == vector)
		irqs->queue[i].vector = vector;
}

static bool map_step(struct virtio_irqs *irqs, enum step step, struct why *why)
{
	unsigned spare = entries_needed(irqs, step);

	map_config(irqs);
	for (unsigned i = 0; i < irqs->n; i++)
		if (irqs->queue[i].wanted)
			map_queue(irqs, i);
	if (count(irqs, true) > 0) {
		for (unsigned i = 0; i < irqs->n; i++)
			if (!irqs->queue[i].wanted)
				map_polled(irqs, i, spare);
		return true;
	}
	virtio_map_config(irqs->dev, VIRTIO_NO_VECTOR);
	return because(why, "the device refused it for every queue");
}

/* Finds it, and leaves it off: INTx is allowed. */
static bool find_msix(struct virtio_irqs *irqs)
{
	const char *why = "no such capability";

	if (msix_open(&irqs->msix, &irqs->dev->pci))
		return true;
	if (irqs->msix.cap)
		why = "its table lies outside its BAR or cannot be mapped";
	log_warn("%s: no MSI-X: %s", irqs->dev->name, why);
	not_own(irqs, "no MSI-X");
	return false;
}

static bool open_msix(struct virtio_irqs *irqs, enum step first)
{
	unsigned tried = 0;
	struct why why;

	if (!find_msix(irqs))
		return false;
	msix_enable(&irqs->msix, true);
	irqs->msix_on = true;
	for (enum step step = first; step < STEPS; step++) {
		if (entries_needed(irqs, step) == tried)
			continue;
		tried = entries_needed(irqs, step);
		if (program_step(irqs, step, &why) && map_step(irqs, step, &why))
			return true;
		forget(irqs);
		not_own(irqs, why.text);
		log_warn("%s: not %s: %s", irqs->dev->name, step_name[step], why.text);
	}
	msix_enable(&irqs->msix, false);
	irqs->msix_on = false;
	return false;
}

/* ---- INTx ---- */

static bool lead_intx(struct virtio_irqs *irqs, struct why *why)
{
	const struct pci_function *fn = &irqs->dev->pci;
	struct interrupt *interrupt = &irqs->shared[0].interrupt;
	uint8_t line = pci_read8(fn, PCI_INTERRUPT_LINE);

	if (!irqs->dev->isr.bytes)
		return because(why, "no usable ISR status capability");
	if (pci_read8(fn, PCI_INTERRUPT_PIN) == 0 || line == LINE_UNKNOWN)
		return because(why, "no line assigned");
	*interrupt = (struct interrupt){.cpu = shared_cpu(irqs)};
	if (interrupt_intx(interrupt, line, intx_raised, irqs))
		return true;
	*interrupt = (struct interrupt){0};
	return because(why,
		       "line %u leads to no interrupt (no local APIC or IOAPIC, or no such pin)",
		       line);
}

static bool open_intx(struct virtio_irqs *irqs)
{
	struct why why;

	if (!lead_intx(irqs, &why)) {
		log_warn("%s: not INTx: %s; using polled completion", irqs->dev->name, why.text);
		return false;
	}
	for (unsigned i = 0; i < irqs->n; i++)
		if (irqs->queue[i].wanted)
			irqs->queue[i].got = VIRTIO_IRQ_INTX;
	return true;
}

/* Firmware may have left it on: INTx is barred then, and what a queue raises leads nowhere. */
static void switch_msix_off(const struct virtio_device *dev)
{
	struct msix left_on = {.fn = &dev->pci, .cap = dev->msix_cap};

	if (dev->msix_cap && msix_is_enabled(&left_on))
		msix_enable(&left_on, false);
}

bool virtio_irqs_open(struct virtio_device *dev, struct virtio_irqs *irqs,
		      struct virtio_irq_queue *queue, unsigned n, enum virtio_irq best,
		      void (*config_handler)(void *context), void *config_context)
{
	*irqs = (struct virtio_irqs){.dev = dev,
				     .queue = queue,
				     .n = n,
				     .config_handler = config_handler,
				     .config_context = config_context};
	for (unsigned i = 0; i < n; i++)
		queue[i].interrupt = (struct interrupt){0};
	for (unsigned i = 0; i < 2; i++)
		irqs->shared[i].irqs = irqs;
	forget(irqs);
	switch_msix_off(dev);
	/* All polled: MSI-X stays off, for with it on some vhost-user backends stall a queue that has
	 * no vector. */
	if (!count(irqs, false))
		return true;
	if (best != VIRTIO_IRQ_INTX &&
	    open_msix(irqs, best == VIRTIO_IRQ_OWN ? STEP_OWN : STEP_SHARED))
		return true;
	return open_intx(irqs);
}

void virtio_irqs_close(struct virtio_irqs *irqs)
{
	forget(irqs);
	if (irqs->msix_on)
		msix_enable(&irqs->msix, false);
	irqs->msix_on = false;
}
