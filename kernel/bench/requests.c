/* SPDX-License-Identifier: BSD-2-Clause */
/* Where do a job's buffers lie? In one piece each, or page by page with gaps, as asked. */
#include "kernel/bench/requests.h"

#include <arch/machine.h>

#include "kernel/bench/record.h"
#include "lib/random.h"

#define PAGE 4096u
/* A scattered page is the first half of twice its size, so that no two touch. */
#define SCATTER_STRIDE (2 * PAGE)

static uint32_t piece_alloc_bytes(const struct request_set *set)
{
	/* Whole pages: pieces are aligned to pages in any case. */
	return set->scatter ? SCATTER_STRIDE : (set->piece_bytes + PAGE - 1) / PAGE * PAGE;
}

static void shape(struct request_set *set, const struct job_plan *plan)
{
	const struct job_options *o = plan->options;

	*set = (struct request_set){
		.n = o->iodepth, .bs_bytes = o->bs_bytes, .scatter = o->scatter};
	set->piece_bytes = o->scatter ? PAGE : o->bs_bytes;
	set->pages_each = (o->bs_bytes + set->piece_bytes - 1) / set->piece_bytes;
	set->pool_bytes = sizeof(struct blk_request) * set->n;
	set->pages_bytes = sizeof(void *) * set->n * set->pages_each;
	set->lists_bytes = (3 * sizeof(struct blk_request *) + sizeof(bool)) * set->n +
			   (sizeof(struct io_batch) + sizeof(struct io_batch *)) * (set->n + 1);
}

static uint32_t chunks_each(const struct request_set *set)
{
	return set->pages_each <= SGL_INLINE
		       ? 0
		       : (set->pages_each - SGL_INLINE + SGL_CHUNK - 1) / SGL_CHUNK;
}

uint64_t requests_memory_bytes(const struct job_plan *plan)
{
	struct request_set set;
	uint64_t pieces;

	shape(&set, plan);
	pieces = (uint64_t)set.n * set.pages_each;
	return set.pool_bytes + set.pages_bytes + set.lists_bytes +
	       pieces * piece_alloc_bytes(&set) +
	       (uint64_t)set.n * chunks_each(&set) * sizeof(struct sgl_chunk);
}

/* What is written is not zeroes, which a backend could treat specially. */
static void fill(void *piece, uint32_t bytes, struct random *random)
{
	uint64_t *word = piece;

	for (uint32_t i = 0; i < bytes / sizeof(*word); i++)
		word[i] = random_next(random);
}

static bool make_request(struct request_set *set, unsigned index, struct random *random)
{
	for (uint32_t i = 0; i < set->pages_each; i++) {
		void *piece = dma_alloc(piece_alloc_bytes(set), PAGE);

		if (!piece)
			return false;
		set->pages[index * set->pages_each + i] = piece;
		if (random)
			fill(piece, set->piece_bytes, random);
	}
	requests_resize(set, index, set->bs_bytes);
	return true;
}

bool requests_create(struct request_set *set, const struct job_plan *plan)
{
	struct random random;

	shape(set, plan);
	random_seed(&random, plan->options->randseed);
	set->pool = dma_alloc(set->pool_bytes, 64);
	set->pages = dma_alloc(set->pages_bytes, 64);
	set->lists = dma_alloc(set->lists_bytes, 64);
	if (!set->pool || !set->pages || !set->lists ||
	    !sgl_pool_grow(&set->chunks, set->n * chunks_each(set))) {
		requests_destroy(set);
		return false;
	}
	set->window = set->lists + 2 * set->n;
	set->free_batches = (struct io_batch **)(set->lists + 3 * set->n);
	set->batches = (struct io_batch *)(set->free_batches + set->n + 1);
	set->flags = (bool *)(set->batches + set->n + 1);
	for (unsigned i = 0; i < set->n; i++)
		if (!make_request(set, i, job_rw_writes(plan->options->rw) ? &random : NULL)) {
			requests_destroy(set);
			return false;
		}
	return true;
}

void requests_destroy(struct request_set *set)
{
	for (uint32_t i = 0; set->pages && i < set->n * set->pages_each; i++)
		if (set->pages[i])
			dma_free(set->pages[i], piece_alloc_bytes(set));
	for (unsigned i = 0; set->pool && i < set->n; i++)
		sgl_clear(&set->pool[i].sgl, &set->chunks);
	sgl_pool_shrink(&set->chunks);
	if (set->pages)
		dma_free(set->pages, set->pages_bytes);
	if (set->lists)
		dma_free(set->lists, set->lists_bytes);
	if (set->pool)
		dma_free(set->pool, set->pool_bytes);
	*set = (struct request_set){0};
}

const void *requests_data(const struct request_set *set, unsigned index, uint32_t offset,
			  uint32_t *bytes)
{
	uint32_t in_piece = offset % set->piece_bytes;
	const char *piece = set->pages[index * set->pages_each + offset / set->piece_bytes];

	*bytes = set->piece_bytes - in_piece;
	return piece + in_piece;
}

void requests_resize(struct request_set *set, unsigned index, uint32_t bytes)
{
	struct sgl *sgl = &set->pool[index].sgl;

	sgl_clear(sgl, &set->chunks);
	for (uint32_t i = 0; bytes > 0; i++) {
		uint32_t piece = bytes < set->piece_bytes ? bytes : set->piece_bytes;
		void *data = set->pages[index * set->pages_each + i];

		/* Cannot fail: the pool was filled for the longest list. */
		sgl_add(sgl, &set->chunks, dma_map(data, piece), piece);
		bytes -= piece;
	}
}
