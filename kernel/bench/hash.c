/* SPDX-License-Identifier: BSD-2-Clause */
/* How is what was read checked from outside? A window of requests slides over the range. */
#include "kernel/bench/hash.h"

#include "kernel/bench/record.h"
#include "kernel/bench/waiter.h"
#include "lib/crc32c.h"

/* Block number b is read by request b % n; blocks from next_hash to next_issue are out. */
struct hash {
	const struct job_plan *plan;
	struct blk_queue *queue;
	struct job_result *result;
	struct request_set *set;
	struct window *window;
	struct waiter waiter;
	struct blk_request **batch; /* for submission and completion, n each */
	struct io_batch *times;	    /* per request */
	bool *is_back;		    /* per request: read, but not hashed yet */
	uint64_t next_issue, next_hash, blocks;
	unsigned in_flight;
	bool failed;
};

static struct blk_request *prepare(struct hash *h, uint64_t now)
{
	unsigned slot = (unsigned)(h->next_issue % h->set->n);
	struct blk_request *req = &h->set->pool[slot];

	if (h->next_issue == h->plan->nr_blocks)
		requests_resize(h->set, slot, h->plan->tail_bytes);
	req->op = BLK_READ;
	req->lba_512 = h->plan->first_lba_512 + h->next_issue * h->plan->block_512;
	req->user = &h->times[slot];
	h->times[slot].started_cycles = now;
	h->is_back[slot] = false;
	return req;
}

/* The window moves on only behind what was hashed, so that no buffer is read over. */
static void issue(struct hash *h)
{
	uint64_t end = h->next_hash + h->set->n, now = cycles();
	unsigned n = 0, taken;

	if (end > h->blocks)
		end = h->blocks;
	for (; h->next_issue < end; h->next_issue++, n++)
		h->batch[n] = prepare(h, now);
	if (n == 0)
		return;
	taken = blk_submit(h->queue, h->batch, n);
	h->next_issue -= n - taken; /* prepared again when there is room */
	if (taken == 0)
		return;
	h->in_flight += taken;
	for (unsigned i = 0; i < taken; i++)
		((struct io_batch *)h->batch[i]->user)->issued_cycles =
			blk_published_cycles(h->queue);
	record_submitted(h->result, h->batch[0]->user, taken, 0, h->in_flight);
}

static void hash_block(struct hash *h, unsigned slot)
{
	uint32_t left = h->set->pool[slot].sgl.len_bytes, offset = 0, bytes;

	while (left > 0) {
		const void *data = requests_data(h->set, slot, offset, &bytes);

		if (bytes > left)
			bytes = left;
		h->result->crc32c = crc32c(h->result->crc32c, data, bytes);
		offset += bytes;
		left -= bytes;
	}
	h->result->hashed_bytes += offset;
}

static void finish(struct hash *h, struct blk_request *req, uint64_t now)
{
	if (req->progress.status == BLK_OK) {
		record_done(&h->result->read, req->user, now, 1);
		h->result->read.bytes += req->sgl.len_bytes;
		h->is_back[req - h->set->pool] = true;
		return;
	}
	record_error(h->result, req);
	h->failed = true;
	h->result->stopped |= record_ends_job(req);
}

/* Hashes as far as the data is there without a gap. */
static void catch_up(struct hash *h)
{
	while (h->next_hash < h->next_issue && !h->failed) {
		unsigned slot = (unsigned)(h->next_hash % h->set->n);

		if (!h->is_back[slot])
			break;
		hash_block(h, slot);
		h->next_hash++;
	}
}

static void handle_events(struct hash *h, uint64_t now)
{
	window_event(h->window, now, h->blocks - h->next_issue);
	blk_check_progress(h->queue);
}

static void reap(struct hash *h)
{
	unsigned n, empty = 0;
	uint64_t now;

	for (;;) {
		n = blk_poll(h->queue, h->batch, h->set->n);
		now = cycles();
		if (now >= h->window->next_event)
			handle_events(h, now);
		if (n)
			break;
		window_idle(h->window, now, empty++ > 0);
		if (h->waiter.mode != BLK_POLL)
			waiter_wait(&h->waiter, h->window, now);
	}
	if (empty)
		waiter_found(&h->waiter, h->result, now, n);
	for (unsigned i = 0; i < n; i++)
		finish(h, h->batch[i], now);
	h->in_flight -= n;
	record_completed(h->result, n, now);
}

void hash_run(const struct job_plan *plan, struct job_result *result, struct request_set *set,
	      struct window *window)
{
	struct hash h = {.plan = plan,
			 .queue = plan->device->queues[0],
			 .result = result,
			 .set = set,
			 .window = window,
			 .blocks = plan->nr_blocks + (plan->tail_bytes > 0)};

	waiter_init(&h.waiter, plan->device);
	h.batch = set->lists;
	h.times = set->batches;
	h.is_back = set->flags;
	window_open(window);
	while (h.in_flight || (h.next_issue < h.blocks && !h.failed)) {
		if (!h.failed)
			issue(&h);
		if (h.in_flight)
			reap(&h);
		else if (!h.failed && h.next_issue < h.blocks) /* as in engine.c: never */
			h.failed = result->stopped = true;
		catch_up(&h);
	}
	window_close(window);
}
