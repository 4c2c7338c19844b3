/* SPDX-License-Identifier: BSD-2-Clause */
/* How are minimum, maximum, mean and deviation kept with a few additions per sample? */
#ifndef LIB_STAT_H
#define LIB_STAT_H

#include <stdint.h>

#include "lib/wide.h"

struct stat {
	uint64_t n, min, max; /* min is UINT64_MAX while n is 0 */
	u128 sum, sum_squares;
};

#define STAT_INIT ((struct stat){.min = UINT64_MAX})

/* Adds @times samples of the same @value. */
static inline void stat_add(struct stat *s, uint64_t value, uint64_t times)
{
	u128 total = (u128)value * times;

	s->n += times;
	s->sum += total;
	s->sum_squares += total * value;
	if (value < s->min)
		s->min = value;
	if (value > s->max)
		s->max = value;
}

static inline uint64_t stat_min(const struct stat *s)
{
	return s->n ? s->min : 0;
}

uint64_t stat_mean_milli(const struct stat *s);
/* Sample standard deviation (n - 1), in thousandths; 0 below two samples. */
uint64_t stat_stddev_milli(const struct stat *s);
void stat_merge(struct stat *to, const struct stat *from);

#endif
