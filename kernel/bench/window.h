/* SPDX-License-Identifier: BSD-2-Clause */
/* When do figures begin to count, when is a sample taken, when is a job over? */
#ifndef KERNEL_BENCH_WINDOW_H
#define KERNEL_BENCH_WINDOW_H

#include "kernel/bench/engine.h"

struct window {
	const struct job_plan *plan;
	struct job_result *result;
	const struct progress_hook *hook;
	/* All in cycles. The one that the loop compares with is the earliest of the others. */
	uint64_t next_event;
	uint64_t started, opened, ramp_end, end, next_sample, next_progress, next_check;
	uint64_t idle_mark, last_sample;
	uint64_t sampled_ios[2], sampled_bytes[2];
	struct blk_counters counters_at_open;
	bool ramping;
};

void window_init(struct window *w, const struct job_plan *plan, struct job_result *result,
		 const struct progress_hook *hook);
void window_open(struct window *w);

/* @now reached next_event. @left requests are still to be made. False: the time is up. */
bool window_event(struct window *w, uint64_t now, uint64_t left);

/* An empty poll ended at @now; @again: so did the one before, and the time between was idle. */
static inline void window_idle(struct window *w, uint64_t now, bool again)
{
	if (again)
		w->result->idle_cycles += now - w->idle_mark;
	w->idle_mark = now;
}

/* The CPU was halted from @from to @to. */
static inline void window_halted(struct window *w, uint64_t from, uint64_t to)
{
	w->result->halted_cycles += to - from;
	w->result->idle_cycles += to - from;
	w->idle_mark = to;
}

/* The last request is back: works out the run time and what the queue counted. */
void window_close(struct window *w);

#endif
