/* SPDX-License-Identifier: BSD-2-Clause */
/* How does one seed fill the whole state of the generator? */
#include "lib/random.h"

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Four successive outputs are never all 0, the one state that xoshiro cannot leave. */
void random_seed(struct random *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = splitmix64(&seed);
}
