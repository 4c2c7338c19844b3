/* SPDX-License-Identifier: BSD-2-Clause */
/* Where are the ACPI tables, and which of them can be believed? */
#include "arch/x86_64/acpi.h"

#include <arch/machine.h>
#include <arch/system.h>

#include "arch/x86_64/paging.h"
#include "lib/log.h"
#include "lib/mem.h"

#define TABLES_MAX	32
#define TABLE_BYTES_MAX (1u << 20)
#define RSDP_V1_BYTES	20
#define RSDP_V2_BYTES	36
#define EBDA_SEGMENT	0x40e /* BIOS data area: the extended area's segment */
#define EBDA_BYTES	1024
#define BIOS_START	0xe0000
#define BIOS_END	0x100000

/* ACPI 6.4, 5.2.5.3. */
struct rsdp {
	char signature[8];
	uint8_t checksum;
	char oem_id[6];
	uint8_t revision;
	uint32_t rsdt;
	uint32_t length; /* from here on since revision 2 */
	uint64_t xsdt;
	uint8_t extended_checksum, reserved[3];
} __attribute__((packed));

static const struct acpi_header *acpi_tables[TABLES_MAX];
static unsigned nr_tables;

static bool checksum_good(const void *data, uint32_t bytes)
{
	const uint8_t *p = data;
	uint8_t sum = 0;

	while (bytes--)
		sum += *p++;
	return sum == 0;
}

static bool rsdp_good(const struct rsdp *rsdp)
{
	return memcmp(rsdp->signature, "RSD PTR ", 8) == 0 && checksum_good(rsdp, RSDP_V1_BYTES);
}

static uint64_t search(uint64_t start, uint64_t end)
{
	for (; start + RSDP_V2_BYTES <= end; start += 16)
		if (rsdp_good((const struct rsdp *)(uintptr_t)start))
			return start;
	return 0;
}

uint64_t acpi_search_rsdp(void)
{
	/* The compiler takes so low an address for a null pointer; hide where it comes from. */
	uint64_t place = EBDA_SEGMENT, ebda, found = 0;

	__asm__("" : "+r"(place));
	ebda = (uint64_t) * (const volatile uint16_t *)place << 4;
	if (ebda >= 0x400 && ebda < BIOS_START)
		found = search(ebda, ebda + EBDA_BYTES);
	return found ? found : search(BIOS_START, BIOS_END);
}

uint64_t acpi_field(const struct acpi_header *table, uint32_t offset, unsigned bytes)
{
	uint64_t value = 0;

	if (offset > table->length || bytes > table->length - offset)
		return 0;
	memcpy(&value, (const char *)table + offset, bytes);
	return value;
}

struct acpi_address acpi_generic_address(const struct acpi_header *table, uint32_t offset)
{
	return (struct acpi_address){.space = (uint8_t)acpi_field(table, offset, 1),
				     .address = acpi_field(table, offset + 4, 8)};
}

const struct acpi_header *acpi_table_at(uint64_t phys, const char *signature)
{
	const struct acpi_header *table = map_readonly(phys, sizeof(*table));

	if (!table || (signature && memcmp(table->signature, signature, 4) != 0))
		return NULL;
	if (table->length < sizeof(*table) || table->length > TABLE_BYTES_MAX ||
	    !map_readonly(phys, table->length)) {
		log_warn("ACPI: table at 0x%llx claims %u bytes: not used",
			 (unsigned long long)phys, table->length);
		return NULL;
	}
	if (!checksum_good(table, table->length)) {
		log_warn("ACPI: table %.4s at 0x%llx has a bad checksum: not used",
			 table->signature, (unsigned long long)phys);
		return NULL;
	}
	return table;
}

const struct acpi_header *acpi_find(const char *signature)
{
	for (unsigned i = 0; i < nr_tables; i++)
		if (memcmp(acpi_tables[i]->signature, signature, 4) == 0)
			return acpi_tables[i];
	return NULL;
}

/* The root table lists physical addresses of @width bytes each. */
static void read_root(const struct acpi_header *root, unsigned width)
{
	for (uint32_t offset = sizeof(*root); offset + width <= root->length; offset += width) {
		uint64_t phys = acpi_field(root, offset, width);
		const struct acpi_header *table = phys ? acpi_table_at(phys, NULL) : NULL;

		if (table && nr_tables < TABLES_MAX)
			acpi_tables[nr_tables++] = table;
	}
}

static bool extended_good(const struct rsdp *rsdp, uint64_t phys)
{
	return rsdp->revision >= 2 && rsdp->length >= RSDP_V2_BYTES && rsdp->length <= 4096 &&
	       map_readonly(phys, rsdp->length) && checksum_good(rsdp, rsdp->length);
}

void acpi_init(const struct boot_info *info)
{
	const struct rsdp *rsdp = info->rsdp ? map_readonly(info->rsdp, RSDP_V2_BYTES) : NULL;
	const struct acpi_header *root = NULL;
	unsigned width = 8;

	if (!rsdp || !rsdp_good(rsdp)) {
		if (info->rsdp)
			log_warn("ACPI: no good RSDP at 0x%llx", (unsigned long long)info->rsdp);
		else
			log_warn("ACPI: no RSDP: going on without its clocks, ECAM and power-off");
		return;
	}
	if (extended_good(rsdp, info->rsdp))
		root = acpi_table_at(rsdp->xsdt, "XSDT");
	if (!root) {
		root = acpi_table_at(rsdp->rsdt, "RSDT");
		width = 4;
	}
	if (!root) {
		log_warn("ACPI: no good XSDT or RSDT");
		return;
	}
	read_root(root, width);
	acpi_power_init();
}
