/* SPDX-License-Identifier: BSD-2-Clause */
/* Do several jobs, CPUs and queues add up in the text, with nothing counted twice? */
#include "tests/unit/report_jobs.h"

/* 100 000 reads in a second or a little more, a tenth of them slow. */
static void a_job(unsigned i)
{
	struct job_result *r = &result[i];

	done(&r->read, 90000, 1000, 50000);
	done(&r->read, 10000, 1000, 500000 + 100000 * i);
	r->runtime_ns = 1000000000 + 10000000 * i;
	r->max_in_flight = 16;
	r->depth_level[4] = 100000;
	r->submit_level[3] = 10000;
	r->complete_level[3] = 10000;
	r->busy_cycles = 700;
	r->idle_cycles = 300;
	r->counters = (struct blk_counters){.requests = 100000,
					    .commands = 100000,
					    .batches = 10000,
					    .kicks = 5000 * (i + 1),
					    .kicks_suppressed = 10,
					    .polls_empty = 7};
	stat_add(&r->read.bw_kib, 390000, 1);
	stat_add(&r->read.bw_kib, 394000 + 1000 * i, 1);
	stat_add(&r->read.iops, 97500, 1);
	stat_add(&r->read.iops, 98500 + 250 * i, 1);
}

static void write_text(void)
{
	report_text(&out.sink, &machine, result, run.nr_jobs);
}

/* The text from where @from first stands, up to where @to stands after that, is @expected. */
static void part(const char *from, const char *to, const char *expected)
{
	char *start = strstr(out.text, from), *end = start ? strstr(start, to) : NULL, kept;

	assert_non_null(end);
	kept = *end;
	*end = '\0';
	assert_string_equal(start, expected);
	*end = kept;
}

