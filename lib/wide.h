/* SPDX-License-Identifier: BSD-2-Clause */
/* How are 128-bit sums divided without a run-time library? */
#ifndef LIB_WIDE_H
#define LIB_WIDE_H

#include <stdint.h>

typedef unsigned __int128 u128;

/* @n / @d, saturated to 64 bits; 0 if @d is 0. Slow: for reports, not for the hot path. */
uint64_t wide_div(u128 n, uint64_t d);
/* As wide_div(), but all 128 bits of the quotient. */
u128 wide_div_all(u128 n, uint64_t d);
/* a * b / d in 128 bits, as wide_div(). */
uint64_t wide_mul_div(uint64_t a, uint64_t b, uint64_t d);
/* floor(sqrt(n)) */
uint64_t wide_sqrt(u128 n);

#endif
