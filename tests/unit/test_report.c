/* SPDX-License-Identifier: BSD-2-Clause */
/* Do the reports say what the engine counted, in fio's words, and nothing absurd? */
#include "tests/unit/report_jobs.h"

static void write_text(void)
{
	report_text(&out.sink, &machine, result, 1);
}

/* Expected: what fio 3.33 printed for the same numbers. */
static void numbers_as_fio(void **state)
{
	static const struct {
		uint64_t value;
		unsigned digits;
		bool binary;
		const char *unit, *text;
	} cases[] = {
		{0, 4, false, "", "0"},
		{6368, 4, false, "", "6368"},
		{9999, 4, false, "", "9999"},
		{10000, 4, false, "", "10.0k"},
		{168386, 4, false, "", "168k"},
		{8444833, 4, false, "", "8445k"},
		{689710312, 4, true, "B/s", "658MiB/s"},
		{689710312, 4, false, "B/s", "690MB/s"},
		{8192000, 4, true, "B/s", "8000KiB/s"},
		{8192000, 4, false, "B/s", "8192kB/s"},
		{40960000, 4, true, "B/s", "39.1MiB/s"},
		{1380110336, 4, true, "B", "1316MiB"},
		{8192, 4, true, "B", "8192B"},
		{40960, 4, true, "B", "40.0KiB"},
		{40960, 4, false, "B", "41.0kB"},
		{34574571000, 4, true, "B/s", "32.2GiB/s"},
		{499367, 6, false, "", "499367"},
		{UINT64_MAX, 4, true, "B", "16.0EiB"},
		{UINT64_MAX, 4, false, "B", "18.4EB"},
	};
	char text[NUMBER_TEXT_MAX];

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(number_text(text, cases[i].value, cases[i].digits,
						cases[i].binary, cases[i].unit),
				    cases[i].text);
}

static void time_units_as_fio(void **state)
{
	(void)state;
	assert_string_equal(time_unit(2001, 100000, 1001)->name, "usec");
	assert_string_equal(time_unit(2000, 100000, 1001)->name, "nsec");
	assert_string_equal(time_unit(2001, 99999, 1001)->name, "nsec");
	assert_string_equal(time_unit(2001, 100000, 1000)->name, "nsec");
	assert_string_equal(time_unit(2000001, 100000000, 1000001)->name, "msec");
	assert_string_equal(time_unit(2000000, 100000000, 1000001)->name, "usec");
}

static void text_in_fio_words(void **state)
{
	(void)state;
	set_up("name=a iodepth=16");
	a_read_job(&result[0]);
	write_text();
	has("vda 00:03.0: 1 queue for 1 CPU\n"
	    "  queue  0, size   256:   poll           none cpu 0\n"
	    "a: (groupid=0, jobs=1): err= 0: pid=0: vda\n"
	    "  read: IOPS=168k, BW=658MiB/s (690MB/s)(1316MiB/2001msec)\n"
	    "    slat (nsec): min=3000, max=4000, avg=3002.79, stdev=52.77\n"
	    "    clat (usec): min=80, max=3456, avg=94.07, stdev=178.46\n"
	    "     lat (usec): min=83, max=3460, avg=97.08, stdev=178.52\n"
	    "    clat percentiles (usec):\n"
	    "     |  1.00th=[   81],  5.00th=[   81], 10.00th=[   81], 20.00th=[   81],\n"
	    "     | 30.00th=[   81], 40.00th=[   81], 50.00th=[   81], 60.00th=[   81],\n"
	    "     | 70.00th=[   81], 80.00th=[   81], 90.00th=[  124], 95.00th=[  124],\n"
	    "     | 99.00th=[  124], 99.50th=[  124], 99.90th=[ 3457], 99.95th=[ 3457],\n"
	    "     | 99.99th=[ 3457]\n"
	    "   bw (  KiB/s): min=635065, max=700768, per=100.00%, avg=678867.00, stdev=37933.64, "
	    "samples=3\n"
	    "   iops        : min=158766, max=175192, avg=169716.67, stdev=9483.56, samples=3\n"
	    "  lat (usec)   : 100=89.04%, 250=10.68%\n"
	    "  lat (msec)   : 4=0.28%\n"
	    "  cpu          : usr=60.00%, sys=0.00%, ctx=0, majf=0, minf=0\n"
	    "  IO depths    : 1=0.1%, 2=0.0%, 4=0.0%, 8=0.0%, 16=100.0%, 32=0.0%, >=64=0.0%\n"
	    "     submit    : 0=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=100.0%, 64=0.0%, >=64=0.0%\n"
	    "     complete  : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.1%, 32=0.0%, 64=0.0%, >=64=0.0%\n"
	    "     issued rwts: total=336941,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
	    "     latency   : target=0, window=0, percentile=100.00%, depth=16\n");
	has_not("write:");
}

