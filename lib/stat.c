/* SPDX-License-Identifier: BSD-2-Clause */
/* How do sums become a mean and a deviation that are right to the last thousandth? */
#include "lib/stat.h"

#define MILLI_SQUARED 1000000u

/* Rounded to nearest; saturated. Right while sum is below 2^118. */
uint64_t stat_mean_milli(const struct stat *s)
{
	return wide_div(s->sum * 1000 + s->n / 2, s->n);
}

/*
 * With sum = q * n + r, the squared distances from q add up to
 *	around_q = sum_squares - q * (sum + r),
 * modulo 2^128, so that a wrapped sum_squares does no harm; from the mean, to r * r / n less.
 * Scaling to thousandths goes first while it fits; beyond, the fraction lost is below one.
 */
uint64_t stat_stddev_milli(const struct stat *s)
{
	uint64_t q = wide_div(s->sum, s->n);
	uint64_t r = (uint64_t)(s->sum - (u128)q * s->n);
	u128 around_q = s->sum_squares - (s->sum + r) * q;
	u128 variance;

	if (s->n < 2)
		return 0;
	if (!(around_q >> 100)) {
		around_q *= MILLI_SQUARED;
		around_q -= wide_div_all((u128)r * r * MILLI_SQUARED, s->n);
		return wide_sqrt(wide_div_all(around_q, s->n - 1));
	}
	variance = wide_div_all(around_q - wide_div_all((u128)r * r, s->n), s->n - 1);
	if (variance > ~(u128)0 / MILLI_SQUARED)
		return UINT64_MAX;
	return wide_sqrt(variance * MILLI_SQUARED);
}

void stat_merge(struct stat *to, const struct stat *from)
{
	to->n += from->n;
	to->sum += from->sum;
	to->sum_squares += from->sum_squares;
	if (from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
}
