/* SPDX-License-Identifier: BSD-2-Clause */
/* Which blocks does a job get on a given disk, and which jobs does the disk refuse? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/bench/plan.h"
#include "lib/mem.h"

#define MIB_512 2048u /* sectors in a MiB */

static struct run_options run;
static struct blk_device disk;
static struct job_plan plan;
static char line[512], error[256];

static void set_disk(uint64_t capacity_512, uint32_t block_bytes)
{
	disk = (struct blk_device){
		.name = "vda", .capacity_512 = capacity_512, .block_bytes = block_bytes};
}

static bool try_plan(const char *text)
{
	snprintf(line, sizeof(line), "%s", text);
	if (!options_parse(line, &run, error, sizeof(error)))
		fail_msg("'%s': %s", text, error);
	error[0] = '\0';
	return plan_job(&plan, &run.job[0], &disk, error, sizeof(error));
}

static void plans(const char *text, uint64_t first_lba_512, uint64_t nr_blocks, uint64_t total_ios)
{
	if (!try_plan(text))
		fail_msg("'%s': %s", text, error);
	assert_int_equal(plan.first_lba_512, first_lba_512);
	assert_int_equal(plan.nr_blocks, nr_blocks);
	assert_int_equal(plan.total_ios, total_ios);
	/* Whatever the options, nothing is past the end. */
	assert_true(plan.first_lba_512 + plan.nr_blocks * plan.block_512 + plan.tail_bytes / 512 <=
		    disk.capacity_512);
}

static void refuses(const char *text, const char *message)
{
	if (try_plan(text))
		fail_msg("'%s' is taken", text);
	assert_string_equal(error, message);
}

static void one_pass_by_default(void **state)
{
	(void)state;
	set_disk(64 * MIB_512, 512);
	plans("", 0, 16384, 16384);
	assert_ptr_equal(plan.options, &run.job[0]);
	assert_ptr_equal(plan.device, &disk);
	assert_int_equal(plan.block_512, 8);
	assert_int_equal(plan.left_out_bytes, 0);
	plans("rw=read bs=1m", 0, 64, 64);
	plans("rw=write bs=512", 0, 131072, 131072);
	plans("bs=64m", 0, 1, 1);
}

/* F-148: offset and size make the range; nothing reaches past the end. */
static void f148_ranges(void **state)
{
	(void)state;
	set_disk(64 * MIB_512, 512);
	plans("offset=1m", MIB_512, 16128, 16128);
	plans("offset=1m size=1m", MIB_512, 256, 256);
	plans("offset=63m size=1m", 63 * MIB_512, 256, 256);
	plans("offset=512 size=8k", 1, 2, 2);
	plans("size=50%", 0, 8192, 8192);
	plans("offset=50% size=50%", 32 * MIB_512, 8192, 8192);
	plans("offset=50% size=100%", 32 * MIB_512, 8192, 8192);
	plans("offset=99%", 129760, 164, 164);
	plans("offset=99% size=1%", 129760, 163, 163);
	plans("offset=33.333333% bs=1m size=10%", 21 * MIB_512, 6, 6);
	refuses("size=65m",
		"size=68157440: only 67108864 of the 67108864 bytes of vda are left after "
		"offset");
	refuses("size=2m offset=63m",
		"size=2097152: only 1048576 of the 67108864 bytes of vda are left after offset");
	refuses("offset=64m", "offset=67108864: not below the 67108864 bytes of vda");
	refuses("offset=100%", "offset=67108864: not below the 67108864 bytes of vda");
	refuses("offset=8388608t",
		"offset=9223372036854775808: not below the 67108864 bytes of vda");
	refuses("bs=128m",
		"bs=134217728: not one block fits in the range of 67108864 bytes on vda");
	refuses("size=2k", "bs=4096: not one block fits in the range of 2048 bytes on vda");
	refuses("size=0.000001%", "bs=4096: not one block fits in the range of 0 bytes on vda");
}

/* F-148: 64 MiB and one sector. */
static void f148_odd_tail(void **state)
{
	(void)state;
	set_disk(64 * MIB_512 + 1, 512);
	plans("bs=4k", 0, 16384, 16384);
	assert_int_equal(plan.tail_bytes, 0);
	assert_int_equal(plan.left_out_bytes, 512);
	plans("bs=4k size=100%", 0, 16384, 16384);
	assert_int_equal(plan.left_out_bytes, 512);
	plans("size=6000", 0, 1, 1);
	assert_int_equal(plan.left_out_bytes, 6000 - 4096);
}

static void hash_reads_the_tail(void **state)
{
	(void)state;
	set_disk(64 * MIB_512 + 3, 512);
	plans("rw=read hash=crc32c bs=128k iodepth=16", 0, 512, 513);
	assert_int_equal(plan.tail_bytes, 3 * 512);
	assert_int_equal(plan.left_out_bytes, 0);
	plans("rw=read hash=crc32c bs=128k size=1m", 0, 8, 8);
	assert_int_equal(plan.tail_bytes, 0);
	plans("rw=read hash=crc32c bs=4k size=10000", 0, 2, 3);
	assert_int_equal(plan.tail_bytes, 1536);
	assert_int_equal(plan.left_out_bytes, 10000 - 8192 - 1536);
	/* Only whole blocks of the disk can be read. */
	set_disk(64 * MIB_512 + 11, 4096);
	plans("rw=read hash=crc32c bs=128k", 0, 512, 513);
	assert_int_equal(plan.tail_bytes, 4096);
	assert_int_equal(plan.left_out_bytes, 3 * 512);
}

