/* SPDX-License-Identifier: BSD-2-Clause */
/* How are 128-bit sums divided without a run-time library? */
#include "lib/wide.h"

uint64_t wide_div(u128 n, uint64_t d)
{
	uint64_t rest = (uint64_t)(n >> 64), low = (uint64_t)n, quotient = 0;

	if (!d)
		return 0;
	if (rest >= d)
		return UINT64_MAX;
	/* rest < d holds before each step; the bit shifted out of it is its 65th. */
	for (int bit = 63; bit >= 0; bit--) {
		uint64_t carry = rest >> 63;

		rest = rest << 1 | (low >> bit & 1);
		if (carry || rest >= d) {
			rest -= d;
			quotient |= 1ull << bit;
		}
	}
	return quotient;
}

u128 wide_div_all(u128 n, uint64_t d)
{
	uint64_t high = (uint64_t)(n >> 64);

	if (!d)
		return 0;
	return (u128)(high / d) << 64 | wide_div((u128)(high % d) << 64 | (uint64_t)n, d);
}

uint64_t wide_mul_div(uint64_t a, uint64_t b, uint64_t d)
{
	return wide_div((u128)a * b, d);
}

uint64_t wide_sqrt(u128 n)
{
	uint64_t root = 0;

	for (int bit = 63; bit >= 0; bit--) {
		uint64_t trial = root | 1ull << bit;

		if ((u128)trial * trial <= n)
			root = trial;
	}
	return root;
}
