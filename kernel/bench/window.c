/* SPDX-License-Identifier: BSD-2-Clause */
/* When do figures begin to count, when is a sample taken, when is a job over? */
#include "kernel/bench/window.h"

#include "kernel/bench/record.h"

#define NEVER	  UINT64_MAX
#define SAMPLE_NS 500000000ull /* fio's bwavgtime and iopsavgtime */
#define CHECK_NS  10000000ull  /* how often the engine looks for stuck requests at the least */

static void schedule(struct window *w)
{
	w->next_event = w->end < w->next_sample ? w->end : w->next_sample;
	if (w->next_progress < w->next_event)
		w->next_event = w->next_progress;
	if (w->next_check < w->next_event)
		w->next_event = w->next_check;
	if (w->ramping && w->ramp_end < w->next_event)
		w->next_event = w->ramp_end;
}

void window_init(struct window *w, const struct job_plan *plan, struct job_result *result,
		 const struct progress_hook *hook)
{
	*w = (struct window){.plan = plan, .result = result, .hook = hook};
}

/* Figures count from here on; requests that are in flight now are counted as they come back. */
static void begin_counting(struct window *w, uint64_t now)
{
	const struct job_options *o = w->plan->options;

	w->ramping = false;
	w->opened = w->last_sample = now;
	w->end = o->runtime_ns ? now + ns_to_cycles(o->runtime_ns) : NEVER;
	w->next_sample = now + ns_to_cycles(SAMPLE_NS);
	w->counters_at_open = *blk_counters(w->plan->device->queues[0]);
}

void window_open(struct window *w)
{
	const struct job_options *o = w->plan->options;
	uint64_t now = cycles();

	w->started = now;
	begin_counting(w, now);
	if (o->ramp_time_ns) {
		w->ramping = true;
		w->ramp_end = now + ns_to_cycles(o->ramp_time_ns);
		w->end = w->next_sample = NEVER;
	}
	w->next_check = now + ns_to_cycles(CHECK_NS);
	w->next_progress =
		w->hook && w->hook->interval_ns ? now + ns_to_cycles(w->hook->interval_ns) : NEVER;
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

/* By time if the job has an end in time, by requests if it has a number to do; the nearer end. */
static void show_progress(struct window *w, uint64_t now, uint64_t left)
{
	const struct job_options *o = w->plan->options;
	uint64_t whole_ns = o->ramp_time_ns + o->runtime_ns, total = w->plan->total_ios;
	struct progress p = {
		.plan = w->plan, .elapsed_ns = cycles_to_ns(now - w->started), .left_ns = NEVER};

	p.ios = w->result->ramp_ios + w->result->read.ios + w->result->write.ios;
	if (o->runtime_ns) {
		p.left_ns = p.elapsed_ns < whole_ns ? whole_ns - p.elapsed_ns : 0;
		p.percent = (unsigned)wide_mul_div(p.elapsed_ns, 100, whole_ns);
	}
	if (total != UINT64_MAX && p.ios) {
		uint64_t by_count_ns = wide_mul_div(p.elapsed_ns, left, p.ios);

		if (by_count_ns < p.left_ns) {
			p.left_ns = by_count_ns;
			p.percent = (unsigned)wide_mul_div(total - left, 100, total);
		}
	}
	if (p.percent > 100)
		p.percent = 100;
	w->hook->show(&p);
	w->next_progress = now + ns_to_cycles(w->hook->interval_ns);
}

bool window_event(struct window *w, uint64_t now, uint64_t left)
{
	bool over = now >= w->end;

	if (w->ramping && now >= w->ramp_end)
		end_ramp(w, now);
	if (now >= w->next_sample)
		sample(w, now);
	if (now >= w->next_progress)
		show_progress(w, now, left);
	if (now >= w->next_check)
		w->next_check = now + ns_to_cycles(CHECK_NS);
	if (over)
		w->end = NEVER; /* said once */
	schedule(w);
	return !over;
}

void window_close(struct window *w)
{
	uint64_t now = cycles(), span = now - w->opened;
	struct job_result *r = w->result;

	if (w->ramping) { /* over before the ramp time was: there is nothing that counts */
		end_ramp(w, now);
		span = 0;
	}
	r->runtime_ns = cycles_to_ns(span);
	r->busy_cycles = span > r->idle_cycles ? span - r->idle_cycles : 0;
	r->counters = record_counters_since(blk_counters(w->plan->device->queues[0]),
					    &w->counters_at_open);
}
