/* SPDX-License-Identifier: BSD-2-Clause */
/* Which command lines are refused, and does each message name the key, the value, what is valid? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/bench/options.h"
#include "lib/mem.h"

static struct run_options run;
static char line[4096], error[512];

static bool parse(const char *text)
{
	snprintf(line, sizeof(line), "%s", text);
	error[0] = '\0';
	return options_parse(line, &run, error, sizeof(error));
}

static void refuses(const char *text, const char *message)
{
	if (parse(text))
		fail_msg("'%s' is taken", text);
	assert_string_equal(error, message);
}

/* Refused, and the message begins with the key and the value. */
static void refuses_value(const char *text)
{
	char start[128];

	if (parse(text))
		fail_msg("'%s' is taken", text);
	snprintf(start, sizeof(start), "%s: expected ", text);
	if (strncmp(error, start, strlen(start)) != 0)
		fail_msg("'%s' says '%s'", text, error);
}

/* F-111 (a block or a job of no length) is among these. */
static const char *const bad[] = {
	"bs=0",
	"bs=2g",
	"bs=1073741825",
	"bs=4q",
	"bs=4k,8k",
	"bs=-1",
	"iodepth=0",
	"iodepth=1025",
	"iodepth=4294967297",
	"rw=trim",
	"rw=readwritex",
	"rw=read|write",
	"rwmixread=101",
	"size=0",
	"size=0%",
	"size=101%",
	"size=%",
	"size=1%%",
	"size=18446744073709551616",
	"offset=100.000001%",
	"offset=-4k",
	"io_size=10%",
	"number_ios=18446744073709551616",
	"number_ios=1e6",
	"runtime=1x",
	"runtime=366d",
	"runtime=99999999999999999999",
	"time_based=2",
	"randseed=abc",
	"hash=md5",
	"hash=crc32",
	"buffers=round",
	"filename=vda:vdb",
	"filename=/dev/",
	"filename=/tmp/disk.img",
	"filename=vda0123456789012",
	"output-format=terse",
	"output-format=json+",
	"status-interval=x",
	"eta=1",
	"log=loud",
	"blk.indirect=maybe",
	"blk.event_idx=2",
	"blk.qsize=1",
	"blk.qsize=2",
	"blk.indirect=threshold:",
	"blk.indirect=threshold:0",
	"blk.indirect=threshold:32769",
	"blk.indirect=threshold:8k",
	"blk.ring=round",
	"blk.qsize=65536",
	"blk.timeout_ms=0",
	"blk.timeout_ms=86400001",
	"percentile_list=1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:18:19:20:21",
	"percentile_list=0",
	"percentile_list=100.1",
	"percentile_list=50:",
	"percentile_list=:50",
	"percentile_list=50,99",
	"percentile_list=50.00000000000000000000000",
};

static void bad_values(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++)
		refuses_value(bad[i]);
}

static void bad_names(void **state)
{
	char text[JOB_NAME_MAX + 8] = "name=";

	(void)state;
	refuses_value("name=a\x1b[2J");
	memset(text + 5, 'n', JOB_NAME_MAX - 1);
	assert_true(parse(text));
	assert_int_equal(strlen(run.job[0].name), JOB_NAME_MAX - 1);
	text[strlen(text)] = 'n';
	refuses_value(text);
}

