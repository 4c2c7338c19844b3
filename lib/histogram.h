/* SPDX-License-Identifier: BSD-2-Clause */
/* How are a billion latencies kept in 15 KiB, with percentiles right to under 1 %? */
#ifndef LIB_HISTOGRAM_H
#define LIB_HISTOGRAM_H

#include <stdint.h>

/*
 * fio's layout: 64 linear buckets per power of two, 29 groups. Values below 128 are exact;
 * above, a bucket is at most 1/64 of its value wide and stands for its midpoint.
 * Values beyond the last bucket are counted in it.
 */
#define HISTOGRAM_BITS	  6
#define HISTOGRAM_LINEAR  (1u << HISTOGRAM_BITS)
#define HISTOGRAM_GROUPS  29
#define HISTOGRAM_BUCKETS (HISTOGRAM_GROUPS * HISTOGRAM_LINEAR)

struct histogram {
	uint64_t count[HISTOGRAM_BUCKETS];
};

/* A bit scan and a shift: no division, no loop (the hot path calls it per request). */
static inline unsigned histogram_bucket(uint64_t value)
{
	unsigned group, msb;

	if (value < 2 * HISTOGRAM_LINEAR)
		return (unsigned)value;
	msb = 63 ^ (unsigned)__builtin_clzll(value); /* one instruction, as 63 - is not */
	group = msb - HISTOGRAM_BITS;
	if (group >= HISTOGRAM_GROUPS - 1)
		return HISTOGRAM_BUCKETS - 1;
	return group * HISTOGRAM_LINEAR + (unsigned)(value >> group);
}

static inline void histogram_add(struct histogram *h, uint64_t value)
{
	h->count[histogram_bucket(value)]++;
}

uint64_t histogram_value(unsigned bucket); /* the bucket's midpoint */
uint64_t histogram_total(const struct histogram *h);
/* Adds @from to @to. */
void histogram_merge(struct histogram *to, const struct histogram *from);
/*
 * The value at @percent_micro (99.95 % is 99950000) of @h, clipped to [@min, @max].
 * 0 if @h is empty. The rank is ceil(percent/100 * total), in 128 bits.
 */
uint64_t histogram_percentile(const struct histogram *h, uint64_t percent_micro, uint64_t min,
			      uint64_t max);

#endif
