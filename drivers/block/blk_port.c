/* SPDX-License-Identifier: BSD-2-Clause */
/* How do several CPUs use one queue? */
#include "drivers/block/blk_port.h"

#include "drivers/block/blk_queue.h"

void blk_port_open(struct blk_port *port, struct blk_queue *queue, unsigned cpu)
{
	*port = (struct blk_port){.queue = queue, .cpu = cpu};
}

void blk_port_close(struct blk_port *port)
{
	*port = (struct blk_port){0};
}

unsigned blk_port_submit(struct blk_port *port, struct blk_request *const *reqs, unsigned n)
{
	return blk_submit(port->queue, reqs, n);
}

uint64_t blk_port_published_cycles(const struct blk_port *port)
{
	return blk_published_cycles(port->queue);
}

unsigned blk_port_poll(struct blk_port *port, struct blk_request **done, unsigned max)
{
	return blk_poll(port->queue, done, max);
}

bool blk_port_arm(struct blk_port *port, unsigned n)
{
	return blk_arm(port->queue, n);
}

void blk_port_disarm(struct blk_port *port)
{
	blk_disarm(port->queue);
}

bool blk_port_check_progress(struct blk_port *port)
{
	return blk_check_progress(port->queue);
}

struct blk_counters blk_port_counters(const struct blk_port *port)
{
	return *blk_counters(port->queue);
}
