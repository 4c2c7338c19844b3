/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a line get to a CPU? By the redirection entry of its pin on an IOAPIC. */
#include "arch/x86_64/ioapic.h"

#include <arch/machine.h>

#define MADT_IOAPIC_ADDRESS 4
#define MADT_IOAPIC_GSI	    8

/* 82093AA, 3.1 and 3.2: a register is selected by its number, then read or written. */
#define IOAPIC_BYTES	       4096
#define SELECT		       0x00
#define WINDOW		       0x10
#define REGISTER_VERSION       1
#define REGISTER_ENTRIES       16 /* two registers each, the low half first */
#define VERSION_LAST_PIN_SHIFT 16
#define ENTRY_ACTIVE_LOW       (1u << 13)
#define ENTRY_LEVEL	       (1u << 15)
#define ENTRY_MASKED	       (1u << 16)
#define ENTRY_WRITTEN	       (ENTRY_MASKED | ENTRY_LEVEL | ENTRY_ACTIVE_LOW | 0xfff)
#define ENTRY_APIC_ID_SHIFT    24

static uint32_t read_register(volatile char *registers, unsigned number)
{
	mmio_write32(registers + SELECT, number);
	return mmio_read32(registers + WINDOW);
}

static void write_register(volatile char *registers, unsigned number, uint32_t value)
{
	mmio_write32(registers + SELECT, number);
	mmio_write32(registers + WINDOW, value);
}

/* NULL if @entry is no IOAPIC, or it cannot be reached. */
static volatile char *open(const struct madt_entry *entry)
{
	if (entry->type != MADT_IOAPIC)
		return NULL;
	return mmio_map(madt_field(entry, MADT_IOAPIC_ADDRESS, 4), IOAPIC_BYTES);
}

static uint32_t last_pin(volatile char *registers)
{
	return read_register(registers, REGISTER_VERSION) >> VERSION_LAST_PIN_SHIFT & 0xff;
}

bool ioapic_find(uint32_t gsi, struct ioapic_pin *pin)
{
	struct madt_entry entry = {0};

	while (madt_next(&entry)) {
		uint32_t first = (uint32_t)madt_field(&entry, MADT_IOAPIC_GSI, 4);
		volatile char *registers = open(&entry);

		if (!registers || gsi < first || gsi - first > last_pin(registers))
			continue;
		*pin = (struct ioapic_pin){registers, gsi - first};
		return true;
	}
	return false;
}

static unsigned entry_of(const struct ioapic_pin *pin)
{
	return REGISTER_ENTRIES + 2 * pin->number;
}

void ioapic_mask(const struct ioapic_pin *pin)
{
	write_register(pin->registers, entry_of(pin), ENTRY_MASKED);
}

void ioapic_mask_all(void)
{
	struct madt_entry entry = {0};

	while (madt_next(&entry)) {
		struct ioapic_pin pin = {.registers = open(&entry)};

		if (!pin.registers)
			continue;
		for (uint32_t last = last_pin(pin.registers); pin.number <= last; pin.number++)
			if (!(read_register(pin.registers, entry_of(&pin)) & ENTRY_MASKED))
				ioapic_mask(&pin);
	}
}

bool ioapic_route(const struct ioapic_pin *pin, const struct madt_line *line, uint32_t apic_id,
		  uint8_t vector)
{
	uint32_t low = vector | (line->active_high ? 0 : ENTRY_ACTIVE_LOW) |
		       (line->edge ? 0 : ENTRY_LEVEL);

	ioapic_mask(pin);
	write_register(pin->registers, entry_of(pin) + 1, apic_id << ENTRY_APIC_ID_SHIFT);
	write_register(pin->registers, entry_of(pin), low);
	return (read_register(pin->registers, entry_of(pin)) & ENTRY_WRITTEN) == low;
}
