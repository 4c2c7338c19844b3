/* SPDX-License-Identifier: BSD-2-Clause */
/* Is what a queue counts taken over whole, from the queue to the job and from jobs to the group? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/bench/record.h"

enum { COUNTERS = sizeof(struct blk_counters) / sizeof(uint64_t) };

static struct blk_counters named(const uint64_t count[COUNTERS])
{
	struct blk_counters c;

	memcpy(&c, count, sizeof(c));
	return c;
}

static void no_counter_is_forgotten(void **state)
{
	uint64_t a[COUNTERS], b[COUNTERS], got[COUNTERS];
	struct blk_counters now, then, since;

	(void)state;
	for (unsigned i = 0; i < COUNTERS; i++) {
		a[i] = 1000 + 7 * i;
		b[i] = 100 + i;
	}
	now = named(a);
	then = named(b);
	since = record_counters_since(&now, &then);
	memcpy(got, &since, sizeof(got));
	for (unsigned i = 0; i < COUNTERS; i++)
		assert_int_equal(got[i], 900 + 6 * i);
	record_counters_add(&since, &then);
	memcpy(got, &since, sizeof(got));
	assert_memory_equal(got, a, sizeof(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_counter_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
