/* SPDX-License-Identifier: BSD-2-Clause */
/* Do jobs that run at the same time share a CPU, a queue and the time as they should? */
#include "tests/unit/group_jobs.h"

/* A turn of each lane, and the next, each on its CPU. */
static void run_lanes(struct group *g)
{
	bool alive = true;

	for (unsigned i = 0; i < g->nr_lanes; i++) {
		host.cpu = g->lane[i].cpu;
		lane_start(&g->lane[i]);
	}
	while (alive) {
		alive = false;
		for (unsigned i = 0; i < g->nr_lanes; i++) {
			host.cpu = g->lane[i].cpu;
			alive |= g->lane[i].nr_live && lane_run(&g->lane[i], 1);
		}
		host.cpu = 0;
	}
}

static void run_across(struct rig *rig, const char *text)
{
	struct group g;

	plan(rig, text);
	placement_make(results, nr, CPUS);
	assert_true(group_create(&g, results, nr, error, sizeof(error)));
	run_lanes(&g);
	group_destroy(&g);
}

static void jobs_on_one_cpu_share_it(void **state)
{
	struct rig *rig = *state;

	start_disk(rig);
	run_here(rig, "rw=randread iodepth=4 time_based runtime=20ms name=a numjobs=3 name=b");
	assert_int_equal(nr, 4);
	for (unsigned i = 0; i < nr; i++) {
		assert_in_range(results[i].read.ios, results[0].read.ios - 8,
				results[0].read.ios + 8);
		assert_true(results[i].read.ios > 100);
		assert_int_equal(results[i].cpu_jobs, 4);
		assert_int_equal(results[i].sharers, 4);
		assert_int_equal(results[i].max_in_flight, 4);
	}
	done(rig);
}

/* Each has offsets of its own; the first those of a lone job. */
static void copies_differ(void **state)
{
	struct rig *rig = *state;
	uint64_t sector[2][4];

	start_disk(rig);
	run_here(rig, "rw=randread bs=512 number_ios=4 numjobs=2");
	assert_int_equal(rig->disk.nr_requests, 8);
	for (unsigned i = 0; i < 8; i++)
		sector[i % 2][i / 2] = rig->disk.log[i].sector;
	run_here(rig, "rw=randread bs=512 number_ios=4");
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(rig->disk.log[8 + i].sector, sector[0][i]);
		assert_int_not_equal(sector[1][i], sector[0][i]);
	}
	done(rig);
}

/* So do jobs of one group that have names of their own; the first of each group starts anew. */
static void named_jobs_differ(void **state)
{
	struct rig *rig = *state;
	uint64_t sector[3];

	start_disk(rig);
	run_here(rig, "rw=randread bs=512 number_ios=1 name=a name=b numjobs=2");
	for (unsigned i = 0; i < 3; i++)
		sector[i] = rig->disk.log[i].sector;
	assert_int_not_equal(sector[0], sector[1]);
	assert_int_not_equal(sector[0], sector[2]);
	assert_int_not_equal(sector[1], sector[2]);
	run_here(rig, "rw=randread bs=512 number_ios=1 name=c");
	assert_int_equal(rig->disk.log[3].sector, sector[0]);
	done(rig);
}

static void jobs_of_two_cpus_on_one_queue(void **state)
{
	struct rig *rig = *state;

	start_disk(rig);
	run_across(rig, "rw=randread bs=512 iodepth=8 number_ios=300 numjobs=4");
	for (unsigned i = 0; i < nr; i++) {
		assert_int_equal(results[i].read.ios, 300);
		assert_int_equal(results[i].cpu, i % 2);
		assert_int_equal(results[i].cpu_jobs, 2);
		assert_int_equal(results[i].sharers, 4);
	}
	assert_int_equal(rig->disk.nr_requests, 1200);
	done(rig);
}

static void jobs_on_several_ports(void **state)
{
	struct rig *rig = *state;

	rig->disk.features |= FAKE_BIT(FAKE_MQ);
	rig->disk.num_queues = 2;
	start_disk(rig);
	assert_int_equal(rig->blk.nr_queues, 2);
	run_across(rig, "rw=randread bs=512 iodepth=2 number_ios=100 name=a numjobs=4 "
			"name=h rw=read number_ios=0 size=64k hash=crc32c");
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(results[i].read.ios, 100);
		assert_int_equal(results[i].queue.index, i % 2);
	}
	assert_int_equal(results[4].hashed_bytes, 65536);
	assert_true(results[4].crc32c != 0);
	done(rig);
}

