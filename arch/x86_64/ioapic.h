/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a line get to a CPU? Intel 82093AA IOAPIC. */
#ifndef ARCH_X86_64_IOAPIC_H
#define ARCH_X86_64_IOAPIC_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/x86_64/madt.h"

struct ioapic_pin {
	volatile char *registers;
	unsigned number;
};

/* Finds the IOAPIC that has @gsi; false if there is none, or it cannot be reached. */
bool ioapic_find(uint32_t gsi, struct ioapic_pin *pin);

/* Leads @pin to @vector of the CPU with @apic_id, and unmasks it. False if it does not read back. */
bool ioapic_route(const struct ioapic_pin *pin, const struct madt_line *line, uint32_t apic_id,
		  uint8_t vector);
void ioapic_mask(const struct ioapic_pin *pin);
/* What firmware has left open would come at vectors of its own choice. */
void ioapic_mask_all(void);

#endif