/* F-107: the cache mode is named with the figures; so is the accelerator. */
static void f107_what_fio_has_no_words_for(void **state)
{
	(void)state;
	set_up("name=a iodepth=16");
	a_read_job(&result[0]);
	write_text();
	has("  ringlab: vda 00:03.0 cpu=0 queue=0 accel=tcg machine=q35 transport=modern ring=split mode=poll irq=none "
	    "queues=1 qsize=256 event_idx=1 indirect=never cache=writeback\n"
	    "  ringlab: kicks/io=0.031 irqs/io=0.000 batches/io=0.063 suppressed=10530\n"
	    "  ringlab: polls_empty=77 ring_full=0 rekicks=0 cpu_busy=60.00% max_in_flight=16 sgl_chunks=0\n"
	    "  ringlab: time stamps: 25.0 ns each, 4.7 ns/io, 0.08% of the run\n"
	    "  result: a rw=randread bs=4096 iodepth=16: IOPS=168386 BW=657.8MiB/s accel=tcg "
	    "machine=q35 ring=split transport=modern mode=poll jobs=1 cpus=1 queues=1\n");
	has_not("warning");
	has_not("errors=");
	has_not("note:");
	disk.writeback = false;
	strcpy(disk.indirect, "threshold:32");
	write_text();
	has("indirect=threshold:32 cache=writethrough\n");
}

static void mixed_job_has_both_directions(void **state)
{
	(void)state;
	set_up("name=m rw=randrw");
	a_read_job(&result[0]);
	done(&result[0].write, 1000, 50, 700);
	write_text();
	has("\n  read: IOPS=168k, ");
	has("\n  write: IOPS=500, BW=1999KiB/s (2047kB/s)(4000KiB/2001msec)\n"
	    "    slat (nsec): min=50, max=50, avg=50.00, stdev= 0.00\n"
	    "    clat (nsec): min=700, max=700, avg=700.00, stdev= 0.00\n"
	    "     lat (nsec): min=750, max=750, avg=750.00, stdev= 0.00\n"
	    "    clat percentiles (nsec):\n"
	    "     |  1.00th=[  700], ");
	has("issued rwts: total=336941,1000,0,0 ");
	has("  lat (nsec)   : 750=0.30%\n  lat (usec)   : 100=88.77%");
	has(": IOPS=168886 BW=659.7MiB/s ");
}

static void failures_are_told_apart(void **state)
{
	struct job_result *r = &result[0];

	(void)state;
	set_up("name=e");
	a_read_job(r);
	r->errors[BLK_IO_ERROR] = 2;
	r->errors[BLK_TIMED_OUT] = 1;
	r->first_error = BLK_TIMED_OUT;
	r->first_error_lba_512 = 4096;
	r->counters.rekicks = 3;
	r->stopped = true;
	plan[0].left_out_bytes = 512;
	write_text();
	has("e: (groupid=0, jobs=1): err=110: ");
	/* Not 168387.8, as with the failures. */
	has(" IOPS=168386 ");
	snprintf(line, sizeof(line),
		 "  ringlab: errors=3 (%s: 2, %s: 1), the first at sector 4096 of 512 bytes: %s\n",
		 blk_status_name(BLK_IO_ERROR), blk_status_name(BLK_TIMED_OUT),
		 blk_status_name(BLK_TIMED_OUT));
	has(line);
	has("  warning: vda: 3 notifications were repeated (rekicks) after a wait without progress: "
	    "notifications may have been lost\n");
	has("  warning: vda: the queue broke; the job ended early\n");
	has("  note: the last 512 bytes of the range are less than a block; left out\n");
}

static void crc_only_of_the_whole_range(void **state)
{
	struct job_result *r = &result[0];

	(void)state;
	set_up("rw=read hash=crc32c offset=4k size=9k");
	assert_int_equal(plan[0].tail_bytes, 1024);
	r->crc32c = 0xabc;
	r->hashed_bytes = 9216;
	write_text();
	has("  crc32c: 0x00000abc over 9216 bytes (range 4096+9216)\n");
	out.len = 0;
	r->hashed_bytes = 8192;
	write_text();
	has("  crc32c: none: 8192 of 9216 bytes were read (range 4096+9216)\n");
	has_not("0x00000abc");
	out.len = 0;
	r->hashed_bytes = 9216;
	r->errors[BLK_IO_ERROR] = 1;
	write_text();
	has("crc32c: none: ");
}

