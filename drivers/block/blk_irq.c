/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens when the device interrupts? Next to nothing: who waits for it polls. */
#include "drivers/block/blk_queue.h"

/*
 * A queue with one user may belong to another CPU, which moves on meanwhile: then spurious ones are
 * told only nearly right. A shared one is locked here.
 */
void blk_count_interrupt(struct blk_queue *q)
{
	struct blk_irq_counts *counts = &q->irq_counts;

	/* No read-modify-write is needed: nobody else writes here. */
	__atomic_store_n(&counts->interrupts, counts->interrupts + 1, __ATOMIC_RELAXED);
	if (!virtqueue_has_used(&q->vq))
		__atomic_store_n(&counts->spurious, counts->spurious + 1, __ATOMIC_RELAXED);
}

/* Handlers run inside interrupt_wait() only, on the CPU that the interrupt leads to. */
static void queue_interrupt(void *context)
{
	blk_ports_interrupted(context);
}

/* 3.2.1: it can mean DEVICE_NEEDS_RESET, too; blk_check_progress() has a look. */
static void config_interrupt(void *context)
{
	struct blk_driver *driver = context;

	__atomic_store_n(&driver->config_changed, true, __ATOMIC_RELAXED);
}

static enum virtio_irq best(enum blk_irq irq)
{
	if (irq == BLK_IRQ_INTX)
		return VIRTIO_IRQ_INTX;
	return irq == BLK_IRQ_MSIX_SHARED ? VIRTIO_IRQ_SHARED : VIRTIO_IRQ_OWN;
}

/* blk_queue_of() deals the queues out: queue i is at home on CPU i, and on each n CPUs further. */
void blk_irqs_open(struct blk_device *blk, const struct blk_config *config)
{
	struct blk_driver *driver = blk->driver;
	unsigned nr_cpus = config->nr_cpus ? config->nr_cpus : 1;
	unsigned nr_wanted = config->mode == BLK_POLL ? 0 : blk->nr_queues - blk->nr_poll_queues;

	for (unsigned i = 0; i < blk->nr_queues; i++)
		driver->irq[i] = (struct virtio_irq_queue){.cpu = i % nr_cpus,
							   .handler = queue_interrupt,
							   .context = blk->queues[i],
							   .wanted = i < nr_wanted};
	virtio_irqs_open(&driver->dev, &driver->irqs, driver->irq, blk->nr_queues,
			 best(config->irq), config_interrupt, driver);
	for (unsigned i = 0; i < blk->nr_queues; i++)
		blk->queues[i]->vq.vector = driver->irq[i].vector;
}

/* 4.1.5.1.2.2: the device may refuse now what it took before; virtio_queue_enable() has said so. */
static bool lost_vector(const struct virtio_irq_queue *irq, const struct blk_queue *q)
{
	return irq->vector != VIRTIO_NO_VECTOR && q->vq.vector == VIRTIO_NO_VECTOR;
}

static void fill_in(struct blk_queue *q, const struct virtio_irq_queue *irq,
		    const struct virtio_irqs *irqs, enum blk_mode mode)
{
	static const char *const name[] = {
		[VIRTIO_IRQ_NONE] = "none",
		[VIRTIO_IRQ_OWN] = "msix",
		[VIRTIO_IRQ_SHARED] = "msix-shared",
		[VIRTIO_IRQ_INTX] = "intx",
	};
	enum virtio_irq got = lost_vector(irq, q) ? VIRTIO_IRQ_NONE : irq->got;

	q->info.mode = got == VIRTIO_IRQ_NONE ? BLK_POLL : mode;
	q->info.interrupt = name[got];
	q->info.vector = got == VIRTIO_IRQ_NONE ? VIRTIO_NO_VECTOR : irq->vector;
	q->info.cpu = got == VIRTIO_IRQ_SHARED || got == VIRTIO_IRQ_INTX
			      ? irqs->shared[0].interrupt.cpu
			      : irq->cpu;
}

void blk_irqs_done(struct blk_device *blk, const struct blk_config *config)
{
	struct blk_driver *driver = blk->driver;

	for (unsigned i = 0; i < blk->nr_queues; i++) {
		const struct virtio_irq_queue *irq = &driver->irq[i];

		fill_in(blk->queues[i], irq, &driver->irqs, config->mode);
		if (config->irq != BLK_IRQ_MSIX || !irq->wanted || blk->irq_refused)
			continue;
		if (lost_vector(irq, blk->queues[i]))
			blk->irq_refused = "a queue lost its vector as it was enabled";
		else if (irq->got != VIRTIO_IRQ_OWN)
			blk->irq_refused = driver->irqs.not_own;
	}
	blk->mode = blk->queues[0]->info.mode;
	blk->interrupt = blk->queues[0]->info.interrupt;
	blk->irq_coalesce = config->mode == BLK_POLL ? 0 : config->irq_coalesce;
}
