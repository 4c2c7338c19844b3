/* SPDX-License-Identifier: BSD-2-Clause */
/* What memory does a split virtqueue need, and in which state does it start? (virtio 1.3, 2.7) */
#include "drivers/virtio/split.h"

#include "drivers/virtio/virtio.h"
#include "lib/mem.h"

/* No line of memory is written by both sides, prefetched pairs of lines included. */
#define PART_ALIGN  128
#define LONG_TABLES 16
#define LEGACY_PAGE 4096u

static void *take(struct virtqueue *vq, size_t bytes)
{
	void *p = dma_alloc(bytes, PART_ALIGN);

	if (p)
		vq->memory[vq->nr_memory++] = (struct vq_memory){p, bytes};
	return p;
}

static size_t desc_bytes(const struct virtqueue *vq)
{
	return sizeof(struct vring_desc) * vq->size;
}

static size_t avail_bytes(const struct virtqueue *vq)
{
	return 6 + 2 * (size_t)vq->size;
}

static size_t used_bytes(const struct virtqueue *vq)
{
	return 6 + 8 * (size_t)vq->size;
}

static size_t whole_pages(size_t bytes)
{
	return (bytes + LEGACY_PAGE - 1) & ~(size_t)(LEGACY_PAGE - 1);
}

/* 2.7.2: one block of whole pages, the used ring at the first page behind the rest. */
static bool place_contiguous(struct virtqueue *vq)
{
	size_t first = whole_pages(desc_bytes(vq) + avail_bytes(vq));
	size_t bytes = first + whole_pages(used_bytes(vq));
	char *block = dma_alloc(bytes, LEGACY_PAGE);

	if (!block)
		return false;
	vq->memory[vq->nr_memory++] = (struct vq_memory){block, bytes};
	vq->desc = (void *)block;
	vq->avail = (void *)(block + desc_bytes(vq));
	vq->used = (void *)(block + first);
	return true;
}

static bool place_parts(struct virtqueue *vq)
{
	vq->desc = take(vq, desc_bytes(vq));
	vq->avail = take(vq, avail_bytes(vq));
	vq->used = take(vq, used_bytes(vq));
	return vq->desc && vq->avail && vq->used;
}

static bool create_ring(struct virtqueue *vq, bool contiguous)
{
	if (contiguous ? !place_contiguous(vq) : !place_parts(vq))
		return false;
	vq->head = take(vq, sizeof(struct vq_head) * vq->size);
	vq->free = take(vq, sizeof(uint16_t) * vq->size);
	if (!vq->head || !vq->free)
		return false;
	vq->desc_dma = dma_map(vq->desc, desc_bytes(vq));
	vq->avail_dma = dma_map(vq->avail, avail_bytes(vq));
	vq->used_dma = dma_map(vq->used, used_bytes(vq));
	return true;
}

static bool create_tables(struct virtqueue *vq, uint16_t entries)
{
	struct vq_tables *tables = &vq->tables;
	size_t frames_bytes = sizeof(struct vring_desc) * VQ_TABLE_ENTRIES * vq->size;
	struct vring_desc *table;

	tables->frames = take(vq, frames_bytes);
	tables->free = take(vq, sizeof(*tables->free) * LONG_TABLES);
	tables->long_of = take(vq, sizeof(*tables->long_of) * vq->size);
	table = take(vq, sizeof(struct vring_desc) * LONG_TABLES * entries);
	if (!tables->frames || !tables->free || !tables->long_of || !table)
		return false;
	tables->entries = entries;
	for (; tables->n_free < LONG_TABLES; table += entries)
		tables->free[tables->n_free++] = table;
	return true;
}

