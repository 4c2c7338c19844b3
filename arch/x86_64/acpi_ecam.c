/* SPDX-License-Identifier: BSD-2-Clause */
/* Where is PCI configuration space in memory? ACPI's MCFG table says, or the DSDT's _CBA. */
#include <arch/machine.h>

#include "arch/x86_64/acpi.h"
#include "arch/x86_64/acpi_aml.h"

/* PCI Firmware Specification 3.2, 4.1.2: the header, 8 reserved bytes, entries of 16 bytes. */
#define MCFG_ENTRIES	 44
#define MCFG_ENTRY_BYTES 16
#define BUS_SHIFT	 20 /* each bus takes 1 MiB */

#define AML_NO_ARGUMENTS 0x00
#define AML_RETURN	 0xa4

/* An entry's base is that of bus 0, also where the entry begins at a later bus. */
static unsigned regions_of_mcfg(const struct acpi_header *mcfg, struct ecam_region *out,
				unsigned max)
{
	unsigned n = 0;

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

/*
 * Section 4.1.3: a host bridge may give its base by _CBA instead; microvm has only that (F-030).
 * Taken if it is one that returns a constant.
 */
static bool region_of_host_bridge(struct ecam_region *out)
{
	struct aml aml;
	uint64_t base;

	if (!aml_find("_CBA", &aml) || !aml_expect(&aml, AML_NO_ARGUMENTS) ||
	    !aml_expect(&aml, AML_RETURN) || !aml_integer(&aml, &base) || !base)
		return false;
	*out = (struct ecam_region){.base = base, .last_bus = 255};
	return true;
}

unsigned machine_ecam_regions(struct ecam_region *out, unsigned max)
{
	const struct acpi_header *mcfg = acpi_find("MCFG");

	if (mcfg)
		return regions_of_mcfg(mcfg, out, max);
	return max && region_of_host_bridge(out);
}
