/* SPDX-License-Identifier: BSD-2-Clause */
/* Are mean and deviation right to the last digit, and 128-bit division with them? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/random.h"
#include "lib/stat.h"
#include "lib/wide.h"

#define ROUNDS 20000

/* Any width is as likely as any other. */
static uint64_t random_width(struct random *r)
{
	return random_next(r) >> random_below(r, 64);
}

/* The compiler's own 128-bit division is the model. */
static uint64_t model_div(u128 n, uint64_t d)
{
	u128 quotient = d ? n / d : 0;

	return quotient >> 64 ? UINT64_MAX : (uint64_t)quotient;
}

static void division(void **state)
{
	struct random r;

	(void)state;
	random_seed(&r, 4);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t a = random_width(&r), b = random_width(&r), d = random_width(&r);
		u128 n = (u128)a << 64 | b;

		assert_int_equal(wide_div(n, d), model_div(n, d));
		assert_int_equal(wide_div(b, d), model_div(b, d));
		assert_true(wide_div_all(n, d) == (d ? n / d : 0));
		assert_int_equal(wide_mul_div(a, b, d), model_div((u128)a * b, d));
	}
}

static void division_edges(void **state)
{
	(void)state;
	assert_int_equal(wide_div(5, 0), 0);
	assert_true(wide_div_all(5, 0) == 0);
	assert_int_equal(wide_div(~(u128)0, 0), 0);
	assert_int_equal(wide_div(~(u128)0, 1), UINT64_MAX);
	assert_int_equal(wide_div(~(u128)0, UINT64_MAX), UINT64_MAX);
	assert_int_equal(wide_div(((u128)UINT64_MAX << 64) - 1, UINT64_MAX), UINT64_MAX);
	assert_int_equal(wide_div(((u128)1 << 64) - 1, 1), UINT64_MAX);
	assert_int_equal(wide_div((u128)1 << 64, 1), UINT64_MAX);
	assert_int_equal(wide_mul_div(UINT64_MAX, UINT64_MAX, UINT64_MAX), UINT64_MAX);
}

static void check_root(u128 n)
{
	uint64_t root = wide_sqrt(n);

	assert_true((u128)root * root <= n);
	if (root < UINT64_MAX)
		assert_true((u128)(root + 1) * (root + 1) > n);
}

static void square_root(void **state)
{
	struct random r;

	(void)state;
	random_seed(&r, 5);
	for (uint64_t n = 0; n < 1000; n++)
		check_root(n);
	check_root(~(u128)0);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t x = random_width(&r);

		assert_int_equal(wide_sqrt((u128)x * x), x);
		check_root((u128)random_width(&r) << 64 | random_next(&r));
		if (x)
			assert_int_equal(wide_sqrt((u128)x * x - 1), x - 1);
	}
}

static void empty(void **state)
{
	struct stat s = STAT_INIT;

	(void)state;
	assert_int_equal(stat_min(&s), 0);
	assert_int_equal(s.max, 0);
	assert_int_equal(stat_mean_milli(&s), 0);
	assert_int_equal(stat_stddev_milli(&s), 0);
	stat_add(&s, 7, 1);
	assert_int_equal(stat_min(&s), 7);
	assert_int_equal(s.max, 7);
	assert_int_equal(stat_mean_milli(&s), 7000);
	assert_int_equal(stat_stddev_milli(&s), 0);
}

/* Worked by hand: 2 4 4 4 5 5 7 9 has mean 5 and squared distances that add up to 32. */
static void textbook(void **state)
{
	static const uint64_t values[] = {2, 4, 4, 4, 5, 5, 7, 9};
	struct stat s = STAT_INIT;

	(void)state;
	for (int i = 0; i < 8; i++)
		stat_add(&s, values[i], 1);
	assert_int_equal(s.n, 8);
	assert_int_equal(stat_min(&s), 2);
	assert_int_equal(s.max, 9);
	assert_int_equal(stat_mean_milli(&s), 5000);
	assert_int_equal(stat_stddev_milli(&s), 2138);
}

