/* SPDX-License-Identifier: BSD-2-Clause */
/* What does it take to run a virtqueue by itself? Headers, status bytes and data for its frames. */
#include "tests/host/ring_rig.h"

#include <string.h>

struct ring_rig ring;

void ring_bring_up(struct rig *rig, uint16_t size, bool event_idx, uint16_t table_entries)
{
	struct vq_config config = {.size = size,
				   .event_idx = event_idx,
				   .table_entries = table_entries,
				   .indirect_below = table_entries ? UINT32_MAX : 0};

	ring_bring_up_as(rig, &config);
}

void ring_bring_up_as(struct rig *rig, struct vq_config *config)
{
	uint64_t wanted = VIRTIO_F_INDIRECT_DESC | (config->event_idx ? VIRTIO_F_EVENT_IDX : 0) |
			  (config->packed ? VIRTIO_F_RING_PACKED : 0) |
			  (config->in_order ? VIRTIO_F_IN_ORDER : 0);
	uint16_t size = config->size;

	rig->disk.queue_size[0] = size;
	rig_plug(rig);
	assert_true(rig_find(rig));
	ring.cells = rig_memory(sizeof(*ring.cells) * RING_CELLS);
	memset(ring.cells, 0, sizeof(*ring.cells) * RING_CELLS);
	ring.statuses = rig_memory(size);
	config->status_dma = dma_map(ring.statuses, size);
	ring.dev = (struct virtio_device){.pci = rig->pci};
	assert_true(virtio_pci_open(&ring.dev));
	assert_true(virtio_negotiate(&ring.dev, wanted));
	assert_int_equal(virtio_queue_size(&ring.dev, 0), size);
	assert_true(virtqueue_create(&ring.vq, config));
	assert_true(virtio_queue_enable(&ring.dev, 0, &ring.vq));
	virtio_driver_ok(&ring.dev);
}

void ring_tear_down(void)
{
	assert_true(virtio_reset(&ring.dev));
	dma_free(ring.statuses, ring.vq.size);
	virtqueue_destroy(&ring.vq);
	dma_free(ring.cells, sizeof(*ring.cells) * RING_CELLS);
	assert_int_equal(host.live, 0);
}

unsigned ring_room(void)
{
	uint32_t free = virtqueue_free_descriptors(&ring.vq);
	bool direct = ring.vq.kind == VQ_SPLIT_DIRECT || ring.vq.kind == VQ_PACKED_DIRECT;

	return direct ? free / VQ_FRAME_DESCRIPTORS : free;
}

void ring_add(struct ring_cell *cell, uint64_t sector)
{
	uint64_t word = virtqueue_data_word(&ring.vq, 512, VRING_DESC_F_WRITE);
	enum vq_kind kind = virtqueue_choose(&ring.vq, 1).kind;
	struct vq_batch batch = virtqueue_batch_begin(&ring.vq, kind, 1);
	struct vq_head *head;

	assert_true(batch.room > 0);
	head = virtqueue_batch_head(&batch, 0, kind);
	head->frame->header[0] = 0;
	head->frame->header[1] = sector;
	ring.statuses[head->id] = 0xff;
	cell->sector = sector;
	cell->busy = true;
	virtqueue_batch_place(head, kind, cell, dma_map(cell->data, 512), word);
	virtqueue_batch_add(&batch, 0, head, kind, dma_map(cell->data, 512), word, 513);
	virtqueue_batch_end(&ring.vq, &batch, 1, kind);
}

bool ring_add_long(struct ring_cell *cell, unsigned entries)
{
	struct vq_chain chain;
	unsigned i;

	if (!virtqueue_long_begin(&ring.vq, &chain, entries))
		return false;
	chain.head->frame->header[0] = 1;
	chain.head->frame->header[1] = 20000;
	ring.statuses[chain.head->id] = 0xff;
	virtqueue_long_put(&chain, virtqueue_header_dma(&ring.vq, chain.head->id), 16,
			   VRING_DESC_F_NEXT);
	for (i = 2; i < entries; i++)
		virtqueue_long_put(&chain, dma_map(cell->data, 512), 512, VRING_DESC_F_NEXT);
	virtqueue_long_put(&chain, chain.head->status_dma, 1, VRING_DESC_F_WRITE);
	virtqueue_long_end(&chain, cell, 1);
	cell->busy = true;
	return true;
}

void ring_publish(void)
{
	virtqueue_publish(&ring.vq);
	virtqueue_kick(&ring.vq);
}

/* A frame by the fast way, anything else by the other. */
static struct vq_head *take(uint32_t *len)
{
	enum vq_kind kind = ring.vq.kind;
	struct vq_drain drain = virtqueue_drain_begin(&ring.vq, kind);
	struct vq_head *h = virtqueue_drain_frame(&drain, 0, kind);
	bool odd = drain.odd;

	if (h) {
		*len = virtqueue_head_writable(h);
		virtqueue_drain_free(&drain, h, kind);
		virtqueue_drain_end(&ring.vq, &drain, 1, kind);
		return h;
	}
	virtqueue_drain_end(&ring.vq, &drain, 0, kind);
	if (!odd)
		return NULL;
	h = virtqueue_look(&ring.vq, len);
	if (h && *len == virtqueue_head_writable(h)) {
		assert_true(virtqueue_head_is_long(h));
		virtqueue_release(&ring.vq, h);
	}
	return h;
}

/* One used entry; false if the ring does not believe it. */
bool ring_take(void)
{
	uint32_t len;
	struct vq_head *h = take(&len);
	struct ring_cell *cell;

	if (!h)
		return false;
	cell = h->token;
	assert_int_equal(ring.statuses[h->id], 0);
	if (len == 513)
		assert_true(fake_stamp_ok(cell->data, cell->sector, 1));
	assert_int_equal(h->expected, VQ_IDLE);
	cell->busy = false;
	return true;
}

unsigned ring_collect(void)
{
	unsigned n = 0;

	while (virtqueue_has_used(&ring.vq)) {
		assert_true(ring_take());
		assert_null(ring.vq.broken);
		n++;
	}
	if (n)
		virtqueue_park_interrupts(&ring.vq);
	return n;
}
