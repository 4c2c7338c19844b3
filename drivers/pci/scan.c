/* SPDX-License-Identifier: BSD-2-Clause */
/* Which functions are there? A walk over the buses, through bridges, each bus once. */
#include "drivers/pci/pci.h"

#include "lib/format.h"
#include "lib/log.h"

struct scan {
	struct pci_function *out;
	unsigned max, n;
	bool (*wanted)(const struct pci_function *);
	bool seen[256], waiting[256]; /* buses */
};

/* False if nothing answers at this address. */
static bool probe(struct pci_function *fn, unsigned bus, unsigned device, unsigned function)
{
	*fn = (struct pci_function){
		.bus = (uint8_t)bus, .device = (uint8_t)device, .function = (uint8_t)function};
	fn->vendor_id = pci_read16(fn, PCI_VENDOR_ID);
	if (fn->vendor_id == 0xffff)
		return false;
	fn->device_id = pci_read16(fn, PCI_DEVICE_ID);
	fn->revision = pci_read8(fn, PCI_REVISION);
	fn->class_code = pci_read16(fn, PCI_CLASS);
	fn->header_type = pci_read8(fn, PCI_HEADER_TYPE);
	format(fn->address, sizeof(fn->address), "%02x:%02x.%x", bus, device, function);
	return true;
}

static unsigned address_key(const struct pci_function *fn)
{
	return (unsigned)fn->bus << 8 | (unsigned)fn->device << 3 | fn->function;
}

static void insert(struct scan *scan, const struct pci_function *fn)
{
	unsigned i = scan->n;

	if (scan->n == scan->max) {
		log_warn("pci: more than %u functions of interest, %s left out", scan->max,
			 fn->address);
		return;
	}
	for (; i > 0 && address_key(&scan->out[i - 1]) > address_key(fn); i--)
		scan->out[i] = scan->out[i - 1];
	scan->out[i] = *fn;
	scan->n++;
}

static void add_bus(struct scan *scan, unsigned bus)
{
	if (!scan->seen[bus])
		scan->waiting[bus] = true;
	scan->seen[bus] = true;
}

static void visit(struct scan *scan, const struct pci_function *fn)
{
	log_debug("pci: %s %04x:%04x class %04x", fn->address, fn->vendor_id, fn->device_id,
		  fn->class_code);
	if (scan->wanted(fn))
		insert(scan, fn);
	if ((fn->header_type & 0x7f) == 1 && fn->class_code == PCI_CLASS_BRIDGE_PCI) {
		unsigned secondary = pci_read8(fn, PCI_SECONDARY_BUS);

		if (secondary)
			add_bus(scan, secondary);
		else
			log_debug("pci: %s: bridge without a secondary bus", fn->address);
	}
}

static void scan_bus(struct scan *scan, unsigned bus)
{
	struct pci_function fn;

	for (unsigned device = 0; device < 32; device++) {
		if (!probe(&fn, bus, device, 0))
			continue;
		visit(scan, &fn);
		if (!(fn.header_type & PCI_HEADER_MULTIFUNCTION))
			continue;
		for (unsigned function = 1; function < 8; function++)
			if (probe(&fn, bus, device, function))
				visit(scan, &fn);
	}
}

/* Each bus once: one that is found while the buses are walked waits for the next round. */
static void scan_waiting(struct scan *scan)
{
	bool again = true;

	while (again) {
		again = false;
		for (unsigned bus = 0; bus < 256; bus++) {
			if (!scan->waiting[bus])
				continue;
			scan->waiting[bus] = false;
			scan_bus(scan, bus);
			again = true;
		}
	}
}

unsigned pci_scan(struct pci_function *out, unsigned max,
		  bool (*wanted)(const struct pci_function *))
{
	struct scan scan = {.out = out, .max = max, .wanted = wanted};
	struct pci_function fn;

	add_bus(&scan, 0);
	scan_waiting(&scan);
	/* Further root buses: by their first function, or, if nothing wanted was found, in full. */
	for (unsigned bus = 1; bus < 256; bus++)
		if (!scan.seen[bus] && probe(&fn, bus, 0, 0))
			add_bus(&scan, bus);
	scan_waiting(&scan);
	for (unsigned bus = 1; bus < 256 && scan.n == 0; bus++)
		add_bus(&scan, bus);
	scan_waiting(&scan);
	return scan.n;
}

void pci_host_bridge(struct pci_function *out)
{
	probe(out, 0, 0, 0);
}
