/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How is a job run? One loop: place what is free, submit it as a batch, reap what is done.
 *
 *     place()    free requests get their places on the disk
 *     issue()    blk_submit(): one publish and at most one notification for the batch
 *     reap()     blk_poll(), then record_done() for those of a batch that came together
 */
#include "kernel/bench/engine.h"

#include "kernel/bench/hash.h"
#include "kernel/bench/record.h"
#include "kernel/bench/requests.h"
#include "kernel/bench/waiter.h"
#include "kernel/bench/window.h"
#include "lib/format.h"
#include "lib/random.h"

#define CHECK_EVERY 1024 /* empty polls */

struct engine {
	const struct job_plan *plan;
	struct blk_queue *queue;
	struct job_result *result;
	struct blk_request **free; /* a stack of nr_free, with room for all of them */
	/* Prepared, in order, not yet taken by the queue: nr_ready, atop the stack or in held. */
	struct blk_request **ready, **held;
	struct io_batch *batches, **free_batches; /* one more than there are requests */
	struct io_batch *ready_batch;		  /* what ready refers to */
	unsigned nr_free, nr_ready, nr_free_batches, in_flight;
	unsigned empty; /* polls in a row that found nothing */
	struct waiter waiter;
	uint64_t now; /* the last look at the clock; requests made since were made then */
	unsigned batch_submit, complete_min, complete_max;
	uint64_t left; /* requests still to prepare */
	uint64_t next_block;
	uint64_t write_share;		  /* of 2^32: how often a mixed job writes */
	bool is_random, is_mixed, writes; /* writes: all of them, unless mixed */
	struct random random;
	struct window window;
};

static inline uint64_t next_block(struct engine *e)
{
	uint64_t block = e->next_block;

	e->next_block = block + 1 == e->plan->nr_blocks ? 0 : block + 1;
	return block;
}

/* A mixed job changes what a request does, which costs a look at it each time. */
static void pick_op(struct engine *e, struct blk_request *req)
{
	bool write = random_below(&e->random, 1ull << 32) < e->write_share;

	if (req->op == (write ? BLK_WRITE : BLK_READ))
		return;
	req->op = write ? BLK_WRITE : BLK_READ;
	blk_prepare(e->queue, req);
}

/* Kept apart, so that its loop has the registers to itself. */
static void __attribute__((noinline))
place(struct engine *e, struct blk_request **reqs, unsigned n, struct io_batch *batch)
{
	uint64_t first_512 = e->plan->first_lba_512, block_512 = e->plan->block_512;
	uint64_t nr_blocks = e->plan->nr_blocks;
	struct random random = e->random;
	bool is_random = e->is_random;

	for (unsigned i = 0; i < n; i++) {
		uint64_t block = is_random ? random_below(&random, nr_blocks) : next_block(e);

		reqs[i]->lba_512 = first_512 + block * block_512;
		reqs[i]->user = batch;
	}
	e->random = random;
	for (unsigned i = 0; e->is_mixed && i < n; i++)
		pick_op(e, reqs[i]);
}

static struct io_batch *new_batch(struct engine *e, uint64_t started, unsigned users)
{
	struct io_batch *batch = e->free_batches[--e->nr_free_batches];

	batch->started_cycles = started;
	batch->users = users;
	return batch;
}

static void put_batch(struct engine *e, struct io_batch *batch, unsigned users)
{
	batch->users -= users;
	if (batch->users == 0)
		e->free_batches[e->nr_free_batches++] = batch;
}

/* Prepares up to a batch of requests, unless some still wait for room in the ring. */
static void fill_ready(struct engine *e)
{
	unsigned n = e->nr_free < e->batch_submit ? e->nr_free : e->batch_submit;

	if (n > e->left)
		n = (unsigned)e->left;
	if (n == 0)
		return;
	e->ready_batch = new_batch(e, e->now, n);
	e->nr_free -= n;
	e->ready = &e->free[e->nr_free];
	e->nr_ready = n;
	place(e, e->ready, n, e->ready_batch);
	e->left -= n;
}

static unsigned count_writes(const struct engine *e, unsigned n)
{
	unsigned writes = 0;

	if (!e->is_mixed)
		return e->writes ? n : 0;
	for (unsigned i = 0; i < n; i++)
		writes += e->ready[i]->op == BLK_WRITE;
	return writes;
}

/* The ring took only @taken: the rest waits, and is to be handed over in a batch of its own. */
static void keep_rest(struct engine *e, unsigned taken)
{
	struct io_batch *rest = new_batch(e, e->ready_batch->started_cycles, e->nr_ready);

	put_batch(e, e->ready_batch, e->nr_ready);
	e->ready_batch = rest;
	for (unsigned i = 0; i < e->nr_ready; i++) {
		e->held[i] = e->ready[taken + i];
		e->held[i]->user = rest;
	}
	e->ready = e->held;
}

/* False: there was nothing to submit, or no room for all of it. */
static bool issue(struct engine *e)
{
	unsigned taken;

	if (e->nr_ready == 0)
		fill_ready(e);
	if (e->nr_ready == 0)
		return false;
	taken = blk_submit(e->queue, e->ready, e->nr_ready);
	if (taken == 0) {
		if (e->ready != e->held)
			keep_rest(e, 0);
		return false;
	}
	e->ready_batch->issued_cycles = blk_published_cycles(e->queue);
	e->in_flight += taken;
	record_submitted(e->result, e->ready_batch, taken, count_writes(e, taken), e->in_flight);
	e->nr_ready -= taken;
	if (e->nr_ready)
		keep_rest(e, taken);
	return e->nr_ready == 0;
}

