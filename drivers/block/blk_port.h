/* SPDX-License-Identifier: BSD-2-Clause */
/* How do several CPUs use one queue? Each has a port to it; requests come back to where they left. */
#ifndef DRIVERS_BLOCK_BLK_PORT_H
#define DRIVERS_BLOCK_BLK_PORT_H

#include "drivers/block/blk.h"

/*
 * A CPU's way into a queue. With one port to a queue nothing is locked, and each call is the one of
 * blk.h. With more, each call takes the queue's lock once, whatever the length of its batch.
 */
struct blk_port {
	struct blk_queue *queue;
	unsigned cpu;			  /* that uses it */
	bool shared;			  /* there are others to the same queue */
	const uint64_t *published_cycles; /* when its last batch was */

	/* Only if it is shared. Written under the queue's lock, but for polls_busy. */
	bool halted;		  /* armed, and neither disarmed nor woken since */
	struct blk_request *mail; /* its requests that another port found done; peeked at */
	struct blk_request **mail_tail;
	unsigned nr_mail;
	unsigned wish;	    /* while halted: how much mail is to wake it */
	unsigned in_flight; /* its requests in the queue or in the mail */
	uint64_t own_published_cycles;
	uint64_t polls_busy; /* empty ones, since another CPU had the lock */
	struct blk_port *next;
} __attribute__((aligned(128)));

/*
 * Makes a port of @cpu to @queue. Ports are opened and closed by one CPU while none of the queue's
 * is in use, and closed with nothing of theirs in flight. @port must stay where it is.
 */
void blk_port_open(struct blk_port *port, struct blk_queue *queue, unsigned cpu);
void blk_port_close(struct blk_port *port);

/* The calls below for a port that is shared. */
unsigned blk_shared_submit(struct blk_port *port, struct blk_request *const *reqs, unsigned n);
unsigned blk_shared_poll(struct blk_port *port, struct blk_request **done, unsigned max);
bool blk_shared_arm(struct blk_port *port, unsigned n);
void blk_shared_disarm(struct blk_port *port);

/*
 * As blk_submit(). A ring that is full of other ports' requests takes none, even with nothing of
 * this one in flight: poll, and try again.
 */
static inline unsigned blk_port_submit(struct blk_port *port, struct blk_request *const *reqs,
				       unsigned n)
{
	return __builtin_expect(port->shared, 0) ? blk_shared_submit(port, reqs, n)
						 : blk_submit(port->queue, reqs, n);
}

/*
 * As blk_poll(), for requests that were sent through this port. All that has come is taken: what is
 * of other ports, or more than @max, is kept for them or for the next poll, and CPUs that halt for
 * theirs are woken.
 */
static inline unsigned blk_port_poll(struct blk_port *port, struct blk_request **done, unsigned max)
{
	return __builtin_expect(port->shared, 0) ? blk_shared_poll(port, done, max)
						 : blk_poll(port->queue, done, max);
}

/*
 * As blk_arm(): false if something has come, for this port too, or nothing of it is in flight.
 * blk_port_disarm() has to follow, before the next poll. True: whatever of this port's ends next, or
 * the last of @n, wakes its CPU from interrupt_wait().
 *
 * The queue's interrupt leads to a CPU of its own (blk_queue_info), whose handler wakes the others.
 * Handlers run in interrupt_wait() only: a CPU that interrupts lead to and that never halts has to
 * call interrupt_wait(0) now and then, or those who wait for it sleep until their deadline.
 */
static inline bool blk_port_arm(struct blk_port *port, unsigned n)
{
	return __builtin_expect(port->shared, 0) ? blk_shared_arm(port, n)
						 : blk_arm(port->queue, n);
}

static inline void blk_port_disarm(struct blk_port *port)
{
	if (__builtin_expect(port->shared, 0))
		blk_shared_disarm(port);
	else
		blk_disarm(port->queue);
}

bool blk_port_check_progress(struct blk_port *port);
/* Of the queue, so of all its ports together. */
struct blk_counters blk_port_counters(const struct blk_port *port);

#endif
