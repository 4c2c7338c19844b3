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

/* The counters as an array, so that none can be forgotten. */
union counters {
	struct blk_counters named;
	uint64_t count[sizeof(struct blk_counters) / sizeof(uint64_t)];
};
_Static_assert(sizeof(union counters) == sizeof(struct blk_counters), "all are of 64 bits");

struct blk_counters record_counters_since(const struct blk_counters *now,
					  const struct blk_counters *then)
{
	union counters c = {.named = *now}, before = {.named = *then};

	for (unsigned i = 0; i < ARRAY_SIZE(c.count); i++)
		c.count[i] -= before.count[i];
	return c.named;
}

void record_counters_add(struct blk_counters *to, const struct blk_counters *from)
{
	union counters sum = {.named = *to}, more = {.named = *from};

	for (unsigned i = 0; i < ARRAY_SIZE(sum.count); i++)
		sum.count[i] += more.count[i];
	*to = sum.named;
}
