/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a test drive several virtqueues that have interrupts? */
#ifndef TESTS_HOST_IRQ_RIG_H
#define TESTS_HOST_IRQ_RIG_H

#include "drivers/virtio/irq.h"
#include "tests/host/ring_rig.h"

#define IRQ_WAIT_NS 1000000 /* longer than an interrupt that is not lost needs */

/* A device, and what was told of each of its queues. Queue i is at home on CPU i. */
struct irq_rig {
	struct virtio_device dev;
	struct virtio_irqs irqs;
	struct virtio_irq_queue queue[FAKE_QUEUES];
	struct virtqueue vq[FAKE_QUEUES];
	uint8_t *statuses[FAKE_QUEUES];
	uint8_t *data;
	unsigned n;
	bool opened; /* what virtio_irqs_open() said */
	unsigned told[FAKE_QUEUES], told_config;
	unsigned told_on[FAKE_QUEUES]; /* the CPU of the last call */
};

/* The disk at 00:03.0 with @queues queues and @entries in its MSI-X table, found. */
void irq_plug(struct rig *rig, unsigned queues, unsigned entries);
/* Brings the device to life with @n queues; interrupts for those whose bit is in @wanted. */
void irq_bring_up(struct irq_rig *r, const struct pci_function *pci, unsigned n, unsigned wanted,
		  bool event_idx);
/* Resets it and gives all back; irq_end() also sees that it was the last to have anything. */
void irq_tear_down(struct irq_rig *r);
void irq_end(struct irq_rig *r);
/* A read by queue @q that asks for an interrupt. */
void irq_submit(struct irq_rig *r, unsigned q);
/* Takes all that is used; returns how many. */
unsigned irq_collect(struct irq_rig *r, unsigned q);
/* irq_submit(), a wait on the CPU that the queue's interrupt leads to, and irq_collect(). */
void irq_round(struct irq_rig *r, unsigned q);

#endif