static void four_jobs_on_four_queues(void **state)
{
	(void)state;
	set_up("iodepth=16 name=a name=a name=a name=a");
	set_up_queues(4, BLK_IRQ);
	for (unsigned i = 0; i < 4; i++) {
		job_on(i, i, i);
		a_job(i);
		result[i].counters.interrupts = 4000;
		result[i].halted_cycles = 100 + i;
		result[i].caught_awake = 1 + i;
		result[i].caught_halted = 30;
		result[i].wakeups_missed = 2;
	}
	machine.tsc_skew_ns = 65000000; /* a bound, as on a busy host, and no reason to warn */
	machine.tsc_skew_least_ns = 1000;
	write_text();
	part("vda", "  read: ",
	     "vda 00:03.0: 4 queues for 4 CPUs\n"
	     "  queue  0, size   256:    irq         msix 1 cpu 0\n"
	     "  queue  1, size   256:    irq         msix 2 cpu 1\n"
	     "  queue  2, size   256:    irq         msix 3 cpu 2\n"
	     "  queue  3, size   256:    irq         msix 4 cpu 3\n"
	     "a: (groupid=0, jobs=1): err= 0: pid=0: vda\n");
	part("   bw (", "   iops",
	     "   bw (  KiB/s): min=390000, max=394000, per=25.24%, avg=392000.00, stdev=2828.43, "
	     "samples=2\n");
	part("  ringlab: vda 00:03.0 cpu=1", "  ringlab: waits",
	     "  ringlab: vda 00:03.0 cpu=1 queue=1 accel=tcg machine=q35 transport=modern "
	     "ring=split mode=irq irq=msix queues=4 qsize=256 event_idx=1 indirect=never "
	     "cache=writeback\n"
	     "  ringlab: kicks/io=0.100 irqs/io=0.040 batches/io=0.100 suppressed=10\n"
	     "  ringlab: polls_empty=7 ring_full=0 rekicks=0 cpu_busy=70.00% max_in_flight=16 "
	     "sgl_chunks=0\n");
	part("a: (groupid=0, jobs=4)", "machine: ",
	     "a: (groupid=0, jobs=4): err= 0: pid=0: vda\n"
	     "  read: IOPS=388k, BW=1517MiB/s (1591MB/s)(1563MiB/1030msec)\n"
	     "    slat (nsec): min=1000, max=1000, avg=1000.00, stdev= 0.00\n"
	     "    clat (usec): min=50, max=800, avg=110.00, stdev=183.44\n"
	     "     lat (usec): min=51, max=801, avg=111.00, stdev=183.44\n"
	     "    clat percentiles (usec):\n"
	     "     |  1.00th=[   50],  5.00th=[   50], 10.00th=[   50], 20.00th=[   50],\n"
	     "     | 30.00th=[   50], 40.00th=[   50], 50.00th=[   50], 60.00th=[   50],\n"
	     "     | 70.00th=[   50], 80.00th=[   50], 90.00th=[   50], 95.00th=[  603],\n"
	     "     | 99.00th=[  799], 99.50th=[  799], 99.90th=[  799], 99.95th=[  799],\n"
	     "     | 99.99th=[  799]\n"
	     "   bw (  MiB/s): min= 1523, max= 1544, per=100.00%, avg=1534.18, stdev= 2.93, "
	     "samples=8\n"
	     "   iops        : min=390000, max=395500, avg=392750.00, stdev=750.00, samples=8\n"
	     "  lat (usec)   : 50=90.00%, 750=7.50%, 1000=2.50%\n"
	     "  cpu          : usr=70.00%, sys=0.00%, ctx=0, majf=0, minf=0\n"
	     "  IO depths    : 1=0.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=100.0%, 32=0.0%, >=64=0.0%\n"
	     "     submit    : 0=0.0%, 4=0.0%, 8=0.0%, 16=100.0%, 32=0.0%, 64=0.0%, >=64=0.0%\n"
	     "     complete  : 0=0.0%, 4=0.0%, 8=0.0%, 16=100.0%, 32=0.0%, 64=0.0%, >=64=0.0%\n"
	     "     issued rwts: total=400000,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
	     "     latency   : target=0, window=0, percentile=100.00%, depth=16\n"
	     "  ringlab: all queues: kicks/io=0.125 irqs/io=0.040 batches/io=0.100 suppressed=40 "
	     "polls_empty=28 ring_full=0 rekicks=0\n"
	     "  ringlab: all cpus: cpu_busy=70.00% cpu_halted=10.15% caught awake=7.69% wakeups_missed=8\n"
	     "  ringlab: cpu disk queue   mode            irq jobs     IOPS kicks/io  irqs/io  "
	     "busy% halted% empty polls\n"
	     "  ringlab:   0  vda     0    irq         msix 1    1    97087    0.050    0.040  "
	     "70.00   10.00           7\n"
	     "  ringlab:   1  vda     1    irq         msix 2    1    97087    0.100    0.040  "
	     "70.00   10.10           7\n"
	     "  ringlab:   2  vda     2    irq         msix 3    1    97087    0.150    0.040  "
	     "70.00   10.20           7\n"
	     "  ringlab:   3  vda     3    irq         msix 4    1    97087    0.200    0.040  "
	     "70.00   10.30           7\n"
	     "  result: a rw=randread bs=4096 iodepth=16: IOPS=388350 BW=1517.0MiB/s accel=tcg "
	     "machine=q35 ring=split transport=modern mode=irq jobs=4 cpus=4 queues=4\n"
	     "\n"
	     "Run status group 0 (all jobs):\n"
	     "   READ: bw=1517MiB/s (1591MB/s), 379MiB/s-391MiB/s (398MB/s-410MB/s), io=1563MiB "
	     "(1638MB), run=1000-1030msec\n"
	     "\n"
	     "clock: TSC 2100.0 MHz (hpet, cross-check pm-timer, 3 ppm)\n"
	     "clock: TSC skew between 4 CPUs: at most 65.0 ms\n");
	has_not("warning");
}

