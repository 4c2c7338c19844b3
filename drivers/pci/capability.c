/* SPDX-License-Identifier: BSD-2-Clause */
/* What capabilities does a function list? A bounded walk over a list that may lie. */
#include "drivers/pci/pci.h"

#define CAP_FIRST 0x40 /* below it lies the header */
#define CAP_STEPS 48   /* (256 - 64) / 4 */
#define CAP_NEXT  1

struct pci_cap_walk pci_cap_begin(const struct pci_function *fn)
{
	return (struct pci_cap_walk){.fn = fn};
}

/* PCI 3.0, 6.7: the two low bits of a pointer are reserved and are masked off. */
static unsigned read_pointer(const struct pci_cap_walk *walk)
{
	if (walk->steps > 0)
		return pci_read8(walk->fn, walk->offset + CAP_NEXT) & 0xfc;
	if (!(pci_read16(walk->fn, PCI_STATUS) & PCI_STATUS_CAPABILITIES))
		return 0;
	return pci_read8(walk->fn, PCI_CAPABILITY_LIST) & 0xfc;
}

unsigned pci_cap_next(struct pci_cap_walk *walk)
{
	unsigned offset = read_pointer(walk);

	if (offset == 0)
		return 0;
	if (offset < CAP_FIRST || walk->steps == CAP_STEPS) {
		walk->broken = true;
		return 0;
	}
	walk->steps++;
	walk->offset = (uint8_t)offset;
	return offset;
}
