/* SPDX-License-Identifier: BSD-2-Clause */
/* How is a register reached that may lie in memory or in I/O space, as its BAR says? */
#ifndef DRIVERS_PCI_REGION_H
#define DRIVERS_PCI_REGION_H

#include <arch/machine.h>

struct region {
	volatile uint8_t *mmio; /* NULL: in I/O space, from @port on */
	uint16_t port;
	uint32_t bytes; /* 0: not mapped */
};

/* A stretch of a BAR, before it is mapped. */
struct bar_window {
	uint64_t base, bytes; /* bus address */
	bool io;
};

/* Makes @bytes at @offset of @window reachable. False if they lie outside or cannot be mapped. */
static inline bool region_map(struct region *r, const struct bar_window *window, uint64_t offset,
			      uint32_t bytes)
{
	uint64_t address = window->base + offset;

	*r = (struct region){0};
	if (offset > window->bytes || bytes > window->bytes - offset)
		return false;
	if (window->io) {
		if (address + bytes > 0x10000)
			return false;
		r->port = (uint16_t)address;
	} else {
		r->mmio = mmio_map(address, bytes);
		if (!r->mmio)
			return false;
	}
	r->bytes = bytes;
	return true;
}

static inline uint8_t region_read8(const struct region *r, uint64_t offset)
{
	return r->mmio ? mmio_read8(r->mmio + offset) : port_read8((uint16_t)(r->port + offset));
}

static inline uint16_t region_read16(const struct region *r, uint64_t offset)
{
	return r->mmio ? mmio_read16(r->mmio + offset) : port_read16((uint16_t)(r->port + offset));
}

static inline uint32_t region_read32(const struct region *r, uint64_t offset)
{
	return r->mmio ? mmio_read32(r->mmio + offset) : port_read32((uint16_t)(r->port + offset));
}

static inline void region_write8(const struct region *r, uint64_t offset, uint8_t value)
{
	if (r->mmio)
		mmio_write8(r->mmio + offset, value);
	else
		port_write8((uint16_t)(r->port + offset), value);
}

static inline void region_write16(const struct region *r, uint64_t offset, uint16_t value)
{
	if (r->mmio)
		mmio_write16(r->mmio + offset, value);
	else
		port_write16((uint16_t)(r->port + offset), value);
}

static inline void region_write32(const struct region *r, uint64_t offset, uint32_t value)
{
	if (r->mmio)
		mmio_write32(r->mmio + offset, value);
	else
		port_write32((uint16_t)(r->port + offset), value);
}

#endif
