/* SPDX-License-Identifier: BSD-2-Clause */
/* What does a job do besides sending and taking? It is the place, the unusual, and the end. */
#include "kernel/bench/job_io.h"

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

/* One loop each, so that none asks for each request what holds for all. */
static void place_random(struct job *job, struct blk_request **reqs, unsigned n,
			 struct io_batch *batch)
{
	uint64_t first_512 = job->plan->first_lba_512, block_512 = job->plan->block_512;
	uint64_t nr_blocks = job->plan->nr_blocks;
	struct random random = job->random;

	for (struct blk_request **end = reqs + n; reqs < end; reqs++) {
		(*reqs)->lba_512 = first_512 + random_below(&random, nr_blocks) * block_512;
		(*reqs)->user = batch;
	}
	job->random = random;
}

static void place_in_order(struct job *job, struct blk_request **reqs, unsigned n,
			   struct io_batch *batch)
{
	const struct job_plan *plan = job->plan;
	uint64_t block = job->next_block;

	for (struct blk_request **end = reqs + n; reqs < end; reqs++) {
		(*reqs)->lba_512 = plan->first_lba_512 + block * plan->block_512;
		(*reqs)->user = batch;
		if (++block == plan->nr_blocks)
			block = 0;
	}
	job->next_block = block;
}

unsigned job_allows(struct job *job, unsigned n, uint64_t now)
{
	/* A tail is shorter than what is recorded along with it: a batch of its own. */
	if (job->plan->tail_bytes && n == job->left && n > 1)
		n--;
	return job->pace.on ? pace_allows(&job->pace, n, now) : n;
}

static void place_unusual(struct job *job, struct blk_request **reqs, unsigned n,
			  struct io_batch *batch)
{
	if (job->hash)
		hash_place(job, reqs, n, batch);
	else if (job_rw_random(job->plan->options->rw))
		place_random(job, reqs, n, batch);
	else
		place_in_order(job, reqs, n, batch);
	pick_ops(job, reqs, n);
}

void job_choose_place(struct job *job)
{
	if (job->unusual)
		job->place = place_unusual;
	else
		job->place = job_rw_random(job->plan->options->rw) ? place_random : place_in_order;
}

void job_keep_rest(struct job *job, unsigned taken)
{
	struct io_batch *rest = job_new_batch(job, job->ready_batch->started_cycles, job->nr_ready);

	job_put_batch(job, job->ready_batch, job->nr_ready);
	job->ready_batch = rest;
	for (unsigned i = 0; i < job->nr_ready; i++) {
		job->held[i] = job->ready[taken + i];
		job->held[i]->user = rest;
	}
	job->ready = job->held;
}

/* Requests that were prepared but never taken do not count. */
void job_stop(struct job *job)
{
	job->left = 0;
	if (job->nr_ready)
		job_put_batch(job, job->ready_batch, job->nr_ready);
	job->nr_ready = 0;
}

/* A checksum of what follows an error would mean nothing. */
void job_failed(struct job *job, const struct blk_request *req)
{
	record_error(job->result, req);
	if (record_ends_job(req))
		job->result->stopped = true;
	if (record_ends_job(req) || job->hash)
		job_stop(job);
}

void job_record_rest(struct job *job, struct blk_request *const *done, unsigned n, uint64_t now)
{
	for (unsigned i = 0; i < n;)
		i += job_record_run(job, done + i, n - i, now);
}

void job_take_unusual(struct job *job, struct blk_request *const *done, unsigned n, uint64_t now)
{
	if (job->hash)
		hash_take(job, done, n); /* frees what it has hashed */
	else
		job->nr_free += n;
	if (job->pace.on && job->in_flight == 0 && job->nr_ready == 0)
		pace_drained(&job->pace, now);
}

/* What is out when figures begin to count will count itself. */
static void begin_counting(struct job *job)
{
	uint64_t most = job->plan->counted_ios, out = job->in_flight + job->nr_ready;
	uint64_t left = most > out ? most - out : 0;

	if (left < job->left)
		job->left = left;
}

void job_event(struct job *job, uint64_t now)
{
	bool ramping = job->window.ramping;

	if (!window_event(&job->window, now))
		job_stop(job);
	else if (ramping && !job->window.ramping)
		begin_counting(job);
}

void job_show(struct job *job)
{
	const struct job_result *r = job->result;

	__atomic_store_n(&job->shown_ios, r->ramp_ios + r->read.ios + r->write.ios,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&job->shown_left, job->left, __ATOMIC_RELAXED);
}
