/* SPDX-License-Identifier: BSD-2-Clause */
/* What did the jobs of a group do together? Each queue and each CPU is counted once. */
#include "kernel/bench/record.h"
#include "kernel/bench/report.h"
#include "lib/mem.h"

static bool same_queue(const struct job_result *a, const struct job_result *b)
{
	return a->plan->device == b->plan->device && a->queue.index == b->queue.index;
}

static bool same_cpu(const struct job_result *a, const struct job_result *b)
{
	return a->cpu == b->cpu;
}

static uint64_t window_cycles(const struct job_result *r)
{
	return r->busy_cycles + r->idle_cycles;
}

const struct job_result *group_queue(const struct group_result *g, const struct job_result *of)
{
	const struct job_result *most = of;

	for (unsigned i = 0; i < g->nr_jobs; i++) {
		const struct job_result *r = &g->job[i];

		if (same_queue(r, of) && r->counters.requests > most->counters.requests)
			most = r;
	}
	return most;
}

const struct job_result *group_cpu(const struct group_result *g, const struct job_result *of)
{
	const struct job_result *most = of;

	for (unsigned i = 0; i < g->nr_jobs; i++) {
		const struct job_result *r = &g->job[i];

		if (same_cpu(r, of) && window_cycles(r) > window_cycles(most))
			most = r;
	}
	return most;
}

bool group_lane(const struct group_result *g, unsigned first, struct group_lane *lane)
{
	const struct job_result *of = &g->job[first];

	*lane = (struct group_lane){0};
	for (unsigned i = 0; i < g->nr_jobs; i++) {
		const struct job_result *r = &g->job[i];

		if (!same_queue(r, of) || !same_cpu(r, of))
			continue;
		if (i < first)
			return false;
		lane->nr_jobs++;
		lane->ios += r->read.ios + r->write.ios;
	}
	return true;
}

/* Whether no job before @first used the same. */
static bool is_first(const struct group_result *g, unsigned first,
		     bool (*same)(const struct job_result *a, const struct job_result *b))
{
	for (unsigned i = 0; i < first; i++) {
		if (same(&g->job[i], &g->job[first]))
			return false;
	}
	return true;
}

/* Taken side by side, so they add up; the deviation is fio's: that of all around their own means. */
static void add_samples(struct samples *to, const struct stat *from)
{
	uint64_t stddev = stat_stddev_milli(from);

	if (from->n == 0)
		return;
	to->n += from->n;
	to->min += from->min;
	to->max += from->max;
	to->mean_milli += stat_mean_milli(from);
	to->squares_micro += (u128)stddev * stddev * (from->n - 1);
}

uint64_t samples_stddev_milli(const struct samples *s)
{
	return s->n > 1 ? wide_sqrt(wide_div_all(s->squares_micro, s->n - 1)) : 0;
}

static void add_rate(struct group_rate *to, const struct direction_result *d, uint64_t runtime_ns)
{
	uint64_t bw = bytes_per_s(d->bytes, runtime_ns);

	if (d->ios == 0)
		return;
	if (to->runtime_ns == 0) {
		to->runtime_min_ns = runtime_ns;
		to->bw_min = bw;
	}
	if (runtime_ns < to->runtime_min_ns)
		to->runtime_min_ns = runtime_ns;
	if (runtime_ns > to->runtime_ns)
		to->runtime_ns = runtime_ns;
	if (bw < to->bw_min)
		to->bw_min = bw;
	if (bw > to->bw_max)
		to->bw_max = bw;
	add_samples(&to->bw_kib, &d->bw_kib);
	add_samples(&to->iops, &d->iops);
}

static void add_direction(struct direction_result *to, const struct direction_result *from)
{
	to->ios += from->ios;
	to->bytes += from->bytes;
	stat_merge(&to->slat_ns, &from->slat_ns);
	stat_merge(&to->clat_ns, &from->clat_ns);
	stat_merge(&to->lat_ns, &from->lat_ns);
	histogram_merge(&to->clat, &from->clat);
}

static void add_levels(uint64_t to[DEPTH_LEVELS], const uint64_t from[DEPTH_LEVELS])
{
	for (unsigned i = 0; i < DEPTH_LEVELS; i++)
		to[i] += from[i];
}

static void add_errors(struct job_result *to, const struct job_result *from)
{
	if (result_errors(to) == 0) {
		to->first_error = from->first_error;
		to->first_error_lba_512 = from->first_error_lba_512;
	}
	for (unsigned i = 0; i < BLK_STATUS_COUNT; i++)
		to->errors[i] += from->errors[i];
	to->stopped |= from->stopped;
}

static void add_job(struct group_result *g, const struct job_result *r)
{
	struct job_result *all = &g->all;

	add_rate(&g->rate[0], &r->read, r->runtime_ns);
	add_rate(&g->rate[1], &r->write, r->runtime_ns);
	add_direction(&all->read, &r->read);
	add_direction(&all->write, &r->write);
	add_levels(all->depth_level, r->depth_level);
	add_levels(all->submit_level, r->submit_level);
	add_levels(all->complete_level, r->complete_level);
	add_errors(all, r);
	if (r->runtime_ns > all->runtime_ns)
		all->runtime_ns = r->runtime_ns;
	if (r->plan->options->iodepth > g->iodepth)
		g->iodepth = r->plan->options->iodepth;
}

static void add_queue(struct group_result *g, const struct job_result *r)
{
	g->nr_queues++;
	g->queue_ios += result_queue_ios(r);
	record_counters_add(&g->all.counters, &r->counters);
}

static void add_cpu(struct group_result *g, const struct job_result *r)
{
	g->nr_cpus++;
	g->all.busy_cycles += r->busy_cycles;
	g->all.idle_cycles += r->idle_cycles;
	g->all.halted_cycles += r->halted_cycles;
	g->all.caught_awake += r->caught_awake;
	g->all.caught_halted += r->caught_halted;
	g->all.wakeups_missed += r->wakeups_missed;
}

unsigned group_size(const struct job_result *job, unsigned n)
{
	unsigned size = 0;

	while (size < n && job[size].group == job[0].group)
		size++;
	return size;
}

const struct group_result *group_sum(const struct job_result *job, unsigned n)
{
	static struct group_result sum; /* too large for a stack */
	struct group_result *g = &sum;

	memset(g, 0, sizeof(*g));
	g->job = job;
	g->nr_jobs = n;
	g->all.plan = job[0].plan;
	g->all.group = job[0].group;
	record_reset(&g->all);
	for (unsigned i = 0; i < n; i++) {
		add_job(g, &job[i]);
		if (is_first(g, i, same_queue))
			add_queue(g, group_queue(g, &job[i]));
		if (is_first(g, i, same_cpu))
			add_cpu(g, group_cpu(g, &job[i]));
	}
	return g;
}

struct group_bw group_bw(const struct group_result *g)
{
	return (struct group_bw){{bytes_per_s(g->all.read.bytes, g->rate[0].runtime_ns),
				  bytes_per_s(g->all.write.bytes, g->rate[1].runtime_ns)}};
}

uint64_t samples_share_milli(uint64_t mean_kib_milli, uint64_t bw_bytes)
{
	uint64_t share = share_milli(mean_kib_milli, wide_mul_div(bw_bytes, 1000, 1024));

	return share > 100000 ? 100000 : share;
}
