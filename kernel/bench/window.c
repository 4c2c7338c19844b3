/* SPDX-License-Identifier: BSD-2-Clause */
/* When do figures begin to count, when is a sample taken, when is a job over? */
#include "kernel/bench/window.h"

#include "kernel/bench/record.h"

#define NEVER	  UINT64_MAX
#define SAMPLE_NS 500000000ull /* fio's bwavgtime and iopsavgtime */

static void schedule(struct window *w)
{
	w->next_event = w->end < w->next_sample ? w->end : w->next_sample;
	if (w->ramping && w->ramp_end < w->next_event)
		w->next_event = w->ramp_end;
}

/* Figures count from here on; requests that are in flight now are counted as they come back. */
static void begin_counting(struct window *w, uint64_t now)
{
	const struct job_options *o = w->result->plan->options;

	w->ramping = false;
	w->opened = w->last_sample = now;
	w->end = o->runtime_ns ? now + ns_to_cycles(o->runtime_ns) : NEVER;
	w->next_sample = now + ns_to_cycles(SAMPLE_NS);
	w->counters_at_open = blk_port_counters(w->port);
	w->usage_at_open = *w->usage;
}

void window_open(struct window *w, uint64_t now)
{
	const struct job_options *o = w->result->plan->options;

	begin_counting(w, now);
	if (o->ramp_time_ns) {
		w->ramping = true;
		w->ramp_end = now + ns_to_cycles(o->ramp_time_ns);
		w->end = w->next_sample = NEVER;
	}
	schedule(w);
}

static void end_ramp(struct window *w, uint64_t now)
{
	w->result->ramp_ios += w->result->read.ios + w->result->write.ios;
	record_reset(w->result);
	begin_counting(w, now);
}

static void sample_direction(struct direction_result *d, uint64_t span_ns, uint64_t *ios,
			     uint64_t *bytes)
{
	if (d->ios != *ios) {
		stat_add(&d->iops, wide_mul_div(d->ios - *ios, 1000000000, span_ns), 1);
		stat_add(&d->bw_kib, wide_mul_div(d->bytes - *bytes, 1000000000 / 1024, span_ns),
			 1);
	}
	*ios = d->ios;
	*bytes = d->bytes;
}

static void sample(struct window *w, uint64_t now)
{
	uint64_t span_ns = cycles_to_ns(now - w->last_sample);

	sample_direction(&w->result->read, span_ns, &w->sampled_ios[0], &w->sampled_bytes[0]);
	sample_direction(&w->result->write, span_ns, &w->sampled_ios[1], &w->sampled_bytes[1]);
	w->last_sample = now;
	w->next_sample = now + ns_to_cycles(SAMPLE_NS);
}

bool window_event(struct window *w, uint64_t now)
{
	bool over = now >= w->end;

	if (w->ramping && now >= w->ramp_end)
		end_ramp(w, now);
	if (now >= w->next_sample)
		sample(w, now);
	if (over)
		w->end = NEVER; /* said once */
	schedule(w);
	return !over;
}

static void count_usage(struct window *w)
{
	const struct cpu_usage *now = w->usage, *then = &w->usage_at_open;
	struct job_result *r = w->result;

	r->idle_cycles = now->idle_cycles - then->idle_cycles;
	r->halted_cycles = now->halted_cycles - then->halted_cycles;
	r->wakeups_missed = now->wakeups_missed - then->wakeups_missed;
	r->caught_awake = now->caught_awake - then->caught_awake;
	r->caught_halted = now->caught_halted - then->caught_halted;
}

void window_close(struct window *w, uint64_t now)
{
	struct job_result *r = w->result;
	struct blk_counters counters;

	if (w->ramping) /* over before the ramp time was: there is nothing that counts */
		end_ramp(w, now);
	r->runtime_ns = cycles_to_ns(now - w->opened);
	count_usage(w);
	r->busy_cycles = now - w->opened > r->idle_cycles ? now - w->opened - r->idle_cycles : 0;
	counters = blk_port_counters(w->port);
	r->counters = record_counters_since(&counters, &w->counters_at_open);
}
