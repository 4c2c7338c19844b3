/* SPDX-License-Identifier: BSD-2-Clause */
/* What do the page tables need of the page allocator? */
#ifndef ARCH_X86_64_MEMORY_H
#define ARCH_X86_64_MEMORY_H

#include <stdint.h>

#include "lib/ranges.h"

/* Physical = virtual addresses end here: the lower half of a 4-level address space. */
#define IDENTITY_END (1ull << 47)

/* All RAM, whole pages, free or not. */
const struct ranges *memory_ram(void);

/* A zeroed page for a page table, or NULL. */
void *memory_take_table(void);

/* Until this is called, only memory that the temporary page tables reach is handed out. */
void memory_all_mapped(void);

/* The first address that neither the CPU nor the identity mapping can reach. */
uint64_t memory_address_end(void);

#endif