/* The counters of the queue, which both jobs have, are of both: half the kicks per I/O, once. */
static void two_jobs_share_a_queue(void **state)
{
	(void)state;
	set_up("iodepth=16 name=a name=b bs=8k rw=randrw iodepth=1");
	machine.cpus = 2;
	for (unsigned i = 0; i < 2; i++) {
		job_on(i, i, 0);
		a_job(i);
		result[i].sharers = 2;
		result[i].counters.requests = 199990 + 10 * i;
	}
	write_text();
	part("vda", "  read: ",
	     "vda 00:03.0: 1 queue for 2 CPUs\n"
	     "  queue  0, size   256:   poll           none cpu 0 1\n"
	     "a: (groupid=0, jobs=1): err= 0: pid=0: vda\n");
	part("  ringlab: vda 00:03.0 cpu=1", "a: (groupid=0, jobs=2)",
	     "  ringlab: vda 00:03.0 cpu=1 queue=0 accel=tcg machine=q35 transport=modern "
	     "ring=split mode=poll irq=none queues=1 qsize=256 event_idx=1 indirect=never "
	     "cache=writeback\n"
	     "  ringlab: kicks/io=0.050 irqs/io=0.000 batches/io=0.050 suppressed=10\n"
	     "  ringlab: polls_empty=7 ring_full=0 rekicks=0 cpu_busy=70.00% max_in_flight=16 "
	     "sgl_chunks=0\n"
	     "  ringlab: queue shared by 2 jobs, figures of the queue: kicks, irqs, batches, "
	     "suppressed, polls_empty, ring_full, rekicks\n"
	     "  ringlab: time stamps: 25.0 ns each, 7.5 ns/io, 0.07% of the run\n"
	     "  result: b rw=randrw bs=8192 iodepth=1: IOPS=99010 BW=386.8MiB/s accel=tcg "
	     "machine=q35 ring=split transport=modern mode=poll jobs=1 cpus=1 queues=1\n");
	part("a: (groupid=0, jobs=2)", "\nclock: ",
	     "a: (groupid=0, jobs=2): err= 0: pid=0: vda\n"
	     "  read: IOPS=198k, BW=774MiB/s (811MB/s)(781MiB/1010msec)\n"
	     "    slat (nsec): min=1000, max=1000, avg=1000.00, stdev= 0.00\n"
	     "    clat (usec): min=50, max=600, avg=100.00, stdev=150.83\n"
	     "     lat (usec): min=51, max=601, avg=101.00, stdev=150.83\n"
	     "    clat percentiles (usec):\n"
	     "     |  1.00th=[   50],  5.00th=[   50], 10.00th=[   50], 20.00th=[   50],\n"
	     "     | 30.00th=[   50], 40.00th=[   50], 50.00th=[   50], 60.00th=[   50],\n"
	     "     | 70.00th=[   50], 80.00th=[   50], 90.00th=[   50], 95.00th=[  502],\n"
	     "     | 99.00th=[  600], 99.50th=[  600], 99.90th=[  600], 99.95th=[  600],\n"
	     "     | 99.99th=[  600]\n"
	     "   bw (  KiB/s): min=780000, max=789000, per=99.04%, avg=784500.00, stdev=2614.06, "
	     "samples=4\n"
	     "   iops        : min=195000, max=197250, avg=196125.00, stdev=653.52, samples=4\n"
	     "  lat (usec)   : 50=90.00%, 750=10.00%\n"
	     "  cpu          : usr=70.00%, sys=0.00%, ctx=0, majf=0, minf=0\n"
	     "  IO depths    : 1=0.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=100.0%, 32=0.0%, >=64=0.0%\n"
	     "     submit    : 0=0.0%, 4=0.0%, 8=0.0%, 16=100.0%, 32=0.0%, 64=0.0%, >=64=0.0%\n"
	     "     complete  : 0=0.0%, 4=0.0%, 8=0.0%, 16=100.0%, 32=0.0%, 64=0.0%, >=64=0.0%\n"
	     "     issued rwts: total=200000,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
	     "     latency   : target=0, window=0, percentile=100.00%, depth=16\n"
	     "  ringlab: all queues: kicks/io=0.050 irqs/io=0.000 batches/io=0.050 suppressed=10 "
	     "polls_empty=7 ring_full=0 rekicks=0\n"
	     "  ringlab: all cpus: cpu_busy=70.00% cpu_halted=0.00%\n"
	     "  ringlab: cpu disk queue   mode            irq jobs     IOPS kicks/io  irqs/io  "
	     "busy% halted% empty polls\n"
	     "  ringlab:   0  vda     0   poll           none    1    99010    0.050    0.000  "
	     "70.00    0.00           7\n"
	     "  ringlab:   1  vda     0   poll           none    1    99010    0.050    0.000  "
	     "70.00    0.00           7\n"
	     "  ringlab: a queue in several rows: kicks, irqs and empty polls are those of the "
	     "whole queue in each\n"
	     "  result: mixed rw=mixed bs=mixed iodepth=mixed: IOPS=198020 BW=773.5MiB/s accel=tcg "
	     "machine=q35 ring=split transport=modern mode=poll jobs=2 cpus=2 queues=1\n"
	     "\n"
	     "Run status group 0 (all jobs):\n"
	     "   READ: bw=774MiB/s (811MB/s), 387MiB/s-391MiB/s (406MB/s-410MB/s), io=781MiB "
	     "(819MB), run=1000-1010msec\n");
}

