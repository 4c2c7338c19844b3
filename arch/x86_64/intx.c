/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose interrupt is it, on a line that several devices share? All are asked. */
#include "arch/x86_64/intx.h"

#include <arch/machine.h>

#include "arch/x86_64/ioapic.h"
#include "arch/x86_64/percpu.h"
#include "lib/log.h"

#define LINES_MAX     16
#define SHARERS_MAX   32
#define LINE_NONE     0
#define LINE_UNKNOWN  255 /* PCI 3.0, 6.2.4 */
#define UNCLAIMED_MAX 1000

struct line {
	uint8_t number; /* LINE_NONE: this place is free */
	struct interrupt irq;
	struct ioapic_pin pin;
	unsigned unclaimed; /* in a row */
	struct {
		bool (*handler)(void *context);
		void *context;
	} sharers[SHARERS_MAX];
};

static struct line lines[LINES_MAX];

/*
 * Every handler is asked, as several devices may have raised a level at once. A level that nobody
 * takes back comes again at once, for ever: it is masked before it stops this CPU.
 */
static void raised(void *context)
{
	struct line *line = context;
	bool claimed = false;

	for (unsigned i = 0; i < SHARERS_MAX; i++)
		if (line->sharers[i].handler)
			claimed |= line->sharers[i].handler(line->sharers[i].context);
	line->unclaimed = claimed ? 0 : line->unclaimed + 1;
	if (line->unclaimed < UNCLAIMED_MAX)
		return;
	ioapic_mask(&line->pin);
	line->unclaimed = 0;
	log_warn("INTx line %u: %u interrupts in a row that no device of ours raised: masked",
		 line->number, UNCLAIMED_MAX);
}

static struct line *find(uint8_t number)
{
	for (unsigned i = 0; i < LINES_MAX; i++)
		if (lines[i].number == number)
			return &lines[i];
	return NULL;
}

static bool open(struct line *line, uint8_t number, unsigned cpu)
{
	struct madt_line wiring = madt_pci_line(number);

	*line = (struct line){0};
	if (!ioapic_find(wiring.gsi, &line->pin) ||
	    !interrupt_allocate(&line->irq, cpu, raised, line))
		return false;
	line->number = number;
	if (ioapic_route(&line->pin, &wiring, cpu_of(cpu)->apic_id, line->irq.vector))
		return true;
	log_warn("INTx line %u: the IOAPIC did not take its entry", number);
	ioapic_mask(&line->pin);
	interrupt_free(&line->irq);
	line->number = LINE_NONE;
	return false;
}

static bool join(struct line *line, struct interrupt *irq, bool (*handler)(void *), void *context)
{
	for (unsigned i = 0; i < SHARERS_MAX; i++) {
		if (line->sharers[i].handler)
			continue;
		line->sharers[i].context = context;
		line->sharers[i].handler = handler;
		*irq = (struct interrupt){line->irq.cpu, line->irq.vector, (uint8_t)(i + 1)};
		return true;
	}
	return false;
}

bool interrupt_intx(struct interrupt *irq, uint8_t line, bool (*handler)(void *context),
		    void *context)
{
	struct line *l = find(line);

	*irq = (struct interrupt){.cpu = irq->cpu};
	if (line == LINE_NONE || line == LINE_UNKNOWN)
		return false;
	if (l)
		return l->irq.cpu == irq->cpu && join(l, irq, handler, context);
	l = find(LINE_NONE);
	return l && open(l, line, irq->cpu) && join(l, irq, handler, context);
}

static bool has_sharers(const struct line *line)
{
	for (unsigned i = 0; i < SHARERS_MAX; i++)
		if (line->sharers[i].handler)
			return true;
	return false;
}

void intx_free(const struct interrupt *irq)
{
	for (unsigned i = 0; i < LINES_MAX; i++) {
		struct line *line = &lines[i];

		if (line->irq.vector != irq->vector || line->irq.cpu != irq->cpu)
			continue;
		line->sharers[irq->share - 1].handler = NULL;
		if (has_sharers(line))
			return;
		ioapic_mask(&line->pin);
		interrupt_free(&line->irq);
		line->number = LINE_NONE;
		return;
	}
}
