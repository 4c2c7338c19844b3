/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How does a job send requests, and what does it do with those that are back? The hot path of the
 * benchmark; all of it becomes one function, the lane's loop.
 *
 *     job_issue()   place what is free, submit it as a batch: one publish, at most one notification
 *     job_take()    write down what came back, those of a batch that came together as one
 */
#ifndef KERNEL_BENCH_JOB_IO_H
#define KERNEL_BENCH_JOB_IO_H

#include "kernel/bench/job.h"
#include "kernel/bench/record.h"

/* job.c: sets job->place. */
void job_choose_place(struct job *job);
/* How many of @n a job that is held back may make. */
unsigned job_allows(struct job *job, unsigned n, uint64_t now);
/* The ring took only @taken of what is ready: the rest waits, as a batch of its own. */
void job_keep_rest(struct job *job, unsigned taken);
void job_failed(struct job *job, const struct blk_request *req);
/* Requests that did not come back with all others of a poll as one batch. */
void job_record_rest(struct job *job, struct blk_request *const *done, unsigned n, uint64_t now);
/* What job_take() does for a job that is held back or hashed; n requests at @done. */
void job_take_unusual(struct job *job, struct blk_request *const *done, unsigned n, uint64_t now);

static inline struct io_batch *job_new_batch(struct job *job, uint64_t started, unsigned users)
{
	struct io_batch *batch = job->free_batches[--job->nr_free_batches];

	batch->started_cycles = started;
	batch->users = users;
	return batch;
}

static inline void job_put_batch(struct job *job, struct io_batch *batch, unsigned users)
{
	batch->users -= users;
	if (batch->users == 0)
		job->free_batches[job->nr_free_batches++] = batch;
}

/* Prepares up to a batch of requests. */
static inline void job_fill_ready(struct job *job, uint64_t now)
{
	unsigned n = job->nr_free < job->batch_submit ? job->nr_free : job->batch_submit;

	if (n > job->left)
		n = (unsigned)job->left;
	if (job->unusual)
		n = job_allows(job, n, now);
	if (n == 0)
		return;
	job->ready_batch = job_new_batch(job, now, n);
	job->nr_free -= n;
	job->ready = &job->free[job->nr_free];
	job->nr_ready = n;
	job->left -= n;
	job->place(job, job->ready, n, job->ready_batch);
}

static inline unsigned job_count_writes(const struct job *job, unsigned n)
{
	unsigned writes = 0;

	if (!job->is_mixed)
		return job->writes ? n : 0;
	for (unsigned i = 0; i < n; i++)
		writes += job->ready[i]->op == BLK_WRITE;
	return writes;
}

/* Returns how many the queue took. */
static inline unsigned job_submit(struct job *job)
{
	unsigned taken = blk_port_submit(job->port, job->ready, job->nr_ready);

	if (taken) {
		job->ready_batch->issued_cycles = *job->port->published_cycles;
		job->in_flight += taken;
		record_submitted(job->result, job->ready_batch, taken, job_count_writes(job, taken),
				 job->in_flight);
		job->nr_ready -= taken;
	}
	if (job->nr_ready && (taken || job->ready != job->held))
		job_keep_rest(job, taken);
	return taken;
}

/*
 * Makes and sends, batch by batch, what is free, until the ring is full or the job must wait.
 * Returns how many requests were sent.
 */
static inline __attribute__((always_inline)) unsigned job_issue(struct job *job, uint64_t now)
{
	unsigned sent = 0;

	do {
		if (job->nr_ready == 0)
			job_fill_ready(job, now);
		if (job->nr_ready == 0)
			break;
		sent += job_submit(job);
	} while (job->nr_ready == 0 && job->nr_free);
	job->resume = job->in_flight > job->complete_min ? job->in_flight - job->complete_min : 0;
	/* Held back by its pace alone: it goes on by itself, whatever is in flight. */
	if (job->pace.on && job->nr_free && !job->nr_ready)
		job->resume = job->in_flight;
	return sent;
}

/* From done[0] on, the requests that share batch, direction and success; returns how many. */
static inline unsigned job_run_length(struct blk_request *const *done, unsigned n)
{
	const struct blk_request *first = done[0];
	unsigned end = 1;

	while (end < n && done[end]->user == first->user && done[end]->op == first->op &&
	       done[end]->progress.status == BLK_OK)
		end++;
	return end;
}

/* Writes down the first of @done, and those that are like it; returns how many. */
static inline __attribute__((always_inline)) unsigned job_record_run(
	struct job *job, struct blk_request *const *done, unsigned n, uint64_t now)
{
	const struct blk_request *req = done[0];
	struct direction_result *d = record_direction(job->result, req->op);
	unsigned run = 1;

	if (__builtin_expect(req->progress.status == BLK_OK, 1)) {
		run = job_run_length(done, n);
		record_done(d, req->user, now, run);
		d->bytes += (uint64_t)run * req->sgl.len_bytes;
	} else {
		job_failed(job, req);
	}
	job_put_batch(job, req->user, run);
	return run;
}

/* @n requests, stored at job_room(), were found done at @now. */
static inline __attribute__((always_inline)) void job_take(struct job *job, unsigned n,
							   uint64_t now)
{
	struct blk_request **done = job_room(job);

	unsigned run = job_record_run(job, done, n, now);

	if (__builtin_expect(run < n, 0))
		job_record_rest(job, done + run, n - run, now);
	record_completed(job->result, n, now);
	job->in_flight -= n;
	if (job->unusual)
		job_take_unusual(job, done, n, now);
	else
		job->nr_free += n;
}

#endif
