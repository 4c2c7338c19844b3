/* SPDX-License-Identifier: BSD-2-Clause */
/* When may a job send its next request? rate_iops= and thinktime= hold it back. */
#ifndef KERNEL_BENCH_PACE_H
#define KERNEL_BENCH_PACE_H

#include "kernel/bench/plan.h"

/*
 * Rate: of each direction not more than rate * time + 1 requests, time since it began. As in fio, who
 * falls behind catches up, in bursts of at most iodepth.
 * Think time, as in fio: after every thinktime_blocks requests the job waits until all are back,
 * and thinktime longer.
 */
struct pace {
	bool on; /* without, nothing else is looked at */
	struct pace_rate {
		uint64_t iops;	  /* 0: any */
		uint64_t origin;  /* cycles */
		uint64_t sent;	  /* since then */
		unsigned allowed; /* by the last pace_allows() */
	} rate[2];		  /* read, write */
	bool uses[2];		  /* which directions the job has at all */
	unsigned iodepth;
	uint64_t think_cycles;
	uint32_t think_blocks, think_left; /* requests until it thinks */
	uint64_t not_before;		   /* cycles; UINT64_MAX: not before all are back */
};

void pace_init(struct pace *pace, const struct job_options *options, uint64_t now);
/* How many requests, at most @n, may be made at @now; if none, sets not_before. */
unsigned pace_allows(struct pace *pace, unsigned n, uint64_t now);
/* Takes one request from what is allowed: of @write if that may be, else of the other direction. */
bool pace_pick(struct pace *pace, bool write);
/* Everything is back at @now: the time to think begins, if it is due. */
void pace_drained(struct pace *pace, uint64_t now);

#endif
