/* SPDX-License-Identifier: BSD-2-Clause */
/* How is what was read checked from outside? A window of requests slides over the range. */
#include "kernel/bench/hash.h"

#include "kernel/bench/job.h"
#include "lib/crc32c.h"

void hash_init(struct job *job)
{
	job->hash->window = job->set.window;
	job->hash->is_back = job->set.flags;
}

static unsigned after(const struct job *job, unsigned place)
{
	return place + 1 == job->set.n ? 0 : place + 1;
}

static unsigned index_of(const struct job *job, const struct blk_request *req)
{
	return (unsigned)(req - job->set.pool);
}

void hash_place(struct job *job, struct blk_request **reqs, unsigned n, struct io_batch *batch)
{
	const struct job_plan *plan = job->plan;
	struct hash *h = job->hash;

	for (unsigned i = 0; i < n; i++, h->next_block++) {
		struct blk_request *req = reqs[i];

		if (h->next_block == plan->nr_blocks) {
			requests_resize(&job->set, index_of(job, req), plan->tail_bytes);
			blk_prepare(job->port->queue, req);
		}
		req->lba_512 = plan->first_lba_512 + h->next_block * plan->block_512;
		req->user = batch;
		h->window[h->newest] = req;
		h->newest = after(job, h->newest);
		h->waiting++;
	}
}

static void hash_block(struct job *job, const struct blk_request *req)
{
	uint32_t left = req->sgl.len_bytes, offset = 0, bytes;

	while (left > 0) {
		const void *data = requests_data(&job->set, index_of(job, req), offset, &bytes);

		if (bytes > left)
			bytes = left;
		job->result->crc32c = crc32c(job->result->crc32c, data, bytes);
		offset += bytes;
		left -= bytes;
	}
	job->result->hashed_bytes += offset;
}

void hash_take(struct job *job, struct blk_request *const *done, unsigned n)
{
	struct hash *h = job->hash;

	for (unsigned i = 0; i < n; i++)
		h->is_back[index_of(job, done[i])] = done[i]->progress.status == BLK_OK;
	/* After an error the job is stopped, and nothing further is hashed: no gap is closed. */
	while (h->waiting && h->is_back[index_of(job, h->window[h->oldest])]) {
		struct blk_request *req = h->window[h->oldest];

		h->is_back[index_of(job, req)] = false;
		h->oldest = after(job, h->oldest);
		h->waiting--;
		hash_block(job, req);
		job->free[job->nr_free++] = req;
	}
}
