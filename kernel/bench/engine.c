/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How is a job run? One loop: fill what is free, submit it as a batch, reap what is done.
 *
 *     prepare()  a free request gets its operation and place
 *     issue()    blk_submit(): one publish and at most one notification for the batch
 *     reap()     blk_poll(), then record_done() for each
 */
#include "kernel/bench/engine.h"

#include "kernel/bench/hash.h"
#include "kernel/bench/record.h"
#include "kernel/bench/requests.h"
#include "kernel/bench/window.h"
#include "lib/format.h"
#include "lib/random.h"

#define CHECK_EVERY 1024 /* empty polls */

struct engine {
	const struct job_plan *plan;
	struct blk_queue *queue;
	struct job_result *result;
	struct blk_request **free;  /* a stack of nr_free */
	struct blk_request **ready; /* prepared, in order, not yet taken by the queue: nr_ready */
	struct blk_request **done;
	unsigned nr_free, nr_ready, in_flight;
	unsigned batch_submit, complete_min, complete_max;
	uint64_t left; /* requests still to prepare */
	uint64_t next_block;
	uint64_t write_share; /* of 2^32: how often a mixed job writes */
	bool is_random, is_mixed;
	struct random random;
	struct window window;
};

static inline uint64_t pick_block(struct engine *e)
{
	uint64_t block = e->next_block;

	if (e->is_random)
		return random_below(&e->random, e->plan->nr_blocks);
	e->next_block = block + 1 == e->plan->nr_blocks ? 0 : block + 1;
	return block;
}

static inline void prepare(struct engine *e, struct blk_request *req, uint64_t now)
{
	req->lba_512 = e->plan->first_lba_512 + pick_block(e) * e->plan->block_512;
	if (e->is_mixed)
		req->op = random_below(&e->random, 1ull << 32) < e->write_share ? BLK_WRITE
										  : BLK_READ;
	req->started_cycles = now;
}

/* Prepares up to a batch of requests, unless some still wait for room in the ring. */
static void fill_ready(struct engine *e)
{
	unsigned n = e->nr_free < e->batch_submit ? e->nr_free : e->batch_submit;
	uint64_t now;

	if (n > e->left)
		n = (unsigned)e->left;
	if (n == 0)
		return;
	now = cycles();
	for (unsigned i = 0; i < n; i++) {
		e->ready[i] = e->free[--e->nr_free];
		prepare(e, e->ready[i], now);
	}
	e->nr_ready = n;
	e->left -= n;
}

/* False: there was nothing to submit, or no room for it. */
static bool issue(struct engine *e)
{
	unsigned taken;

	if (e->nr_ready == 0)
		fill_ready(e);
	if (e->nr_ready == 0)
		return false;
	taken = blk_submit(e->queue, e->ready, e->nr_ready);
	if (taken == 0)
		return false;
	e->in_flight += taken;
	record_submitted(e->result, e->ready, taken, e->in_flight);
	e->nr_ready -= taken;
	for (unsigned i = 0; i < e->nr_ready; i++)
		e->ready[i] = e->ready[taken + i];
	return e->nr_ready == 0;
}

/* Requests that were prepared but never taken do not count. */
static void stop(struct engine *e)
{
	e->left = 0;
	while (e->nr_ready)
		e->free[e->nr_free++] = e->ready[--e->nr_ready];
}

static void failed(struct engine *e, const struct blk_request *req)
{
	record_error(e->result, req);
	if (req->status == BLK_DEVICE_GONE || req->status == BLK_TIMED_OUT) {
		e->result->stopped = true;
		stop(e);
	}
}

static void record_batch(struct engine *e, unsigned n, uint64_t now)
{
	for (unsigned i = 0; i < n; i++) {
		struct blk_request *req = e->done[i];

		if (__builtin_expect(req->status == BLK_OK, 1))
			record_done(e->result, req, now);
		else
			failed(e, req);
		e->free[e->nr_free++] = req;
	}
	e->in_flight -= n;
	record_completed(e->result, n, now);
}

static void handle_events(struct engine *e, uint64_t now)
{
	if (!window_event(&e->window, now, e->left))
		stop(e);
	blk_check_progress(e->queue);
}

/* Polls until @least requests are back; each wait is bounded by blk_check_progress(). */
static void reap(struct engine *e, unsigned least)
{
	unsigned got = 0, empty = 0;

	do {
		unsigned n = blk_poll(e->queue, e->done, e->complete_max);
		uint64_t now = cycles();

		if (n == 0) {
			window_idle(&e->window, now, empty++ > 0);
			if (empty % CHECK_EVERY == 0)
				blk_check_progress(e->queue);
		} else {
			record_batch(e, n, now);
			got += n;
			empty = 0;
		}
		if (__builtin_expect(now >= e->window.next_event, 0))
			handle_events(e, now);
	} while (got < least && e->in_flight);
}

static void run(struct engine *e)
{
	window_open(&e->window);
	while (e->left || e->nr_ready || e->in_flight) {
		unsigned least = e->complete_min;

		while (issue(e))
			;
		if (least > e->in_flight)
			least = e->in_flight;
		if (e->in_flight)
			reap(e, least);
	}
	window_close(&e->window);
}

static void set_up(struct engine *e, struct request_set *set)
{
	const struct job_options *o = e->plan->options;

	e->queue = e->plan->device->queue;
	e->free = set->lists;
	e->ready = set->lists + set->n;
	e->done = set->lists + 2 * set->n;
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
	e->write_share = ((100ull - o->rwmixread) << 32) / 100;
	random_seed(&e->random, o->randseed);
	for (unsigned i = 0; i < set->n; i++) {
		set->pool[i].op = job_rw_reads(o->rw) ? BLK_READ : BLK_WRITE;
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
