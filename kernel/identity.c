/* SPDX-License-Identifier: BSD-2-Clause */
/* On which machine, and by which program, were the figures taken? */
#include "kernel/identity.h"

#include <arch/machine.h>
#include <arch/system.h>

#include "drivers/pci/pci.h"
#include "lib/sink.h"

#define STAMP_ROWS 4
#define STAMPS	   64

/* The host bridge tells QEMU's machines apart. */
static const char *machine_name(void)
{
	struct pci_function bridge;

	pci_host_bridge(&bridge);
	if (bridge.vendor_id == 0x8086 && bridge.device_id == 0x29c0)
		return "q35";
	if (bridge.vendor_id == 0x8086 && bridge.device_id == 0x1237)
		return "pc";
	if (bridge.vendor_id == 0x1b36 && bridge.device_id == 0x0008)
		return "microvm";
	return "unknown";
}

void identity_banner(struct sink *out)
{
	struct memory_stats stats;

	memory_stats(&stats);
	/* Short: each character costs a device access or two before the first I/O. */
	sink_printf(out, "ringlab %s: %s, %llu MiB, image %llu KiB (%llu KiB loaded)\n",
		    RINGLAB_VERSION, machine_hypervisor_name(),
		    (unsigned long long)(stats.ram_bytes >> 20),
		    (unsigned long long)(stats.image_bytes >> 10),
		    (unsigned long long)(stats.text_data_bytes >> 10));
}

/* The shortest of a few rows of readings: what one costs when nothing comes between. */
static uint64_t stamp_ps(void)
{
	uint64_t best = UINT64_MAX;

	for (unsigned row = 0; row < STAMP_ROWS; row++) {
		uint64_t start = cycles(), end = start;

		for (unsigned i = 0; i < STAMPS; i++)
			end = cycles();
		if (end - start < best)
			best = end - start;
	}
	return cycles_to_ns(best * 1000) / STAMPS;
}

void identity_clock(struct report_machine *m)
{
	struct clock_status clock;
	struct cpus_skew skew;

	clock_refine();
	clock_status(&clock);
	m->tsc_hz = clock.hz;
	m->tsc_source = clock.source;
	m->tsc_cross_source = clock.cross_hz ? clock.cross_source : NULL;
	m->tsc_cross_ppm = clock.cross_ppm;
	m->tsc_trusted = clock.trusted;
	cpus_skew(&skew);
	m->tsc_skew_ns = m->cpus > 1 ? cycles_to_ns(skew.most_cycles) : UINT64_MAX;
	m->tsc_skew_least_ns = cycles_to_ns(skew.least_cycles);
	m->stamp_ps = stamp_ps();
}

void identity_machine(struct report_machine *m, const struct boot_info *info,
		      const struct disks *disks)
{
	struct memory_stats stats;

	memory_stats(&stats);
	*m = (struct report_machine){
		.version = RINGLAB_VERSION,
		.accel = machine_hypervisor_name(),
		.machine = machine_name(),
		.cpu = machine_cpu_name(),
		.firmware = info->protocol,
		.cpus = cpus_count(),
		.ram_bytes = stats.ram_bytes,
		.image_bytes = stats.image_bytes,
		.boot_to_kernel_ns = cycles_to_ns(info->entry_cycles),
		.entry_cycles = info->entry_cycles,
		.nr_devices = disks->n,
		.devices = disks->disk,
	};
}
