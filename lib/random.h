/* SPDX-License-Identifier: BSD-2-Clause */
/* Where do random offsets come from, without a division? */
#ifndef LIB_RANDOM_H
#define LIB_RANDOM_H

#include <stdint.h>

/* xoshiro256++ (Blackman, Vigna), seeded by splitmix64: same seed, same sequence, anywhere. */
struct random {
	uint64_t s[4];
};

void random_seed(struct random *r, uint64_t seed);

static inline uint64_t random_rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static inline uint64_t random_next(struct random *r)
{
	uint64_t *s = r->s, result = random_rotl(s[0] + s[3], 23) + s[0], t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = random_rotl(s[3], 45);
	return result;
}

/* Uniform in [0, bound) to within 2^-64 * bound: the high half of a 128-bit product. */
static inline uint64_t random_below(struct random *r, uint64_t bound)
{
	return (uint64_t)(((unsigned __int128)random_next(r) * bound) >> 64);
}

#endif