/* Seconds of virtual time: from 0 on a request each 1/rate, and not one more. */
static void rates_are_exact(void **state)
{
	struct rig *rig = *state;

	rig->config.mode = BLK_IRQ;
	start_disk(rig);
	run_here(rig, "rw=randread bs=512 iodepth=8 rate_iops=1000 time_based runtime=1");
	assert_in_range(results[0].read.ios, 1000, 1001);
	assert_true(results[0].halted_cycles > results[0].idle_cycles / 2);
	run_here(rig, "rw=randrw bs=512 iodepth=8 rate_iops=700,300 time_based runtime=1");
	assert_in_range(results[0].read.ios, 700, 701);
	assert_in_range(results[0].write.ios, 300, 301);
	done(rig);
}

/* As in fio: number_ios is of those that count, size and io_size are of all. */
static void what_ramp_time_does_not_count(void **state)
{
	struct rig *rig = *state;
	struct job_result *r = &results[0];

	start_disk(rig);
	run_here(rig, "rw=randread bs=512 iodepth=8 rate_iops=1000 ramp_time=100ms io_size=100k "
		      "number_ios=50");
	assert_int_equal(r->read.ios, 50);
	assert_in_range(r->ramp_ios, 99, 102);
	run_here(rig, "rw=randread bs=512 iodepth=8 rate_iops=1000 ramp_time=100ms io_size=64k "
		      "number_ios=50");
	assert_int_equal(r->read.ios + r->ramp_ios, 128);
	/* What is out when the ramp ends will count. */
	run_here(rig, "rw=randread bs=512 iodepth=8 ramp_time=1ms io_size=10g number_ios=3");
	assert_in_range(r->read.ios, 3, 8);
	run_here(rig, "rw=randread bs=512 rate_iops=1000 ramp_time=10ms number_ios=3 time_based "
		      "runtime=50ms");
	assert_in_range(r->read.ios, 49, 51);
	done(rig);
}

/* Nothing is said of the first that does not hold for all. */
static void several_jobs_are_called_by_their_number(void **state)
{
	struct progress p = {.plan = &plans[0], .jobs = 1};
	struct rig *rig = *state;
	char name[JOB_NAME_MAX];

	start_disk(rig);
	plan(rig, "name=first numjobs=2 name=second");
	progress_name(name, sizeof(name), &p);
	assert_string_equal(name, "first");
	p.jobs = 3;
	progress_name(name, sizeof(name), &p);
	assert_string_equal(name, "3 jobs");
	done(rig);
}

static void thinking_follows_each_block_of_requests(void **state)
{
	struct rig *rig = *state;

	start_disk(rig);
	run_here(rig,
		 "rw=randread bs=512 iodepth=4 thinktime=10ms thinktime_blocks=6 number_ios=18");
	assert_int_equal(results[0].read.ios, 18);
	assert_int_equal(results[0].max_in_flight, 4);
	/* Between the three blocks, not after the last. */
	assert_in_range(results[0].runtime_ns, 20000000, 21000000);
	done(rig);
}

/* With 8 in flight and 6 awaited, each batch but the first is of 6 at least. */
static void batches_wait_for_enough(void **state)
{
	struct rig *rig = *state;
	struct group g;
	unsigned before;

	rig->disk.finish = FAKE_HELD;
	start_disk(rig);
	plan(rig, "rw=randread bs=512 iodepth=8 iodepth_batch_complete_min=6 number_ios=14");
	placement_make(results, nr, 1);
	assert_true(group_create(&g, results, nr, error, sizeof(error)));
	lane_start(&g.lane[0]);
	lane_run(&g.lane[0], 2);
	assert_int_equal(rig->disk.nr_requests, 8);
	for (unsigned i = 1; i < 6; i++) {
		fake_complete(&rig->disk, 1);
		lane_run(&g.lane[0], 3);
		assert_int_equal(rig->disk.nr_requests, 8);
	}
	fake_complete(&rig->disk, 1);
	before = (unsigned)results[0].submit_level[2]; /* batches of 5 to 8 */
	lane_run(&g.lane[0], 3);
	assert_int_equal(rig->disk.nr_requests, 14);
	assert_int_equal(results[0].submit_level[2], before + 1);
	while (fake_complete(&rig->disk, 8), lane_run(&g.lane[0], 1))
		;
	group_destroy(&g);
	assert_int_equal(results[0].read.ios, 14);
	done(rig);
}

