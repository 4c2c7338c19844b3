/* SPDX-License-Identifier: BSD-2-Clause */
/* How are batches, depths and errors counted? */
#include "kernel/bench/record.h"

#include "lib/mem.h"

void record_error(struct job_result *r, const struct blk_request *req)
{
	if (result_errors(r) == 0) {
		r->first_error = req->progress.status;
		r->first_error_lba_512 = req->lba_512;
	}
	r->errors[req->progress.status]++;
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
	r->busy_cycles = r->idle_cycles = r->halted_cycles = r->max_in_flight = 0;
	r->caught_awake = r->caught_halted = r->wakeups_missed = 0;
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
		.interrupts_spurious = now->interrupts_spurious - then->interrupts_spurious,
		.polls_empty = now->polls_empty - then->polls_empty,
		.indirect = now->indirect - then->indirect,
		.ring_full = now->ring_full - then->ring_full,
		.rekicks = now->rekicks - then->rekicks,
		.timeouts = now->timeouts - then->timeouts,
		.queue_resets = now->queue_resets - then->queue_resets,
	};
}
