/* SPDX-License-Identifier: BSD-2-Clause */
/* Which pieces of memory make up a request's data? Two inline, more in chained chunks. */
#ifndef DRIVERS_BLOCK_SGL_H
#define DRIVERS_BLOCK_SGL_H

#include <stdbool.h>
#include <stdint.h>

#include <arch/machine.h>

struct sg {
	dma_addr_t addr;
	uint32_t len_bytes;
};

#define SGL_INLINE 2
#define SGL_CHUNK  15

struct sgl_chunk {
	struct sg sg[SGL_CHUNK];
	struct sgl_chunk *next;
};

struct sgl {
	uint32_t n;	    /* entries in all */
	uint32_t len_bytes; /* their sum */
	struct sg inline_sg[SGL_INLINE];
	struct sgl_chunk *chunks, *last;
};

/* Where chunks come from; filled once, so that adding to a list allocates nothing. */
struct sgl_page;
struct sgl_pool {
	struct sgl_chunk *free;
	struct sgl_page *pages;
	uint32_t n_free, n_total, taken; /* taken: chunks handed out since the start */
};

/* Adds at least @chunks chunks to @pool; false if memory ran out (those that fitted stay). */
bool sgl_pool_grow(struct sgl_pool *pool, uint32_t chunks);
/* Gives all memory back; no list may hold a chunk any more. */
void sgl_pool_shrink(struct sgl_pool *pool);

/* Appends a piece, unless it is empty; a piece that touches the last one in DMA space is joined to it as long as
 * that keeps within 32 bits. False if the pool is empty or the sum would pass 2^32 - 1. */
bool sgl_add(struct sgl *sgl, struct sgl_pool *pool, dma_addr_t addr, uint32_t len_bytes);
/* Gives the chunks back and leaves an empty list. */
void sgl_clear(struct sgl *sgl, struct sgl_pool *pool);

/* A walk over the pieces of a list: */
struct sgl_cursor {
	const struct sgl *sgl;
	const struct sgl_chunk *chunk;
	uint32_t index;	       /* entries passed */
	uint32_t offset_bytes; /* into the current entry */
};

void sgl_cursor_init(struct sgl_cursor *cursor, const struct sgl *sgl);
/* Takes the next piece, at most @max_bytes of it; false at the end. */
bool sgl_cursor_next(struct sgl_cursor *cursor, uint32_t max_bytes, struct sg *piece);

#endif
