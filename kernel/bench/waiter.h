/* SPDX-License-Identifier: BSD-2-Clause */
/* When there is nothing to do but wait: for how long is it worth spinning? */
#ifndef KERNEL_BENCH_WAITER_H
#define KERNEL_BENCH_WAITER_H

#include "kernel/bench/window.h"

/* What hybrid has learned of the waits of a CPU. */
struct waiter {
	bool waiting, slept; /* in this wait; set by whoever halts */
	unsigned waits;	     /* so far */
	uint64_t since;	     /* when it began */
	uint64_t spin_until, spin_cycles;
	uint64_t usual_cycles; /* how long waits are, learned while spinning */
	uint64_t worth_cycles; /* the longest usual wait for which it spins */
};

void waiter_init(struct waiter *w);
/* Polls have found nothing until @now; the mode is hybrid if @spins. */
void waiter_begin(struct waiter *w, bool spins, uint64_t now);
/* A poll at @now found something: the wait is over. */
void waiter_end(struct waiter *w, uint64_t now);

#endif
