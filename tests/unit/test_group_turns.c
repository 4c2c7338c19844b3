/* SPDX-License-Identifier: BSD-2-Clause */
/* When does a job of a group send: at a full ring, after one, and when its pace lets it? */
#include "tests/unit/group_jobs.h"

/* A ring of 64 holds 21 requests: less than one of the jobs would send. */
static void jobs_take_turns_at_a_full_ring(void **state)
{
	static const char *const lines[] = {
		"rw=randread iodepth=128 numjobs=2 time_based runtime=20ms",
		"rw=randread iodepth=32 numjobs=3 time_based runtime=20ms",
		"rw=randread iodepth=16 numjobs=5 time_based runtime=20ms",
	};
	struct rig *rig = *state;

	start_disk(rig);
	for (unsigned k = 0; k < ARRAY_SIZE(lines); k++) {
		run_here(rig, lines[k]);
		for (unsigned i = 0; i < nr; i++) {
			assert_true(results[i].read.ios > 1000);
			assert_in_range(results[i].read.ios, results[0].read.ios * 9 / 10,
					results[0].read.ios * 11 / 10);
		}
	}
	done(rig);
}

/* One request of a job that asks for no more, in every second turn at least. */
static void a_small_job_is_not_kept_out(void **state)
{
	struct rig *rig = *state;

	start_disk(rig);
	run_here(rig,
		 "rw=randread time_based runtime=20ms name=big iodepth=128 name=small iodepth=1");
	assert_true(results[0].read.ios > 1000);
	assert_true(results[1].read.ios * 42 > results[0].read.ios);
	done(rig);
}

static void turns_with_answers(struct rig *rig, struct group *g, uint64_t until)
{
	bool alive = true;

	while (alive && host.clock_ns < until) {
		fake_complete(&rig->disk, 8);
		alive = false;
		for (unsigned i = 0; i < g->nr_lanes; i++) {
			host.cpu = g->lane[i].cpu;
			alive |= g->lane[i].nr_live && lane_run(&g->lane[i], 1);
		}
		host.cpu = 0;
	}
}

/* One CPU's job fills the ring; the other looks for room until it is found, and then no more. */
static void a_ring_that_was_full_once(void **state)
{
	struct rig *rig = *state;
	struct group g;
	uint64_t until;

	rig->disk.finish = FAKE_HELD;
	start_disk(rig);
	plan(rig, "rw=randread bs=512 time_based runtime=50ms name=a iodepth=32 cpus_allowed=0 "
		  "name=b iodepth=1 cpus_allowed=1");
	placement_make(results, nr, CPUS);
	assert_true(group_create(&g, results, nr, error, sizeof(error)));
	for (unsigned i = 0; i < 2; i++) {
		host.cpu = i;
		lane_start(&g.lane[i]);
		lane_run(&g.lane[i], 1);
	}
	assert_true(g.lane[1].restless);
	job_stop(&g.job[0]);
	until = host.clock_ns + 40000000;
	turns_with_answers(rig, &g, until);
	assert_true(results[1].read.ios > 100);
	assert_false(g.lane[1].restless);
	turns_with_answers(rig, &g, UINT64_MAX);
	group_destroy(&g);
	done(rig);
}

/* What is due is sent when it is due, not when something comes back: here nothing does. */
static void a_rate_does_not_wait_for_answers(void **state)
{
	struct rig *rig = *state;
	struct group g;
	uint64_t start;

	rig->disk.finish = FAKE_HELD;
	start_disk(rig);
	plan(rig, "rw=randread bs=512 iodepth=8 rate_iops=1000 number_ios=20");
	placement_make(results, nr, 1);
	assert_true(group_create(&g, results, nr, error, sizeof(error)));
	start = host.clock_ns;
	lane_start(&g.lane[0]);
	for (unsigned ms = 0; ms < 12; ms++) {
		while (host.clock_ns < start + ms * 1000000 + 500000)
			lane_run(&g.lane[0], 1);
		assert_int_equal(rig->disk.nr_requests, ms < 8 ? ms + 1 : 8);
	}
	while (fake_complete(&rig->disk, 8), lane_run(&g.lane[0], 1))
		;
	group_destroy(&g);
	assert_int_equal(results[0].read.ios, 20);
	done(rig);
}

/* What is waited for is counted once, as caught awake or after a halt, and ends the wait. */
static void hybrid_waits(void **state)
{
	struct rig *rig = *state;
	struct group g;
	struct lane *l;

	rig->disk.finish = FAKE_HELD;
	rig->config.mode = BLK_HYBRID;
	start_disk(rig);
	plan(rig, "rw=randread bs=512 iodepth=4 number_ios=40");
	placement_make(results, nr, 1);
	assert_true(group_create(&g, results, nr, error, sizeof(error)));
	l = &g.lane[0];
	lane_start(l);
	for (unsigned wait = 0; wait < 4; wait++) {
		bool halts = wait & 1;

		lane_run(l, 1);
		assert_true(l->waiter.waiting && !l->waiter.slept);
		assert_int_equal(l->waiter.waits, wait + 1);
		while (halts && !l->waiter.slept)
			lane_run(l, 1);
		assert_int_equal(fake_complete(&rig->disk, 2), 2);
		lane_run(l, 1);
		assert_false(l->waiter.waiting);
		assert_int_equal(l->usage.caught_awake, 2 * (wait / 2 + 1));
		assert_int_equal(l->usage.caught_halted, 2 * ((wait + 1) / 2));
	}
	while (fake_complete(&rig->disk, 4), lane_run(l, 1))
		;
	group_destroy(&g);
	assert_int_equal(results[0].read.ios, 40);
	done(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(jobs_take_turns_at_a_full_ring),
		rig_test(a_small_job_is_not_kept_out),
		rig_test(a_ring_that_was_full_once),
		rig_test(a_rate_does_not_wait_for_answers),
		rig_test(hybrid_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
