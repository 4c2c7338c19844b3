/* SPDX-License-Identifier: BSD-2-Clause */
/* Where do random offsets come from, without a division? */
#ifndef LIB_RANDOM_H
#define LIB_RANDOM_H

#include <stdint.h>

/*
 * A linear congruential generator modulo 2^64 (Knuth's MMIX constants): a multiplication and an
 * addition. Its high bits are the good ones, and random_below() uses those. Same seed, same
 * sequence, anywhere; the seed is scrambled (splitmix64), so that neighbouring seeds differ.
 */
struct random {
	uint64_t state;
};

static inline void random_seed(struct random *r, uint64_t seed)
{
	seed += 0x9e3779b97f4a7c15ull;
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9ull;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111ebull;
	r->state = seed ^ seed >> 31;
}

static inline uint64_t random_next(struct random *r)
{
	r->state = r->state * 6364136223846793005ull + 1442695040888963407ull;
	return r->state;
}

/* Uniform in [0, bound) to within 2^-64 * bound: the high half of a 128-bit product. */
static inline uint64_t random_below(struct random *r, uint64_t bound)
{
	return (uint64_t)(((unsigned __int128)random_next(r) * bound) >> 64);
}

#endif
