/* SPDX-License-Identifier: BSD-2-Clause */
/* What does a driver see of PCI? Functions behind CF8/CFC or ECAM, BARs that size as real ones. */
#include <stdlib.h>
#include <string.h>

#include "tests/host/fake_inside.h"

#define FUNCTIONS  64
#define COMMAND	   0x04
#define STATUS	   0x06
#define BAR0	   0x10
#define EXPANSION  0x30
#define CAP_START  0x34
#define INTERRUPT  0x3c
#define DECODE_IO  1u
#define DECODE_MEM 2u

static struct fake_function *functions[FUNCTIONS];
static unsigned nr_functions;
static bool ports_on = true;
static struct ecam_region ecam; /* base 0: none */
static uint32_t config_address;

void fake_pci_reset(void)
{
	while (nr_functions > 0)
		free(functions[--nr_functions]);
	ports_on = true;
	ecam.base = 0;
	config_address = 0;
}

void fake_pci_ports(bool on)
{
	ports_on = on;
}

void fake_pci_ecam(uint64_t base, uint8_t first_bus, uint8_t last_bus)
{
	ecam = (struct ecam_region){.base = base, .first_bus = first_bus, .last_bus = last_bus};
}

unsigned machine_ecam_regions(struct ecam_region *out, unsigned max)
{
	if (ecam.base == 0 || max == 0)
		return 0;
	*out = ecam;
	return 1;
}

/* ---- Building ---- */

void fake_pci_put(struct fake_function *fn, unsigned offset, uint32_t value, unsigned width)
{
	memcpy(fn->config + offset, &value, width);
}

static uint32_t get(const struct fake_function *fn, unsigned offset, unsigned width)
{
	uint32_t value = 0;

	memcpy(&value, fn->config + offset, width);
	return value;
}

uint16_t fake_pci_command(const struct fake_function *fn)
{
	return (uint16_t)get(fn, COMMAND, 2);
}

struct fake_function *fake_pci_add(unsigned bus, unsigned device, unsigned number,
				   uint16_t vendor_id, uint16_t device_id)
{
	struct fake_function *fn = calloc(1, sizeof(*fn));

	if (!fn || nr_functions == FUNCTIONS)
		abort();
	fn->bus = (uint8_t)bus;
	fn->device = (uint8_t)device;
	fn->number = (uint8_t)number;
	fake_pci_put(fn, 0, vendor_id, 2);
	fake_pci_put(fn, 2, device_id, 2);
	fake_pci_put(fn, COMMAND, DECODE_IO | DECODE_MEM, 2);
	fake_pci_put(fn, INTERRUPT, 0x0100, 2);
	functions[nr_functions++] = fn;
	return fn;
}

struct fake_function *fake_pci_bridge(unsigned bus, unsigned device, unsigned number,
				      uint8_t secondary, uint8_t subordinate)
{
	struct fake_function *fn = fake_pci_add(bus, device, number, 0x1b36, 0x000c);

	fn->config[0x0a] = 0x04; /* PCI-to-PCI bridge */
	fn->config[0x0b] = 0x06;
	fn->config[0x0e] = 0x01;
	fn->config[0x18] = (uint8_t)bus;
	fn->config[0x19] = secondary;
	fn->config[0x1a] = subordinate;
	return fn;
}

void fake_pci_bar(struct fake_function *fn, unsigned index, enum fake_bar_type type, uint64_t base,
		  uint64_t bytes)
{
	unsigned flags = type == FAKE_BAR_IO ? 1 : type == FAKE_BAR_MEM64 ? 4 : 0;

	fn->bar[index] = (struct fake_bar){type, base, bytes, 64};
	fake_pci_put(fn, BAR0 + 4 * index, (uint32_t)base | flags, 4);
	if (type == FAKE_BAR_MEM64)
		fake_pci_put(fn, BAR0 + 4 * index + 4, (uint32_t)(base >> 32), 4);
}

uint8_t fake_pci_cap(struct fake_function *fn, const void *cap, unsigned bytes)
{
	unsigned n = fn->nr_caps, last = n ? fn->cap[n - 1].offset : 0;
	unsigned offset = n ? (last + fn->cap[n - 1].bytes + 3u) & ~3u : 0x40;

	if (n == 32 || offset + bytes > 256)
		abort();
	memcpy(fn->config + offset, cap, bytes);
	fn->config[offset + 1] = 0;
	fn->config[n ? last + 1 : CAP_START] = (uint8_t)offset;
	fn->config[STATUS] |= 0x10;
	fn->cap[n].offset = (uint8_t)offset;
	fn->cap[n].bytes = (uint8_t)bytes;
	fn->cap[n].id = fn->config[offset];
	fn->nr_caps++;
	return (uint8_t)offset;
}

