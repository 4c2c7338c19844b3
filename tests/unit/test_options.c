/* SPDX-License-Identifier: BSD-2-Clause */
/* Which jobs does each command line make? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/bench/options.h"
#include "kernel/bench/options_table.h"
#include "lib/mem.h"

static struct run_options run;
static char line[4096], error[256];

static bool parse(const char *text)
{
	snprintf(line, sizeof(line), "%s", text);
	error[0] = '\0';
	return options_parse(line, &run, error, sizeof(error));
}

/* The only job of a good line. */
static const struct job_options *job_of(const char *text)
{
	if (!parse(text))
		fail_msg("'%s' is refused: %s", text, error);
	assert_int_equal(run.nr_jobs, 1);
	return &run.job[0];
}

static void refuses(const char *text, const char *message)
{
	if (parse(text))
		fail_msg("'%s' is taken", text);
	assert_string_equal(error, message);
}

static void empty_line_is_the_default_job(void **state)
{
	const struct job_options *job = job_of("");

	(void)state;
	assert_string_equal(job->name, "ringlab");
	assert_string_equal(job->filename, "vda");
	assert_int_equal(job->rw, RW_RANDREAD);
	assert_int_equal(job->bs_bytes, 4096);
	assert_int_equal(job->iodepth, 1);
	assert_int_equal(job->batch_submit, 0);
	assert_int_equal(job->batch_complete_min, 1);
	assert_int_equal(job->batch_complete_max, 0);
	assert_int_equal(job->rwmixread, 50);
	assert_false(job->size.set || job->offset.set || job->time_based || job->hash_crc32c);
	assert_int_equal(job->nr_percentiles, 17);
	assert_int_equal(job->percentile_micro[0], 1000000);
	assert_int_equal(job->percentile_micro[16], 99990000);
	assert_int_equal(job->nr_given, 0);
	assert_int_equal(run.output, OUTPUT_NORMAL);
	assert_false(run.progress);
	assert_int_equal(run.log_level, LOG_WARN);
	assert_int_equal(run.blk.timeout_ns, 30000000000ull);
	assert_true(run.blk.event_idx);
	assert_string_equal(run.ignored, "");
}

static void every_rw(void **state)
{
	static const struct {
		const char *text, *name;
		enum job_rw rw;
		bool random, reads, writes;
	} cases[] = {
		{"rw=read", "read", RW_READ, false, true, false},
		{"rw=write", "write", RW_WRITE, false, false, true},
		{"rw=randread", "randread", RW_RANDREAD, true, true, false},
		{"rw=randwrite", "randwrite", RW_RANDWRITE, true, false, true},
		{"rw=rw", "rw", RW_MIXED, false, true, true},
		{"rw=readwrite", "rw", RW_MIXED, false, true, true},
		{"readwrite=read", "read", RW_READ, false, true, false},
		{"rw=randrw", "randrw", RW_RANDMIXED, true, true, true},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		enum job_rw rw = job_of(cases[i].text)->rw;

		assert_int_equal(rw, cases[i].rw);
		assert_string_equal(job_rw_name(rw), cases[i].name);
		assert_int_equal(job_rw_random(rw), cases[i].random);
		assert_int_equal(job_rw_reads(rw), cases[i].reads);
		assert_int_equal(job_rw_writes(rw), cases[i].writes);
	}
}

static void all_job_options(void **state)
{
	const struct job_options *job = job_of(
		"name=j filename=/dev/vdb rw=randrw bs=64k iodepth=128 iodepth_batch_submit=16 "
		"iodepth_batch_complete_min=8 iodepth_batch_complete_max=32 rwmixread=70 offset=1m "
		"size=12.5% io_size=3g number_ios=5000000000 runtime=10 ramp_time=500ms time_based "
		"randseed=42 stonewall buffers=scattered hash=crc32c");

	(void)state;
	assert_string_equal(job->name, "j");
	assert_string_equal(job->filename, "vdb");
	assert_int_equal(job->rw, RW_RANDMIXED);
	assert_int_equal(job->bs_bytes, 65536);
	assert_int_equal(job->iodepth, 128);
	assert_int_equal(job->batch_submit, 16);
	assert_int_equal(job->batch_complete_min, 8);
	assert_int_equal(job->batch_complete_max, 32);
	assert_int_equal(job->rwmixread, 70);
	assert_true(job->offset.set && !job->offset.percent);
	assert_int_equal(job->offset.value, 1 << 20);
	assert_true(job->size.set && job->size.percent);
	assert_int_equal(job->size.value, 12500000);
	assert_int_equal(job->io_size_bytes, 3ull << 30);
	assert_int_equal(job->number_ios, 5000000000ull);
	assert_int_equal(job->runtime_ns, 10000000000ull);
	assert_int_equal(job->ramp_time_ns, 500000000);
	assert_int_equal(job->randseed, 42);
	assert_true(job->time_based && job->stonewall && job->scatter && job->hash_crc32c);
	assert_int_equal(job->nr_given, 20);
	assert_string_equal(job->given[3].key, "bs");
	assert_string_equal(job->given[3].value, "64k");
}

