/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How does one CPU run several jobs at a time? In turns, without threads:
 *
 *     issue()     each job sends what it may: all that it has free, so at most its iodepth
 *     poll()      each port with something in flight is polled once, its jobs take what came
 *     idle()      nothing came: spin, or halt
 *     events()    now and then: samples, ends, requests that are stuck
 */
#include "kernel/bench/lane.h"

#include "kernel/bench/job_io.h"
#include "lib/mem.h"

/* One function, for the sake of its registers. */
#define hot inline __attribute__((always_inline))

#define CHECK_NS   10000000ull /* between two looks for stuck requests */
#define SPIN_POLLS 1024	       /* of one turn, at the most */
#define FREE_POLLS 64	       /* worth it whatever the device, and not counted as a wait */

static void schedule(struct lane *l)
{
	l->next_event = l->next_check;
	for (unsigned i = 0; i < l->nr_live; i++)
		if (l->job[i]->window.next_event < l->next_event)
			l->next_event = l->job[i]->window.next_event;
	if (l->meter && l->meter->next < l->next_event)
		l->next_event = l->meter->next;
	l->attention = l->lets_in ? 0 : l->next_event;
}

void lane_start(struct lane *l)
{
	l->now = cycles();
	l->next_check = l->now + ns_to_cycles(CHECK_NS);
	l->nr_live = l->nr_jobs;
	waiter_init(&l->waiter);
	for (unsigned i = 0; i < l->nr_jobs; i++)
		job_start(l->job[i], l->now);
	schedule(l);
}

/* Job @i goes before all but the first @ahead, which keep their order. */
static void go_ahead(struct lane *l, unsigned i, unsigned ahead)
{
	struct job *job = l->job[i];

	for (; i > ahead; i--)
		l->job[i] = l->job[i - 1];
	l->job[ahead] = job;
}

/*
 * Of job @i nothing was taken. If the ring was full, it comes first in the next pass, behind @ahead
 * others that fared the same: so jobs have turns even where a ring does not hold what one of them has.
 * Returns how many are ahead now. With nothing of the port in flight a queue has room, unless others
 * fill it.
 */
static unsigned __attribute__((noinline)) found_full(struct lane *l, unsigned i, unsigned ahead)
{
	struct job *job = l->job[i];
	struct lane_port *p = job->via;

	if (!job->nr_ready)
		return ahead;
	go_ahead(l, i, ahead++);
	if (p->in_flight)
		return ahead;
	p->full = l->restless = true;
	if (p->blk.shared)
		return ahead;
	job->result->stopped = true; /* never, if all is right */
	job_stop(job);
	l->attention = 0;
	return ahead;
}

static hot void issue(struct lane *l)
{
	unsigned i = 0, ahead = 0;

	do { /* there is one at least */
		struct job *job = l->job[i];

		if (job_may_issue(job)) {
			unsigned sent = job_issue(job, l->now);

			job->via->in_flight += sent;
			if (sent == 0)
				ahead = found_full(l, i, ahead);
			else
				l->empty = 0;
		}
	} while (++i < l->nr_live);
}

static hot void take(struct lane *l, struct job *job, unsigned n)
{
	job_take(job, n, l->now);
	if (__builtin_expect(job->left == 0, 0) && job_is_over(job))
		l->attention = 0;
}

/* Sorts what came by job, and has each take its own at once. */
static void __attribute__((noinline)) hand_out(struct lane *l, unsigned n)
{
	const struct io_batch *last = NULL;
	struct job *job = NULL;

	for (unsigned i = 0; i < n; i++) {
		const struct io_batch *batch = l->found[i]->user;

		if (batch != last)
			job = batch->job;
		last = batch;
		job_room(job)[job->came++] = l->found[i];
	}
	for (unsigned i = 0; i < l->nr_live; i++) {
		n = l->job[i]->came;
		l->job[i]->came = 0;
		if (n)
			take(l, l->job[i], n);
	}
}

/* The time from one poll that found nothing to the next is idle. */
static hot void count_idle(struct lane *l)
{
	if (l->empty++ > 0)
		l->usage.idle_cycles += l->now - l->idle_mark;
	l->idle_mark = l->now;
}

/* What turns would do for as long as nothing comes to the only port, in fewer instructions. */
static hot unsigned look_again(struct lane *l, struct lane_port *p, struct blk_request **room,
			       uint64_t until, unsigned polls)
{
	unsigned n = 0;

	for (; n == 0 && polls > 0 && l->now < until; polls--) {
		count_idle(l);
		n = blk_port_poll(&p->blk, room, p->most);
		l->now = cycles();
	}
	return n;
}

