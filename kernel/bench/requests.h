/* SPDX-License-Identifier: BSD-2-Clause */
/* Which requests does a job work with? A fixed set, made once, each with a buffer of its own. */
#ifndef KERNEL_BENCH_REQUESTS_H
#define KERNEL_BENCH_REQUESTS_H

#include "kernel/bench/plan.h"

struct io_batch;

struct request_set {
	unsigned n;
	uint32_t bs_bytes;
	bool scatter;
	struct blk_request *pool;
	void **pages; /* all data memory, n * pages_each pieces; a piece is a page or a buffer */
	uint32_t pages_each, piece_bytes;
	struct sgl_pool chunks;
	struct blk_request **lists;		  /* two arrays of n, for the job's use */
	struct blk_request **window;		  /* n */
	struct io_batch *batches, **free_batches; /* n + 1 each */
	bool *flags;				  /* n */
	size_t pool_bytes, pages_bytes, lists_bytes;
};

uint64_t requests_memory_bytes(const struct job_plan *plan);
/* False if memory ran out; what was taken is given back. */
bool requests_create(struct request_set *set, const struct job_plan *plan);
/* Only with nothing in flight. */
void requests_destroy(struct request_set *set);

/* The data of request @index from @offset on, and in *bytes how much of it lies in one piece. */
const void *requests_data(const struct request_set *set, unsigned index, uint32_t offset,
			  uint32_t *bytes);
/* Makes request @index @bytes long: whole bs, or less for a tail. */
void requests_resize(struct request_set *set, unsigned index, uint32_t bytes);

#endif
