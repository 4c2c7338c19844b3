/* SPDX-License-Identifier: BSD-2-Clause */
/* What is written down about each request? The hot path of the accounting, in nanoseconds. */
#ifndef KERNEL_BENCH_RECORD_H
#define KERNEL_BENCH_RECORD_H

#include <arch/machine.h>

#include "kernel/bench/result.h"

struct job;

/*
 * fio's words: slat from making a request to handing it over, clat from there to reaping it, lat
 * both. Requests that were made and handed over together share a batch, and those of them that
 * also come back together have the same latencies: they are written down as one sample, n times.
 */
struct io_batch {
	uint64_t started_cycles, issued_cycles, slat_ns;
	struct job *job; /* whose it is, for good */
	unsigned users;	 /* requests that refer to it */
};

static inline struct direction_result *record_direction(struct job_result *r, uint8_t op)
{
	return op == BLK_WRITE ? &r->write : &r->read;
}

/* @n requests of @batch were found done at @now. */
static inline void record_done(struct direction_result *d, const struct io_batch *batch,
			       uint64_t now, uint64_t n)
{
	uint64_t clat = cycles_to_ns(now - batch->issued_cycles);

	d->ios += n;
	stat_add(&d->clat_ns, clat, n);
	stat_add(&d->lat_ns, batch->slat_ns + clat, n);
	d->clat.count[histogram_bucket(clat)] += n;
}

/* Whether a request failed because the queue broke, so that nothing further can be done. */
static inline bool record_ends_job(const struct blk_request *req)
{
	return req->progress.status == BLK_DEVICE_GONE || req->progress.status == BLK_TIMED_OUT;
}

/* A failed request counts as an error and nowhere else. */
void record_error(struct job_result *r, const struct blk_request *req);
/* fio's classes of depth: 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 and more. */
static inline unsigned depth_class(unsigned depth)
{
	unsigned log2 = 31 ^ (unsigned)__builtin_clz(depth | 1);

	return log2 < DEPTH_LEVELS ? log2 : DEPTH_LEVELS - 1;
}

/* fio's classes of batches: 0, up to 4, 8, 16, 32, 64, more. */
static inline unsigned batch_class(unsigned n)
{
	if (n == 0)
		return 0;
	if (n <= 4)
		return 1;
	n = 31 ^ (unsigned)__builtin_clz(n - 1);
	return n < DEPTH_LEVELS ? n : DEPTH_LEVELS - 1;
}

/* @n requests of @batch, @writes of them writes, were handed over; @in_flight are out now. */
static inline void record_submitted(struct job_result *r, struct io_batch *batch, unsigned n,
				    unsigned writes, unsigned in_flight)
{
	uint64_t slat = cycles_to_ns(batch->issued_cycles - batch->started_cycles);

	batch->slat_ns = slat;
	if (n > writes)
		stat_add(&r->read.slat_ns, slat, n - writes);
	if (writes)
		stat_add(&r->write.slat_ns, slat, writes);
	r->submit_level[batch_class(n)]++;
	r->depth_level[depth_class(in_flight)] += n;
	if (in_flight > r->max_in_flight)
		r->max_in_flight = in_flight;
}

static inline void record_completed(struct job_result *r, unsigned n, uint64_t now)
{
	if (r->first_done_cycles == 0 && r->read.ios + r->write.ios > 0)
		r->first_done_cycles = now;
	r->complete_level[batch_class(n)]++;
}

/* Forgets all figures, as at the end of the ramp time; errors are kept. */
void record_reset(struct job_result *r);
/* @now minus @then, count by count. */
struct blk_counters record_counters_since(const struct blk_counters *now,
					  const struct blk_counters *then);
void record_counters_add(struct blk_counters *to, const struct blk_counters *from);

#endif