static void messages(void **state)
{
	(void)state;
	refuses("iodepth=0", "iodepth=0: expected 1 to 1024");
	refuses("rw=trim", "rw=trim: expected read|write|randread|randwrite|rw|randrw|readwrite");
	/* Under the name that was written. */
	refuses("--timeout=soon",
		"timeout=soon: expected a time up to 365d, such as 10 (seconds), 500ms or 2m");
	refuses("io_limit=", "io_limit=: the value is missing; expected a size, such as 1g");
	refuses("blocksize", "blocksize: needs a value; expected a size up to 1g, such as 4k, in "
			     "whole blocks of the disk");
	refuses("iodpeth=4", "unknown option 'iodpeth' (did you mean iodepth?)");
	refuses("run_time=4", "unknown option 'run_time' (did you mean runtime?)");
	refuses("bs=4k color=red", "unknown option 'color'");
	refuses("bs=4k xy", "unknown option 'xy'");
	refuses("an_option_with_a_name_that_is_much_too_long=1",
		"unknown option 'an_option_with_a_name_that_is_much_too_long'");
	refuses("=4", "unknown option ''");
	refuses("bs=", "bs=: the value is missing; expected a size up to 1g, such as 4k, in whole "
		       "blocks of the disk");
	refuses("bs", "bs: needs a value; expected a size up to 1g, such as 4k, in whole blocks of "
		      "the disk");
	refuses("time_based=", "time_based=: the value is missing; expected 0|1");
	refuses("numjobs=65", "numjobs=65: expected 1 to 64");
	refuses("numjobs=64 name=a name=b name=c name=d name=e",
		"numjobs: 320 jobs in all; a run has at most 256");
	refuses("cpus_allowed=0,,2", "cpus_allowed=0,,2: expected CPUs below 256, such as 0,2-4");
	refuses("cpus_allowed=3-1", "cpus_allowed=3-1: expected CPUs below 256, such as 0,2-4");
	refuses("cpus_allowed=256", "cpus_allowed=256: expected CPUs below 256, such as 0,2-4");
	refuses("cpus_allowed_policy=x", "cpus_allowed_policy=x: expected shared|split");
	refuses("hipri=2", "hipri=2: expected 0|1");
	refuses("rate_iops=1,2,3", "rate_iops=1,2,3: expected requests a second up to 1000000000, "
				   "or those of reads and writes, N,M");
	refuses("thinktime=x",
		"thinktime=x: expected a time up to 365d, such as 100 (microseconds), 5ms or 1s");
	refuses("thinktime_blocks=0", "thinktime_blocks=0: expected 1 to 4294967295");
	refuses("gtod_reduce", "gtod_reduce=1: only 0 is supported");
	refuses("disable_lat=1", "disable_lat=1: only 0 is supported");
	refuses("exitall", "exitall=1: only 0 is supported");
	refuses("sync=1", "sync=1: only 0|none is supported");
	refuses("verify=crc32c", "verify=crc32c: only 0 is supported");
	refuses("blk.mode=foo", "blk.mode=foo: expected poll|irq|hybrid");
	refuses("blk.irq_coalesce=0", "blk.irq_coalesce=0: expected 1 to 32768");
	refuses("blk.ring=both", "blk.ring=both: expected auto|split|packed");
	refuses("name='a b", "a quote is not closed at the end of the line");
}

/* A message that does not fit is cut, not written past the buffer (ASan sees to it). */
static void long_values_in_messages(void **state)
{
	char text[2048] = "rw=", small[16];

	(void)state;
	memset(text + 3, 'x', sizeof(text) - 4);
	text[sizeof(text) - 1] = '\0';
	assert_false(parse(text));
	assert_int_equal(strlen(error), sizeof(error) - 1);
	snprintf(line, sizeof(line), "rw=trim");
	assert_false(options_parse(line, &run, small, sizeof(small)));
	assert_string_equal(small, "rw=trim: expect");
}

static void features(void **state)
{
	(void)state;
	assert_true(parse("blk.feature.event_idx=0 blk.feature.flush=1 blk.feature.in_order=0"));
	assert_int_equal(run.blk.features_off, 1ull << 29 | 1ull << 35);
	assert_int_equal(run.blk.features_on, 1ull << 9);
	assert_true(parse("blk.feature.flush=0 blk.feature.flush=1"));
	assert_int_equal(run.blk.features_off, 0);
	refuses("blk.feature.flush=2", "blk.feature.flush=2: expected 0|1");
	refuses("blk.feature.flush=", "blk.feature.flush=: expected 0|1");
	refuses("blk.feature.flush", "blk.feature.flush=: expected 0|1");
	refuses("blk.feature.flsh=0", "blk.feature.flsh: unknown feature (did you mean "
				      "blk.feature.flush?)");
	/* All of the list, however long: it is not cut. */
	assert_false(parse("blk.feature.nonsense=0"));
	assert_non_null(strstr(error, "there is size_max seg_max "));
	assert_non_null(strstr(error, " version_1 "));
	assert_true(strlen(error) < sizeof(error) - 1);
	refuses("virtio.transport=mmio", "virtio.transport=mmio: expected auto|modern|legacy");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_values), cmocka_unit_test(bad_names),
		cmocka_unit_test(messages),   cmocka_unit_test(long_values_in_messages),
		cmocka_unit_test(features),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