static void hash_is_of_the_whole_range(void **state)
{
	(void)state;
	set_disk(64 * MIB_512, 512);
	refuses("hash=crc32c", "hash=crc32c: needs rw=read, not rw=randread");
	refuses("hash=crc32c rw=write", "hash=crc32c: needs rw=read, not rw=write");
	refuses("hash=crc32c rw=read number_ios=3",
		"hash=crc32c: reads its range once, at full depth; number_ios cannot go with it");
	refuses("hash=crc32c rw=read io_size=1m",
		"hash=crc32c: reads its range once, at full depth; io_size cannot go with it");
	refuses("hash=crc32c rw=read runtime=1",
		"hash=crc32c: reads its range once, at full depth; runtime cannot go with it");
	refuses("hash=crc32c rw=read ramp_time=1",
		"hash=crc32c: reads its range once, at full depth; ramp_time cannot go with it");
	refuses("hash=crc32c rw=read runtime=1 time_based",
		"hash=crc32c: reads its range once, at full depth; time_based cannot go with it");
}

/* F-149: what is not aligned is refused, also where blocks are of 4096 bytes. */
static void f149_alignment(void **state)
{
	(void)state;
	set_disk(64 * MIB_512, 512);
	refuses("offset=1000", "offset=1000: not a multiple of the 512-byte blocks of vda");
	refuses("bs=1000", "bs=1000: not a multiple of the 512-byte blocks of vda");
	plans("bs=1536", 0, 43690, 43690);
	assert_int_equal(plan.left_out_bytes, 1024);
	set_disk(64 * MIB_512, 4096);
	refuses("bs=1536", "bs=1536: not a multiple of the 4096-byte blocks of vda");
	refuses("bs=512", "bs=512: not a multiple of the 4096-byte blocks of vda");
	refuses("offset=512", "offset=512: not a multiple of the 4096-byte blocks of vda");
	plans("offset=4k", 8, 16383, 16383);
	plans("offset=0.01%", 8, 16383, 16383);
}

/* As fio 3.33 does, seen by running it with the null engine. */
static void totals(void **state)
{
	(void)state;
	set_disk(64 * MIB_512, 512);
	plans("io_size=128m", 0, 16384, 32768);
	plans("io_size=10000", 0, 16384, 3);
	plans("io_size=128m number_ios=20000", 0, 16384, 20000);
	plans("number_ios=20000", 0, 16384, 16384);
	plans("number_ios=10", 0, 16384, 10);
	plans("runtime=5", 0, 16384, 16384);
	plans("runtime=5 time_based", 0, 16384, UINT64_MAX);
	plans("runtime=5 time_based number_ios=10", 0, 16384, UINT64_MAX);
	plans("io_size=18446744073709551615 bs=512", 0, 131072, 1ull << 55);
	refuses("time_based", "time_based: needs a runtime, such as runtime=10");
	refuses("time_based runtime=0", "time_based: needs a runtime, such as runtime=10");
}

static void writes_need_a_writable_disk(void **state)
{
	(void)state;
	set_disk(64 * MIB_512, 512);
	disk.read_only = true;
	plans("rw=randread", 0, 16384, 16384);
	refuses("rw=write", "rw=write: vda is read-only");
	refuses("rw=randwrite", "rw=randwrite: vda is read-only");
	refuses("rw=randrw", "rw=randrw: vda is read-only");
	refuses("rw=rw rwmixread=100", "rw=rw: vda is read-only");
}

/* Sizes that a device may claim: no sum wraps. */
static void absurd_disks(void **state)
{
	(void)state;
	set_disk(UINT64_MAX, 512);
	refuses("", "vda: a capacity of 18446744073709551615 sectors is beyond 2^64 bytes");
	set_disk(0, 512);
	refuses("", "vda: has no sectors");
	set_disk(MIB_512, 0);
	refuses("", "vda: has a block size of 0 bytes");
	set_disk(UINT64_MAX / 512, 512);
	plans("", 0, UINT64_MAX / 4096, UINT64_MAX / 4096);
	assert_int_equal(plan.left_out_bytes, 7 * 512);
	plans("offset=50%", (1ull << 54) - 8, 1ull << 51, 1ull << 51);
	refuses("size=18446744073709551615 offset=512",
		"size=18446744073709551615: only 18446744073709550592 of the 18446744073709551104 "
		"bytes of vda are left after offset");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_pass_by_default),
		cmocka_unit_test(f148_ranges),
		cmocka_unit_test(f148_odd_tail),
		cmocka_unit_test(hash_reads_the_tail),
		cmocka_unit_test(hash_is_of_the_whole_range),
		cmocka_unit_test(f149_alignment),
		cmocka_unit_test(totals),
		cmocka_unit_test(writes_need_a_writable_disk),
		cmocka_unit_test(absurd_disks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
