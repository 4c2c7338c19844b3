/* SPDX-License-Identifier: BSD-2-Clause */
/* What does a person read after a job? One block in the words and the form of fio 3.33. */
#include "kernel/bench/report.h"
#include "lib/format.h"

/* Above this, samples of bandwidth are printed in MiB/s. */
#define KIB_PER_GIB (1024ull * 1024)

static void direction_line(struct sink *out, const char *name, const struct direction_result *d,
			   uint64_t runtime_ns)
{
	uint64_t bw = bytes_per_s(d->bytes, runtime_ns);
	uint64_t iops = (iops_milli(d->ios, runtime_ns) + 500) / 1000;
	char text[4][NUMBER_TEXT_MAX];

	sink_printf(out, "  %s: IOPS=%s, BW=%s (%s)(%s/%llumsec)\n", name,
		    number_text(text[0], iops, 4, false, ""),
		    number_text(text[1], bw, 4, true, "B/s"),
		    number_text(text[2], bw, 4, false, "B/s"),
		    number_text(text[3], d->bytes, 4, true, "B"),
		    (unsigned long long)whole_ms(runtime_ns));
}

struct sample_text {
	char avg[FORMAT_MILLI_MAX], dev[FORMAT_MILLI_MAX];
};

static void sample_text(struct sample_text *text, const struct samples *s, uint64_t divisor)
{
	format_milli(text->avg, sizeof(text->avg), s->mean_milli / divisor, 2);
	format_milli(text->dev, sizeof(text->dev), samples_stddev_milli(s) / divisor, 2);
}

static void sample_lines(struct sink *out, const struct group_rate *rate, uint64_t bw_bytes)
{
	const struct samples *bw = &rate->bw_kib, *iops = &rate->iops;
	uint64_t divisor = bw->mean_milli / 1000 > KIB_PER_GIB ? 1024 : 1;
	uint64_t per = samples_share_milli(bw->mean_milli, bw_bytes);
	struct sample_text text;
	char share[FORMAT_MILLI_MAX];

	if (bw->n) {
		sample_text(&text, bw, divisor);
		format_milli(share, sizeof(share), per, 2);
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

static void queue_lines(struct sink *out, const struct group_result *g)
{
	const struct job_result *r = &g->all;
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
		    (unsigned long long)r->errors[BLK_SHORT], g->iodepth);
}

/* The disks of the jobs, each once. */
static void disk_names(struct sink *out, const struct group_result *g)
{
	for (unsigned i = 0; i < g->nr_jobs; i++) {
		const struct blk_device *dev = g->job[i].plan->device;
		unsigned k = 0;

		while (g->job[k].plan->device != dev)
			k++;
		if (k == i)
			sink_printf(out, " %s", dev->name);
	}
}

void report_block(struct sink *out, const struct group_result *g, const struct group_bw *bw)
{
	const struct job_options *o = g->all.plan->options;
	const struct direction_result *const direction[] = {&g->all.read, &g->all.write};
	static const char *const name[] = {"read", "write"};

	sink_printf(out, "%s: (groupid=%u, jobs=%u): err=%2d: pid=0:", o->name, g->all.group,
		    g->nr_jobs, result_errno(&g->all));
	disk_names(out, g);
	sink_puts(out, "\n");
	for (unsigned i = 0; i < 2; i++) {
		if (direction[i]->ios == 0)
			continue;
		direction_line(out, name[i], direction[i], g->rate[i].runtime_ns);
		report_latency(out, o, direction[i]);
		sample_lines(out, &g->rate[i], bw->bytes_per_s[i]);
	}
	report_spread(out, &g->all);
	queue_lines(out, g);
}

static void status_line(struct sink *out, const char *name, const struct direction_result *d,
			const struct group_rate *rate)
{
	uint64_t bw = bytes_per_s(d->bytes, rate->runtime_ns);
	char sum[2][NUMBER_TEXT_MAX], least[2][NUMBER_TEXT_MAX], most[2][NUMBER_TEXT_MAX];
	char io[2][NUMBER_TEXT_MAX];

	if (d->ios == 0)
		return;
	for (unsigned i = 0; i < 2; i++) {
		number_text(sum[i], bw, 4, i == 0, "B/s");
		number_text(least[i], rate->bw_min, 4, i == 0, "B/s");
		number_text(most[i], rate->bw_max, 4, i == 0, "B/s");
		number_text(io[i], d->bytes, 4, i == 0, "B");
	}
	sink_printf(out, "  %s: bw=%s (%s), %s-%s (%s-%s), io=%s (%s), run=%llu-%llumsec\n", name,
		    sum[0], sum[1], least[0], most[0], least[1], most[1], io[0], io[1],
		    (unsigned long long)whole_ms(rate->runtime_min_ns),
		    (unsigned long long)whole_ms(rate->runtime_ns));
}

void report_status(struct sink *out, const struct group_result *g)
{
	sink_printf(out, "\nRun status group %u (all jobs):\n", g->all.group);
	status_line(out, " READ", &g->all.read, &g->rate[0]);
	status_line(out, "WRITE", &g->all.write, &g->rate[1]);
}
