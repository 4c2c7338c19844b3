/* SPDX-License-Identifier: BSD-2-Clause */
/* Which interrupt tells of which queue? The best that device and machine have, else none. */
#ifndef DRIVERS_VIRTIO_IRQ_H
#define DRIVERS_VIRTIO_IRQ_H

#include "drivers/pci/msix.h"
#include "drivers/virtio/virtio.h"

enum virtio_irq {
	VIRTIO_IRQ_NONE,   /* the queue is polled */
	VIRTIO_IRQ_OWN,	   /* an MSI-X vector of its own */
	VIRTIO_IRQ_SHARED, /* one with others */
	VIRTIO_IRQ_INTX,
};

/*
 * A queue, and who wants to know of its used buffers. Of its own vector the handler is called on
 * @cpu. A shared one, or INTx, leads to the CPU of the first queue that wants one: each sharer's
 * handler is called there, whether or not its queue was meant, and then its CPU is woken.
 */
struct virtio_irq_queue {
	unsigned cpu;
	void (*handler)(void *context);
	void *context;
	bool wanted; /* else it is polled */

	enum virtio_irq got;
	struct interrupt interrupt; /* of its own only */
	uint16_t vector;	    /* for struct virtqueue; VIRTIO_NO_VECTOR where there is none */
};

#define VIRTIO_IRQ_WHY 96

struct virtio_irqs {
	struct virtio_device *dev;
	struct msix msix;
	struct virtio_irq_queue *queue;
	unsigned n;
	void (*config_handler)(void *context);
	void *config_context;
	uint16_t config_vector;
	bool msix_on;
	char not_own
		[VIRTIO_IRQ_WHY]; /* why not each that wants one has a vector of its own; or "" */
	/* Entry 0 is for configuration changes and for queues that got no better, entry 1 for the
	 * queues that share one. Without MSI-X, the first is INTx. */
	struct virtio_irq_shared {
		struct virtio_irqs *irqs;
		struct interrupt interrupt;
		uint16_t vector;
	} shared[2];
};

/*
 * Between virtio_negotiate() and the first virtio_queue_enable(): finds interrupts for the @n
 * queues, number i of the device at @queue[i], which must stay where it is, as @irqs must. Tries
 *
 *     a vector for each queue that wants one, and one for configuration changes;
 *     one for the queues, and one for configuration changes;
 *     one for all;
 *     INTx;
 *     nothing: the queues are polled.
 *
 * @best, of VIRTIO_IRQ_OWN, _SHARED and _INTX, says which step is the first to be tried.
 * What fails is said in one line of the log each. Each vector is mapped and read back here, too
 * (4.1.5.1.2.2): a queue whose vector is refused shares entry 0, else is polled. Fills in got,
 * interrupt and vector of each queue; one that wants none may have a vector all the same, which is
 * not raised. @config_handler, which may be NULL, can be called without a
 * change. False if queues wanted an interrupt and all are polled. If none wants one, nothing is
 * switched on, and configuration changes are not told.
 *
 * A reset unmaps all: close and open again after it (4.1.5.1.2.1).
 */
bool virtio_irqs_open(struct virtio_device *dev, struct virtio_irqs *irqs,
		      struct virtio_irq_queue *queue, unsigned n, enum virtio_irq best,
		      void (*config_handler)(void *context), void *config_context);
/* Only once the device is reset, or it would raise INTx instead. Also after an open that failed. */
void virtio_irqs_close(struct virtio_irqs *irqs);

#endif
