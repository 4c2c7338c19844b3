/* SPDX-License-Identifier: BSD-2-Clause */
/* When do figures begin to count, when is a sample taken, when is a job over? */
#ifndef KERNEL_BENCH_WINDOW_H
#define KERNEL_BENCH_WINDOW_H

#include "drivers/block/blk_port.h"
#include "kernel/bench/result.h"

/* What a CPU's time went into since its lane began. Each of its jobs counts that of its window. */
struct cpu_usage {
	uint64_t idle_cycles, halted_cycles, wakeups_missed, caught_awake, caught_halted;
};

struct window {
	struct job_result *result;
	struct blk_port *port;
	const struct cpu_usage *usage;
	/* All in cycles. The one that the loop compares with is the earliest of the others. */
	uint64_t next_event;
	uint64_t opened, ramp_end, end, next_sample, last_sample;
	uint64_t sampled_ios[2], sampled_bytes[2];
	struct blk_counters counters_at_open;
	struct cpu_usage usage_at_open;
	bool ramping;
};

/* @window holds result, port and usage. */
void window_open(struct window *w, uint64_t now);
/* @now reached next_event. False: the time is up. */
bool window_event(struct window *w, uint64_t now);
/* The last request is back: works out the run time and what queue and CPU counted. */
void window_close(struct window *w, uint64_t now);

#endif
