/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a fake disk raise interrupts, and what may a driver do to its MSI-X table? */
#include <stdlib.h>
#include <string.h>

#include "tests/host/fake_inside.h"

#define CONTROL	       2
#define MASK_ALL       0x4000u
#define ENABLE	       0x8000u
#define VECTOR	       3 /* words of an entry: address, its upper half, data, vector control */
#define MASKED	       1u
#define RESERVED       0x00a50000u /* bits of vector control that must be kept (6.8.2.9) */
#define INTX_DISABLE   0x400u
#define TABLE_BAR_BASE 0xfc000000u

static uint16_t control(const struct fake_disk *disk)
{
	const uint8_t *config = disk->fn->config + disk->msix.cap + CONTROL;

	return disk->msix.cap ? (uint16_t)(config[0] | config[1] << 8) : 0;
}

bool fake_msix_on(const struct fake_disk *disk)
{
	return control(disk) & ENABLE;
}

static uint64_t table_bytes(const struct fake_disk *disk)
{
	return 16ull * disk->msix_place.entries;
}

static uint64_t pba_bytes(const struct fake_disk *disk)
{
	return (disk->msix_place.entries + 63ull) / 64 * 8;
}

static void make_bar(struct fake_disk *disk, unsigned index)
{
	uint64_t bytes = 0x10000, base = TABLE_BAR_BASE + disk->fn->device * 0x200000ull;

	if (disk->fn->bar[index].type == FAKE_BAR_NONE && index < 3)
		fake_pci_bar(disk->fn, index, FAKE_BAR_MEM32, base + index * bytes, bytes);
}

void fake_msix_plug(struct fake_disk *disk)
{
	uint32_t table = disk->msix_place.offset | disk->msix_place.bar;
	uint32_t pba = disk->msix_place.pba_offset | disk->msix_place.pba_bar;
	uint8_t cap[12] = {0x11};
	uint16_t size = (uint16_t)(disk->msix_place.entries - 1);
	unsigned i;

	fake_pci_put(disk->fn, 0x3c, disk->line, 1);
	if (disk->msix_place.entries == 0)
		return;
	memcpy(cap + 2, &size, 2);
	memcpy(cap + 4, &table, 4);
	memcpy(cap + 8, &pba, 4);
	make_bar(disk, disk->msix_place.bar);
	make_bar(disk, disk->msix_place.pba_bar);
	disk->msix.cap = fake_pci_cap(disk->fn, cap, sizeof(cap));
	disk->msix.table = calloc(disk->msix_place.entries, 16);
	disk->msix.pending = calloc(pba_bytes(disk), 1);
	if (!disk->msix.table || !disk->msix.pending)
		abort();
	for (i = 0; i < disk->msix_place.entries; i++)
		disk->msix.table[4 * i + VECTOR] = RESERVED | MASKED;
}

void fake_msix_free(struct fake_disk *disk)
{
	free(disk->msix.table);
	free(disk->msix.pending);
	memset(&disk->msix, 0, sizeof(disk->msix));
}

/* ---- The table ---- */

static bool masked(const struct fake_disk *disk, unsigned entry)
{
	return (control(disk) & MASK_ALL) || (disk->msix.table[4 * entry + VECTOR] & MASKED);
}

static void write_table(struct fake_disk *disk, unsigned word, uint32_t value)
{
	uint32_t *entry = &disk->msix.table[word & ~3u];

	if (word % 4 != VECTOR && !masked(disk, word / 4))
		fake_violate("F-121: word %u of MSI-X entry %u written while it is not masked",
			     word % 4, word / 4);
	if (word % 4 == VECTOR && (value & ~MASKED) != RESERVED)
		fake_violate("F-121: vector control of entry %u written with %#x: reserved bits",
			     word / 4, value);
	if (word % 4 == VECTOR && !(value & MASKED) && entry[0] == 0)
		fake_violate("F-121: MSI-X entry %u unmasked and not programmed", word / 4);
	if (word + 1 != disk->bad_word)
		disk->msix.table[word] = value;
}

static bool in_pba(const struct fake_disk *disk, unsigned bar, uint64_t offset)
{
	return bar == disk->msix_place.pba_bar &&
	       offset - disk->msix_place.pba_offset < pba_bytes(disk);
}

/* BAR4 is the one with other things in it. */
bool fake_msix_hit(const struct fake_disk *disk, unsigned bar, uint64_t offset)
{
	if (!disk->msix.cap)
		return false;
	return in_pba(disk, bar, offset) ||
	       (bar == disk->msix_place.bar &&
		(bar != 4 || offset - disk->msix_place.offset < table_bytes(disk)));
}