/* So are the cycles of a CPU; the disks are two. */
static void two_jobs_share_a_cpu(void **state)
{
	struct blk_device disks[2];

	(void)state;
	set_up("iodepth=16 name=a rw=randrw name=b");
	disks[0] = disks[1] = disk;
	strcpy(disks[1].name, "vdb");
	machine.devices = disks;
	machine.nr_devices = 2;
	for (unsigned i = 0; i < 2; i++) {
		job_on(i, 0, 0);
		a_job(i);
		plan[i].device = &disks[i];
		result[i].cpu_jobs = 2;
	}
	result[1].busy_cycles = 800;
	result[1].errors[BLK_IO_ERROR] = 3;
	result[1].first_error = BLK_IO_ERROR;
	done(&result[0].write, 50000, 1000, 70000);
	write_text();
	part("  ringlab: cpu shared", "  ringlab: time",
	     "  ringlab: cpu shared by 2 jobs, figures of the cpu: usr, cpu_busy, waits\n");
	part("a: (groupid=0, jobs=2)", "    slat",
	     "a: (groupid=0, jobs=2): err= 5: pid=0: vda vdb\n"
	     "  read: IOPS=198k, BW=774MiB/s (811MB/s)(781MiB/1010msec)\n");
	part("     issued rwts: total=200000", "\nclock: ",
	     "     issued rwts: total=200000,50000,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
	     "     latency   : target=0, window=0, percentile=100.00%, depth=16\n"
	     "  ringlab: all queues: kicks/io=0.060 irqs/io=0.000 batches/io=0.080 suppressed=20 "
	     "polls_empty=14 ring_full=0 rekicks=0\n"
	     "  ringlab: all cpus: cpu_busy=72.73% cpu_halted=0.00%\n"
	     "  ringlab: cpu disk queue   mode            irq jobs     IOPS kicks/io  irqs/io  "
	     "busy% halted% empty polls\n"
	     "  ringlab:   0  vda     0   poll           none    1   148515    0.033    0.000  "
	     "72.73    0.00           7\n"
	     "  ringlab:   0  vdb     0   poll           none    1    99010    0.100    0.000  "
	     "72.73    0.00           7\n"
	     "  ringlab: a cpu in several rows: busy and halted are those of the whole cpu in "
	     "each\n"
	     "  result: mixed rw=mixed bs=4096 iodepth=16: IOPS=247525 BW=966.9MiB/s accel=tcg "
	     "machine=q35 ring=split transport=modern mode=poll jobs=2 cpus=1 queues=2\n"
	     "\n"
	     "Run status group 0 (all jobs):\n"
	     "   READ: bw=774MiB/s (811MB/s), 387MiB/s-391MiB/s (406MB/s-410MB/s), io=781MiB "
	     "(819MB), run=1000-1010msec\n"
	     "  WRITE: bw=195MiB/s (205MB/s), 195MiB/s-195MiB/s (205MB/s-205MB/s), io=195MiB "
	     "(205MB), run=1000-1000msec\n");
}