/* A device that is waited for is seen sooner. In hybrid mode this is where the wait begins. */
static unsigned __attribute__((noinline))
spin(struct lane *l, struct lane_port *p, struct blk_request **room)
{
	uint64_t until = l->attention;
	unsigned n;

	if (l->nr_ports > 1 || l->restless || p->mode == BLK_IRQ)
		return 0;
	if (p->mode == BLK_POLL)
		return look_again(l, p, room, until, SPIN_POLLS);
	if (!l->waiter.waiting) {
		n = look_again(l, p, room, until, FREE_POLLS);
		l->usage.caught_awake += n;
		if (n)
			return n;
		waiter_begin(&l->waiter, true, l->now);
	}
	if (l->waiter.spin_until < until)
		until = l->waiter.spin_until;
	return look_again(l, p, room, until, SPIN_POLLS);
}

static hot unsigned poll_port(struct lane *l, struct lane_port *p)
{
	struct job *job = p->only;
	struct blk_request **room = job ? job_room(job) : l->found;
	unsigned n = blk_port_poll(&p->blk, room, p->most);

	l->now = cycles();
	if (n == 0)
		n = spin(l, p, room);
	if (n == 0)
		return 0;
	p->in_flight -= n;
	if (job)
		take(l, job, n);
	else
		hand_out(l, n);
	return n;
}

static hot unsigned poll(struct lane *l)
{
	unsigned i = 0, n = 0;

	do { /* there is one at least */
		struct lane_port *p = &l->port[i];

		if (p->in_flight || p->full)
			n += poll_port(l, p);
	} while (++i < l->nr_ports);
	return n;
}

/*
 * Whether there may be something to send though nothing came back. A port that was full counts until
 * the next look: if it still is, that will be found again.
 */
static void look_restless(struct lane *l)
{
	l->restless = false;
	for (unsigned i = 0; i < l->nr_ports; i++) {
		l->restless |= l->port[i].full;
		l->port[i].full = false;
	}
	for (unsigned i = 0; i < l->nr_live; i++)
		l->restless |= l->job[i]->pace.on;
}

static void check_ports(struct lane *l)
{
	for (unsigned i = 0; i < l->nr_ports; i++)
		if (l->port[i].in_flight || l->port[i].full)
			blk_port_check_progress(&l->port[i].blk);
}

static void retire(struct lane *l)
{
	unsigned live = 0;

	for (unsigned i = 0; i < l->nr_live; i++) {
		struct job *job = l->job[i];

		if (job_is_over(job)) {
			window_close(&job->window, l->now);
			job_show(job);
		} else {
			l->job[live++] = job;
		}
	}
	l->nr_live = live;
}

static void on_time(struct lane *l)
{
	for (unsigned i = 0; i < l->nr_live; i++)
		if (l->now >= l->job[i]->window.next_event)
			job_event(l->job[i], l->now);
	if (l->now >= l->next_check) {
		check_ports(l);
		look_restless(l);
		for (unsigned i = 0; i < l->nr_live; i++)
			job_show(l->job[i]);
		l->next_check = l->now + ns_to_cycles(CHECK_NS);
		__atomic_store_n(&l->beat, l->beat + 1, __ATOMIC_RELAXED);
	}
	if (l->meter && l->now >= l->meter->next)
		progress_show(l->meter, l->now);
	l->now = cycles(); /* what was printed took its time */
}

/* A turn met the time for attention: something is due, or is to be looked at each turn. */
static void __attribute__((noinline)) events(struct lane *l)
{
	if (l->lets_in)
		interrupt_wait(0);
	if (l->now >= l->next_event)
		on_time(l);
	retire(l);
	schedule(l);
}

static hot void idle(struct lane *l)
{
	count_idle(l);
	if (l->may_halt)
		lane_wait(l);
}

static void __attribute__((noinline)) end_wait(struct lane *l, unsigned n)
{
	waiter_end(&l->waiter, l->now);
	if (l->waiter.slept)
		l->usage.caught_halted += n;
	else
		l->usage.caught_awake += n;
}

static inline void found(struct lane *l, unsigned n)
{
	l->empty = 0;
	if (l->waiter.waiting)
		end_wait(l, n);
}

static hot bool turn(struct lane *l)
{
	unsigned n;

	/* Where nothing came back, there is nothing to send, but for jobs that wait for something else. */
	if (l->empty == 0 || l->restless)
		issue(l);
	n = poll(l);
	if (n == 0)
		idle(l);
	else
		found(l, n);
	if (__builtin_expect(l->now < l->attention, 1))
		return true;
	events(l);
	return l->nr_live != 0;
}

bool lane_run(struct lane *l, uint64_t turns)
{
	for (; turns > 0; turns--)
		if (!turn(l))
			return false;
	return true;
}