/* In integers: dev^2 <= (n * sum of squares - sum^2) / (n * (n - 1)) < (dev + 1)^2, in milli. */
static void check_exact(const struct stat *s)
{
	u128 n = s->n, top = (n * s->sum_squares - s->sum * s->sum) * 1000000;
	u128 bottom = n * (n - 1), dev = stat_stddev_milli(s), mean = stat_mean_milli(s);

	assert_true(dev * dev * bottom <= top);
	assert_true((dev + 1) * (dev + 1) * bottom > top);
	assert_true(2 * mean * n <= 2000 * s->sum + n);
	assert_true(2 * mean * n + n > 2000 * s->sum);
}

static void deviation_is_exact(void **state)
{
	struct random r;

	(void)state;
	random_seed(&r, 6);
	for (int i = 0; i < ROUNDS / 10; i++) {
		struct stat s = STAT_INIT;
		uint64_t base = random_below(&r, 1ull << 36), spread = 1 + random_below(&r, 1000);

		for (uint64_t n = 2 + random_below(&r, 50); n; n--)
			stat_add(&s, base + random_below(&r, spread), 1 + random_below(&r, 3));
		check_exact(&s);
	}
}

struct feed {
	uint64_t value[2], times[2], mean_milli, stddev_milli;
};

/* F-143: counts past 2^32, sums past 2^64, squares past 2^100. From exact integer arithmetic. */
static const struct feed feeds[] = {
	{{1234567, 0}, {1ull << 33, 0}, 1234567000, 0},
	{{(1ull << 40) - 1, (1ull << 40) + 1}, {1ull << 32, 1ull << 32}, 1099511627776000, 1000},
	{{1, 1ull << 40}, {1ull << 32, 1ull << 32}, 549755813888500, 549755813919500},
	{{1ull << 40, 3}, {1ull << 40, (1ull << 39) + 7}, 733007751848556, 518314751995755},
	{{0, 1}, {1ull << 33, (1ull << 33) - 1}, 500, 500},
	{{0, 1ull << 54}, {1, 1}, 9007199254740992000, 12738103345051545129u},
	{{1, 1ull << 63}, {2, 1}, UINT64_MAX, UINT64_MAX},
};

static void large_feeds_f143(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(feeds) / sizeof(feeds[0]); i++) {
		struct stat s = STAT_INIT;

		for (int k = 0; k < 2; k++)
			if (feeds[i].times[k])
				stat_add(&s, feeds[i].value[k], feeds[i].times[k]);
		assert_int_equal(s.n, feeds[i].times[0] + feeds[i].times[1]);
		assert_int_equal(stat_mean_milli(&s), feeds[i].mean_milli);
		assert_int_equal(stat_stddev_milli(&s), feeds[i].stddev_milli);
	}
}

static void merge_is_as_one(void **state)
{
	struct stat all = STAT_INIT, part[2] = {STAT_INIT, STAT_INIT}, none = STAT_INIT;
	struct random r;

	(void)state;
	random_seed(&r, 7);
	for (int i = 0; i < 1000; i++) {
		uint64_t value = random_width(&r) >> 20;

		stat_add(&all, value, 3);
		stat_add(&part[random_below(&r, 2)], value, 3);
	}
	stat_merge(&part[0], &part[1]);
	stat_merge(&part[0], &none);
	assert_int_equal(part[0].n, all.n);
	assert_int_equal(part[0].min, all.min);
	assert_int_equal(part[0].max, all.max);
	assert_true(part[0].sum == all.sum);
	assert_true(part[0].sum_squares == all.sum_squares);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(division),	    cmocka_unit_test(division_edges),
		cmocka_unit_test(square_root),	    cmocka_unit_test(empty),
		cmocka_unit_test(textbook),	    cmocka_unit_test(deviation_is_exact),
		cmocka_unit_test(large_feeds_f143), cmocka_unit_test(merge_is_as_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
