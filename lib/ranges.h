/* SPDX-License-Identifier: BSD-2-Clause */
/* Which stretches of an address space are free? (Physical pages now, other spaces later.) */
#ifndef LIB_RANGES_H
#define LIB_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#define RANGES_MAX 256

/* Sorted, disjoint, never touching: a neighbour is merged as it is added. Holes are what is taken. */
struct ranges {
	unsigned n;
	struct range {
		uint64_t start, end; /* [start, end) */
	} range[RANGES_MAX];
};

enum ranges_side { RANGES_LOWEST, RANGES_HIGHEST };

/* Adds [start, end); overlap with what is there is allowed. False if the table is full. */
bool ranges_add(struct ranges *r, uint64_t start, uint64_t end);
/* Removes [start, end), wherever it overlaps. False if a split does not fit in the table. */
bool ranges_remove(struct ranges *r, uint64_t start, uint64_t end);
/* Takes @bytes aligned to @align (a power of two), from the lowest or highest place that fits
 * below @limit (0: anywhere). Returns the address, or UINT64_MAX if there is none. */
uint64_t ranges_take(struct ranges *r, uint64_t bytes, uint64_t align, uint64_t limit,
		     enum ranges_side side);
uint64_t ranges_total(const struct ranges *r);

#endif
