/* SPDX-License-Identifier: BSD-2-Clause */
/* Is the JSON report what readers of fio's JSON load, with the right figures in it? */
#include "tests/unit/report_jobs.h"

/* Run from the top of the repository, as all unit tests are. */
#define CHECKER "/usr/bin/python3 tests/unit/report_keys.py"

static void write_json(void)
{
	FILE *checker;

	report_json(&out.sink, &machine, &run, result, run.nr_jobs);
	fflush(NULL);
	checker = popen(CHECKER, "w");
	assert_non_null(checker);
	assert_int_equal(fwrite(out.text, 1, out.len, checker), out.len);
	if (pclose(checker) != 0)
		fail_msg("refused by report_keys.py");
}

/* F-143: 2^33 completions and sums beyond 2^40 ns, right to the last digit. */
static void f143_large_counts(void **state)
{
	struct job_result *r = &result[0];

	(void)state;
	set_up("name=big runtime=100000 time_based");
	done(&r->read, 1ull << 33, 1000, 1099511627776);
	r->runtime_ns = 100000000000000;
	write_json();
	has("\"io_bytes\": 35184372088832,");
	has("\"total_ios\": 8589934592,");
	has("\"mean\": 1099511628776.000,");
	has("\"99.000000\": 1099511627776");
}

/* F-151: with nothing measured, every figure is 0, and none is absurd. */
static void f151_nothing_done(void **state)
{
	(void)state;
	set_up("");
	write_json();
	has_not("18446744073709551615");
	has_not("\"percentile\"");
}

static void json_values(void **state)
{
	(void)state;
	set_up("bs=4k ioengine=null name=a iodepth=16 name=b rw=write time_based runtime=1");
	a_read_job(&result[0]);
	done(&result[1].write, 4000, 20, 100000);
	result[1].runtime_ns = 999600000;
	result[1].errors[BLK_SHORT] = 1;
	result[1].first_error = BLK_SHORT;
	result[1].first_error_lba_512 = 77;
	write_json();
	assert_int_equal(strncmp(out.text, "{\n", 2), 0);
	has("\"fio version\": \"ringlab-0.1.0\"");
	has("\"boot_to_kernel_ms\": 92.149");
	has("\"boot_to_first_io_ms\": 12.050");
	has("\"ignored_options\": \"ioengine\"");
	has("\"jobname\": \"a\"");
	has("\"iops\": 168386.307");
	has("\"bw_bytes\": 689710312");
	has("\"bw\": 673545");
	has("\"runtime\": 2001");
	has("\"99.990000\": 3456789");
	has("\"usr_cpu\": 60.000");
	has("\"16\": 100.000");
	has("\"250\": 10.684");
	has("\"kicks_per_io\": 0.031");
	has("\"elapsed\": 3");
	has("\"read_ios\": 336941");
	has("\"write_ticks\": 400");
	has("\"groupid\": 1");
	has("\"error\": 5");
	has("\"time_based\": \"1\"");
	has("\"bs\": \"4k\"");
	has("\"iodepth\": \"1\"");
	has("\"first_error_lba_512\": 77");
	has_not("crc32c");
}

static void json_of_a_hash_job(void **state)
{
	(void)state;
	set_up("name='q\"\\' rw=read hash=crc32c percentile_list=99:99.9:99.99:99.999");
	done(&result[0].read, 16384, 10, 1000);
	result[0].runtime_ns = 1000000000;
	result[0].crc32c = 0xe3069283;
	result[0].hashed_bytes = 64 << 20;
	write_json();
	has("\"jobname\": \"q\\\"\\\\\"");
	has("\"crc32c\": \"0xe3069283\"");
	has("\"crc32c_valid\": true");
	has("\"99.999000\": 1000");
	has("\"bs\": \"4096\"");
}

/* Two jobs at the same time, each on a CPU and a queue of its own: nothing is counted twice. */
static void json_of_two_queues(void **state)
{
	(void)state;
	set_up("name=a iodepth=16 name=a");
	set_up_queues(2, BLK_IRQ);
	for (unsigned i = 0; i < 2; i++) {
		job_on(i, i, i);
		a_read_job(&result[i]);
		result[i].counters.interrupts = 33694;
		run.job[i].given[run.job[i].nr_given++] = (struct job_given){"numjobs", "2"};
	}
	result[1].runtime_ns = 1000000000;
	machine.tsc_skew_ns = 85;
	write_json();
	has("      \"queue_map\": [\n"
	    "          {\n"
	    "            \"queue\": 0,\n"
	    "            \"mode\": \"irq\",\n"
	    "            \"interrupt\": \"msix\",\n"
	    "            \"vector\": 1,\n"
	    "            \"size\": 256,\n"
	    "            \"cpus\": [\n"
	    "              0\n"
	    "            ]\n");
	has("\"tsc_skew_ns\": 85,\n    \"tsc_skew_least_ns\": 0,");
	has("\"jobs\": 2,\n        \"cpus\": 2,\n        \"queues\": 2,");
	has("\"iops\": 336772.614,");
	has("\"bw_bytes_min\": 689710312,\n          \"bw_bytes_max\": 1380110336,");
	has("\"kicks_per_io\": 0.031,\n        \"irqs_per_io\": 0.100,");
	has("\"requests\": 673882,");
	has("\"interrupts\": 67388,");
	has("\"numjobs\": \"2\"");
	has_not("\"numjobs\": \"1\"");
	has_not("\"groupid\": 1");
	/* The requests were out for 32 s each; the disk was busy for 2 s at most. */
	has("\"in_queue\": 63394,\n      \"util\": 100.000");
}

/* Both have the counters of both, and say so. */
static void json_of_a_shared_queue(void **state)
{
	(void)state;
	set_up("name=a iodepth=16 name=a");
	for (unsigned i = 0; i < 2; i++) {
		job_on(i, 0, 0);
		a_read_job(&result[i]);
		result[i].sharers = result[i].cpu_jobs = 2;
		result[i].counters.requests = 2 * 336941;
	}
	write_json();
	has("\"cpu_jobs\": 2,\n        \"queue\": 0,\n        \"mode\": \"poll\",\n"
	    "        \"interrupt\": \"none\",\n        \"sharers\": 2,");
	has("\"kicks_per_io\": 0.016,");
	has_not("\"kicks_per_io\": 0.031,");
	has("\"cpus\": 1,\n        \"queues\": 1,");
	has_not("\"vector\"");
	/* The cycles are of I/Os of both: no figure per I/O of one. */
	assert_non_null(strstr(out.text, "busy_cycles_per_io"));
	assert_null(strstr(strstr(out.text, "\"jobs\": ["), "busy_cycles_per_io"));
	has_not("tsc_skew");
}

/* Shares of wall-clock time: jobs one after another add up, jobs at the same time do not. */
static void json_disk_is_half_busy(void **state)
{
	(void)state;
	set_up("name=a name=b name=c");
	for (unsigned i = 0; i < 3; i++) {
		done(&result[i].read, 100, 10, 1000000);
		result[i].runtime_ns = 400000000;
		result[i].group = i / 2;
	}
	write_json();
	/* 200 ms of 400 in the first group, 100 of 400 in the second. */
	has("\"util\": 37.500");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(f143_large_counts),
		cmocka_unit_test(f151_nothing_done),
		cmocka_unit_test(json_values),
		cmocka_unit_test(json_of_a_hash_job),
		cmocka_unit_test(json_of_two_queues),
		cmocka_unit_test(json_of_a_shared_queue),
		cmocka_unit_test(json_disk_is_half_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
