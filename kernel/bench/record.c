/* SPDX-License-Identifier: BSD-2-Clause */
/* How are batches, depths and errors counted? */
#include "kernel/bench/record.h"

#include "lib/mem.h"

/* fio's classes of depth: 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 and more. */
static unsigned depth_class(unsigned depth)
{
	unsigned log2 = 31 - (unsigned)__builtin_clz(depth | 1);

	return log2 < DEPTH_LEVELS ? log2 : DEPTH_LEVELS - 1;
}

/* fio's classes of batches: 0, up to 4, 8, 16, 32, 64, more. */
static unsigned batch_class(unsigned n)
{
	if (n == 0)
		return 0;
	if (n <= 4)
		return 1;
	n = 32 - (unsigned)__builtin_clz(n - 1) - 1;
	return n < DEPTH_LEVELS ? n : DEPTH_LEVELS - 1;
}

void record_error(struct job_result *r, const struct blk_request *req)
{
	if (result_errors(r) == 0) {
		r->first_error = req->progress.status;
		r->first_error_lba_512 = req->lba_512;
	}
	r->errors[req->progress.status]++;
}

void record_submitted(struct job_result *r, const struct io_batch *batch, unsigned n,
		      unsigned writes, unsigned in_flight)
{
	uint64_t slat = cycles_to_ns(batch->issued_cycles - batch->started_cycles);

	if (n > writes)
		stat_add(&r->read.slat_ns, slat, n - writes);
	if (writes)
		stat_add(&r->write.slat_ns, slat, writes);
	r->submit_level[batch_class(n)]++;
	r->depth_level[depth_class(in_flight)] += n;
	if (in_flight > r->max_in_flight)
		r->max_in_flight = in_flight;
}

void record_completed(struct job_result *r, unsigned n, uint64_t now)
{
	if (r->first_done_cycles == 0 && r->read.ios + r->write.ios > 0)
		r->first_done_cycles = now;
	r->complete_level[batch_class(n)]++;
}

static void reset_direction(struct direction_result *d)
{
	memset(d, 0, sizeof(*d)); /* too large for a literal on the stack */
	d->slat_ns = d->clat_ns = d->lat_ns = d->bw_kib = d->iops = STAT_INIT;
}

void record_reset(struct job_result *r)
{
	reset_direction(&r->read);
	reset_direction(&r->write);
	for (unsigned i = 0; i < DEPTH_LEVELS; i++)
		r->depth_level[i] = r->submit_level[i] = r->complete_level[i] = 0;
	r->busy_cycles = r->idle_cycles = r->max_in_flight = 0;
}

struct blk_counters record_counters_since(const struct blk_counters *now,
					  const struct blk_counters *then)
{
	return (struct blk_counters){
		.requests = now->requests - then->requests,
		.commands = now->commands - then->commands,
		.batches = now->batches - then->batches,
		.kicks = now->kicks - then->kicks,
		.kicks_suppressed = now->kicks_suppressed - then->kicks_suppressed,
		.interrupts = now->interrupts - then->interrupts,
		.polls_empty = now->polls_empty - then->polls_empty,
		.indirect = now->indirect - then->indirect,
		.ring_full = now->ring_full - then->ring_full,
		.rekicks = now->rekicks - then->rekicks,
		.timeouts = now->timeouts - then->timeouts,
	};
}
