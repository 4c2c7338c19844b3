/* SPDX-License-Identifier: BSD-2-Clause */
/* How are percentiles read back from counted latencies? */
#include "lib/histogram.h"

#include "lib/wide.h"

#define PERCENT_100_MICRO 100000000u

uint64_t histogram_value(unsigned bucket)
{
	unsigned group;

	if (bucket < 2 * HISTOGRAM_LINEAR)
		return bucket;
	group = bucket / HISTOGRAM_LINEAR - 1;
	return ((uint64_t)(bucket - group * HISTOGRAM_LINEAR) << group) + (1ull << (group - 1));
}

uint64_t histogram_total(const struct histogram *h)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		total += h->count[i];
	return total;
}

void histogram_merge(struct histogram *to, const struct histogram *from)
{
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		to->count[i] += from->count[i];
}

/* Ranks run from 1 to @total. */
static uint64_t percentile_rank(uint64_t percent_micro, uint64_t total)
{
	u128 product = (u128)percent_micro * total + PERCENT_100_MICRO - 1;
	uint64_t rank = wide_div(product, PERCENT_100_MICRO);

	if (!rank)
		return 1;
	return rank < total ? rank : total;
}

uint64_t histogram_percentile(const struct histogram *h, uint64_t percent_micro, uint64_t min,
			      uint64_t max)
{
	uint64_t total = histogram_total(h), seen, rank, value;
	unsigned bucket = 0;

	if (!total)
		return 0;
	rank = percentile_rank(percent_micro, total);
	for (seen = h->count[0]; seen < rank; seen += h->count[bucket])
		bucket++;
	value = histogram_value(bucket);
	if (value < min)
		return min;
	return value < max ? value : max;
}
