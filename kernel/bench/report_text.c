/* SPDX-License-Identifier: BSD-2-Clause */
/* What does a person read after a job? One block in the words and the form of fio 3.33. */
#include "kernel/bench/report.h"
#include "lib/format.h"

/* Above this, samples of bandwidth are printed in MiB/s. */
#define KIB_PER_GIB (1024ull * 1024)

static void direction_line(struct sink *out, const char *name, const struct job_result *r,
			   const struct direction_result *d)
{
	uint64_t bw = result_bytes_per_s(r, d->bytes);
	uint64_t iops = (result_iops_milli(r, d->ios) + 500) / 1000;
	char text[4][NUMBER_TEXT_MAX];

	sink_printf(out, "  %s: IOPS=%s, BW=%s (%s)(%s/%llumsec)\n", name,
		    number_text(text[0], iops, 4, false, ""),
		    number_text(text[1], bw, 4, true, "B/s"),
		    number_text(text[2], bw, 4, false, "B/s"),
		    number_text(text[3], d->bytes, 4, true, "B"),
		    (unsigned long long)result_runtime_ms(r));
}

struct sample_text {
	char avg[FORMAT_MILLI_MAX], dev[FORMAT_MILLI_MAX];
};

static void sample_text(struct sample_text *text, const struct stat *s, uint64_t divisor)
{
	format_milli(text->avg, sizeof(text->avg), stat_mean_milli(s) / divisor, 2);
	format_milli(text->dev, sizeof(text->dev), stat_stddev_milli(s) / divisor, 2);
}

static void sample_lines(struct sink *out, const struct job_result *r,
			 const struct direction_result *d)
{
	const struct stat *bw = &d->bw_kib, *iops = &d->iops;
	uint64_t mean = stat_mean_milli(bw), divisor = mean / 1000 > KIB_PER_GIB ? 1024 : 1;
	uint64_t per = share_milli(mean, result_bytes_per_s(r, d->bytes) * 1000 / 1024);
	struct sample_text text;
	char share[FORMAT_MILLI_MAX];

	if (bw->n) {
		sample_text(&text, bw, divisor);
		format_milli(share, sizeof(share), per > 100000 ? 100000 : per, 2);
		sink_printf(out,
			    "   bw (  %s/s): min=%5llu, max=%5llu, per=%s%%, avg=%5s, stdev=%5s, "
			    "samples=%llu\n",
			    divisor > 1 ? "MiB" : "KiB", (unsigned long long)(bw->min / divisor),
			    (unsigned long long)(bw->max / divisor), share, text.avg, text.dev,
			    (unsigned long long)bw->n);
	}
	if (iops->n) {
		sample_text(&text, iops, 1);
		sink_printf(
			out,
			"   iops        : min=%5llu, max=%5llu, avg=%5s, stdev=%5s, samples=%llu\n",
			(unsigned long long)iops->min, (unsigned long long)iops->max, text.avg,
			text.dev, (unsigned long long)iops->n);
	}
}

static void level_line(struct sink *out, const char *label, const char *const key[DEPTH_LEVELS],
		       const uint64_t level[DEPTH_LEVELS])
{
	uint64_t total = sum_levels(level);

	sink_printf(out, "%s: ", label);
	for (unsigned i = 0; i < DEPTH_LEVELS; i++) {
		uint64_t share = share_milli(level[i], total);
		char text[FORMAT_MILLI_MAX];

		format_milli(text, sizeof(text), share && share < 100 ? 100 : share, 1);
		sink_printf(out, "%s%s=%s%%", i ? ", " : "", key[i], text);
	}
	sink_puts(out, "\n");
}

static void queue_lines(struct sink *out, const struct job_result *r)
{
	char busy[FORMAT_MILLI_MAX];

	format_milli(busy, sizeof(busy), result_busy_milli(r), 2);
	sink_printf(out, "  cpu          : usr=%s%%, sys=0.00%%, ctx=0, majf=0, minf=0\n", busy);
	level_line(out, "  IO depths    ", depth_key, r->depth_level);
	level_line(out, "     submit    ", batch_key, r->submit_level);
	level_line(out, "     complete  ", batch_key, r->complete_level);
	sink_printf(out,
		    "     issued rwts: total=%llu,%llu,0,0 short=%llu,0,0,0 dropped=0,0,0,0\n"
		    "     latency   : target=0, window=0, percentile=100.00%%, depth=%u\n",
		    (unsigned long long)r->read.ios, (unsigned long long)r->write.ios,
		    (unsigned long long)r->errors[BLK_SHORT], r->plan->options->iodepth);
}

void report_text(struct sink *out, const struct report_machine *machine,
		 const struct job_result *result, unsigned index)
{
	const struct job_options *o = result->plan->options;
	const struct direction_result *const direction[] = {&result->read, &result->write};
	static const char *const name[] = {"read", "write"};

	sink_printf(out, "%s: (groupid=%u, jobs=1): err=%2d: pid=0: %s\n", o->name, index,
		    result_errno(result), result->plan->device->name);
	for (unsigned i = 0; i < 2; i++) {
		if (direction[i]->ios == 0)
			continue;
		direction_line(out, name[i], result, direction[i]);
		report_latency(out, o, direction[i]);
		sample_lines(out, result, direction[i]);
	}
	report_spread(out, result);
	queue_lines(out, result);
	report_own(out, machine, result);
}

static void status_line(struct sink *out, const char *name, const struct job_result *r,
			const struct direction_result *d)
{
	uint64_t bw = result_bytes_per_s(r, d->bytes);
	unsigned long long ms = result_runtime_ms(r);
	char binary[NUMBER_TEXT_MAX], decimal[NUMBER_TEXT_MAX];
	char io_binary[NUMBER_TEXT_MAX], io_decimal[NUMBER_TEXT_MAX];

	if (d->ios == 0)
		return;
	number_text(binary, bw, 4, true, "B/s");
	number_text(decimal, bw, 4, false, "B/s");
	number_text(io_binary, d->bytes, 4, true, "B");
	number_text(io_decimal, d->bytes, 4, false, "B");
	sink_printf(out, "  %s: bw=%s (%s), %s-%s (%s-%s), io=%s (%s), run=%llu-%llumsec\n", name,
		    binary, decimal, binary, binary, decimal, decimal, io_binary, io_decimal, ms,
		    ms);
}

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

void report_text_end(struct sink *out, const struct report_machine *machine,
		     const struct job_result *results, unsigned n)
{
	char kernel_ms[FORMAT_MILLI_MAX], first_io_ms[FORMAT_MILLI_MAX], ram_mib[FORMAT_MILLI_MAX];

	for (unsigned i = 0; i < n; i++) {
		sink_printf(out, "\nRun status group %u (all jobs):\n", i);
		status_line(out, " READ", &results[i], &results[i].read);
		status_line(out, "WRITE", &results[i], &results[i].write);
	}
	sink_puts(out, "\n");
	clock_line(out, machine);
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
