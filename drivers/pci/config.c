/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a configuration register become a bus access? By ECAM, else by ports CF8/CFC. */
#include "drivers/pci/pci.h"

#include <arch/machine.h>
#include <stddef.h>

#include "lib/spinlock.h"

#define PORT_ADDRESS   0xcf8
#define PORT_DATA      0xcfc
#define ECAM_REGIONS   8
#define ECAM_BUS_BYTES (1u << 20) /* 32 devices * 8 functions * 4 KiB */

static struct ecam_region ecam[ECAM_REGIONS];
static unsigned nr_ecam;
static volatile uint8_t *ecam_base[ECAM_REGIONS]; /* mapped on first use */

void pci_init(void)
{
	nr_ecam = machine_ecam_regions(ecam, ECAM_REGIONS);
	for (unsigned i = 0; i < ECAM_REGIONS; i++)
		ecam_base[i] = NULL;
}

bool pci_uses_ecam(void)
{
	return nr_ecam > 0;
}

/* Where @bus starts; NULL: not by ECAM. Segment 0 only: the one that CF8/CFC reaches too. */
static volatile uint8_t *ecam_bus(uint8_t bus)
{
	for (unsigned i = 0; i < nr_ecam; i++) {
		const struct ecam_region *r = &ecam[i];
		uint64_t buses = r->last_bus - r->first_bus + 1ull;

		if (r->segment != 0 || bus < r->first_bus || bus > r->last_bus)
			continue;
		if (!ecam_base[i])
			ecam_base[i] = mmio_map(r->base, buses * ECAM_BUS_BYTES);
		if (ecam_base[i])
			return ecam_base[i] + (uint64_t)(bus - r->first_bus) * ECAM_BUS_BYTES;
	}
	return NULL;
}

static volatile uint8_t *ecam_register(const struct pci_function *fn, unsigned offset)
{
	volatile uint8_t *bus = ecam_bus(fn->bus);

	if (!bus)
		return NULL;
	return bus + ((unsigned)fn->device << 15 | (unsigned)fn->function << 12 | offset);
}

/* Address and data are one register for all CPUs: a device may be reset by any of them. */
static struct spinlock ports;

/* Points the data port at the register; returns the port for @offset within it. */
static uint16_t port_select(const struct pci_function *fn, unsigned offset)
{
	port_write32(PORT_ADDRESS, 0x80000000u | (uint32_t)fn->bus << 16 |
					   (uint32_t)fn->device << 11 |
					   (uint32_t)fn->function << 8 | (offset & 0xfc));
	return (uint16_t)(PORT_DATA + (offset & 3));
}

static uint32_t ports_read(const struct pci_function *fn, unsigned offset, unsigned bytes)
{
	uint32_t value;
	uint16_t port;

	spin_lock(&ports);
	port = port_select(fn, offset);
	value = bytes == 1 ? port_read8(port) : bytes == 2 ? port_read16(port) : port_read32(port);
	spin_unlock(&ports);
	return value;
}

static void ports_write(const struct pci_function *fn, unsigned offset, uint32_t value,
			unsigned bytes)
{
	uint16_t port;

	spin_lock(&ports);
	port = port_select(fn, offset);
	if (bytes == 2)
		port_write16(port, (uint16_t)value);
	else
		port_write32(port, value);
	spin_unlock(&ports);
}

uint8_t pci_read8(const struct pci_function *fn, unsigned offset)
{
	volatile uint8_t *reg = ecam_register(fn, offset);

	return reg ? mmio_read8(reg) : (uint8_t)ports_read(fn, offset, 1);
}

uint16_t pci_read16(const struct pci_function *fn, unsigned offset)
{
	volatile uint8_t *reg = ecam_register(fn, offset);

	return reg ? mmio_read16(reg) : (uint16_t)ports_read(fn, offset, 2);
}

uint32_t pci_read32(const struct pci_function *fn, unsigned offset)
{
	volatile uint8_t *reg = ecam_register(fn, offset);

	return reg ? mmio_read32(reg) : ports_read(fn, offset, 4);
}

void pci_write16(const struct pci_function *fn, unsigned offset, uint16_t value)
{
	volatile uint8_t *reg = ecam_register(fn, offset);

	if (reg)
		mmio_write16(reg, value);
	else
		ports_write(fn, offset, value, 2);
}

void pci_write32(const struct pci_function *fn, unsigned offset, uint32_t value)
{
	volatile uint8_t *reg = ecam_register(fn, offset);

	if (reg)
		mmio_write32(reg, value);
	else
		ports_write(fn, offset, value, 4);
}
