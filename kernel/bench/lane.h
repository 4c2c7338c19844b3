/* SPDX-License-Identifier: BSD-2-Clause */
/* How does one CPU run several jobs at a time? In turns: a lane is a CPU, its jobs and its ports. */
#ifndef KERNEL_BENCH_LANE_H
#define KERNEL_BENCH_LANE_H

#include "kernel/bench/job.h"
#include "kernel/bench/progress.h"
#include "kernel/bench/waiter.h"

/* One for each queue that jobs of the lane use. */
struct lane_port {
	struct blk_port blk;
	struct job *only;   /* the job that uses the queue, if it is one */
	unsigned in_flight; /* through this port */
	unsigned most;	    /* completions to take at once */
	enum blk_mode mode;
	unsigned coalesce;
	bool full;	    /* its queue took nothing, with nothing of this port in flight */
	bool counts_missed; /* its interrupts lead to this CPU, for this port alone */
	bool armed;
	uint64_t irqs_before;
} __attribute__((aligned(128)));

struct lane {
	unsigned cpu;
	struct job **job; /* those that are not over are the first nr_live */
	unsigned nr_jobs, nr_live;
	struct lane_port *port;
	unsigned nr_ports;
	struct blk_request **found; /* room for the most of its ports */

	uint64_t now; /* the last look at the clock; requests made since were made then */
	uint64_t next_event, next_check;
	uint64_t attention; /* from when on a turn ends with events(): next_event, or 0: at once */
	uint64_t idle_mark;
	unsigned empty; /* turns in a row that found nothing */
	bool restless;	/* jobs wait for their time, or for room in a ring */
	bool may_halt;	/* not all there is to wait for is polled */
	bool lets_in;	/* interrupts of queues that other CPUs use lead here */
	struct waiter waiter;
	struct cpu_usage usage;
	struct progress_meter *meter; /* NULL: another CPU shows progress */
	unsigned beat;		      /* a sign of life for other CPUs: relaxed atomic */
} __attribute__((aligned(128)));

/* Begins all jobs, on the lane's own CPU. */
void lane_start(struct lane *lane);
/*
 * Takes at most so many turns. In each, every job sends what it may, every port is polled (a lone one
 * again and again, for a while), and the jobs get what came back; if nothing did, waits as the ports'
 * modes say. False: all jobs are over.
 */
bool lane_run(struct lane *lane, uint64_t turns);

/* lane_wait.c: a turn found nothing, and not all is polled. Comes back at once or halts. */
void lane_wait(struct lane *lane);

#endif
