/* SPDX-License-Identifier: BSD-2-Clause */
/* Does hybrid spin for a fast device, halt for a slow one, and notice which it has? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/bench/waiter.h"
#include "lib/random.h"

#define FAST_NS	    10000u
#define SLOW_NS	    10000000u
#define SPIN_NS	    100000u /* what docs/figures.md says */
#define PROBE_EVERY 8
#define WAKE_UP_NS  20000u

/* What became of some waits. */
struct tally {
	unsigned caught, halted;	    /* waits that ended while spinning, or after a halt */
	uint64_t spun_cycles, slept_cycles; /* all of them together */
};

/* One wait of a CPU for a device that answers after @ns. */
static void wait_for(struct waiter *w, bool hybrid, uint64_t ns, uint64_t *now, struct tally *t)
{
	uint64_t answer = *now + ns_to_cycles(ns), end = answer;

	waiter_begin(w, hybrid, *now);
	assert_true(w->waiting);
	assert_true(w->spin_until - *now <= ns_to_cycles(2 * SPIN_NS));
	if (answer > w->spin_until) {
		w->slept = true;
		end += ns_to_cycles(WAKE_UP_NS);
		t->halted++;
		t->spun_cycles += w->spin_until - *now;
		t->slept_cycles += end - w->spin_until;
	} else {
		t->caught++;
		t->spun_cycles += end - *now;
	}
	waiter_end(w, end);
	assert_false(w->waiting);
	*now = end;
}

static struct tally waits(struct waiter *w, bool hybrid, uint64_t ns, unsigned n)
{
	static uint64_t now = 1000;
	struct tally t = {0};

	while (n-- > 0)
		wait_for(w, hybrid, ns, &now, &t);
	return t;
}

static void fast_device(void **state)
{
	struct waiter w;
	struct tally t;

	(void)state;
	waiter_init(&w);
	t = waits(&w, true, FAST_NS, 1000);
	assert_int_equal(t.caught, 1000);
	assert_true(t.slept_cycles == 0);
}

/* A probe of 100 us in one wait out of eight is all that is spun: an eight-hundredth of the time. */
static void slow_device(void **state)
{
	struct waiter w;
	struct tally t;

	(void)state;
	waiter_init(&w);
	waits(&w, true, SLOW_NS, 16);
	t = waits(&w, true, SLOW_NS, 800);
	assert_int_equal(t.halted, 800);
	assert_true(t.spun_cycles == 800 / PROBE_EVERY * ns_to_cycles(SPIN_NS));
	assert_true(t.slept_cycles > 790 * t.spun_cycles);
}

/* From one to the other and back, several times: each within a few waits. */
static void switches_by_itself(void **state)
{
	struct waiter w;
	struct tally t;

	(void)state;
	waiter_init(&w);
	for (unsigned round = 0; round < 10; round++) {
		t = waits(&w, true, FAST_NS, 2 * PROBE_EVERY);
		assert_true(t.halted < PROBE_EVERY);
		t = waits(&w, true, FAST_NS, 500);
		assert_int_equal(t.caught, 500);
		waits(&w, true, SLOW_NS, 2 * PROBE_EVERY);
		t = waits(&w, true, SLOW_NS, 496);
		assert_int_equal(t.halted, 496);
		assert_true(t.spun_cycles == 496 / PROBE_EVERY * ns_to_cycles(SPIN_NS));
	}
}

/* One slow answer in a hundred does not make it halt for the others. */
static void now_and_then_a_slow_one(void **state)
{
	struct waiter w;
	struct tally t = {0};

	(void)state;
	waiter_init(&w);
	for (unsigned i = 0; i < 100; i++) {
		t = waits(&w, true, SLOW_NS, 1);
		assert_int_equal(t.halted, 1);
		t = waits(&w, true, FAST_NS, 99);
		assert_int_equal(t.caught, 99);
	}
}

static void irq_never_spins(void **state)
{
	struct waiter w;
	struct tally t;

	(void)state;
	waiter_init(&w);
	t = waits(&w, false, FAST_NS, 1000);
	assert_int_equal(t.halted, 1000);
	assert_true(t.spun_cycles == 0);
	assert_int_equal(w.waits, 1000);
}

/* Whatever the device does, no wait spins for longer than the most: wait_for() looks. */
static void any_history(void **state)
{
	struct random random;
	struct waiter w;
	struct tally t = {0};

	(void)state;
	random_seed(&random, 3);
	waiter_init(&w);
	for (unsigned i = 0; i < 20000; i++)
		t = waits(&w, true, random_next(&random) >> (20 + random_next(&random) % 44), 1);
	assert_int_equal(t.caught + t.halted, 1);
	t = waits(&w, true, FAST_NS, 2 * PROBE_EVERY);
	t = waits(&w, true, FAST_NS, 100);
	assert_int_equal(t.caught, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fast_device),	      cmocka_unit_test(slow_device),
		cmocka_unit_test(switches_by_itself), cmocka_unit_test(now_and_then_a_slow_one),
		cmocka_unit_test(irq_never_spins),    cmocka_unit_test(any_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