/* The one whose disk breaks ends, and says so; the other does all that it was to do. */
static void a_broken_queue_ends_its_job_alone(void **state)
{
	struct rig *rig = *state;
	static struct fake_disk second;
	struct blk_device other;
	struct pci_function fn[2];

	fake_disk_init(&second);
	second.bar_base = rig->disk.bar_base + 0x100000;
	fake_disk_plug(&second, 0, 4, 0);
	fake_disk_caps(&second);
	rig->disk.lie = FAKE_BAD_ID;
	rig->disk.lie_value = 4000;
	rig->disk.lie_at = 20;
	rig->disk.lie_count = 1;
	start_disk(rig);
	assert_int_equal(pci_scan(fn, 2, blk_is_disk), 2);
	assert_true(blk_open(&other, &fn[1], 1, &rig->config));
	plan(rig, "rw=randread bs=512 iodepth=4 number_ios=200 name=bad name=good");
	plans[1].device = &other;
	placement_make(results, nr, 1);
	{
		static const struct group_cpus none;

		assert_true(group_run(results, nr, &none, NULL, error, sizeof(error)));
	}
	assert_true(results[0].stopped);
	assert_true(results[0].read.ios < 200);
	assert_int_equal(results[0].first_error, BLK_DEVICE_GONE);
	assert_false(results[1].stopped);
	assert_int_equal(results[1].read.ios, 200);
	blk_close(&other);
	done(rig);
}

static void cpus_that_are_not_there(void **state)
{
	struct rig *rig = *state;

	start_disk(rig);
	plan(rig, "cpus_allowed=0,9");
	assert_false(placement_check(&plans[0], 4, error, sizeof(error)));
	assert_string_equal(error, "cpus_allowed=0,9: there is no CPU 9; CPUs 0 to 3 run");
	assert_true(placement_check(&plans[0], 10, error, sizeof(error)));
	plan(rig, "cpus_allowed=1");
	assert_false(placement_check(&plans[0], 1, error, sizeof(error)));
	assert_string_equal(error, "cpus_allowed=1: there is no CPU 1; only CPU 0 runs");
	plan(rig, "hipri=1");
	assert_true(placement_check(&plans[0], 1, error, sizeof(error))); /* all is polled */
	rig->blk.mode = BLK_IRQ;
	assert_false(placement_check(&plans[0], 1, error, sizeof(error)));
	assert_string_equal(error,
			    "hipri=1: vda has no queue that is polled; use blk.poll_queues=N "
			    "or blk.mode=poll");
	done(rig);
}

static void jobs_get_the_least_busy_cpu_they_may_have(void **state)
{
	static const unsigned shared[] = {1, 2, 3, 1, 0, 0}, split[] = {1, 3, 1};
	struct rig *rig = *state;

	start_disk(rig);
	plan(rig, "name=a numjobs=4 cpus_allowed=1-3 name=b numjobs=2");
	placement_make(results, nr, 4);
	for (unsigned i = 0; i < nr; i++)
		assert_int_equal(results[i].cpu, shared[i]);
	assert_int_equal(results[0].cpu_jobs, 2);
	assert_int_equal(results[1].cpu_jobs, 1);
	plan(rig, "numjobs=3 cpus_allowed=1,3 cpus_allowed_policy=split");
	placement_make(results, nr, 4);
	for (unsigned i = 0; i < nr; i++)
		assert_int_equal(results[i].cpu, split[i]);
	done(rig);
}

/* Nothing is leaked, whichever allocation fails. */
static void memory_that_runs_out(void **state)
{
	struct rig *rig = *state;
	static const struct group_cpus none;
	unsigned live, k = 0;
	bool ran = false;

	start_disk(rig);
	live = host.live;
	while (!ran) {
		plan(rig, "rw=randread bs=512 iodepth=2 number_ios=4 numjobs=2");
		placement_make(results, nr, 1);
		host.fail_alloc = ++k;
		ran = group_run(results, nr, &none, NULL, error, sizeof(error));
		assert_int_equal(host.live, live);
		assert_true(ran || strstr(error, "no memory"));
	}
	assert_true(k > 6);
	host.fail_alloc = 0;
	done(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(jobs_on_one_cpu_share_it),
		rig_test(copies_differ),
		rig_test(named_jobs_differ),
		rig_test(jobs_of_two_cpus_on_one_queue),
		rig_test(jobs_on_several_ports),
		rig_test(rates_are_exact),
		rig_test(what_ramp_time_does_not_count),
		rig_test(several_jobs_are_called_by_their_number),
		rig_test(thinking_follows_each_block_of_requests),
		rig_test(batches_wait_for_enough),
		rig_test(a_broken_queue_ends_its_job_alone),
		rig_test(cpus_that_are_not_there),
		rig_test(jobs_get_the_least_busy_cpu_they_may_have),
		rig_test(memory_that_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
