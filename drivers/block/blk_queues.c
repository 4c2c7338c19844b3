/* SPDX-License-Identifier: BSD-2-Clause */
/* Which queue does a CPU use, and how does that queue tell of completions? */
#include "drivers/block/blk_queue.h"

struct blk_queue *blk_queue_of(const struct blk_device *dev, unsigned cpu, enum blk_queue_kind kind)
{
	unsigned poll = dev->nr_poll_queues, rest = dev->nr_queues - poll;

	if (kind == BLK_QUEUE_ANY)
		return dev->queues[cpu % dev->nr_queues];
	if (kind == BLK_QUEUE_POLL)
		return poll ? dev->queues[rest + cpu % poll] : NULL;
	return rest ? dev->queues[cpu % rest] : NULL;
}

uint64_t blk_interrupts(const struct blk_queue *q)
{
	return __atomic_load_n(&q->irq_counts.interrupts, __ATOMIC_RELAXED);
}

void blk_queue_info(const struct blk_queue *q, struct blk_queue_info *info)
{
	*info = q->info;
}
