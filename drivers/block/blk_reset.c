/* SPDX-License-Identifier: BSD-2-Clause */
/* What if one queue is stuck and the device can reset it alone? The others go on. (virtio 1.3, 2.6.1) */
#include "drivers/block/blk_queue.h"

#include "lib/log.h"

/*
 * 2.6.1.1: after the reset the device knows nothing of the queue, so all that was in flight is lost;
 * 2.6.1.2: it is set up from the start, in the same memory. If nothing at all came back since the last
 * time, that did not help: the device is to be reset then.
 *
 * Only if asked for: a device that forgets to forget what was in flight completes it later, and in the
 * new ring that looks like an answer to a new request. QEMU 7.2 is such a device.
 */
static bool restart(struct blk_queue *q)
{
	uint16_t vector = q->vq.vector;

	virtqueue_restart(&q->vq);
	return virtio_queue_enable(q->dev, q->vq.index, &q->vq) && q->vq.vector == vector;
}

/* False if the device has not confirmed the reset, or did not enable the queue again. */
static bool reset_and_restart(struct blk_queue *q)
{
	struct blk_driver *driver = q->driver;
	bool done;

	spin_lock(&driver->lock); /* of the registers that queue_select leads to, too */
	done = !driver->stopped && virtio_queue_reset(q->dev, q->vq.index);
	if (done) {
		blk_end_in_flight(q, BLK_TIMED_OUT, BLK_TIMED_OUT);
		done = restart(q);
		blk_ports_wake_all(driver);
	}
	spin_unlock(&driver->lock);
	return done;
}

bool blk_reset_queue(struct blk_queue *q)
{
	bool one_user = q->users.nr_ports < 2; /* else the caller has the lock */
	unsigned lost = virtqueue_in_flight(&q->vq);
	bool done;

	if (!q->reset_alone || !virtio_has(q->dev, VIRTIO_F_RING_RESET) ||
	    (q->counters.queue_resets && q->counters.commands - q->reset_commands == lost))
		return false;
	/* An interrupt, on whichever CPU, looks at the ring under this lock. */
	if (one_user)
		spin_lock(&q->users.lock);
	done = reset_and_restart(q);
	if (one_user)
		spin_unlock(&q->users.lock);
	if (!done)
		return false;
	q->counters.queue_resets++;
	q->reset_commands = q->counters.commands;
	log_warn("%s: queue %u was reset by itself; %u commands in flight fail", q->dev->name,
		 q->vq.index, lost);
	return true;
}
