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
	unsigned cpu; /* that uses it */
};

/*
 * Makes a port of @cpu to @queue. Ports are opened and closed by one CPU while none of the queue's
 * is in use.
 */
void blk_port_open(struct blk_port *port, struct blk_queue *queue, unsigned cpu);
void blk_port_close(struct blk_port *port);

/* As blk_submit(), blk_published_cycles(): of this port's last batch. */
unsigned blk_port_submit(struct blk_port *port, struct blk_request *const *reqs, unsigned n);
uint64_t blk_port_published_cycles(const struct blk_port *port);

/*
 * As blk_poll(), for requests that were sent through this port. Those of other ports that turn up
 * are kept for them, and their CPUs woken if they halt.
 */
unsigned blk_port_poll(struct blk_port *port, struct blk_request **done, unsigned max);

/* As blk_arm(): false if something has come, for this port too. blk_port_disarm() has to follow. */
bool blk_port_arm(struct blk_port *port, unsigned n);
void blk_port_disarm(struct blk_port *port);

bool blk_port_check_progress(struct blk_port *port);
/* Of the queue, so of all its ports together. */
struct blk_counters blk_port_counters(const struct blk_port *port);

#endif