/* ---- Configuration space ---- */

static struct fake_function *find(unsigned bus, unsigned device, unsigned number)
{
	unsigned i;

	for (i = 0; i < nr_functions; i++)
		if (functions[i]->bus == bus && functions[i]->device == device &&
		    (functions[i]->number == number || functions[i]->ghost))
			return functions[i]->gone ? NULL : functions[i];
	return NULL;
}

/* The bits of a 32-bit BAR register that keep what is written. */
static uint32_t bar_mask(const struct fake_function *fn, unsigned index)
{
	const struct fake_bar *bar = &fn->bar[index];
	uint64_t mask = ~(bar->bytes - 1);

	if (index > 0 && bar[-1].type == FAKE_BAR_MEM64) {
		mask = ~(bar[-1].bytes - 1);
		if (bar[-1].address_bits < 64)
			mask &= (1ull << bar[-1].address_bits) - 1;
		return (uint32_t)(mask >> 32);
	}
	if (bar->type == FAKE_BAR_NONE)
		return 0;
	return (uint32_t)mask & (bar->type == FAKE_BAR_IO ? 0xfffcu : 0xfffffff0u);
}

static void write_bar(struct fake_function *fn, unsigned index, uint32_t value)
{
	bool upper = index > 0 && fn->bar[index - 1].type == FAKE_BAR_MEM64;
	const struct fake_bar *bar = &fn->bar[upper ? index - 1 : index];
	unsigned decode = bar->type == FAKE_BAR_IO ? DECODE_IO : DECODE_MEM;
	uint32_t mask = bar_mask(fn, index), old = get(fn, BAR0 + 4 * index, 4);
	uint32_t assigned = (uint32_t)(upper ? bar->base >> 32 : bar->base);

	if (bar->type == FAKE_BAR_NONE)
		return;
	if ((fake_pci_command(fn) & decode) && (value & mask) != (old & mask))
		fake_violate("F-037: BAR %u written with %#x while it decodes", index, value);
	if (bar->base != 0 && value != UINT32_MAX && (value & mask) != (assigned & mask))
		fake_violate("F-038: BAR %u moved to %#x by an odd probe", index, value);
	fake_pci_put(fn, BAR0 + 4 * index,
		     (value & mask) | (upper ? 0 : old & (decode == 1 ? 3 : 15)), 4);
}

static uint64_t bar_base(const struct fake_function *fn, unsigned index)
{
	uint64_t base =
		get(fn, BAR0 + 4 * index, 4) & ~(fn->bar[index].type == FAKE_BAR_IO ? 3u : 15u);

	if (fn->bar[index].type == FAKE_BAR_MEM64)
		base |= (uint64_t)get(fn, BAR0 + 4 * index + 4, 4) << 32;
	return base;
}

static void write_command(struct fake_function *fn, uint32_t value)
{
	unsigned i;

	fake_pci_put(fn, COMMAND, value & 0x0547, 2);
	for (i = 0; i < 6; i++)
		if (fn->bar[i].base && bar_base(fn, i) != fn->bar[i].base &&
		    (value & (fn->bar[i].type == FAKE_BAR_IO ? DECODE_IO : DECODE_MEM)))
			fake_violate("F-037: BAR %u not put back before decoding goes on", i);
}

/* Of Message Control, the two bits on top can be written (6.8.2.3). */
static void write_msix(struct fake_function *fn, unsigned cap, unsigned offset, uint32_t value,
		       unsigned width)
{
	if (offset == cap + 2 && width == 2)
		fake_pci_put(fn, offset, (get(fn, offset, 2) & 0x3fff) | (value & 0xc000), 2);
	else
		fake_violate("F-121: %u bytes %#x written to MSI-X capability + %u", width, value,
			     offset - cap);
}

static void write_cap(struct fake_function *fn, unsigned offset, uint32_t value, unsigned width)
{
	unsigned i;

	for (i = 0; i < fn->nr_caps; i++) {
		if (offset - fn->cap[i].offset >= fn->cap[i].bytes)
			continue;
		if (fn->cap[i].id == 0x11)
			write_msix(fn, fn->cap[i].offset, offset, value, width);
		else if (fn->cap[i].id != 0x09)
			fake_pci_put(fn, offset, value, width);
		else if (fn->config[fn->cap[i].offset + 3] != FAKE_PCI_CFG)
			fake_violate("PCI-CAP-08: write to capability at %#x", offset);
	}
}

