/* SPDX-License-Identifier: BSD-2-Clause */
/* How is the MADT read? Each entry says its own length, and may lie. */
#include "arch/x86_64/madt.h"

#include <stddef.h>

#include "arch/x86_64/acpi.h"

#define MADT_ENTRIES	   44
#define ENTRY_HEADER_BYTES 2

/* ACPI 6.4, 5.2.12.2 and 5.2.12.12: processor local APIC, and x2APIC. */
#define CPU_APIC_ID	 3
#define CPU_FLAGS	 4
#define CPU_X2APIC_ID	 4
#define CPU_X2APIC_FLAGS 8
#define CPU_ENABLED	 1
#define APIC_ID_NONE	 255

/* ACPI 6.4, 5.2.12.5: interrupt source override, and its MPS INTI flags. */
#define OVERRIDE_SOURCE	     3
#define OVERRIDE_GSI	     4
#define OVERRIDE_FLAGS	     8
#define FLAGS_POLARITY	     3u
#define FLAGS_ACTIVE_HIGH    1u
#define FLAGS_TRIGGER	     (3u << 2)
#define FLAGS_EDGE_TRIGGERED (1u << 2)

bool madt_next(struct madt_entry *entry)
{
	uint32_t at = entry->offset ? entry->offset + entry->bytes : MADT_ENTRIES;

	if (!entry->offset)
		entry->table = acpi_find("APIC");
	if (!entry->table || at + ENTRY_HEADER_BYTES > entry->table->length)
		return false;
	entry->offset = at;
	entry->type = (uint8_t)acpi_field(entry->table, at, 1);
	entry->bytes = (uint8_t)acpi_field(entry->table, at + 1, 1);
	return entry->bytes >= ENTRY_HEADER_BYTES && entry->bytes <= entry->table->length - at;
}

uint64_t madt_field(const struct madt_entry *entry, unsigned offset, unsigned bytes)
{
	if (offset + bytes > entry->bytes)
		return 0;
	return acpi_field(entry->table, entry->offset + offset, bytes);
}

bool madt_cpu(const struct madt_entry *entry, uint32_t *apic_id)
{
	if (entry->type == MADT_LOCAL_APIC) {
		*apic_id = (uint32_t)madt_field(entry, CPU_APIC_ID, 1);
		return *apic_id != APIC_ID_NONE && (madt_field(entry, CPU_FLAGS, 4) & CPU_ENABLED);
	}
	if (entry->type == MADT_LOCAL_X2APIC) {
		*apic_id = (uint32_t)madt_field(entry, CPU_X2APIC_ID, 4);
		return madt_field(entry, CPU_X2APIC_FLAGS, 4) & CPU_ENABLED;
	}
	return false;
}

struct madt_line madt_pci_line(uint8_t line)
{
	struct madt_line found = {.gsi = line};
	struct madt_entry entry = {0};

	while (madt_next(&entry)) {
		uint64_t flags = madt_field(&entry, OVERRIDE_FLAGS, 2);

		if (entry.type != MADT_OVERRIDE || madt_field(&entry, OVERRIDE_SOURCE, 1) != line)
			continue;
		found.gsi = (uint32_t)madt_field(&entry, OVERRIDE_GSI, 4);
		found.active_high = (flags & FLAGS_POLARITY) == FLAGS_ACTIVE_HIGH;
		found.edge = (flags & FLAGS_TRIGGER) == FLAGS_EDGE_TRIGGERED;
		break;
	}
	return found;
}
