/* SPDX-License-Identifier: BSD-2-Clause */
/* What does firmware tell through ACPI, as far as this kernel asks? */
#ifndef ARCH_X86_64_ACPI_H
#define ARCH_X86_64_ACPI_H

#include <stdint.h>

/* ACPI 6.4, 5.2.6. */
struct acpi_header {
	char signature[4];
	uint32_t length; /* checked: all of it is mapped */
	uint8_t revision, checksum;
	char oem_id[6], oem_table_id[8];
	uint32_t oem_revision, creator_id, creator_revision;
} __attribute__((packed));

/*
 * The RSDP's physical address from the places where a BIOS leaves it, or 0 (ACPI 6.4, 5.2.5.1).
 * Only before paging_init(): the temporary page tables reach these places.
 */
uint64_t acpi_search_rsdp(void);

/* The first table of that signature with a good checksum, or NULL. */
const struct acpi_header *acpi_find(const char *signature);
/* The table at @phys if its signature, length and checksum are good, else NULL. */
const struct acpi_header *acpi_table_at(uint64_t phys, const char *signature);

/* A field of @bytes (1 to 8) at @offset, little-endian; 0 if the table is too short to have it. */
uint64_t acpi_field(const struct acpi_header *table, uint32_t offset, unsigned bytes);

/* ACPI 6.4, 5.2.3.2: the generic address structure at @offset of @table; 0 if absent. */
enum acpi_space { ACPI_SPACE_MEMORY = 0, ACPI_SPACE_PORT = 1 };
struct acpi_address {
	uint8_t space; /* enum acpi_space, or another */
	uint64_t address;
};
struct acpi_address acpi_generic_address(const struct acpi_header *table, uint32_t offset);

/* Reads the sleep registers and \_S5_ while there is peace; needs the tables. */
void acpi_power_init(void);
/* Returns if the machine cannot be turned off this way. */
void acpi_power_off(void);

#endif
