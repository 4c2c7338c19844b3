/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a test of the reports get jobs with known results, and look at what was written? */
#ifndef TESTS_UNIT_REPORT_JOBS_H
#define TESTS_UNIT_REPORT_JOBS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/block/blk_queue.h"
#include "kernel/bench/report.h"
#include "lib/mem.h"

struct buffer {
	struct sink sink;
	size_t len;
	char text[65536];
};

static struct buffer out;
static struct run_options run;
static struct blk_device disk;
static struct report_machine machine;
#define TEST_JOBS 4
static struct blk_queue queue[TEST_JOBS];
static struct blk_queue *queues[TEST_JOBS];
static struct job_plan plan[TEST_JOBS];
static struct job_result result[TEST_JOBS];
static char line[512];

static inline void buffer_write(struct sink *sink, const char *text, size_t len)
{
	struct buffer *b = (struct buffer *)sink;

	assert_true(b->len + len < sizeof(b->text));
	memcpy(b->text + b->len, text, len);
	b->len += len;
	b->text[b->len] = '\0';
}

static inline void clear_direction(struct direction_result *d)
{
	memset(d, 0, sizeof(*d));
	d->slat_ns = d->clat_ns = d->lat_ns = d->bw_kib = d->iops = STAT_INIT;
}

/* A q35 under TCG with one 64 MiB disk. */
static inline void set_up_machine(void)
{
	disk = (struct blk_device){.name = "vda",
				   .address = "00:03.0",
				   .capacity_512 = 131072,
				   .block_bytes = 512,
				   .seg_max = 126,
				   .flush = true,
				   .writeback = true,
				   .event_idx = true,
				   .transport = "modern",
				   .ring = "split",
				   .indirect = "never",
				   .interrupt = "none",
				   .queue_size = 256,
				   .queues = queues,
				   .nr_queues = 1};
	for (unsigned i = 0; i < TEST_JOBS; i++) {
		queues[i] = &queue[i];
		queue[i].info = (struct blk_queue_info){.index = (uint16_t)i,
							.size = 256,
							.interrupt = "none",
							.vector = 0xffff,
							.cpu = i};
	}
	machine = (struct report_machine){.version = "0.1.0",
					  .accel = "tcg",
					  .machine = "q35",
					  .cpu = "QEMU Virtual CPU",
					  .firmware = "pvh",
					  .cpus = 1,
					  .tsc_skew_ns = UINT64_MAX,
					  .tsc_hz = 2100000000,
					  .tsc_source = "hpet",
					  .tsc_cross_source = "pm-timer",
					  .tsc_cross_ppm = 3,
					  .stamp_ps = 25000,
					  .tsc_trusted = true,
					  .ram_bytes = 256 << 20,
					  .image_bytes = 98304,
					  .boot_to_kernel_ns = 92149999,
					  .boot_to_first_io_ns = 12050000,
					  .nr_devices = 1,
					  .devices = &disk};
}

/* The jobs of @text on that machine, with nothing done yet. */
static inline void set_up(const char *text)
{
	char error[256] = "";

	out = (struct buffer){.sink = {buffer_write}};
	set_up_machine();
	snprintf(line, sizeof(line), "%s", text);
	assert_true(options_parse(line, &run, error, sizeof(error)));
	assert_in_range(run.nr_jobs, 1, TEST_JOBS);
	for (unsigned i = 0; i < run.nr_jobs; i++) {
		assert_true(plan_job(&plan[i], &run.job[i], &disk, error, sizeof(error)));
		memset(&result[i], 0, sizeof(result[i]));
		result[i].plan = &plan[i];
		clear_direction(&result[i].read);
		clear_direction(&result[i].write);
		result[i].group = i;
		result[i].sharers = result[i].cpu_jobs = 1;
		result[i].queue = queue[0].info;
	}
}

/* The disk has a queue for each of as many CPUs, with a vector of its own if @mode wants one. */
static inline void set_up_queues(unsigned n, enum blk_mode mode)
{
	machine.cpus = n;
	disk.nr_queues = (uint16_t)n;
	for (unsigned i = 0; i < n && mode != BLK_POLL; i++) {
		queue[i].info.mode = mode;
		queue[i].info.interrupt = "msix";
		queue[i].info.vector = (uint16_t)(i + 1);
	}
}

/* Job @i runs on @cpu, and through @q, at the same time as the others of group 0. */
static inline void job_on(unsigned i, unsigned cpu, unsigned q)
{
	result[i].group = 0;
	result[i].number = i;
	result[i].cpu = cpu;
	result[i].queue = queue[q].info;
}

/* @times I/Os of 4 KiB, each with these latencies. */
static inline void done(struct direction_result *d, uint64_t times, uint64_t slat_ns,
			uint64_t clat_ns)
{
	d->ios += times;
	d->bytes += times * 4096;
	stat_add(&d->slat_ns, slat_ns, times);
	stat_add(&d->clat_ns, clat_ns, times);
	stat_add(&d->lat_ns, slat_ns + clat_ns, times);
	d->clat.count[histogram_bucket(clat_ns)] += times;
}

/* 336 941 reads in 2.001 s at depth 16: the totals of a run of fio 3.33 whose lines are known. */
static inline void a_read_job(struct job_result *r)
{
	done(&r->read, 300000, 3000, 80000);
	done(&r->read, 36000, 3000, 123456);
	done(&r->read, 941, 4000, 3456789);
	r->runtime_ns = 2001000000;
	r->max_in_flight = 16;
	r->ramp_ios = 12;
	r->depth_level[0] = 1;
	r->depth_level[4] = 336940;
	r->submit_level[4] = 21059;
	r->complete_level[1] = 21058;
	r->complete_level[3] = 1;
	r->busy_cycles = 600;
	r->idle_cycles = 400;
	r->counters = (struct blk_counters){.requests = 336941,
					    .commands = 336941,
					    .batches = 21059,
					    .kicks = 10529,
					    .kicks_suppressed = 10530,
					    .polls_empty = 77};
	stat_add(&r->read.bw_kib, 635065, 1);
	stat_add(&r->read.bw_kib, 700768, 2);
	stat_add(&r->read.iops, 158766, 1);
	stat_add(&r->read.iops, 175192, 2);
}

static inline void has(const char *text)
{
	if (strstr(out.text, text))
		return;
	fprintf(stderr, "%s\n", out.text);
	fail_msg("the text above lacks '%s'", text);
}

static inline void has_not(const char *text)
{
	if (!strstr(out.text, text))
		return;
	fprintf(stderr, "%s\n", out.text);
	fail_msg("the text above holds '%s'", text);
}

#endif
