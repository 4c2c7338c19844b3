/* SPDX-License-Identifier: BSD-2-Clause */
/* What does it take to run queues with interrupts, without the block driver above them? */
#include "tests/host/irq_rig.h"

#include <string.h>

static void on_config(void *context)
{
	struct irq_rig *r = context;

	r->told_config++;
}

static void on_queue(void *context)
{
	struct virtio_irq_queue *q = context;
	struct irq_rig *r =
		(struct irq_rig *)((char *)(q - q->cpu) - offsetof(struct irq_rig, queue));

	r->told[q->cpu]++;
	r->told_on[q->cpu] = cpu_index();
}

static void add_queue(struct irq_rig *r, unsigned q, bool event_idx)
{
	uint16_t size = virtio_queue_size(&r->dev, (uint16_t)q);
	struct vq_config config = {.size = size, .event_idx = event_idx};

	r->statuses[q] = rig_memory(size);
	config.status_dma = dma_map(r->statuses[q], size);
	assert_true(virtqueue_create(&r->vq[q], &config));
	assert_int_equal(r->vq[q].vector, VIRTIO_NO_VECTOR);
	r->vq[q].vector = r->queue[q].vector;
	assert_true(virtio_queue_enable(&r->dev, (uint16_t)q, &r->vq[q]));
}

void irq_plug(struct rig *rig, unsigned queues, unsigned entries)
{
	rig->disk.num_queues = (uint16_t)queues;
	rig->disk.features |= FAKE_BIT(FAKE_MQ);
	rig->disk.msix_place.entries = entries;
	rig_plug(rig);
	assert_true(rig_find(rig));
}

void irq_bring_up(struct irq_rig *r, const struct pci_function *pci, unsigned n, unsigned wanted,
		  bool event_idx)
{
	unsigned q;

	memset(r, 0, sizeof(*r));
	r->n = n;
	r->dev.pci = *pci;
	strcpy(r->dev.name, "vda 00:03.0");
	assert_true(virtio_pci_open(&r->dev));
	assert_true(virtio_negotiate(&r->dev,
				     FAKE_BIT(FAKE_MQ) | (event_idx ? VIRTIO_F_EVENT_IDX : 0)));
	for (q = 0; q < n; q++)
		r->queue[q] = (struct virtio_irq_queue){.cpu = q,
							.handler = on_queue,
							.context = &r->queue[q],
							.wanted = wanted >> q & 1};
	r->opened = virtio_irqs_open(&r->dev, &r->irqs, r->queue, n, VIRTIO_IRQ_OWN, on_config, r);
	r->data = rig_memory(512);
	for (q = 0; q < n; q++)
		add_queue(r, q, event_idx);
	virtio_driver_ok(&r->dev);
}

void irq_tear_down(struct irq_rig *r)
{
	unsigned q;

	assert_true(virtio_reset(&r->dev));
	virtio_irqs_close(&r->irqs);
	assert_int_equal(fake_pci_command(fake_disks()->fn) & PCI_COMMAND_INTX_DISABLE, 0);
	for (q = 0; q < r->n; q++) {
		dma_free(r->statuses[q], r->vq[q].size);
		virtqueue_destroy(&r->vq[q]);
	}
	dma_free(r->data, 512);
	host.cpu = 0;
}

void irq_end(struct irq_rig *r)
{
	irq_tear_down(r);
	assert_int_equal(host.interrupts_live, 0);
	assert_int_equal(host.live, 0);
}

void irq_submit(struct irq_rig *r, unsigned q)
{
	struct virtqueue *vq = &r->vq[q];
	struct vq_batch batch = virtqueue_batch_begin(vq, VQ_SPLIT_DIRECT, 1);
	uint64_t word = virtqueue_data_word(vq, 512, VRING_DESC_F_WRITE);
	struct vq_head *head;

	assert_true(batch.room > 0);
	head = virtqueue_batch_head(&batch, 0, VQ_SPLIT_DIRECT);
	head->frame->header[0] = 0;
	head->frame->header[1] = 7;
	r->statuses[q][head->id] = 0xff;
	virtqueue_batch_place(head, VQ_SPLIT_DIRECT, r, dma_map(r->data, 512), word);
	virtqueue_batch_add(&batch, 0, head, VQ_SPLIT_DIRECT, dma_map(r->data, 512), word, 513);
	virtqueue_batch_end(vq, &batch, 1, VQ_SPLIT_DIRECT);
	virtqueue_arm(vq, 1);
	virtqueue_publish(vq);
	virtqueue_kick(vq);
}

unsigned irq_collect(struct irq_rig *r, unsigned q)
{
	struct virtqueue *vq = &r->vq[q];
	struct vq_drain drain = virtqueue_drain_begin(vq, vq->kind);
	struct vq_head *head;
	unsigned n = 0;

	while ((head = virtqueue_drain_frame(&drain, n, vq->kind)) != NULL) {
		virtqueue_drain_free(&drain, head, vq->kind);
		n++;
	}
	assert_false(drain.odd);
	assert_null(vq->broken);
	virtqueue_drain_end(vq, &drain, n, vq->kind);
	return n;
}

void irq_round(struct irq_rig *r, unsigned q)
{
	unsigned before = r->told[q];

	irq_submit(r, q);
	host.cpu = r->queue[q].got == VIRTIO_IRQ_OWN ? q : r->irqs.shared[0].interrupt.cpu;
	interrupt_wait(host.clock_ns + IRQ_WAIT_NS);
	assert_int_equal(r->told[q], before + 1);
	assert_int_equal(r->told_on[q], host.cpu);
	assert_int_equal(irq_collect(r, q), 1);
}
