/* SPDX-License-Identifier: BSD-2-Clause */
/* How does the rest of arch read what lies outside of RAM, such as ACPI tables? */
#ifndef ARCH_X86_64_PAGING_H
#define ARCH_X86_64_PAGING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Maps @bytes at physical @phys, cached, and not writable unless it is RAM. NULL where that cannot
 * be; never the image itself, whose holes are there on purpose.
 */
const void *map_readonly(uint64_t phys, uint64_t bytes);

/* Makes a hole of the page at @addr, as guards are. False if memory for page tables ran out. */
bool unmap_page(uint64_t addr);

#endif
