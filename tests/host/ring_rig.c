/* SPDX-License-Identifier: BSD-2-Clause */
/* What does it take to run a virtqueue by itself? Headers, status bytes and data for its frames. */
#include "tests/host/ring_rig.h"

#include <string.h>

struct ring_rig ring;

void ring_bring_up(struct rig *rig, uint16_t size, bool event_idx, uint16_t table_entries)
{
	uint64_t wanted = VIRTIO_F_INDIRECT_DESC | (event_idx ? VIRTIO_F_EVENT_IDX : 0);
	struct vq_frame frame = {.header_bytes = sizeof(*ring.headers)};

	rig->disk.queue_size[0] = size;
	rig_plug(rig);
	assert_true(rig_find(rig));
	ring.cells = rig_memory(sizeof(*ring.cells) * RING_CELLS);
	memset(ring.cells, 0, sizeof(*ring.cells) * RING_CELLS);
	ring.headers = rig_memory(sizeof(*ring.headers) * size);
	ring.statuses = rig_memory(size);
	frame.header = dma_map(ring.headers, sizeof(*ring.headers) * size);
	frame.status = dma_map(ring.statuses, size);
	ring.dev = (struct virtio_device){.pci = rig->pci};
	assert_true(virtio_pci_open(&ring.dev));
	assert_true(virtio_negotiate(&ring.dev, wanted));
	assert_int_equal(virtio_queue_size(&ring.dev, 0), size);
	assert_true(virtqueue_create(&ring.vq, size, event_idx, &frame, table_entries));
	assert_true(virtio_queue_enable(&ring.dev, 0, &ring.vq));
	virtio_driver_ok(&ring.dev);
}

void ring_tear_down(void)
{
	assert_true(virtio_reset(&ring.dev));
	dma_free(ring.headers, sizeof(*ring.headers) * ring.vq.size);
	dma_free(ring.statuses, ring.vq.size);
	virtqueue_destroy(&ring.vq);
	dma_free(ring.cells, sizeof(*ring.cells) * RING_CELLS);
	assert_int_equal(host.live, 0);
}

void ring_add(struct ring_cell *cell, uint64_t sector)
{
	struct vq_batch batch = virtqueue_batch_begin(&ring.vq);
	uint32_t head;

	assert_true(batch.room > 0);
	head = virtqueue_batch_head(&batch, 0);
	ring.headers[head] = (struct ring_header){.sector = sector};
	ring.statuses[head] = 0xff;
	cell->sector = sector;
	cell->busy = true;
	virtqueue_batch_add(&batch, 0, head, ring.vq.data_shift, cell, dma_map(cell->data, 512),
			    512, VRING_DESC_F_NEXT | VRING_DESC_F_WRITE, 513);
	virtqueue_batch_end(&ring.vq, 1);
}

void ring_publish(void)
{
	virtqueue_publish(&ring.vq);
	virtqueue_kick(&ring.vq);
}

/* One used entry; false if the ring does not believe it. */
bool ring_take(void)
{
	struct vq_drain drain = virtqueue_drain_begin(&ring.vq);
	uint32_t len, head;
	struct vq_head *h = virtqueue_drain_look(&drain, 0, &head, &len);
	struct ring_cell *cell;

	if (!h)
		return false;
	cell = h->token;
	assert_int_equal(len, h->writable_bytes);
	assert_int_equal(ring.statuses[head], 0);
	if (len == 513)
		assert_true(fake_stamp_ok(cell->data, cell->sector, 1));
	cell->busy = false;
	if (virtqueue_is_long(h)) {
		virtqueue_long_free(&ring.vq, head);
	} else {
		virtqueue_drain_free(&drain, 0, head);
		virtqueue_drain_end(&ring.vq, 1);
	}
	return true;
}

unsigned ring_collect(void)
{
	unsigned n = virtqueue_used(&ring.vq), i;

	assert_null(ring.vq.broken);
	for (i = 0; i < n; i++)
		assert_true(ring_take());
	if (n && ring.vq.event_idx)
		virtqueue_park_interrupts(&ring.vq);
	return n;
}
