/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How does a CPU halt until one of its queues interrupts, or a job's time has come?
 *
 * Interrupts are off outside of interrupt_wait(): nothing comes between the look of blk_port_arm()
 * and the halt. A CPU with something in flight on a polled queue never halts.
 */
#include "kernel/bench/lane.h"

#define LATE_NS 10000000ull /* for an interrupt on its way; a busy host is slow with it */

struct outlook {
	bool spins;  /* something is only found by polling */
	bool hybrid; /* a queue is worth a while of that */
	bool out;    /* something is in flight */
};

static struct outlook look(const struct lane *l)
{
	struct outlook o = {0};

	for (unsigned i = 0; i < l->nr_ports; i++) {
		const struct lane_port *p = &l->port[i];

		if (p->in_flight) {
			o.out = true;
			o.spins |= p->mode == BLK_POLL;
			o.hybrid |= p->mode == BLK_HYBRID;
		}
		o.spins |= p->full && p->in_flight == 0;
	}
	return o;
}

/* The next event, or when a job that holds itself back goes on. */
static uint64_t deadline(const struct lane *l)
{
	uint64_t first = l->next_event;

	for (unsigned i = 0; i < l->nr_live; i++)
		if (job_due(l->job[i]) < first)
			first = job_due(l->job[i]);
	return first;
}

/* False: something has come meanwhile. */
static bool arm(struct lane *l)
{
	for (unsigned i = 0; i < l->nr_ports; i++) {
		struct lane_port *p = &l->port[i];

		if (p->in_flight == 0)
			continue;
		p->irqs_before = blk_interrupts(p->blk.queue);
		p->armed = true;
		if (!blk_port_arm(&p->blk, p->coalesce))
			return false;
	}
	return true;
}

static void disarm(struct lane *l)
{
	for (unsigned i = 0; i < l->nr_ports; i++) {
		if (l->port[i].armed)
			blk_port_disarm(&l->port[i].blk);
		l->port[i].armed = false;
	}
}

/*
 * The halt ended by time alone, and what it waited for is there: an interrupt that does not come in
 * a moment was lost. A healthy run counts none.
 */
static void count_missed(struct lane *l)
{
	for (unsigned i = 0; i < l->nr_ports; i++) {
		struct lane_port *p = &l->port[i];

		if (!p->armed || !p->counts_missed ||
		    blk_interrupts(p->blk.queue) != p->irqs_before ||
		    blk_port_arm(&p->blk, p->coalesce))
			continue;
		interrupt_wait(cycles() + ns_to_cycles(LATE_NS));
		l->usage.wakeups_missed += blk_interrupts(p->blk.queue) == p->irqs_before;
	}
}

static void halt(struct lane *l, uint64_t until)
{
	uint64_t from = l->now;

	interrupt_wait(until);
	l->now = l->idle_mark = cycles();
	l->usage.halted_cycles += l->now - from;
	l->usage.idle_cycles += l->now - from;
}

static void __attribute__((noinline)) sleep(struct lane *l)
{
	uint64_t until = deadline(l);

	if (arm(l)) {
		halt(l, until);
		l->waiter.slept = true;
		if (l->now >= until)
			count_missed(l);
	}
	disarm(l);
}

void lane_wait(struct lane *l)
{
	struct waiter *w = &l->waiter;
	struct outlook o;

	if (w->waiting && l->now < w->spin_until)
		return;
	o = look(l);
	if (o.spins)
		return;
	if (!o.out) {
		halt(l, deadline(l));
		return;
	}
	if (!w->waiting)
		waiter_begin(w, o.hybrid, l->now);
	if (l->now >= w->spin_until)
		sleep(l);
}
