/* SPDX-License-Identifier: BSD-2-Clause */
/* When there is nothing to do but wait: spin on, or halt until the interrupt? */
#ifndef KERNEL_BENCH_WAITER_H
#define KERNEL_BENCH_WAITER_H

#include "kernel/bench/window.h"

struct waiter {
	struct blk_queue *queue;
	enum blk_mode mode;
	unsigned coalesce;
	unsigned waits;	       /* so far */
	bool waiting, slept;   /* in this one */
	uint64_t since;	       /* when the first poll of this wait came back empty */
	uint64_t spin_cycles;  /* how long this one spins */
	uint64_t usual_cycles; /* how long waits are, learned while spinning */
	uint64_t spin_max_cycles;
};

void waiter_init(struct waiter *w, const struct blk_device *device);

/*
 * A poll at @now found nothing. Spins on, by coming back at once, as long as the mode says so; else
 * arms the interrupt and halts, until it comes or something is due. Returns the time.
 */
uint64_t waiter_wait(struct waiter *w, struct window *window, uint64_t now);
/* A poll at @now found @n requests: the wait is over. */
void waiter_found(struct waiter *w, struct job_result *result, uint64_t now, unsigned n);

#endif
