/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What does a job do next? A state machine in three steps, called by the loop of its CPU (lane.c):
 *
 *     job_issue()   place what is free, submit it as a batch: one publish, at most one notification
 *     job_take()    write down what came back, those of a batch that came together as one
 *     job_event()   the time is up, or a sample is due
 */
#include "kernel/bench/job.h"

#include "kernel/bench/record.h"

static inline uint64_t next_block(struct job *job)
{
	uint64_t block = job->next_block;

	job->next_block = block + 1 == job->plan->nr_blocks ? 0 : block + 1;
	return block;
}

static void set_op(struct job *job, struct blk_request *req, bool write)
{
	if (req->op == (write ? BLK_WRITE : BLK_READ))
		return;
	req->op = write ? BLK_WRITE : BLK_READ;
	blk_prepare(job->port->queue, req);
}

/* A mixed job changes what a request does, which costs a look at it each time. */
static void pick_ops(struct job *job, struct blk_request **reqs, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		bool write = job->writes;

		if (job->is_mixed)
			write = random_below(&job->random, 1ull << 32) < job->write_share;
		if (job->pace.on)
			write = pace_pick(&job->pace, write);
		set_op(job, reqs[i], write);
	}
}

/* Kept apart, so that its loop has the registers to itself. */
static void __attribute__((noinline))
place(struct job *job, struct blk_request **reqs, unsigned n, struct io_batch *batch)
{
	uint64_t first_512 = job->plan->first_lba_512, block_512 = job->plan->block_512;
	uint64_t nr_blocks = job->plan->nr_blocks;
	struct random random = job->random;
	bool is_random = job->is_random;

	for (unsigned i = 0; i < n; i++) {
		uint64_t block = is_random ? random_below(&random, nr_blocks) : next_block(job);

		reqs[i]->lba_512 = first_512 + block * block_512;
		reqs[i]->user = batch;
	}
	job->random = random;
}

static inline struct io_batch *new_batch(struct job *job, uint64_t started, unsigned users)
{
	struct io_batch *batch = job->free_batches[--job->nr_free_batches];

	batch->started_cycles = started;
	batch->users = users;
	return batch;
}

static inline void put_batch(struct job *job, struct io_batch *batch, unsigned users)
{
	batch->users -= users;
	if (batch->users == 0)
		job->free_batches[job->nr_free_batches++] = batch;
}

/* Prepares up to a batch of requests. */
static inline void fill_ready(struct job *job, uint64_t now)
{
	unsigned n = job->nr_free < job->batch_submit ? job->nr_free : job->batch_submit;

	if (n > job->left)
		n = (unsigned)job->left;
	if (job->pace.on)
		n = pace_allows(&job->pace, n, now);
	if (n == 0)
		return;
	job->ready_batch = new_batch(job, now, n);
	job->nr_free -= n;
	job->ready = &job->free[job->nr_free];
	job->nr_ready = n;
	job->left -= n;
	if (job->hash)
		hash_place(job, job->ready, n, job->ready_batch);
	else
		place(job, job->ready, n, job->ready_batch);
	if (job->is_mixed || job->pace.on)
		pick_ops(job, job->ready, n);
}

static inline unsigned count_writes(const struct job *job, unsigned n)
{
	unsigned writes = 0;

	if (!job->is_mixed)
		return job->writes ? n : 0;
	for (unsigned i = 0; i < n; i++)
		writes += job->ready[i]->op == BLK_WRITE;
	return writes;
}

/* The ring took only @taken: the rest waits, and is to be handed over in a batch of its own. */
static void keep_rest(struct job *job, unsigned taken)
{
	struct io_batch *rest = new_batch(job, job->ready_batch->started_cycles, job->nr_ready);

	put_batch(job, job->ready_batch, job->nr_ready);
	job->ready_batch = rest;
	for (unsigned i = 0; i < job->nr_ready; i++) {
		job->held[i] = job->ready[taken + i];
		job->held[i]->user = rest;
	}
	job->ready = job->held;
}

/* Returns how many the queue took. */
static inline unsigned submit(struct job *job)
{
	unsigned taken = blk_port_submit(job->port, job->ready, job->nr_ready);

	if (taken) {
		job->ready_batch->issued_cycles = blk_port_published_cycles(job->port);
		job->in_flight += taken;
		record_submitted(job->result, job->ready_batch, taken, count_writes(job, taken),
				 job->in_flight);
		job->nr_ready -= taken;
	}
	if (job->nr_ready && (taken || job->ready != job->held))
		keep_rest(job, taken);
	return taken;
}

unsigned job_issue(struct job *job, uint64_t now)
{
	unsigned sent = 0;

	do {
		if (job->nr_ready == 0)
			fill_ready(job, now);
		if (job->nr_ready == 0)
			break;
		sent += submit(job);
	} while (job->nr_ready == 0 && job->nr_free);
	job->awaited = job->complete_min < job->in_flight ? job->complete_min : job->in_flight;
	return sent;
}

/* Requests that were prepared but never taken do not count. */
void job_stop(struct job *job)
{
	job->left = 0;
	if (job->nr_ready)
		put_batch(job, job->ready_batch, job->nr_ready);
	job->nr_ready = 0;
}

/* A checksum of what follows an error would mean nothing. */
static void failed(struct job *job, const struct blk_request *req)
{
	record_error(job->result, req);
	if (record_ends_job(req))
		job->result->stopped = true;
	if (record_ends_job(req) || job->hash)
		job_stop(job);
}

/* From done[0] on, the requests that share batch, direction and success; returns how many. */
static inline unsigned run_length(struct blk_request *const *done, unsigned n)
{
	const struct blk_request *first = done[0];
	unsigned end = 1;

	while (end < n && done[end]->user == first->user && done[end]->op == first->op &&
	       done[end]->progress.status == BLK_OK)
		end++;
	return end;
}

static inline void record_taken(struct job *job, struct blk_request *const *done, unsigned n,
				uint64_t now)
{
	for (unsigned i = 0, run; i < n; i += run) {
		const struct blk_request *req = done[i];
		struct direction_result *d = record_direction(job->result, req->op);

		run = 1;
		if (__builtin_expect(req->progress.status == BLK_OK, 1)) {
			run = run_length(done + i, n - i);
			record_done(d, req->user, now, run);
			d->bytes += (uint64_t)run * req->sgl.len_bytes;
		} else {
			failed(job, req);
		}
		put_batch(job, req->user, run);
	}
	record_completed(job->result, n, now);
}

void job_take(struct job *job, unsigned n, uint64_t now)
{
	struct blk_request **done = job_room(job);

	job->in_flight -= n;
	job->awaited -= n < job->awaited ? n : job->awaited;
	record_taken(job, done, n, now);
	if (job->hash)
		hash_take(job, done, n); /* frees what it has hashed */
	else
		job->nr_free += n;
	if (job->pace.on && job->in_flight == 0 && job->nr_ready == 0)
		pace_drained(&job->pace, now);
}

void job_event(struct job *job, uint64_t now)
{
	if (!window_event(&job->window, now))
		job_stop(job);
}

void job_show(struct job *job)
{
	const struct job_result *r = job->result;

	__atomic_store_n(&job->shown_ios, r->ramp_ios + r->read.ios + r->write.ios,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&job->shown_left, job->left, __ATOMIC_RELAXED);
}