static void all_run_options(void **state)
{
	(void)state;
	job_of("output-format=json,normal status-interval=2 eta=never log=debug blk.indirect=always "
	       "blk.event_idx=0 blk.qsize=128 blk.timeout_ms=1500");
	assert_int_equal(run.output, OUTPUT_BOTH);
	assert_int_equal(run.status_interval_ns, 2000000000);
	assert_false(run.progress);
	assert_int_equal(run.log_level, LOG_DEBUG);
	assert_int_equal(run.blk.indirect, BLK_INDIRECT_ALWAYS);
	assert_false(run.blk.event_idx);
	assert_int_equal(run.blk.qsize, 128);
	assert_int_equal(run.blk.timeout_ns, 1500000000);
	job_of("output-format=json");
	assert_int_equal(run.output, OUTPUT_JSON);
	job_of("output-format=normal,json eta=always blk.qsize=0");
	assert_int_equal(run.output, OUTPUT_BOTH);
	assert_true(run.progress);
}

/* As fio: the same letter case, the same aliases, the last of two wins. */
static void fio_spellings(void **state)
{
	const struct job_options *job;

	(void)state;
	job = job_of("--bs=4K --blocksize=8k iodepth=4 iodepth=32 iodepth_batch=8 "
		     "iodepth_batch_complete=4 timeout=2m io_limit=1m time_based=0 --stonewall");
	assert_int_equal(job->bs_bytes, 8192);
	assert_int_equal(job->iodepth, 32);
	assert_int_equal(job->batch_submit, 8);
	assert_int_equal(job->batch_complete_min, 4);
	assert_int_equal(job->runtime_ns, 120000000000ull);
	assert_int_equal(job->io_size_bytes, 1 << 20);
	assert_false(job->time_based);
	assert_true(job->stonewall);
	assert_string_equal(job->given[0].key, "bs");
	assert_string_equal(job->given[0].value, "8k");
}

static void batches_fit_the_depth(void **state)
{
	const struct job_options *job = job_of("iodepth=16 iodepth_batch=64 "
					       "iodepth_batch_complete_min=32 "
					       "iodepth_batch_complete_max=2");

	(void)state;
	assert_int_equal(job->batch_submit, 16);
	assert_int_equal(job->batch_complete_min, 16);
	assert_int_equal(job->batch_complete_max, 16);
}

static void options_before_a_name_are_for_all_jobs(void **state)
{
	(void)state;
	assert_true(parse("bs=8k iodepth=4 name=a rw=read name=b bs=16k runtime=3 name=c"));
	assert_int_equal(run.nr_jobs, 3);
	assert_string_equal(run.job[0].name, "a");
	assert_int_equal(run.job[0].rw, RW_READ);
	assert_int_equal(run.job[0].bs_bytes, 8192);
	assert_int_equal(run.job[0].runtime_ns, 0);
	assert_string_equal(run.job[1].name, "b");
	assert_int_equal(run.job[1].rw, RW_RANDREAD);
	assert_int_equal(run.job[1].bs_bytes, 16384);
	assert_int_equal(run.job[1].iodepth, 4);
	assert_string_equal(run.job[2].name, "c");
	assert_int_equal(run.job[2].bs_bytes, 8192);
	assert_int_equal(run.job[2].runtime_ns, 0);
	assert_int_equal(run.job[2].nr_given, 3);
}

static void too_many_jobs(void **state)
{
	char text[JOBS_MAX * 8 + 16] = "";

	(void)state;
	for (unsigned i = 0; i < JOBS_MAX; i++)
		strcat(text, "name=x ");
	assert_true(parse(text));
	assert_int_equal(run.nr_jobs, JOBS_MAX);
	strcat(text, "name=x ");
	refuses(text, "more than 16 jobs (name=)");
}

static void percentiles(void **state)
{
	const struct job_options *job = job_of("percentile_list=99.999:50:100:50:0.000001");

	(void)state;
	assert_int_equal(job->nr_percentiles, 4);
	assert_int_equal(job->percentile_micro[0], 1);
	assert_int_equal(job->percentile_micro[1], 50000000);
	assert_int_equal(job->percentile_micro[2], 99999000);
	assert_int_equal(job->percentile_micro[3], 100000000);
	job = job_of("percentile_list=1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:18:19:20");
	assert_int_equal(job->nr_percentiles, 20);
}

static void ignored_options_are_named_once(void **state)
{
	const struct job_options *job = job_of("ioengine=libaio direct=0 thread group_reporting=1 "
					       "direct=1 numjobs=1 blk.mode=poll name=a thread=");

	(void)state;
	assert_string_equal(run.ignored, "ioengine, direct, thread, group_reporting");
	assert_int_equal(job->nr_given, 2);
}

