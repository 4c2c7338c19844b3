/* SPDX-License-Identifier: BSD-2-Clause */
/* What stands between the page allocator and dma_alloc()? */
#ifndef ARCH_X86_64_PAGES_H
#define ARCH_X86_64_PAGES_H

#include <stdbool.h>
#include <stdint.h>

/* Whole contiguous pages, mapped, with whatever was in them; NULL if there are none. */
void *pages_take(uint64_t bytes, uint64_t align);
/* False if the table of free ranges is full: the caller keeps the pages. */
bool pages_give_back(void *page, uint64_t bytes);
uint64_t pages_free_bytes(void);

#endif
