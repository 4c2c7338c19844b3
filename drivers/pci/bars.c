/* SPDX-License-Identifier: BSD-2-Clause */
/* Where are a function's registers, how large are they, and may it use them? */
#include "drivers/pci/pci.h"

#define BAR_IO	      0x1u
#define BAR_TYPE_MASK 0x6u
#define BAR_TYPE_64   0x4u
#define BAR_IO_FLAGS  0x3u
#define BAR_MEM_FLAGS 0xfu
#define BAR_OFFSET(i) (PCI_BAR0 + 4 * (i))

static uint32_t size_probe(const struct pci_function *fn, unsigned offset, uint32_t original)
{
	uint32_t mask;

	pci_write32(fn, offset, 0xffffffffu);
	mask = pci_read32(fn, offset);
	pci_write32(fn, offset, original);
	return mask;
}

/*
 * The size is the lowest address bit that can be set. High bits that a device does not implement
 * read as 0 and must not be taken for size, so the mask is never negated as a whole.
 */
static uint64_t lowest_bit(uint64_t mask)
{
	return mask & (~mask + 1);
}

/* Returns how many BAR slots this one takes. */
static unsigned read_bar(const struct pci_function *fn, unsigned i, struct pci_bar *bar)
{
	uint32_t low = pci_read32(fn, BAR_OFFSET(i));
	uint64_t mask = size_probe(fn, BAR_OFFSET(i), low);

	bar->io = low & BAR_IO;
	if (bar->io) {
		bar->base = low & ~BAR_IO_FLAGS;
		bar->bytes = lowest_bit(mask & ~(uint64_t)BAR_IO_FLAGS);
		return 1;
	}
	bar->base = low & ~BAR_MEM_FLAGS;
	mask &= ~(uint64_t)BAR_MEM_FLAGS;
	if ((low & BAR_TYPE_MASK) != BAR_TYPE_64 || i + 1 == PCI_BARS) {
		bar->bytes = lowest_bit(mask);
		return 1;
	}
	uint32_t high = pci_read32(fn, BAR_OFFSET(i + 1));

	mask |= (uint64_t)size_probe(fn, BAR_OFFSET(i + 1), high) << 32;
	bar->base |= (uint64_t)high << 32;
	bar->bytes = lowest_bit(mask);
	return 2;
}

void pci_read_bars(const struct pci_function *fn, struct pci_bar bars[PCI_BARS])
{
	uint16_t command = pci_read16(fn, PCI_COMMAND);

	for (unsigned i = 0; i < PCI_BARS; i++)
		bars[i] = (struct pci_bar){0};
	pci_write16(fn, PCI_COMMAND, command & ~(PCI_COMMAND_IO | PCI_COMMAND_MEMORY));
	for (unsigned i = 0; i < PCI_BARS;)
		i += read_bar(fn, i, &bars[i]);
	pci_write16(fn, PCI_COMMAND, command);
}

void pci_enable(const struct pci_function *fn, const struct pci_bar bars[PCI_BARS])
{
	uint16_t command = pci_read16(fn, PCI_COMMAND);

	for (unsigned i = 0; i < PCI_BARS; i++)
		if (bars[i].bytes && bars[i].base)
			command |= bars[i].io ? PCI_COMMAND_IO : PCI_COMMAND_MEMORY;
	command |= PCI_COMMAND_MASTER;
	/* Polled queues want no INTx, but some vhost-user backends break without a way to raise it. */
	command &= ~PCI_COMMAND_INTX_DISABLE;
	pci_write16(fn, PCI_COMMAND, command);
}

void pci_allow_intx(const struct pci_function *fn, bool allow)
{
	uint16_t command = pci_read16(fn, PCI_COMMAND) & ~PCI_COMMAND_INTX_DISABLE;

	pci_write16(fn, PCI_COMMAND, allow ? command : command | PCI_COMMAND_INTX_DISABLE);
}

void pci_disable_master(const struct pci_function *fn)
{
	pci_write16(fn, PCI_COMMAND, pci_read16(fn, PCI_COMMAND) & ~PCI_COMMAND_MASTER);
	pci_read16(fn, PCI_COMMAND); /* the write has arrived when this returns */
}
