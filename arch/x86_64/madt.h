/* SPDX-License-Identifier: BSD-2-Clause */
/* What does ACPI's MADT list? ACPI 6.4, 5.2.12. */
#ifndef ARCH_X86_64_MADT_H
#define ARCH_X86_64_MADT_H

#include <stdbool.h>
#include <stdint.h>

enum madt_type { MADT_LOCAL_APIC = 0, MADT_IOAPIC = 1, MADT_OVERRIDE = 2, MADT_LOCAL_X2APIC = 9 };

struct acpi_header;

struct madt_entry {
	const struct acpi_header *table;
	uint32_t offset; /* in the table; 0 before the first */
	uint8_t type, bytes;
};

/* Goes on to the next entry that lies whole within the table; false at the end, or without one. */
bool madt_next(struct madt_entry *entry);

/* A field of @bytes at @offset of @entry; 0 if the entry is too short to have it. */
uint64_t madt_field(const struct madt_entry *entry, unsigned offset, unsigned bytes);

/*
 * Whether @entry is a CPU that may be started, and its APIC id. Entries of type 0 that say 255 mean
 * none (5.2.12.2); the flag that it is only capable of coming online later does not count.
 */
bool madt_cpu(const struct madt_entry *entry, uint32_t *apic_id);

/* How a line is wired; a PCI line that no override speaks of is level-triggered, active-low. */
struct madt_line {
	uint32_t gsi;
	bool active_high, edge;
};
struct madt_line madt_pci_line(uint8_t line);

#endif
