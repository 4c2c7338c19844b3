/* SPDX-License-Identifier: BSD-2-Clause */
/* Is it the sequence that everyone else has for a seed, and is it even? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/random.h"

/* From a second implementation, written from the algorithm's definition. */
static const struct {
	uint64_t seed, first[4], thousandth;
} known[] = {
	{0,
	 {0x49e006d90f897a12, 0x33f4d6c74a9ae479, 0x7a06ffc9d266b194, 0xb835cadb30b12453},
	 0x470f2d924ff73917},
	{1,
	 {0x99d399e1812a8e3c, 0x7f2f67c1615e45db, 0x1abb53e586186dce, 0x171a0a64b9120085},
	 0xe0813cee501d1369},
	{42,
	 {0xc21b7b07c85edc80, 0x273d837095f7c3cf, 0x0ac4ff68a9939db2, 0x0430330aa22f8799},
	 0x3b081c9ccd9e09bd},
	{UINT64_MAX,
	 {0xc8f4c0a227b422ef, 0xf65b4fec98813652, 0xc722bb7cd5cabbb9, 0x4c5c50bf4dd847d4},
	 0xcfbb6c26d4d30e28},
};

static void known_sequences(void **state)
{
	struct random r;

	(void)state;
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		random_seed(&r, known[i].seed);
		for (int k = 0; k < 4; k++)
			assert_int_equal(random_next(&r), known[i].first[k]);
		for (int k = 4; k < 999; k++)
			random_next(&r);
		assert_int_equal(random_next(&r), known[i].thousandth);
	}
}

/* splitmix64's own published first output for this seed. */
static void seeded_by_splitmix64(void **state)
{
	struct random r;

	(void)state;
	random_seed(&r, 1234567);
	assert_int_equal(r.state, 6457827717110365317u);
}

static void below_stays_below(void **state)
{
	static const uint64_t bounds[] = {1, 2, 3, 1000, (1ull << 32) + 1, 1ull << 63, UINT64_MAX};
	struct random r;

	(void)state;
	random_seed(&r, 8);
	for (unsigned i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		uint64_t low = UINT64_MAX, high = 0;

		for (int k = 0; k < 20000; k++) {
			uint64_t v = random_below(&r, bounds[i]);

			low = v < low ? v : low;
			high = v > high ? v : high;
		}
		assert_in_range(high, bounds[i] - 1 - bounds[i] / 1000, bounds[i] - 1);
		assert_in_range(low, 0, bounds[i] / 1000);
	}
	assert_int_equal(random_below(&r, 0), 0);
}

/*
 * Chi-squared over @cells of equal width: mean cells - 1, variance twice that. Six standard
 * deviations, both ways: counts that are too even are no better.
 */
static void check_even(struct random *r, uint64_t cells, uint64_t expected)
{
	static uint64_t count[1024];
	uint64_t chi_times_expected = 0, spread, middle = (cells - 1) * expected;

	for (uint64_t i = 0; i < cells; i++)
		count[i] = 0;
	for (uint64_t i = 0; i < cells * expected; i++)
		count[random_below(r, cells)]++;
	for (uint64_t i = 0; i < cells; i++)
		chi_times_expected += (count[i] - expected) * (count[i] - expected);
	for (spread = 0; spread * spread < 36 * 2 * (cells - 1) * expected * expected;)
		spread++;
	assert_in_range(chi_times_expected, middle > spread ? middle - spread : 0, middle + spread);
}

static void even(void **state)
{
	static const uint64_t cells[] = {2, 3, 10, 64, 1000};
	struct random r;

	(void)state;
	random_seed(&r, 9);
	for (unsigned i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		check_even(&r, cells[i], 1000);
}

/* Each bit is set half of the time: 2^16 draws, six standard deviations of 128. */
static void bits_even(void **state)
{
	uint64_t set[64] = {0};
	struct random r;

	(void)state;
	random_seed(&r, 10);
	for (int i = 0; i < 1 << 16; i++) {
		uint64_t v = random_next(&r);

		for (int bit = 0; bit < 64; bit++)
			set[bit] += v >> bit & 1;
	}
	for (int bit = 0; bit < 64; bit++)
		assert_in_range(set[bit], 32768 - 768, 32768 + 768);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_sequences),   cmocka_unit_test(seeded_by_splitmix64),
		cmocka_unit_test(below_stays_below), cmocka_unit_test(even),
		cmocka_unit_test(bits_even),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
