/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a function raise its interrupts by writes to memory? Its MSI-X table (PCI 3.0, 6.8.2). */
#ifndef DRIVERS_PCI_MSIX_H
#define DRIVERS_PCI_MSIX_H

#include <stdbool.h>
#include <stdint.h>

#include <arch/machine.h>

#include "drivers/pci/pci.h"

struct msix {
	const struct pci_function *fn;
	uint8_t cap; /* its offset in configuration space; 0: there is none */
	uint16_t n;  /* entries, 1 to 2048; 0: not usable */
	volatile uint8_t *table;
};

/*
 * Finds the MSI-X capability and its table, switches MSI-X off and masks all entries. False if
 * there is no capability, or the table lies outside its BAR or in I/O space, or cannot be mapped;
 * m->cap tells the first from the others. Memory must be decoded already.
 */
bool msix_open(struct msix *m, const struct pci_function *fn);
/* By firmware, before msix_open(): @m holds fn and cap. */
bool msix_is_enabled(const struct msix *m);
/* On: no entry of the table is masked as a whole, and the function does not raise INTx. Off: it may. */
void msix_enable(const struct msix *m, bool on);
/* Programs entry @i while it is masked, reads it back and unmasks it. False if there is no such
 * entry, or it does not read back; it stays masked then. */
bool msix_set(const struct msix *m, unsigned i, const struct msi_message *message);
void msix_mask(const struct msix *m, unsigned i);

#endif
