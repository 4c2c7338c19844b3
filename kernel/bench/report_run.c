/* SPDX-License-Identifier: BSD-2-Clause */
/* In which order does a person read a run? Queues, jobs, groups, the machine. */
#include "kernel/bench/report.h"
#include "lib/format.h"

#define SKEW_WARN_NS 1000

static void clock_line(struct sink *out, const struct report_machine *m)
{
	char mhz[FORMAT_MILLI_MAX];

	format_milli(mhz, sizeof(mhz), (m->tsc_hz + 500) / 1000, 1);
	sink_printf(out, "clock: TSC %s MHz (%s, ", mhz, m->tsc_source);
	if (m->tsc_cross_source)
		sink_printf(out, "cross-check %s, %llu ppm)\n", m->tsc_cross_source,
			    (unsigned long long)m->tsc_cross_ppm);
	else
		sink_puts(out, "no cross-check)\n");
	if (!m->tsc_trusted)
		sink_puts(out, "warning: the clock is not trusted: "
			       "every time, rate and latency above may be wrong\n");
}

static void put_time(struct sink *out, uint64_t ns)
{
	char text[FORMAT_MILLI_MAX];

	if (ns < 1000) {
		sink_printf(out, "%llu ns", (unsigned long long)ns);
		return;
	}
	format_milli(text, sizeof(text), ns < 1000000 ? ns : ns / 1000, 1);
	sink_printf(out, "%s %s", text, ns < 1000000 ? "us" : "ms");
}

static void skew_line(struct sink *out, const struct report_machine *m)
{
	if (m->cpus < 2 || m->tsc_skew_ns == UINT64_MAX)
		return;
	sink_printf(out, "clock: TSC skew between %u CPUs: at most ", m->cpus);
	put_time(out, m->tsc_skew_ns);
	sink_puts(out, "\n");
	if (m->tsc_skew_least_ns <= SKEW_WARN_NS)
		return;
	sink_puts(out, "warning: the clocks of the CPUs are at least ");
	put_time(out, m->tsc_skew_least_ns);
	sink_puts(out, " apart: a start common to several jobs is no more exact than that\n");
}

void report_end(struct sink *out, const struct report_machine *machine)
{
	char kernel_ms[FORMAT_MILLI_MAX], first_io_ms[FORMAT_MILLI_MAX], ram_mib[FORMAT_MILLI_MAX];

	sink_puts(out, "\n");
	clock_line(out, machine);
	skew_line(out, machine);
	format_milli(ram_mib, sizeof(ram_mib), wide_mul_div(machine->ram_bytes, 1000, 1 << 20), 1);
	sink_printf(out, "machine: %s, %s MiB, of which %llu KiB for the image\n", machine->cpu,
		    ram_mib, (unsigned long long)(machine->image_bytes + 1023) / 1024);
	format_milli(kernel_ms, sizeof(kernel_ms), machine->boot_to_kernel_ns / 1000, 1);
	format_milli(first_io_ms, sizeof(first_io_ms), machine->boot_to_first_io_ns / 1000, 1);
	sink_printf(out, "boot: %s ms to kernel", kernel_ms);
	if (machine->boot_to_first_io_ns)
		sink_printf(out, ", %s ms to first I/O", first_io_ms);
	sink_puts(out, "\n");
}

static bool uses(const struct job_result *results, unsigned n, const struct blk_device *dev)
{
	for (unsigned i = 0; i < n; i++) {
		if (results[i].plan->device == dev)
			return true;
	}
	return false;
}

static void group_blocks(struct sink *out, const struct report_machine *machine,
			 const struct job_result *job, unsigned n)
{
	const struct group_result *g = group_sum(job, n);
	struct group_bw bw = group_bw(g);

	for (unsigned i = 0; i < n; i++) {
		g = group_sum(&job[i], 1);
		report_block(out, g, &bw);
		report_own(out, machine, g);
	}
	if (n < 2)
		return;
	g = group_sum(job, n);
	report_block(out, g, &bw);
	report_group(out, machine, g);
}

void report_text(struct sink *out, const struct report_machine *machine,
		 const struct job_result *results, unsigned n)
{
	unsigned size;

	for (unsigned i = 0; i < machine->nr_devices; i++) {
		if (uses(results, n, &machine->devices[i]))
			report_queues(out, machine, &machine->devices[i]);
	}
	for (unsigned i = 0; i < n; i += size) {
		size = group_size(&results[i], n - i);
		group_blocks(out, machine, &results[i], size);
	}
	for (unsigned i = 0; i < n; i += size) {
		size = group_size(&results[i], n - i);
		report_status(out, group_sum(&results[i], size));
	}
	report_end(out, machine);
}
