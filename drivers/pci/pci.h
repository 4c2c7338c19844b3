/* SPDX-License-Identifier: BSD-2-Clause */
/* Which functions are on the PCI buses, and how are their configuration, BARs and capabilities read? */
#ifndef DRIVERS_PCI_PCI_H
#define DRIVERS_PCI_PCI_H

#include <stdbool.h>
#include <stdint.h>

/* Offsets in the common header. */
#define PCI_VENDOR_ID	    0x00
#define PCI_DEVICE_ID	    0x02
#define PCI_COMMAND	    0x04
#define PCI_STATUS	    0x06
#define PCI_REVISION	    0x08
#define PCI_CLASS	    0x0a
#define PCI_HEADER_TYPE	    0x0e
#define PCI_BAR0	    0x10
#define PCI_SECONDARY_BUS   0x19
#define PCI_CAPABILITY_LIST 0x34

#define PCI_COMMAND_IO		 0x0001
#define PCI_COMMAND_MEMORY	 0x0002
#define PCI_COMMAND_MASTER	 0x0004
#define PCI_COMMAND_INTX_DISABLE 0x0400
#define PCI_STATUS_CAPABILITIES	 0x0010
#define PCI_HEADER_MULTIFUNCTION 0x80
#define PCI_CLASS_BRIDGE_PCI	 0x0604

struct pci_function {
	uint8_t bus, device, function;
	uint8_t header_type, revision;
	uint16_t vendor_id, device_id, class_code;
	char address[16]; /* "00:03.0" */
};

/* Finds the ECAM regions; where there are none, or for buses outside them, ports CF8/CFC serve. */
void pci_init(void);
bool pci_uses_ecam(void);

uint8_t pci_read8(const struct pci_function *fn, unsigned offset);
uint16_t pci_read16(const struct pci_function *fn, unsigned offset);
uint32_t pci_read32(const struct pci_function *fn, unsigned offset);
void pci_write16(const struct pci_function *fn, unsigned offset, uint16_t value);
void pci_write32(const struct pci_function *fn, unsigned offset, uint32_t value);

/*
 * Stores the functions for which @wanted says yes in @out, in order of address. Walks bus 0, every
 * bus number at which device 0 answers (further root buses), and all that lies behind bridges; if
 * nothing wanted is there, all 256 buses. Returns how many were stored, at most @max.
 */
unsigned pci_scan(struct pci_function *out, unsigned max,
		  bool (*wanted)(const struct pci_function *));

/* The machine's host bridge, 00:00.0; vendor_id is 0xffff if there is none. */
void pci_host_bridge(struct pci_function *out);

struct pci_bar {
	uint64_t base, bytes; /* bytes is 0 where the BAR is not implemented */
	bool io;
};
#define PCI_BARS 6

/*
 * Reads all BARs of a type 0 header and sizes them: decode is off while all-ones stand in a BAR,
 * and each BAR and the command register are put back as they were. The upper half of a 64-bit
 * BAR has bytes 0.
 */
void pci_read_bars(const struct pci_function *fn, struct pci_bar bars[PCI_BARS]);

/* Sets memory and I/O decode as @bars need, and bus mastering; INTx is allowed. */
void pci_enable(const struct pci_function *fn, const struct pci_bar bars[PCI_BARS]);

/* May the function raise INTx? Not while MSI-X is on; see pci_enable() for the rest. */
void pci_allow_intx(const struct pci_function *fn, bool allow);

/* Takes the right to read and write memory from a function that does not listen. */
void pci_disable_master(const struct pci_function *fn);

/*
 * A walk over the capability list: pci_cap_next() moves to the next capability and returns its
 * offset, 0 at the end. At most 48 steps (all that fit in 192 bytes); then, and on a pointer into
 * the header, the list is @broken.
 */
struct pci_cap_walk {
	const struct pci_function *fn;
	uint8_t offset;
	unsigned steps;
	bool broken;
};
struct pci_cap_walk pci_cap_begin(const struct pci_function *fn);
unsigned pci_cap_next(struct pci_cap_walk *walk);

#endif
