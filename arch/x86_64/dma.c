/* SPDX-License-Identifier: BSD-2-Clause */
/* Where does memory that a device may use come from? Pages, and small blocks carved from pages. */
#include <arch/machine.h>
#include <arch/system.h>

#include "arch/x86_64/image.h"
#include "arch/x86_64/memory.h"
#include "arch/x86_64/pages.h"
#include "arch/x86_64/percpu.h"
#include "lib/log.h"
#include "lib/mem.h"

/*
 * Blocks are powers of two from a cache line to a quarter page, aligned to their size. The first
 * block of a carved page is its header, so whatever starts a page is a whole allocation by itself.
 */
#define BLOCK_SHIFT_MIN 6
#define BLOCK_CLASSES	5
#define BLOCK_BYTES_MAX (1u << (BLOCK_SHIFT_MIN + BLOCK_CLASSES - 1))

struct block {
	struct block *next;
};

struct carved_page {
	unsigned kind;
};

static struct block *free_blocks[BLOCK_CLASSES];
static uint64_t free_blocks_bytes;

/* Single pages that the ranges had no room for when they came back. */
static struct block *single_pages;
static uint64_t single_pages_bytes;

static bool starts_page(const void *p)
{
	return (uintptr_t)p % PAGE_BYTES == 0;
}

static void *take_page(void)
{
	struct block *b = single_pages;

	if (!b)
		return pages_take(PAGE_BYTES, PAGE_BYTES);
	single_pages = b->next;
	single_pages_bytes -= PAGE_BYTES;
	return b;
}

static void give_page(void *page)
{
	struct block *b = page;

	if (pages_give_back(page, PAGE_BYTES))
		return;
	b->next = single_pages;
	single_pages = b;
	single_pages_bytes += PAGE_BYTES;
}

static unsigned block_class(size_t bytes)
{
	unsigned kind = 0;

	while ((size_t)1 << (BLOCK_SHIFT_MIN + kind) < bytes)
		kind++;
	return kind;
}

static void push_block(struct block *b, unsigned kind)
{
	b->next = free_blocks[kind];
	free_blocks[kind] = b;
	free_blocks_bytes += (uint64_t)1 << (BLOCK_SHIFT_MIN + kind);
}

static bool carve(unsigned kind)
{
	size_t step = (size_t)1 << (BLOCK_SHIFT_MIN + kind);
	char *page = take_page();

	if (!page)
		return false;
	((struct carved_page *)(void *)page)->kind = kind;
	for (size_t offset = PAGE_BYTES - step; offset; offset -= step)
		push_block((struct block *)(void *)(page + offset), kind);
	return true;
}

static void *take_block(unsigned kind)
{
	struct block *b;

	if (!free_blocks[kind] && !carve(kind))
		return NULL;
	b = free_blocks[kind];
	free_blocks[kind] = b->next;
	free_blocks_bytes -= (uint64_t)1 << (BLOCK_SHIFT_MIN + kind);
	return b;
}

static void *take(size_t bytes, size_t align)
{
	uint64_t whole = ((uint64_t)bytes + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);

	if (whole == PAGE_BYTES && align <= PAGE_BYTES) {
		if (bytes <= BLOCK_BYTES_MAX && align <= BLOCK_BYTES_MAX)
			return take_block(block_class(bytes > align ? bytes : align));
		return take_page();
	}
	return pages_take(whole, align > PAGE_BYTES ? align : PAGE_BYTES);
}

void *dma_alloc(size_t bytes, size_t align)
{
	void *p;

	boot_cpu_only("dma_alloc");
	if (!bytes || bytes > SIZE_MAX - PAGE_BYTES || (align & (align - 1)))
		return NULL;
	p = take(bytes, align);
	return p ? memset(p, 0, bytes) : NULL;
}

void dma_free(void *p, size_t bytes)
{
	uint64_t whole = ((uint64_t)bytes + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);

	boot_cpu_only("dma_free");
	if (!p)
		return;
	if (!starts_page(p)) {
		uintptr_t page = (uintptr_t)p & ~(uintptr_t)(PAGE_BYTES - 1);

		push_block(p, ((const struct carved_page *)page)->kind);
	} else if (whole == PAGE_BYTES) {
		give_page(p);
	} else if (!pages_give_back(p, whole)) {
		log_warn("memory: %llu bytes at %p are lost: free memory is in too many pieces",
			 (unsigned long long)whole, p);
	}
}

void memory_stats(struct memory_stats *stats)
{
	stats->ram_bytes = ranges_total(memory_ram());
	stats->free_bytes = pages_free_bytes() + free_blocks_bytes + single_pages_bytes;
	stats->image_bytes = (uintptr_t)image_end - (uintptr_t)image_start;
	stats->text_data_bytes = (uintptr_t)data_end - (uintptr_t)image_start;
}
