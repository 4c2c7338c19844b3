// SPDX-License-Identifier: BSD-2-Clause
/* Where is PCI configuration space in memory? ACPI's MCFG table says. */
#include <arch/machine.h>

#include "arch/x86_64/acpi.h"

/* PCI Firmware Specification 3.2, 4.1.2: the header, 8 reserved bytes, entries of 16 bytes. */
#define MCFG_ENTRIES	 44
#define MCFG_ENTRY_BYTES 16
#define BUS_SHIFT	 20 /* each bus takes 1 MiB */

/* An entry's base is that of bus 0, also where the entry begins at a later bus. */
unsigned machine_ecam_regions(struct ecam_region *out, unsigned max)
{
	const struct acpi_header *mcfg = acpi_find("MCFG");
	unsigned n = 0;

	if (!mcfg)
		return 0;
	for (uint32_t at = MCFG_ENTRIES; at + MCFG_ENTRY_BYTES <= mcfg->length && n < max;
	     at += MCFG_ENTRY_BYTES) {
		uint64_t bus_0 = acpi_field(mcfg, at, 8);
		struct ecam_region region = {
			.segment = (uint16_t)acpi_field(mcfg, at + 8, 2),
			.first_bus = (uint8_t)acpi_field(mcfg, at + 10, 1),
			.last_bus = (uint8_t)acpi_field(mcfg, at + 11, 1),
		};

		region.base = bus_0 + ((uint64_t)region.first_bus << BUS_SHIFT);
		if (bus_0 && region.first_bus <= region.last_bus)
			out[n++] = region;
	}
	return n;
}
