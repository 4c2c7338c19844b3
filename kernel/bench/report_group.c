/* SPDX-License-Identifier: BSD-2-Clause */
/* What did the jobs of a group cost, queue by queue and CPU by CPU? Not in fio's words. */
#include "kernel/bench/report.h"
#include "lib/format.h"
#include "lib/mem.h"

static const char *name_text(const struct job_result *r)
{
	return r->plan->options->name;
}

static const char *rw_text(const struct job_result *r)
{
	return job_rw_name(r->plan->options->rw);
}

static const char *ring_text(const struct job_result *r)
{
	return r->plan->device->ring;
}

static const char *transport_text(const struct job_result *r)
{
	return r->plan->device->transport;
}

static const char *mode_text(const struct job_result *r)
{
	return mode_name(r->queue.mode);
}

/* What all jobs have in common; "mixed" if they differ. */
static const char *common(const struct group_result *g,
			  const char *(*text)(const struct job_result *r))
{
	for (unsigned i = 1; i < g->nr_jobs; i++) {
		if (!str_eq(text(&g->job[i]), text(&g->job[0])))
			return "mixed";
	}
	return text(&g->job[0]);
}

static unsigned bs_bytes(const struct job_result *r)
{
	return r->plan->options->bs_bytes;
}

static unsigned iodepth(const struct job_result *r)
{
	return r->plan->options->iodepth;
}

static const char *common_number(char buf[16], const struct group_result *g,
				 unsigned (*number)(const struct job_result *r))
{
	for (unsigned i = 1; i < g->nr_jobs; i++) {
		if (number(&g->job[i]) != number(&g->job[0]))
			return "mixed";
	}
	format(buf, 16, "%u", number(&g->job[0]));
	return buf;
}

/* One line that stands alone: a figure never without the accelerator that it was taken under. */
void report_result(struct sink *out, const struct report_machine *m, const struct group_result *g)
{
	const struct job_result *r = &g->all;
	uint64_t iops = (iops_milli(r->read.ios + r->write.ios, r->runtime_ns) + 500) / 1000;
	uint64_t bw = bytes_per_s(r->read.bytes + r->write.bytes, r->runtime_ns);
	char mib[FORMAT_MILLI_MAX], bs[16], depth[16];

	format_milli(mib, sizeof(mib), wide_mul_div(bw, 1000, 1 << 20), 1);
	sink_printf(out, "  result: %s rw=%s bs=%s iodepth=%s: IOPS=%llu BW=%sMiB/s accel=%s ",
		    common(g, name_text), common(g, rw_text), common_number(bs, g, bs_bytes),
		    common_number(depth, g, iodepth), (unsigned long long)iops, mib, m->accel);
	sink_printf(out, "machine=%s ring=%s transport=%s mode=%s jobs=%u cpus=%u queues=%u\n",
		    m->machine, common(g, ring_text), common(g, transport_text),
		    common(g, mode_text), g->nr_jobs, g->nr_cpus, g->nr_queues);
}

/* Where jobs may halt: how the waits for what was in flight ended. */
static void caught_part(struct sink *out, const struct job_result *r)
{
	uint64_t waited_for = r->caught_awake + r->caught_halted;
	char awake[FORMAT_MILLI_MAX];

	if (waited_for == 0 && r->wakeups_missed == 0)
		return;
	format_milli(awake, sizeof(awake), share_milli(r->caught_awake, waited_for), 2);
	sink_printf(out, " caught awake=%s%% wakeups_missed=%llu", awake,
		    (unsigned long long)r->wakeups_missed);
}

static void sum_lines(struct sink *out, const struct group_result *g)
{
	const struct blk_counters *c = &g->all.counters;
	char kicks[FORMAT_MILLI_MAX], irqs[FORMAT_MILLI_MAX], batches[FORMAT_MILLI_MAX];
	char busy[FORMAT_MILLI_MAX], halted[FORMAT_MILLI_MAX];

	format_milli(kicks, sizeof(kicks), per_io_milli(c->kicks, g->queue_ios), 3);
	format_milli(irqs, sizeof(irqs), per_io_milli(c->interrupts, g->queue_ios), 3);
	format_milli(batches, sizeof(batches), per_io_milli(c->batches, g->queue_ios), 3);
	format_milli(busy, sizeof(busy), result_busy_milli(&g->all), 2);
	format_milli(halted, sizeof(halted), result_halted_milli(&g->all), 2);
	sink_printf(out,
		    "  ringlab: all queues: kicks/io=%s irqs/io=%s batches/io=%s suppressed=%llu "
		    "polls_empty=%llu ring_full=%llu rekicks=%llu\n",
		    kicks, irqs, batches, (unsigned long long)c->kicks_suppressed,
		    (unsigned long long)c->polls_empty, (unsigned long long)c->ring_full,
		    (unsigned long long)c->rekicks);
	sink_printf(out, "  ringlab: all cpus: cpu_busy=%s%% cpu_halted=%s%%", busy, halted);
	caught_part(out, &g->all);
	sink_puts(out, "\n");
}

static void table_row(struct sink *out, const struct group_result *g, const struct job_result *r,
		      const struct group_lane *lane)
{
	const struct job_result *queue = group_queue(g, r), *cpu = group_cpu(g, r);
	uint64_t ios = result_queue_ios(queue);
	char kicks[FORMAT_MILLI_MAX], irqs[FORMAT_MILLI_MAX];
	char busy[FORMAT_MILLI_MAX], halted[FORMAT_MILLI_MAX], irq[QUEUE_IRQ_TEXT_MAX];

	queue_irq_text(irq, &r->queue);
	format_milli(kicks, sizeof(kicks), per_io_milli(queue->counters.kicks, ios), 3);
	format_milli(irqs, sizeof(irqs), per_io_milli(queue->counters.interrupts, ios), 3);
	format_milli(busy, sizeof(busy), result_busy_milli(cpu), 2);
	format_milli(halted, sizeof(halted), result_halted_milli(cpu), 2);
	sink_printf(out, "  ringlab: %3u %4s %5u %6s %*s %4u %8llu %8s %8s %6s %7s %11llu\n",
		    r->cpu, r->plan->device->name, r->queue.index, mode_text(r), QUEUE_IRQ_WIDTH,
		    irq, lane->nr_jobs,
		    (unsigned long long)(iops_milli(lane->ios, g->all.runtime_ns) + 500) / 1000,
		    kicks, irqs, busy, halted, (unsigned long long)queue->counters.polls_empty);
}

/* A line for each queue and CPU that had jobs. */
static void table(struct sink *out, const struct group_result *g)
{
	struct group_lane lane;
	unsigned rows = 0;

	sink_puts(out, "  ringlab: cpu disk queue   mode            irq jobs     IOPS kicks/io "
		       " irqs/io  busy% halted% empty polls\n");
	for (unsigned i = 0; i < g->nr_jobs; i++) {
		if (!group_lane(g, i, &lane))
			continue;
		table_row(out, g, &g->job[i], &lane);
		rows++;
	}
	if (rows > g->nr_queues)
		sink_puts(
			out,
			"  ringlab: a queue in several rows: kicks, irqs and empty polls are those of "
			"the whole queue in each\n");
	if (rows > g->nr_cpus)
		sink_puts(
			out,
			"  ringlab: a cpu in several rows: busy and halted are those of the whole cpu in each\n");
}

void report_group(struct sink *out, const struct report_machine *machine,
		  const struct group_result *g)
{
	sum_lines(out, g);
	table(out, g);
	report_result(out, machine, g);
}