void virtqueue_write_frame(struct virtqueue *vq, uint16_t head)
{
	const struct vq_frame *f = &vq->frame;
	uint16_t first = vq->tables.frames ? 0 : head;
	struct vring_desc *entry = &vq->desc[head];

	if (vq->tables.frames) {
		uint32_t bytes = VQ_FRAME_DESCRIPTORS * sizeof(*entry);
		struct vring_desc *table = &vq->tables.frames[head << VQ_TABLE_SHIFT];

		*entry =
			(struct vring_desc){dma_map(table, bytes), bytes, VRING_DESC_F_INDIRECT, 0};
		entry = table;
	}
	entry[0] = (struct vring_desc){f->header + (uint64_t)head * f->header_bytes,
				       f->header_bytes, VRING_DESC_F_NEXT, (uint16_t)(first + 1)};
	entry[1] = (struct vring_desc){.flags = VRING_DESC_F_NEXT, .next = (uint16_t)(first + 2)};
	entry[2] = (struct vring_desc){f->status + head, 1, VRING_DESC_F_WRITE, 0};
}

/* Heads are dealt out from the lowest on; the stack keeps the ones used last on top. */
static void create_slots(struct virtqueue *vq)
{
	vq->stride = vq->tables.frames ? 1 : VQ_FRAME_DESCRIPTORS;
	vq->n_slots = vq->size / vq->stride;
	vq->data = vq->tables.frames ? &vq->tables.frames[1] : &vq->desc[1];
	vq->data_shift = vq->tables.frames ? VQ_TABLE_SHIFT : 0;
	for (uint16_t i = vq->n_slots; i > 0; i--) {
		uint16_t head = (uint16_t)((i - 1) * vq->stride);

		virtqueue_write_frame(vq, head);
		vq->free[vq->n_free++] = head;
	}
}

static void suppress(const struct virtqueue *vq)
{
	if (vq->event_idx)
		virtqueue_park_interrupts(vq);
	else
		vq->avail->flags = VRING_AVAIL_F_NO_INTERRUPT;
}

static bool create(struct virtqueue *vq, uint16_t size, bool event_idx,
		   const struct vq_frame *frame, uint16_t table_entries, bool contiguous)
{
	*vq = (struct virtqueue){.size = size,
				 .mask = (uint16_t)(size - 1),
				 .event_idx = event_idx,
				 .vector = VIRTIO_NO_VECTOR,
				 .frame = *frame};
	if (!create_ring(vq, contiguous) || (table_entries && !create_tables(vq, table_entries))) {
		virtqueue_destroy(vq);
		return false;
	}
	create_slots(vq);
	suppress(vq);
	return true;
}

void virtqueue_restart(struct virtqueue *vq)
{
	struct vq_tables *tables = &vq->tables;

	for (unsigned head = 0; tables->frames && head < vq->size; head++) {
		if (tables->long_of[head])
			tables->free[tables->n_free++] = tables->long_of[head];
		tables->long_of[head] = NULL;
	}
	memset(vq->head, 0, sizeof(*vq->head) * vq->size);
	memset(vq->desc, 0, desc_bytes(vq));
	memset(vq->avail, 0, avail_bytes(vq));
	memset(vq->used, 0, used_bytes(vq));
	vq->avail_idx = vq->published_idx = vq->used_idx = 0;
	vq->n_free = 0;
	create_slots(vq);
	suppress(vq);
}

bool virtqueue_create(struct virtqueue *vq, uint16_t size, bool event_idx,
		      const struct vq_frame *frame, uint16_t table_entries)
{
	return create(vq, size, event_idx, frame, table_entries, false);
}

bool virtqueue_create_legacy(struct virtqueue *vq, uint16_t size, bool event_idx,
			     const struct vq_frame *frame, uint16_t table_entries)
{
	return create(vq, size, event_idx, frame, table_entries, true);
}

void virtqueue_destroy(struct virtqueue *vq)
{
	if (vq->used_dma) {
		dma_unmap(vq->desc_dma, desc_bytes(vq));
		dma_unmap(vq->avail_dma, avail_bytes(vq));
		dma_unmap(vq->used_dma, used_bytes(vq));
		vq->used_dma = 0;
	}
	while (vq->nr_memory) {
		const struct vq_memory *m = &vq->memory[--vq->nr_memory];

		dma_free(m->p, m->bytes);
	}
}