static void end_of_the_run(void **state)
{
	(void)state;
	set_up("name=a name=b rw=write");
	a_read_job(&result[0]);
	done(&result[1].write, 10, 20, 10);
	result[1].runtime_ns = 1000000;
	for (unsigned i = 0; i < 2; i++)
		report_status(&out.sink, group_sum(&result[i], 1));
	report_end(&out.sink, &machine);
	assert_string_equal(out.text,
			    "\nRun status group 0 (all jobs):\n"
			    "   READ: bw=658MiB/s (690MB/s), 658MiB/s-658MiB/s (690MB/s-690MB/s), "
			    "io=1316MiB (1380MB), run=2001-2001msec\n"
			    "\nRun status group 1 (all jobs):\n"
			    "  WRITE: bw=39.1MiB/s (41.0MB/s), 39.1MiB/s-39.1MiB/s "
			    "(41.0MB/s-41.0MB/s), io=40.0KiB (41.0kB), run=1-1msec\n"
			    "\nclock: TSC 2100.0 MHz (hpet, cross-check pm-timer, 3 ppm)\n"
			    "machine: QEMU Virtual CPU, 256.0 MiB, of which 96 KiB for the image\n"
			    "boot: 92.1 ms to kernel, 12.1 ms to first I/O\n");
}

/* F-139: a clock that is not trusted is not passed off as one that is. */
static void f139_untrusted_clock(void **state)
{
	(void)state;
	set_up("");
	machine.tsc_trusted = false;
	machine.tsc_cross_source = NULL;
	machine.tsc_source = "none";
	report_end(&out.sink, &machine);
	has("clock: TSC 2100.0 MHz (none, no cross-check)\n"
	    "warning: the clock is not trusted: every time, rate and latency above may be wrong\n");
	has_not("ppm");
}

/* F-143: 2^33 completions and sums beyond 2^40 ns, right to the last digit. */
static void f143_large_counts(void **state)
{
	struct job_result *r = &result[0];

	(void)state;
	set_up("name=big runtime=100000 time_based");
	done(&r->read, 1ull << 33, 1000, 1099511627776);
	r->runtime_ns = 100000000000000;
	r->counters.kicks = 1ull << 33;
	r->counters.batches = 3ull << 33;
	write_text();
	has("  read: IOPS=85.9k, BW=336MiB/s (352MB/s)(32.0TiB/100000000msec)\n");
	has("    clat (nsec): min=1099.5G, max=1099.5G, avg=1099511627776.00, stdev= 0.00\n");
	has("issued rwts: total=8589934592,0,0,0 ");
	has("kicks/io=1.000 irqs/io=0.000 batches/io=3.000 ");
	has("  lat (msec)   : >=2000=100.00%\n");
}

/* F-151: with nothing measured, every figure is 0, and none is absurd. */
static void f151_nothing_done(void **state)
{
	(void)state;
	set_up("");
	write_text();
	has("ringlab: (groupid=0, jobs=1): err= 0: pid=0: vda\n  cpu          : usr=0.00%, ");
	has("IO depths    : 1=0.0%, ");
	has(": IOPS=0 BW=0.0MiB/s ");
	has_not("clat");
	has_not("18446744073709551615");
}

static void percentiles_with_more_decimals(void **state)
{
	(void)state;
	set_up("percentile_list=99:99.9:99.99:99.999:100");
	done(&result[0].read, 16384, 10, 1000);
	result[0].runtime_ns = 1000000000;
	write_text();
	has("     | 99.000th=[ 1000], 99.900th=[ 1000], 99.990th=[ 1000], 99.999th=[ 1000],\n"
	    "     | 100.000th=[ 1000]\n");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_as_fio),
		cmocka_unit_test(time_units_as_fio),
		cmocka_unit_test(text_in_fio_words),
		cmocka_unit_test(f107_what_fio_has_no_words_for),
		cmocka_unit_test(mixed_job_has_both_directions),
		cmocka_unit_test(failures_are_told_apart),
		cmocka_unit_test(crc_only_of_the_whole_range),
		cmocka_unit_test(end_of_the_run),
		cmocka_unit_test(f139_untrusted_clock),
		cmocka_unit_test(f143_large_counts),
		cmocka_unit_test(f151_nothing_done),
		cmocka_unit_test(percentiles_with_more_decimals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