static uint32_t config_read(unsigned bus, unsigned devfn, unsigned offset, unsigned width)
{
	struct fake_function *fn = find(bus, devfn >> 3, devfn & 7);

	if (!fn)
		return UINT32_MAX;
	fn->config_reads++;
	if (fn->owner)
		return fake_hostile_read(fn->owner, get(fn, offset, width), width);
	return get(fn, offset, width);
}

static void config_write(unsigned bus, unsigned devfn, unsigned offset, uint32_t value,
			 unsigned width)
{
	struct fake_function *fn = find(bus, devfn >> 3, devfn & 7);

	if (!fn)
		return;
	fn->config_writes++;
	if (offset == COMMAND)
		write_command(fn, value);
	else if (offset >= BAR0 && offset < BAR0 + 24 && fn->config[0x0e] % 128 == 0 && width == 4)
		write_bar(fn, (offset - BAR0) / 4, value);
	else if (offset >= 0x40)
		write_cap(fn, offset, value, width);
	else if (offset != STATUS && offset != INTERRUPT)
		fake_violate("PCI: %u bytes %#x written to configuration offset %#x", width, value,
			     offset);
}

/* ---- Ports and memory ---- */

static struct fake_function *decode(uint64_t at, unsigned width, bool io, unsigned *index)
{
	unsigned i, n, need = io ? DECODE_IO : DECODE_MEM;

	for (n = 0; n < nr_functions; n++)
		for (i = 0; i < 6; i++) {
			struct fake_bar *bar = &functions[n]->bar[i];

			if (bar->type == FAKE_BAR_NONE || (bar->type == FAKE_BAR_IO) != io ||
			    at - bar_base(functions[n], i) >= bar->bytes ||
			    !(fake_pci_command(functions[n]) & need))
				continue;
			if (at - bar_base(functions[n], i) + width > bar->bytes)
				break;
			*index = i;
			return functions[n];
		}
	fake_violate("PCI-CAP-10: %s %#llx: nothing decodes it", io ? "port" : "address",
		     (unsigned long long)at);
	return NULL;
}

static uint32_t space_read(uint64_t at, unsigned width, bool io)
{
	unsigned index;
	struct fake_function *fn = decode(at, width, io, &index);

	if (!fn || fn->gone || !fn->read)
		return UINT32_MAX;
	return fn->read(fn, index, at - bar_base(fn, index), width);
}

static void space_write(uint64_t at, uint32_t value, unsigned width, bool io)
{
	unsigned index;
	struct fake_function *fn = decode(at, width, io, &index);

	if (fn && !fn->gone && fn->write)
		fn->write(fn, index, at - bar_base(fn, index), value, width);
}

static bool in_ecam(uint64_t phys)
{
	return ecam.base && phys - ecam.base < ((uint64_t)ecam.last_bus - ecam.first_bus + 1) << 20;
}

uint32_t fake_mem_read(uint64_t phys, unsigned width)
{
	uint64_t at = phys - ecam.base;

	if (!in_ecam(phys))
		return space_read(phys, width, false);
	return config_read((unsigned)(at >> 20) + ecam.first_bus, at >> 12 & 0xff, at & 0xfff,
			   width);
}

void fake_mem_write(uint64_t phys, uint32_t value, unsigned width)
{
	uint64_t at = phys - ecam.base;

	if (in_ecam(phys))
		config_write((unsigned)(at >> 20) + ecam.first_bus, at >> 12 & 0xff, at & 0xfff,
			     value, width);
	else
		space_write(phys, value, width, false);
}

static void check_port(uint16_t port, unsigned width)
{
	host_access();
	if (port % width)
		fake_violate("PCI-ACC-01: %u bytes at port %#x are not aligned", width, port);
}

uint32_t host_port_read(uint16_t port, unsigned width)
{
	uint32_t a = config_address;

	check_port(port, width);
	if (port == 0xcf8 && width == 4)
		return ports_on ? a : UINT32_MAX;
	if (port < 0xcfc || port > 0xcff)
		return space_read(port, width, true);
	if (!ports_on || !(a >> 31))
		return UINT32_MAX;
	return config_read(a >> 16 & 0xff, a >> 8 & 0xff, (a & 0xfc) + (port & 3), width);
}

void host_port_write(uint16_t port, uint32_t value, unsigned width)
{
	uint32_t a = config_address;

	check_port(port, width);
	if (port == 0xcf8 && width == 4)
		config_address = value & 0x80fffffcu;
	else if (port < 0xcfc || port > 0xcff)
		space_write(port, value, width, true);
	else if (ports_on && a >> 31)
		config_write(a >> 16 & 0xff, a >> 8 & 0xff, (a & 0xfc) + (port & 3), value, width);
}
