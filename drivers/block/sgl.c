/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a scatter list grow past its two inline entries without an allocation? */
#include "drivers/block/sgl.h"

#include <stddef.h>

/* Chunks are cut from pages, so that a large pool needs no large contiguous piece. */
#define PAGE_BYTES	4096
#define CHUNKS_PER_PAGE ((PAGE_BYTES - sizeof(void *)) / sizeof(struct sgl_chunk))

struct sgl_page {
	struct sgl_page *next;
	struct sgl_chunk chunk[CHUNKS_PER_PAGE];
};

bool sgl_pool_grow(struct sgl_pool *pool, uint32_t chunks)
{
	uint32_t target = pool->n_total + chunks;

	while (pool->n_total < target) {
		struct sgl_page *page = dma_alloc(sizeof(*page), 64);

		if (!page)
			return false;
		page->next = pool->pages;
		pool->pages = page;
		for (unsigned i = 0; i < CHUNKS_PER_PAGE; i++) {
			page->chunk[i].next = pool->free;
			pool->free = &page->chunk[i];
		}
		pool->n_free += CHUNKS_PER_PAGE;
		pool->n_total += CHUNKS_PER_PAGE;
	}
	return true;
}

void sgl_pool_shrink(struct sgl_pool *pool)
{
	while (pool->pages) {
		struct sgl_page *page = pool->pages;

		pool->pages = page->next;
		dma_free(page, sizeof(*page));
	}
	*pool = (struct sgl_pool){0};
}

static struct sg *last_entry(struct sgl *sgl)
{
	if (sgl->n == 0)
		return NULL;
	if (sgl->n <= SGL_INLINE)
		return &sgl->inline_sg[sgl->n - 1];
	return &sgl->last->sg[(sgl->n - SGL_INLINE - 1) % SGL_CHUNK];
}

static struct sg *new_entry(struct sgl *sgl, struct sgl_pool *pool)
{
	uint32_t index = sgl->n;

	if (index < SGL_INLINE)
		return &sgl->inline_sg[index];
	index = (index - SGL_INLINE) % SGL_CHUNK;
	if (index == 0) {
		struct sgl_chunk *chunk = pool->free;

		if (!chunk)
			return NULL;
		pool->free = chunk->next;
		pool->n_free--;
		pool->taken++;
		chunk->next = NULL;
		if (sgl->last)
			sgl->last->next = chunk;
		else
			sgl->chunks = chunk;
		sgl->last = chunk;
	}
	return &sgl->last->sg[index];
}

bool sgl_add(struct sgl *sgl, struct sgl_pool *pool, dma_addr_t addr, uint32_t len_bytes)
{
	struct sg *sg = last_entry(sgl);

	if (len_bytes > UINT32_MAX - sgl->len_bytes)
		return false;
	if (len_bytes == 0)
		return true;
	if (sg && sg->addr + sg->len_bytes == addr) {
		sg->len_bytes += len_bytes;
	} else {
		sg = new_entry(sgl, pool);
		if (!sg)
			return false;
		*sg = (struct sg){addr, len_bytes};
		sgl->n++;
	}
	sgl->len_bytes += len_bytes;
	return true;
}

void sgl_clear(struct sgl *sgl, struct sgl_pool *pool)
{
	while (sgl->chunks) {
		struct sgl_chunk *chunk = sgl->chunks;

		sgl->chunks = chunk->next;
		chunk->next = pool->free;
		pool->free = chunk;
		pool->n_free++;
	}
	*sgl = (struct sgl){0};
}

void sgl_cursor_init(struct sgl_cursor *cursor, const struct sgl *sgl)
{
	*cursor = (struct sgl_cursor){.sgl = sgl, .chunk = sgl->chunks};
}

static const struct sg *current(const struct sgl_cursor *cursor)
{
	if (cursor->index < SGL_INLINE)
		return &cursor->sgl->inline_sg[cursor->index];
	return &cursor->chunk->sg[(cursor->index - SGL_INLINE) % SGL_CHUNK];
}

static void advance(struct sgl_cursor *cursor)
{
	cursor->offset_bytes = 0;
	cursor->index++;
	if (cursor->index > SGL_INLINE && (cursor->index - SGL_INLINE) % SGL_CHUNK == 0)
		cursor->chunk = cursor->chunk->next;
}

bool sgl_cursor_next(struct sgl_cursor *cursor, uint32_t max_bytes, struct sg *piece)
{
	const struct sg *sg;

	if (cursor->index == cursor->sgl->n)
		return false;
	sg = current(cursor);
	piece->addr = sg->addr + cursor->offset_bytes;
	piece->len_bytes = sg->len_bytes - cursor->offset_bytes;
	if (piece->len_bytes > max_bytes) {
		piece->len_bytes = max_bytes;
		cursor->offset_bytes += max_bytes;
	} else {
		advance(cursor);
	}
	return true;
}