/* All of them at once: cut between words, never in one. */
static void ignored_options_that_are_many(void **state)
{
	size_t len;

	(void)state;
	job_of("ioengine=x direct=1 buffered=0 invalidate=1 thread group_reporting norandommap "
	       "randrepeat=1 registerfiles fixedbufs sqthread_poll nonvectored iomem=x mem=x "
	       "prio=1 nice=1 fallocate=x clocksource=x "
	       "description=x");
	len = strlen(run.ignored);
	assert_in_range(len, 170, sizeof(run.ignored) - 1);
	assert_int_not_equal(run.ignored[len - 1], ' ');
}

static void where_and_how_fast(void **state)
{
	const struct job_options *job =
		job_of("numjobs=3 cpus_allowed=0,2-4,63-64 cpus_allowed_policy=split hipri "
		       "rate_iops=1000,500 thinktime=100 thinktime_blocks=8");

	(void)state;
	assert_int_equal(job->numjobs, 3);
	assert_int_equal(job->cpus_allowed.word[0], 1ull << 63 | 0x1d);
	assert_int_equal(job->cpus_allowed.word[1], 1);
	assert_true(job->cpus_split);
	assert_int_equal(job->hipri, BLK_QUEUE_POLL);
	assert_int_equal(job->rate_iops[0], 1000);
	assert_int_equal(job->rate_iops[1], 500);
	assert_int_equal(job->thinktime_ns, 100000);
	assert_int_equal(job->thinktime_blocks, 8);
	job = job_of("rate_iops=,20 hipri=0 thinktime=2ms");
	assert_int_equal(job->rate_iops[0], 0);
	assert_int_equal(job->rate_iops[1], 20);
	assert_int_equal(job->hipri, BLK_QUEUE_NOT_POLL);
	assert_int_equal(job->thinktime_ns, 2000000);
	job = job_of("rate_iops=7");
	assert_int_equal(job->rate_iops[1], 7);
	assert_false(job->cpus_allowed.set);
	assert_int_equal(job->hipri, BLK_QUEUE_ANY);
}

/* F-010: the image's path, quotes, commas, a bare "--". */
static void f010_loaders_and_quotes(void **state)
{
	const struct job_options *job;

	(void)state;
	job = job_of("/boot/ringlab.elf bs=8k -- name='a b' filename=\"/dev/vdc\"");
	assert_int_equal(job->bs_bytes, 8192);
	assert_string_equal(job->name, "a b");
	assert_string_equal(job->filename, "vdc");
	assert_string_equal(run.ignored, "");
	assert_int_equal(job_of("/a=b/ringlab.elf bs=8k")->bs_bytes, 8192);
	refuses("ringlab.elf bs=8k", "unknown option 'ringlab.elf'");
	refuses("time_base rw=read", "unknown option 'time_base' (did you mean time_based?)");
	assert_int_equal(job_of("time_based runtime=1")->time_based, true);
	assert_int_equal(job_of("  \t ")->bs_bytes, 4096);
	refuses("bs=8k /boot/ringlab.elf", "unknown option '/boot/ringlab.elf'");
	refuses("bs=4k rw=randread,randwrite --x 'a b'",
		"rw=randread,randwrite: expected read|write|randread|randwrite|rw|randrw|readwrite");
	refuses("bs=4k rw=randread --x 'a b'", "unknown option 'x'");
}

/* Each entry that takes a value says what is valid, or no message could. */
static void table_is_whole(void **state)
{
	static const char *const keys[] = {"name", "bs", "blocksize", "iodepth_batch", "numjobs"};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(keys); i++) {
		assert_non_null(option_find(keys[i]));
		assert_non_null(option_find(keys[i])->valid);
	}
	assert_string_equal(option_find("blocksize")->key, "bs");
	assert_null(option_find("b"));
	assert_int_equal(option_choice("a|bc|d", "bc"), 1);
	assert_int_equal(option_choice("a|bc|d", "d"), 2);
	assert_int_equal(option_choice("a|bc|d", "b"), -1);
	assert_int_equal(option_choice("a|bc|d", ""), -1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_line_is_the_default_job),
		cmocka_unit_test(every_rw),
		cmocka_unit_test(all_job_options),
		cmocka_unit_test(all_run_options),
		cmocka_unit_test(fio_spellings),
		cmocka_unit_test(batches_fit_the_depth),
		cmocka_unit_test(options_before_a_name_are_for_all_jobs),
		cmocka_unit_test(too_many_jobs),
		cmocka_unit_test(percentiles),
		cmocka_unit_test(ignored_options_are_named_once),
		cmocka_unit_test(ignored_options_that_are_many),
		cmocka_unit_test(where_and_how_fast),
		cmocka_unit_test(f010_loaders_and_quotes),
		cmocka_unit_test(table_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
