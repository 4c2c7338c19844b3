/* SPDX-License-Identifier: BSD-2-Clause */
/* Are percentiles within a bucket of the truth, whatever is counted and however often? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/histogram.h"
#include "lib/mem.h"
#include "lib/random.h"

#define LAST_VALUE ((1ull << 34) - 1) /* the largest with a bucket of its own scale */
#define SAMPLES	   5000

static struct histogram h, other;

static int reset(void **state)
{
	(void)state;
	memset(&h, 0, sizeof(h));
	memset(&other, 0, sizeof(other));
	return 0;
}

/* The midpoint is at most half a bucket away: 1/128 of the value. */
static void assert_close(uint64_t found, uint64_t truth)
{
	uint64_t distance = found > truth ? found - truth : truth - found;

	if (truth < 2 * HISTOGRAM_LINEAR)
		assert_int_equal(found, truth);
	else
		assert_in_range(distance * 128, 0, truth);
}

static void small_values_are_exact(void **state)
{
	(void)state;
	for (unsigned v = 0; v < 2 * HISTOGRAM_LINEAR; v++) {
		assert_int_equal(histogram_bucket(v), v);
		assert_int_equal(histogram_value(v), v);
	}
}

/* Each bucket starts where the one before ends, and its value lies inside. */
static void buckets_join(void **state)
{
	uint64_t start = 0, width;

	(void)state;
	for (unsigned bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
		width = bucket < 128 ? 1 : 1ull << (bucket / 64 - 1);
		assert_int_equal(histogram_bucket(start), bucket);
		assert_int_equal(histogram_bucket(start + width - 1), bucket);
		assert_int_equal(histogram_value(bucket), start + width / 2);
		start += width;
	}
	assert_int_equal(start, LAST_VALUE + 1);
}

static void error_is_bounded(void **state)
{
	struct random r;

	(void)state;
	random_seed(&r, 2);
	for (int i = 0; i < 200000; i++) {
		uint64_t v = random_below(&r, LAST_VALUE + 1) >> random_below(&r, 34);

		assert_close(histogram_value(histogram_bucket(v)), v);
	}
}

static void beyond_is_the_last(void **state)
{
	(void)state;
	assert_int_equal(histogram_bucket(LAST_VALUE + 1), HISTOGRAM_BUCKETS - 1);
	assert_int_equal(histogram_bucket(1ull << 40), HISTOGRAM_BUCKETS - 1);
	assert_int_equal(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void check_against(const uint64_t *sorted, uint64_t n)
{
	static const uint64_t percents_micro[] = {0,	    1,	      1000000,	20000000,
						  50000000, 90000000, 99000000, 99900000,
						  99950000, 99990000, 99999999, 100000000};

	for (unsigned i = 0; i < ARRAY_SIZE(percents_micro); i++) {
		uint64_t rank = (percents_micro[i] * n + 99999999) / 100000000;
		uint64_t truth = sorted[rank ? rank - 1 : 0];

		assert_close(histogram_percentile(&h, percents_micro[i], 0, UINT64_MAX), truth);
		assert_close(histogram_percentile(&h, percents_micro[i], sorted[0], sorted[n - 1]),
			     truth);
	}
	assert_int_equal(
		histogram_percentile(&h, 100000000, sorted[0], sorted[n - 1]) <= sorted[n - 1], 1);
}

/* Each scale alone, then all scales in one. */
static void percentiles_against_sorted(void **state)
{
	static uint64_t sorted[SAMPLES];
	struct random r;

	random_seed(&r, 3);
	for (unsigned bits = 1; bits <= 35; bits++) {
		uint64_t n = 1 + random_below(&r, SAMPLES);

		reset(state);
		for (uint64_t i = 0; i < n; i++) {
			unsigned b = bits < 35 ? bits : 1 + (unsigned)random_below(&r, 34);

			sorted[i] = random_below(&r, 1ull << b);
			histogram_add(&h, sorted[i]);
		}
		assert_int_equal(histogram_total(&h), n);
		qsort(sorted, n, sizeof(sorted[0]), compare);
		check_against(sorted, n);
	}
}

static void clipped_and_empty(void **state)
{
	(void)state;
	assert_int_equal(histogram_percentile(&h, 50000000, 5, 10), 0);
	histogram_add(&h, 1000000);
	assert_int_equal(histogram_percentile(&h, 50000000, 1000000, 1000000), 1000000);
	assert_int_equal(histogram_percentile(&h, 50000000, 2000000, 3000000), 2000000);
	assert_int_equal(histogram_percentile(&h, 50000000, 1, 2), 2);
	assert_int_equal(histogram_percentile(&h, 200000000, 0, 1000000), 1000000);
}

static void merged(void **state)
{
	(void)state;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		h.count[i] = i;
		other.count[i] = 1ull << 33;
	}
	histogram_merge(&h, &other);
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		assert_int_equal(h.count[i], (1ull << 33) + i);
	assert_int_equal(other.count[5], 1ull << 33);
}

/* F-143: 100 % in millionths times 2^38 is past 64 bits. The rank must not be off by one. */
static void check_many(uint64_t n)
{
	memset(&h, 0, sizeof(h));
	h.count[10] = n - 1;
	h.count[20] = 1;
	assert_int_equal(histogram_total(&h), n);
	assert_int_equal(histogram_percentile(&h, 100000000, 0, UINT64_MAX), 20);
	assert_int_equal(histogram_percentile(&h, 99999999, 0, UINT64_MAX), 10);
	h.count[10] = n / 2;
	h.count[20] = n / 2;
	assert_int_equal(histogram_percentile(&h, 50000000, 0, UINT64_MAX), 10);
	h.count[10]--;
	h.count[20]++;
	assert_int_equal(histogram_percentile(&h, 50000000, 0, UINT64_MAX), 20);
}

static void many_completions_f143(void **state)
{
	(void)state;
	for (unsigned bits = 27; bits < 64; bits++)
		check_many(1ull << bits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(small_values_are_exact, reset),
		cmocka_unit_test_setup(buckets_join, reset),
		cmocka_unit_test_setup(error_is_bounded, reset),
		cmocka_unit_test_setup(beyond_is_the_last, reset),
		cmocka_unit_test_setup(percentiles_against_sorted, reset),
		cmocka_unit_test_setup(clipped_and_empty, reset),
		cmocka_unit_test_setup(merged, reset),
		cmocka_unit_test_setup(many_completions_f143, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
