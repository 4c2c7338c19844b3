/* SPDX-License-Identifier: BSD-2-Clause */
/* How is an MSI-X table found, and in which order is an entry changed? (PCI 3.0, 6.8.2, 6.8.3) */
#include "drivers/pci/msix.h"

#include "drivers/pci/region.h"

#define PCI_CAP_ID_MSIX 0x11

/* The capability. */
#define CONTROL		 2
#define CONTROL_SIZE	 0x07ff /* less one */
#define CONTROL_MASK_ALL 0x4000
#define CONTROL_ENABLE	 0x8000
#define TABLE		 4
#define TABLE_BAR	 0x7u /* the rest is the offset, in bytes */

/* An entry of the table, in words of 32 bits. */
#define ENTRY_BYTES   16u
#define ADDRESS_LOW   0
#define ADDRESS_HIGH  4
#define DATA	      8
#define VECTOR	      12
#define VECTOR_MASKED 1u /* the other bits are kept as they are */

static volatile uint8_t *entry(const struct msix *m, unsigned i)
{
	return m->table + (uint64_t)i * ENTRY_BYTES;
}

static uint8_t find_cap(const struct pci_function *fn)
{
	struct pci_cap_walk walk = pci_cap_begin(fn);
	unsigned at;

	while ((at = pci_cap_next(&walk)) != 0)
		if (pci_read8(fn, at) == PCI_CAP_ID_MSIX)
			return (uint8_t)at;
	return 0;
}

static bool map_table(struct msix *m, uint32_t bytes)
{
	uint32_t place = pci_read32(m->fn, m->cap + TABLE);
	unsigned index = place & TABLE_BAR;
	struct pci_bar bars[PCI_BARS];
	struct bar_window window;
	struct region region;

	if (index >= PCI_BARS)
		return false;
	pci_read_bars(m->fn, bars);
	window = (struct bar_window){bars[index].base, bars[index].bytes, bars[index].io};
	if (!window.base || window.io || !region_map(&region, &window, place & ~TABLE_BAR, bytes))
		return false;
	m->table = region.mmio;
	return true;
}

bool msix_open(struct msix *m, const struct pci_function *fn)
{
	uint16_t n;

	*m = (struct msix){.fn = fn, .cap = find_cap(fn)};
	if (!m->cap)
		return false;
	msix_enable(m, false);
	n = (uint16_t)((pci_read16(fn, m->cap + CONTROL) & CONTROL_SIZE) + 1);
	if (!map_table(m, n * ENTRY_BYTES))
		return false;
	m->n = n;
	for (unsigned i = 0; i < n; i++)
		msix_mask(m, i);
	return true;
}

bool msix_is_enabled(const struct msix *m)
{
	return pci_read16(m->fn, m->cap + CONTROL) & CONTROL_ENABLE;
}

void msix_enable(const struct msix *m, bool on)
{
	uint16_t control = pci_read16(m->fn, m->cap + CONTROL);

	control &= (uint16_t) ~(CONTROL_ENABLE | CONTROL_MASK_ALL);
	/* INTx is barred before messages are allowed, and the other way round: never both. */
	if (on) {
		pci_allow_intx(m->fn, false);
		pci_write16(m->fn, m->cap + CONTROL, control | CONTROL_ENABLE);
	} else {
		pci_write16(m->fn, m->cap + CONTROL, control);
		pci_allow_intx(m->fn, true);
	}
}

void msix_mask(const struct msix *m, unsigned i)
{
	volatile uint8_t *e = entry(m, i);
	uint32_t vector = mmio_read32(e + VECTOR);

	if (!(vector & VECTOR_MASKED))
		mmio_write32(e + VECTOR, vector | VECTOR_MASKED);
}

/* 6.8.3.5: address and data may change only while the entry is masked. */
bool msix_set(const struct msix *m, unsigned i, const struct msi_message *message)
{
	uint32_t low = (uint32_t)message->address, high = (uint32_t)(message->address >> 32);
	volatile uint8_t *e;

	if (i >= m->n)
		return false;
	e = entry(m, i);
	msix_mask(m, i);
	mmio_write32(e + ADDRESS_LOW, low);
	mmio_write32(e + ADDRESS_HIGH, high);
	mmio_write32(e + DATA, message->data);
	if (mmio_read32(e + ADDRESS_LOW) != low || mmio_read32(e + ADDRESS_HIGH) != high ||
	    mmio_read32(e + DATA) != message->data)
		return false;
	mmio_write32(e + VECTOR, mmio_read32(e + VECTOR) & ~VECTOR_MASKED);
	/* The last of the writes has arrived when this returns. */
	return !(mmio_read32(e + VECTOR) & VECTOR_MASKED);
}