/* Requests that were prepared but never taken do not count. */
static void stop(struct engine *e)
{
	e->left = 0;
	if (e->nr_ready)
		put_batch(e, e->ready_batch, e->nr_ready);
	while (e->nr_ready)
		e->free[e->nr_free++] = e->ready[--e->nr_ready];
}

static void failed(struct engine *e, const struct blk_request *req)
{
	record_error(e->result, req);
	if (record_ends_job(req)) {
		e->result->stopped = true;
		stop(e);
	}
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

static void record_reaped(struct engine *e, struct blk_request *const *done, unsigned n,
			  uint64_t now)
{
	for (unsigned i = 0, run; i < n; i += run) {
		const struct blk_request *req = done[i];
		struct direction_result *d = record_direction(e->result, req->op);

		run = 1;
		if (__builtin_expect(req->progress.status == BLK_OK, 1)) {
			run = run_length(done + i, n - i);
			record_done(d, req->user, now, run);
			d->bytes += (uint64_t)run * req->sgl.len_bytes;
		} else {
			failed(e, req);
		}
		put_batch(e, req->user, run);
	}
	e->in_flight -= n;
	record_completed(e->result, n, now);
}

static void handle_events(struct engine *e)
{
	if (!window_event(&e->window, e->now, e->left))
		stop(e);
	blk_check_progress(e->queue);
	e->now = cycles(); /* what was printed took its time */
}

/* Polls until @least requests are back; each wait is bounded by blk_check_progress(). */
static void reap(struct engine *e, unsigned least)
{
	unsigned got = 0;

	do {
		struct blk_request **done = &e->free[e->nr_free];
		unsigned n = blk_poll(e->queue, done, e->complete_max);

		e->now = cycles();
		if (n == 0) {
			window_idle(&e->window, e->now, e->empty++ > 0);
			if (e->empty % CHECK_EVERY == 0)
				blk_check_progress(e->queue);
			if (e->waiter.mode != BLK_POLL)
				e->now = waiter_wait(&e->waiter, &e->window, e->now);
		} else {
			e->nr_free += n;
			record_reaped(e, done, n, e->now);
			got += n;
			if (e->empty)
				waiter_found(&e->waiter, e->result, e->now, n);
			e->empty = 0;
		}
		if (__builtin_expect(e->now >= e->window.next_event, 0))
			handle_events(e);
	} while (got < least && e->in_flight);
}

static void run(struct engine *e)
{
	window_open(&e->window);
	e->now = cycles();
	while (e->left || e->nr_ready || e->in_flight) {
		unsigned least = e->complete_min;

		while ((e->nr_free || e->nr_ready) && issue(e))
			e->empty = 0;
		if (least > e->in_flight)
			least = e->in_flight;
		if (e->in_flight) {
			reap(e, least);
		} else if (e->nr_ready) {
			/* An empty queue that takes nothing: never, if all is right. */
			e->result->stopped = true;
			stop(e);
		}
	}
	window_close(&e->window);
}

static void set_up(struct engine *e, struct request_set *set)
{
	const struct job_options *o = e->plan->options;

	e->queue = e->plan->device->queues[0];
	waiter_init(&e->waiter, e->plan->device);
	e->free = set->lists;
	e->held = set->lists + set->n;
	e->batch_submit = o->batch_submit ? o->batch_submit : o->iodepth;
	e->complete_min = o->batch_complete_min;
	e->complete_max = o->batch_complete_max ? o->batch_complete_max : o->iodepth;
	if (e->complete_max > o->iodepth)
		e->complete_max = o->iodepth;
	if (e->complete_min > e->complete_max)
		e->complete_min = e->complete_max;
	e->left = e->plan->total_ios;
	e->is_random = job_rw_random(o->rw);
	e->is_mixed = job_rw_reads(o->rw) && job_rw_writes(o->rw);
	e->writes = job_rw_writes(o->rw);
	e->write_share = ((100ull - o->rwmixread) << 32) / 100;
	random_seed(&e->random, o->randseed);
	e->batches = set->batches;
	e->free_batches = set->free_batches;
	for (unsigned i = 0; i <= set->n; i++)
		e->free_batches[e->nr_free_batches++] = &e->batches[i];
	for (unsigned i = 0; i < set->n; i++) {
		set->pool[i].op = job_rw_reads(o->rw) ? BLK_READ : BLK_WRITE;
		blk_prepare(e->queue, &set->pool[i]);
		e->free[e->nr_free++] = &set->pool[i];
	}
}

uint64_t engine_memory_bytes(const struct job_plan *plan)
{
	return requests_memory_bytes(plan);
}

bool engine_run(const struct job_plan *plan, struct job_result *result,
		const struct progress_hook *hook, char *error, size_t error_size)
{
	struct engine e = {.plan = plan, .result = result};
	struct request_set set;

	result->plan = plan;
	record_reset(result);
	if (!requests_create(&set, plan)) {
		format(error, error_size, "%s: no memory for iodepth=%u buffers of bs=%u",
		       plan->options->name, plan->options->iodepth, plan->options->bs_bytes);
		return false;
	}
	result->sgl_chunks = set.chunks.taken;
	window_init(&e.window, plan, result, hook);
	if (plan->options->hash_crc32c) {
		hash_run(plan, result, &set, &e.window);
	} else {
		set_up(&e, &set);
		run(&e);
	}
	requests_destroy(&set);
	return true;
}