uint32_t fake_msix_access(struct fake_disk *disk, unsigned bar, uint64_t offset, uint32_t value,
			  unsigned width, bool write)
{
	uint64_t at = offset - disk->msix_place.offset;

	if (in_pba(disk, bar, offset)) {
		if (write)
			fake_violate("F-121: the pending bits were written");
		at = offset - disk->msix_place.pba_offset;
		disk->pba_reads += !write;
		return (uint32_t)(disk->msix.pending[at / 8] >> at % 8 * 8);
	}
	if (at >= table_bytes(disk))
		fake_violate("MSIX-04: BAR %u offset %#llx lies outside the table of %u", bar,
			     (unsigned long long)offset, disk->msix_place.entries);
	else if (width != 4 || at % 4)
		fake_violate("F-121: %u bytes at offset %#llx of the MSI-X table", width,
			     (unsigned long long)at);
	else if (write)
		write_table(disk, (unsigned)at / 4, value);
	else
		return disk->msix.table[at / 4];
	return UINT32_MAX;
}

/* ---- The vector registers ---- */

uint16_t fake_msix_map(struct fake_disk *disk, int queue, uint32_t vector)
{
	if (vector == 0xffff)
		return 0xffff;
	if (!fake_msix_on(disk))
		fake_violate("MSIX-05: vector %u mapped while MSI-X is off", vector);
	if (vector >= disk->msix_place.entries)
		fake_violate("MSIX-04: vector %u of %u mapped", vector, disk->msix_place.entries);
	if (disk->refuse_mapping > 0 && --disk->refuse_mapping == 0)
		return 0xffff;
	if (queue < 0 ? disk->refuse_config : disk->refuse_queues >> queue & 1)
		return 0xffff;
	return (uint16_t)vector;
}

/* ---- Raising ---- */

static void send(struct fake_disk *disk, uint16_t vector)
{
	const uint32_t *entry = &disk->msix.table[4 * vector];

	if (masked(disk, vector)) {
		disk->msix.pending[vector / 64] |= 1ull << vector % 64;
		return;
	}
	disk->messages++;
	if (!(fake_pci_command(disk->fn) & 4))
		fake_violate("PCI: a message without bus mastering");
	fake_apic_message((uint64_t)entry[1] << 32 | entry[0], entry[2]);
}

static void out(struct fake_disk *disk, uint16_t vector, uint8_t isr)
{
	if (!fake_msix_on(disk))
		disk->isr |= isr;
	else if (vector < disk->msix_place.entries)
		send(disk, vector);
}

static void later(struct fake_disk *disk, uint64_t ns, uint16_t vector, uint8_t isr)
{
	if (disk->msix.nr_late == sizeof(disk->msix.late) / sizeof(disk->msix.late[0]))
		return; /* enough of them */
	disk->msix.late[disk->msix.nr_late++] = (struct fake_late){host.clock_ns + ns, vector, isr};
}

void fake_msix_raise(struct fake_disk *disk, uint16_t vector, uint8_t isr)
{
	if (disk->lose_irqs > 0) {
		disk->lose_irqs--;
		return;
	}
	if (disk->twice_irqs > 0) {
		disk->twice_irqs--;
		later(disk, disk->delay_irq_ns + 1000, vector, isr);
	}
	if (disk->delay_irq_ns)
		later(disk, disk->delay_irq_ns, vector, isr);
	else
		out(disk, vector, isr);
}

static void send_pending(struct fake_disk *disk)
{
	unsigned i;

	for (i = 0; i < disk->msix_place.entries; i++)
		if ((disk->msix.pending[i / 64] >> i % 64 & 1) && !masked(disk, i)) {
			disk->msix.pending[i / 64] &= ~(1ull << i % 64);
			send(disk, (uint16_t)i);
		}
}

void fake_msix_step(struct fake_disk *disk)
{
	unsigned i, kept = 0, n = disk->msix.nr_late;

	if (disk->threaded || disk->fn->gone)
		return;
	for (i = 0; i < n; i++) {
		struct fake_late late = disk->msix.late[i];

		if (late.due_ns > host.clock_ns)
			disk->msix.late[kept++] = late;
		else
			out(disk, late.vector, late.isr);
	}
	disk->msix.nr_late = kept;
	if (fake_msix_on(disk))
		send_pending(disk);
}

/* 4.1.4.5: the line is up as long as a bit of the ISR status is set. */
bool fake_line_up(const struct fake_disk *disk)
{
	return disk->isr && !fake_msix_on(disk) && !disk->fn->gone &&
	       !(fake_pci_command(disk->fn) & INTX_DISABLE);
}

void fake_config_change(struct fake_disk *disk)
{
	disk->generation++;
	fake_msix_raise(disk, disk->config_vector, 2);
}

void fake_spurious(struct fake_disk *disk, int index)
{
	uint16_t vector = index < 0 ? disk->config_vector : disk->queue[index].vector;

	out(disk, vector, index < 0 ? 2 : 1);
}
