/* SPDX-License-Identifier: BSD-2-Clause */
/* When may a job send its next request? rate_iops= and thinktime= hold it back. */
#include "kernel/bench/pace.h"

#include <arch/machine.h>

#include "lib/wide.h"

#define NEVER UINT64_MAX

void pace_init(struct pace *pace, const struct job_options *o, uint64_t now)
{
	*pace = (struct pace){
		.on = o->rate_iops[0] || o->rate_iops[1] || o->thinktime_ns,
		.rate = {{.iops = o->rate_iops[0], .origin = now},
			 {.iops = o->rate_iops[1], .origin = now}},
		.uses = {job_rw_reads(o->rw), job_rw_writes(o->rw)},
		.iodepth = o->iodepth,
		.think_cycles = ns_to_cycles(o->thinktime_ns),
		.think_blocks = o->thinktime_blocks,
		.think_left = o->thinktime_blocks,
	};
}

/* How many of its requests a direction may send at @now: what is due, less what was sent. */
static unsigned rate_allows(struct pace_rate *r, unsigned most, uint64_t now)
{
	uint64_t due;

	if (r->iops == 0)
		return most;
	due = wide_mul_div(now - r->origin, r->iops, timebase.hz) + 1;
	if (due <= r->sent)
		return 0;
	return due - r->sent < most ? (unsigned)(due - r->sent) : most;
}

/* The cycle at which the next request becomes due: the first where rate * time reaches sent. */
static uint64_t rate_next(const struct pace_rate *r)
{
	return r->origin + wide_mul_div(r->sent, timebase.hz, r->iops) + 1;
}

unsigned pace_allows(struct pace *p, unsigned n, uint64_t now)
{
	uint64_t sum = 0, next = NEVER;

	if (now < p->not_before)
		return 0;
	if (p->think_cycles && p->think_left == 0)
		p->think_left = p->think_blocks;
	for (unsigned i = 0; i < 2; i++) {
		struct pace_rate *r = &p->rate[i];

		r->allowed = p->uses[i] ? rate_allows(r, p->iodepth, now) : 0;
		sum += r->allowed;
		if (p->uses[i] && r->allowed == 0 && rate_next(r) < next)
			next = rate_next(r);
	}
	p->not_before = sum ? now : next;
	if (n > sum)
		n = (unsigned)sum;
	if (p->think_cycles && n > p->think_left)
		n = p->think_left;
	return n;
}

bool pace_pick(struct pace *p, bool write)
{
	struct pace_rate *r;

	if (p->rate[write].allowed == 0)
		write = !write;
	r = &p->rate[write];
	r->allowed--;
	r->sent += r->iops != 0;
	if (p->think_cycles && --p->think_left == 0)
		p->not_before = NEVER;
	return write;
}

void pace_drained(struct pace *p, uint64_t now)
{
	if (p->think_cycles && p->think_left == 0 && p->not_before == NEVER)
		p->not_before = now + p->think_cycles;
}
