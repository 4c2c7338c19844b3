/* SPDX-License-Identifier: BSD-2-Clause */
/* What did a job cost at the ring, what went wrong, and under which machine? Not in fio's words. */
#include "kernel/bench/report.h"
#include "lib/format.h"

static void setup_line(struct sink *out, const struct report_machine *m, const struct job_result *r)
{
	const struct blk_device *dev = r->plan->device;

	sink_printf(out,
		    "  ringlab: %s %s cpu=%u queue=%u accel=%s machine=%s transport=%s ring=%s "
		    "mode=%s irq=%s queues=%u qsize=%u event_idx=%d indirect=%s cache=%s\n",
		    dev->name, dev->address, r->cpu, r->queue.index, m->accel, m->machine,
		    dev->transport, dev->ring, mode_name(r->queue.mode), r->queue.interrupt,
		    dev->nr_queues, r->queue.size, dev->event_idx, result_indirect(r),
		    device_cache_mode(dev));
}

static void cost_lines(struct sink *out, const struct job_result *r)
{
	const struct blk_counters *c = &r->counters;
	uint64_t ios = result_queue_ios(r);
	char kicks[FORMAT_MILLI_MAX], irqs[FORMAT_MILLI_MAX], batches[FORMAT_MILLI_MAX];
	char busy[FORMAT_MILLI_MAX];

	format_milli(kicks, sizeof(kicks), per_io_milli(c->kicks, ios), 3);
	format_milli(irqs, sizeof(irqs), per_io_milli(c->interrupts, ios), 3);
	format_milli(batches, sizeof(batches), per_io_milli(c->batches, ios), 3);
	format_milli(busy, sizeof(busy), result_busy_milli(r), 2);
	sink_printf(out, "  ringlab: kicks/io=%s irqs/io=%s batches/io=%s suppressed=%llu\n", kicks,
		    irqs, batches, (unsigned long long)c->kicks_suppressed);
	sink_printf(out,
		    "  ringlab: polls_empty=%llu ring_full=%llu rekicks=%llu cpu_busy=%s%% "
		    "max_in_flight=%llu sgl_chunks=%llu\n",
		    (unsigned long long)c->polls_empty, (unsigned long long)c->ring_full,
		    (unsigned long long)c->rekicks, busy, (unsigned long long)r->max_in_flight,
		    (unsigned long long)r->sgl_chunks);
}

/* Which of the lines above are not of this job alone. */
static void shared_lines(struct sink *out, const struct job_result *r)
{
	if (r->sharers > 1)
		sink_printf(
			out,
			"  ringlab: queue shared by %u jobs, figures of the queue: kicks, irqs, "
			"batches, suppressed, polls_empty, ring_full, rekicks\n",
			r->sharers);
	if (r->cpu_jobs > 1)
		sink_printf(out,
			    "  ringlab: cpu shared by %u jobs, figures of the cpu: usr, cpu_busy, "
			    "waits\n",
			    r->cpu_jobs);
}

/* How the waits of a job that may halt ended, and what CPU time that saved against polling. */
static void wait_line(struct sink *out, const struct job_result *r)
{
	uint64_t waited_for = r->caught_awake + r->caught_halted;
	char halted[FORMAT_MILLI_MAX], spinning[FORMAT_MILLI_MAX];

	if (r->queue.mode == BLK_POLL)
		return;
	format_milli(halted, sizeof(halted), result_halted_milli(r), 2);
	format_milli(spinning, sizeof(spinning), share_milli(r->caught_awake, waited_for), 2);
	sink_printf(out,
		    "  ringlab: waits: caught awake=%s%% cpu_halted=%s%% (saved against poll) "
		    "irqs_spurious=%llu wakeups_missed=%llu irq_coalesce=%u\n",
		    spinning, halted, (unsigned long long)r->counters.interrupts_spurious,
		    (unsigned long long)r->wakeups_missed, r->plan->device->irq_coalesce);
}

/* Two readings of the clock a batch submitted, one for what a poll found: what that costs. */
static void stamp_line(struct sink *out, const struct report_machine *m, const struct job_result *r)
{
	uint64_t stamps = 2 * sum_levels(r->submit_level) + sum_levels(r->complete_level);
	uint64_t cost_ns = wide_mul_div(stamps, m->stamp_ps, 1000);
	char each[FORMAT_MILLI_MAX], per_io[FORMAT_MILLI_MAX], share[FORMAT_MILLI_MAX];

	format_milli(each, sizeof(each), m->stamp_ps, 1);
	format_milli(per_io, sizeof(per_io), per_io_milli(cost_ns, result_finished(r)), 1);
	format_milli(share, sizeof(share), share_milli(cost_ns, r->runtime_ns), 2);
	sink_printf(out, "  ringlab: time stamps: %s ns each, %s ns/io, %s%% of the run\n", each,
		    per_io, share);
}

static void error_line(struct sink *out, const struct job_result *r)
{
	uint64_t n = result_errors(r);
	const char *separator = "";

	if (n == 0)
		return;
	sink_printf(out, "  ringlab: errors=%llu (", (unsigned long long)n);
	for (unsigned i = 0; i < BLK_STATUS_COUNT; i++) {
		if (r->errors[i] == 0)
			continue;
		sink_printf(out, "%s%s: %llu", separator, blk_status_name(i),
			    (unsigned long long)r->errors[i]);
		separator = ", ";
	}
	sink_printf(out, "), the first at sector %llu of 512 bytes: %s\n",
		    (unsigned long long)r->first_error_lba_512, blk_status_name(r->first_error));
}

static void warning_lines(struct sink *out, const struct job_result *r)
{
	const char *disk = r->plan->device->name;

	if (r->counters.rekicks)
		sink_printf(
			out,
			"  warning: %s: %llu notifications were repeated (rekicks) after a wait "
			"without progress: %s\n",
			disk, (unsigned long long)r->counters.rekicks,
			r->plan->device->event_idx
				? "notifications may have been lost"
				: "a slow device, or lost notifications (without EVENT_IDX the "
				  "two look alike)");
	if (r->ramp_ios && r->read.ios + r->write.ios == 0)
		sink_printf(out, "  warning: the job was over before its ramp time: nothing was "
				 "measured\n");
	if (r->stopped)
		sink_printf(out, "  warning: %s: the queue broke; the job ended early\n", disk);
	if (r->plan->left_out_bytes)
		sink_printf(
			out,
			"  note: the last %llu bytes of the range are less than a block; left out\n",
			(unsigned long long)r->plan->left_out_bytes);
}

static void crc_line(struct sink *out, const struct job_result *r)
{
	unsigned long long start = r->plan->first_lba_512 * 512, len = result_range_bytes(r);
	unsigned long long hashed = r->hashed_bytes;

	if (!r->plan->options->hash_crc32c)
		return;
	if (result_crc_valid(r))
		sink_printf(out, "  crc32c: 0x%08x over %llu bytes (range %llu+%llu)\n", r->crc32c,
			    hashed, start, len);
	else
		sink_printf(out, "  crc32c: none: %llu of %llu bytes were read (range %llu+%llu)\n",
			    hashed, len, start, len);
}

void report_own(struct sink *out, const struct report_machine *machine,
		const struct group_result *job)
{
	const struct job_result *r = job->job;

	setup_line(out, machine, r);
	cost_lines(out, r);
	wait_line(out, r);
	shared_lines(out, r);
	stamp_line(out, machine, r);
	error_line(out, r);
	warning_lines(out, r);
	crc_line(out, r);
	report_result(out, machine, job);
}
