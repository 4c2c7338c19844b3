/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens when the device interrupts? Next to nothing: who waits for it polls. */
#include "drivers/block/blk_queue.h"

/* Runs inside interrupt_wait() only, so that nothing else looks at the queue meanwhile. */
static void queue_interrupt(void *context)
{
	struct blk_queue *q = context;
	uint16_t used_idx = __atomic_load_n(&q->vq.used->idx, __ATOMIC_ACQUIRE);

	q->counters.interrupts++;
	if (used_idx == q->vq.used_idx)
		q->counters.interrupts_spurious++;
}

/* 3.2.1: it can mean DEVICE_NEEDS_RESET, too; blk_check_progress() has a look. */
static void config_interrupt(void *context)
{
	struct blk_queue *q = context;

	q->config_changed = true;
}

void blk_irqs_open(struct blk_device *blk, const struct blk_config *config)
{
	static const char *const name[] = {
		[VIRTIO_IRQ_NONE] = "none",
		[VIRTIO_IRQ_OWN] = "msix",
		[VIRTIO_IRQ_SHARED] = "msix-shared",
		[VIRTIO_IRQ_INTX] = "intx",
	};
	struct blk_driver *driver = blk->driver;
	struct virtio_irq_queue *irq = &driver->irq;

	blk->interrupt = name[VIRTIO_IRQ_NONE];
	blk->queues[0]->info =
		(struct blk_queue_info){.interrupt = blk->interrupt, .vector = VIRTIO_NO_VECTOR};
	if (config->mode == BLK_POLL)
		return;
	*irq = (struct virtio_irq_queue){.cpu = cpu_index(),
					 .handler = queue_interrupt,
					 .context = blk->queues[0],
					 .wanted = true};
	virtio_irqs_open(&driver->dev, &driver->irqs, irq, 1, config_interrupt, blk->queues[0]);
	blk->queues[0]->vq.vector = irq->vector;
	blk->interrupt = name[irq->got];
	blk->mode = irq->got == VIRTIO_IRQ_NONE ? BLK_POLL : config->mode;
	blk->irq_coalesce = config->irq_coalesce;
	blk->queues[0]->info.mode = blk->mode;
	blk->queues[0]->info.interrupt = blk->interrupt;
	blk->queues[0]->info.vector = irq->vector;
}

/* 4.1.5.1.2.2: the device may refuse now what it took before; virtio_queue_enable() has said so. */
void blk_irqs_check(struct blk_device *blk)
{
	struct blk_driver *driver = blk->driver;
	bool by_vector = driver->irq.got == VIRTIO_IRQ_OWN || driver->irq.got == VIRTIO_IRQ_SHARED;

	if (blk->mode == BLK_POLL || !by_vector || blk->queues[0]->vq.vector != VIRTIO_NO_VECTOR)
		return;
	blk->interrupt = blk->queues[0]->info.interrupt = "none";
	blk->mode = blk->queues[0]->info.mode = BLK_POLL;
}

void blk_irqs_close(struct blk_device *blk)
{
	struct blk_driver *driver = blk->driver;

	if (driver->irq.wanted)
		virtio_irqs_close(&driver->dev, &driver->irqs);
}
