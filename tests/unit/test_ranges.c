/* SPDX-License-Identifier: BSD-2-Clause */
/* Do ranges hold the same addresses as one flag per address would? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/random.h"
#include "lib/ranges.h"

#define SPACE 1000u

static struct ranges r;
static bool held[SPACE];

static int reset(void **state)
{
	(void)state;
	memset(&r, 0, sizeof(r));
	memset(held, 0, sizeof(held));
	return 0;
}

static void check_against_model(void)
{
	uint64_t total = 0, at = 0;

	for (unsigned i = 0; i < r.n; i++) {
		assert_true(r.range[i].start < r.range[i].end);
		assert_true(!i || r.range[i - 1].end < r.range[i].start);
		for (; at < r.range[i].start; at++)
			assert_false(held[at]);
		for (; at < r.range[i].end; at++)
			assert_true(held[at]);
		total += r.range[i].end - r.range[i].start;
	}
	for (; at < SPACE; at++)
		assert_false(held[at]);
	assert_int_equal(ranges_total(&r), total);
}

static void model_set(uint64_t start, uint64_t end, bool value)
{
	for (uint64_t i = start; i < end; i++)
		held[i] = value;
}

static bool model_fits(uint64_t at, uint64_t bytes, uint64_t limit)
{
	if (at + bytes > (limit && limit < SPACE ? limit : SPACE))
		return false;
	for (uint64_t i = at; i < at + bytes; i++)
		if (!held[i])
			return false;
	return true;
}

static uint64_t model_take(uint64_t bytes, uint64_t align, uint64_t limit, enum ranges_side side)
{
	uint64_t found = UINT64_MAX;

	for (uint64_t at = 0; at < SPACE; at += align) {
		if (!model_fits(at, bytes, limit))
			continue;
		found = at;
		if (side == RANGES_LOWEST)
			break;
	}
	if (found != UINT64_MAX)
		model_set(found, found + bytes, false);
	return found;
}

static void random_take(struct random *rnd)
{
	enum ranges_side side = random_below(rnd, 2) ? RANGES_LOWEST : RANGES_HIGHEST;
	uint64_t bytes = 1 + random_below(rnd, 40), align = 1ull << random_below(rnd, 6);
	uint64_t limit = random_below(rnd, 2) ? random_below(rnd, SPACE + 100) : 0;

	assert_int_equal(ranges_take(&r, bytes, align, limit, side),
			 model_take(bytes, align, limit, side));
}

static void random_operations(void **state)
{
	struct random rnd;

	(void)state;
	random_seed(&rnd, 14);
	for (int i = 0; i < 20000; i++) {
		uint64_t start = random_below(&rnd, SPACE);
		uint64_t end = start + random_below(&rnd, i % 100 ? 30 : SPACE);
		uint64_t what = random_below(&rnd, 5);

		end = end < SPACE ? end : SPACE;
		if (what < 2) {
			assert_true(ranges_add(&r, start, end));
			model_set(start, end, true);
		} else if (what < 3) {
			assert_true(ranges_remove(&r, start, end));
			model_set(start, end, false);
		} else {
			random_take(&rnd);
		}
		check_against_model();
	}
}

static void neighbours_merge(void **state)
{
	(void)state;
	assert_true(ranges_add(&r, 10, 20));
	assert_true(ranges_add(&r, 30, 40));
	assert_int_equal(r.n, 2);
	assert_true(ranges_add(&r, 20, 30));
	assert_int_equal(r.n, 1);
	assert_int_equal(r.range[0].start, 10);
	assert_int_equal(r.range[0].end, 40);
	assert_true(ranges_add(&r, 5, 5));
	assert_true(ranges_remove(&r, 15, 15));
	assert_true(ranges_remove(&r, 20, 10));
	assert_int_equal(r.n, 1);
	assert_int_equal(ranges_total(&r), 30);
}

/* Every second byte: as many ranges as the table has. */
static void fill_table(void)
{
	for (uint64_t i = 0; i < RANGES_MAX; i++)
		assert_true(ranges_add(&r, 100 + 10 * i, 105 + 10 * i));
	assert_int_equal(r.n, RANGES_MAX);
}

static void full_table_refuses_and_keeps(void **state)
{
	struct ranges before;

	(void)state;
	fill_table();
	before = r;
	assert_false(ranges_add(&r, 1, 2));
	assert_false(ranges_add(&r, 106, 107));
	assert_false(ranges_add(&r, 100000, 100001));
	assert_false(ranges_remove(&r, 102, 103));
	assert_memory_equal(&r, &before, sizeof(r));
	assert_true(ranges_add(&r, 105, 110));
	assert_int_equal(r.n, RANGES_MAX - 1);
	assert_true(ranges_remove(&r, 102, 103));
	assert_int_equal(r.n, RANGES_MAX);
}

/* 104 is the lowest multiple of 8, but it lies in a range that cannot be split; so do 112 and 120. */
static void full_table_takes_without_split(void **state)
{
	(void)state;
	fill_table();
	assert_true(ranges_remove(&r, 104, 105));
	assert_int_equal(ranges_take(&r, 2, 8, 0, RANGES_LOWEST), 120);
	assert_int_equal(ranges_take(&r, 6, 1, 0, RANGES_LOWEST), UINT64_MAX);
}

static void ends_of_the_address_space(void **state)
{
	(void)state;
	assert_true(ranges_add(&r, UINT64_MAX - 100, UINT64_MAX));
	assert_int_equal(ranges_take(&r, 1, 4096, 0, RANGES_LOWEST), UINT64_MAX);
	assert_int_equal(ranges_take(&r, 101, 1, 0, RANGES_LOWEST), UINT64_MAX);
	assert_int_equal(ranges_take(&r, UINT64_MAX, 1, 0, RANGES_HIGHEST), UINT64_MAX);
	assert_int_equal(ranges_take(&r, 0, 1, 0, RANGES_LOWEST), UINT64_MAX);
	assert_int_equal(ranges_take(&r, 1, 1ull << 63, 0, RANGES_HIGHEST), UINT64_MAX);
	assert_int_equal(ranges_take(&r, 100, 1, 0, RANGES_HIGHEST), UINT64_MAX - 100);
	assert_int_equal(r.n, 0);
	assert_true(ranges_add(&r, 0, 4096));
	assert_int_equal(ranges_take(&r, 4096, 4096, 4095, RANGES_LOWEST), UINT64_MAX);
	assert_int_equal(ranges_take(&r, 4096, 4096, 4096, RANGES_HIGHEST), 0);
	assert_int_equal(ranges_take(&r, 1, 1, 0, RANGES_LOWEST), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(random_operations, reset),
		cmocka_unit_test_setup(neighbours_merge, reset),
		cmocka_unit_test_setup(full_table_refuses_and_keeps, reset),
		cmocka_unit_test_setup(full_table_takes_without_split, reset),
		cmocka_unit_test_setup(ends_of_the_address_space, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
