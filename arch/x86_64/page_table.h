/* SPDX-License-Identifier: BSD-2-Clause */
/* What is a page table entry? Intel SDM vol. 3, 4.5. */
#ifndef ARCH_X86_64_PAGE_TABLE_H
#define ARCH_X86_64_PAGE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define PTE_PRESENT	  (1ull << 0)
#define PTE_WRITE	  (1ull << 1)
#define PTE_WRITE_THROUGH (1ull << 3)
#define PTE_CACHE_DISABLE (1ull << 4)
#define PTE_LARGE	  (1ull << 7) /* above the lowest level: a page, not a table */
#define PTE_NX		  (1ull << 63)
#define PTE_ADDRESS	  0x000ffffffffff000ull

/* Both bits select entry 3 of the PAT, which is UC out of reset. */
#define PTE_UNCACHED (PTE_WRITE_THROUGH | PTE_CACHE_DISABLE)

struct page_table {
	uint64_t *root;
	unsigned max_level; /* of a page: 2 for 2 MiB, 3 for 1 GiB */
};

/*
 * Maps [start, end) at its own addresses by the largest pages that fit. What is mapped already
 * stays as it is. False if memory for tables ran out.
 */
bool page_table_map(const struct page_table *t, uint64_t start, uint64_t end, uint64_t flags);

/*
 * Takes the 4 KiB at @addr out, splitting the large pages around. False if memory for tables ran
 * out. The caller invalidates @addr.
 */
bool page_table_unmap_page(const struct page_table *t, uint64_t addr);

/* The entry that maps @addr, or 0; *@next is where the next entry of that size begins. */
uint64_t page_table_lookup(const struct page_table *t, uint64_t addr, uint64_t *next);

#endif
