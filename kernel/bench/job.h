/* SPDX-License-Identifier: BSD-2-Clause */
/* What does a job do next? One step at a time, for the lane that it runs on. */
#ifndef KERNEL_BENCH_JOB_H
#define KERNEL_BENCH_JOB_H

#include "kernel/bench/hash.h"
#include "kernel/bench/pace.h"
#include "kernel/bench/requests.h"
#include "kernel/bench/window.h"
#include "lib/random.h"

struct lane_port;

struct job {
	/* Gives requests their places on the disk, and what to do there where that changes. */
	void (*place)(struct job *job, struct blk_request **reqs, unsigned n,
		      struct io_batch *batch);
	const struct job_plan *plan;
	struct job_result *result;
	struct blk_port *port;
	struct lane_port *via;	   /* the lane's own: who else uses the port there */
	struct blk_request **free; /* a stack of nr_free, with room for all of them */
	/* Prepared, in order, not yet taken by the queue: nr_ready, atop the stack or in held. */
	struct blk_request **ready, **held;
	struct io_batch **free_batches; /* one more than there are requests */
	struct io_batch *ready_batch;	/* what ready refers to */
	unsigned nr_free, nr_ready, nr_free_batches, in_flight;
	unsigned resume; /* more is made when no more than so many are in flight */
	unsigned came;	 /* found by a poll, and not taken yet: the lane's own */
	unsigned batch_submit, complete_min, complete_max;
	uint64_t left; /* requests still to prepare */
	uint64_t next_block;
	uint64_t write_share;  /* of 2^32: how often a mixed job writes */
	bool is_mixed, writes; /* writes: all of them, unless mixed */
	bool unusual;	       /* mixed, hashed or held back */
	struct random random;
	struct hash *hash; /* NULL: the data is not looked at */
	struct pace pace;
	struct window window;
	/* For whoever shows progress on another CPU: relaxed atomics. */
	uint64_t shown_ios, shown_left;

	struct request_set set;
	struct hash hash_state;
} __attribute__((aligned(128))); /* no two CPUs write to the same cache lines */

/*
 * @result holds plan and number; @index is its place in its group; @usage is that of its CPU. False
 * for want of memory.
 */
bool job_create(struct job *job, struct job_result *result, unsigned index, struct blk_port *port,
		const struct cpu_usage *usage);
/* Only with nothing in flight. */
void job_destroy(struct job *job);
uint64_t job_memory_bytes(const struct job_plan *plan);

void job_start(struct job *job, uint64_t now);

/* Whether enough is back for job_issue() to have something to do. */
static inline bool job_may_issue(const struct job *job)
{
	return job->in_flight <= job->resume;
}

/* Where the next requests that are back are to be stored, for job_take(). */
static inline struct blk_request **job_room(const struct job *job)
{
	return &job->free[job->nr_free];
}

/* @now reached window.next_event. */
void job_event(struct job *job, uint64_t now);
void job_show(struct job *job);
/* Nothing more is made; what is in flight is still to come back. */
void job_stop(struct job *job);

static inline bool job_is_over(const struct job *job)
{
	return job->left == 0 && job->nr_ready == 0 && job->in_flight == 0;
}

/* When it could issue again by itself, without anything that comes back. */
static inline uint64_t job_due(const struct job *job)
{
	return job->pace.on && job_may_issue(job) && job->nr_free && job->left
		       ? job->pace.not_before
		       : UINT64_MAX;
}

#endif