/* Where they share both, they share a row. */
static void three_jobs_in_two_rows(void **state)
{
	(void)state;
	set_up("name=a name=a name=a");
	set_up_queues(2, BLK_HYBRID);
	for (unsigned i = 0; i < 3; i++) {
		job_on(i, i % 2, i % 2);
		a_job(i);
		result[i].counters.requests = i % 2 ? 100000 : 200000;
	}
	result[0].sharers = result[0].cpu_jobs = result[2].sharers = result[2].cpu_jobs = 2;
	write_text();
	part("  ringlab: cpu disk", "  result: a rw=randread bs=4096 iodepth=1: IOPS=294118 ",
	     "  ringlab: cpu disk queue   mode            irq jobs     IOPS kicks/io  irqs/io  "
	     "busy% halted% empty polls\n"
	     "  ringlab:   0  vda     0 hybrid         msix 1    2   196078    0.025    0.000  "
	     "70.00    0.00           7\n"
	     "  ringlab:   1  vda     1 hybrid         msix 2    1    98039    0.100    0.000  "
	     "70.00    0.00           7\n");
}

static void two_groups(void **state)
{
	(void)state;
	set_up("iodepth=16 name=a name=a name=b stonewall name=b");
	set_up_queues(2, BLK_POLL);
	for (unsigned i = 0; i < 4; i++) {
		job_on(i, i % 2, i % 2);
		a_job(i);
		result[i].group = i / 2;
	}
	machine.tsc_skew_ns = 1500;
	machine.tsc_skew_least_ns = 1001;
	write_text();
	part("a: (groupid=0, jobs=2)", "    slat",
	     "a: (groupid=0, jobs=2): err= 0: pid=0: vda\n"
	     "  read: IOPS=198k, BW=774MiB/s (811MB/s)(781MiB/1010msec)\n");
	part("b: (groupid=1, jobs=2)", "    slat",
	     "b: (groupid=1, jobs=2): err= 0: pid=0: vda\n"
	     "  read: IOPS=194k, BW=758MiB/s (795MB/s)(781MiB/1030msec)\n");
	part("  ringlab: all queues: kicks/io=0.175", "machine: ",
	     "  ringlab: all queues: kicks/io=0.175 irqs/io=0.000 batches/io=0.100 suppressed=20 "
	     "polls_empty=14 ring_full=0 rekicks=0\n"
	     "  ringlab: all cpus: cpu_busy=70.00% cpu_halted=0.00%\n"
	     "  ringlab: cpu disk queue   mode            irq jobs     IOPS kicks/io  irqs/io  "
	     "busy% halted% empty polls\n"
	     "  ringlab:   0  vda     0   poll           none    1    97087    0.150    0.000  "
	     "70.00    0.00           7\n"
	     "  ringlab:   1  vda     1   poll           none    1    97087    0.200    0.000  "
	     "70.00    0.00           7\n"
	     "  result: b rw=randread bs=4096 iodepth=16: IOPS=194175 BW=758.5MiB/s accel=tcg "
	     "machine=q35 ring=split transport=modern mode=poll jobs=2 cpus=2 queues=2\n"
	     "\n"
	     "Run status group 0 (all jobs):\n"
	     "   READ: bw=774MiB/s (811MB/s), 387MiB/s-391MiB/s (406MB/s-410MB/s), io=781MiB "
	     "(819MB), run=1000-1010msec\n"
	     "\n"
	     "Run status group 1 (all jobs):\n"
	     "   READ: bw=758MiB/s (795MB/s), 379MiB/s-383MiB/s (398MB/s-402MB/s), io=781MiB "
	     "(819MB), run=1020-1030msec\n"
	     "\n"
	     "clock: TSC 2100.0 MHz (hpet, cross-check pm-timer, 3 ppm)\n"
	     "clock: TSC skew between 2 CPUs: at most 1.5 us\n"
	     "warning: the clocks of the CPUs are at least 1.0 us apart: a start common to "
	     "several jobs is no more exact than that\n");
}

/* Jobs that start together do not get there in their order. */
static void first_of_all(void **state)
{
	(void)state;
	set_up("name=a name=b name=c");
	assert_int_equal(results_first_done_cycles(result, 3), 0);
	result[1].first_done_cycles = 700;
	result[2].first_done_cycles = 600;
	assert_int_equal(results_first_done_cycles(result, 3), 600);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_jobs_on_four_queues),
		cmocka_unit_test(two_jobs_share_a_queue),
		cmocka_unit_test(two_jobs_share_a_cpu),
		cmocka_unit_test(three_jobs_in_two_rows),
		cmocka_unit_test(two_groups),
		cmocka_unit_test(first_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
