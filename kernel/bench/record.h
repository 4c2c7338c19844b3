/* SPDX-License-Identifier: BSD-2-Clause */
/* What is written down about each request? The hot path of the accounting, in nanoseconds. */
#ifndef KERNEL_BENCH_RECORD_H
#define KERNEL_BENCH_RECORD_H

#include <arch/machine.h>

#include "kernel/bench/result.h"

/* fio's words: slat from making a request to handing it over, clat from there to reaping it,
 * lat both. All requests of a batch were handed over, or reaped, at the same moment. */

static inline struct direction_result *record_direction(struct job_result *r, uint8_t op)
{
	return op == BLK_WRITE ? &r->write : &r->read;
}

static inline void record_done(struct job_result *r, const struct blk_request *req, uint64_t now)
{
	struct direction_result *d = record_direction(r, req->op);
	uint64_t clat = cycles_to_ns(now - req->issued_cycles);

	d->ios++;
	d->bytes += req->sgl.len_bytes;
	stat_add(&d->clat_ns, clat, 1);
	stat_add(&d->lat_ns, cycles_to_ns(now - req->started_cycles), 1);
	histogram_add(&d->clat, clat);
}

/* A failed request counts as an error and nowhere else. */
void record_error(struct job_result *r, const struct blk_request *req);
/* A batch was handed over with @in_flight requests then out, itself included. */
void record_submitted(struct job_result *r, struct blk_request *const *reqs, unsigned n,
		      unsigned in_flight);
void record_completed(struct job_result *r, unsigned n, uint64_t now);
/* Forgets all figures, as at the end of the ramp time; errors are kept. */
void record_reset(struct job_result *r);
/* @now minus @then, count by count. */
struct blk_counters record_counters_since(const struct blk_counters *now,
					  const struct blk_counters *then);

#endif
