/* SPDX-License-Identifier: BSD-2-Clause */
/* What memory does a split virtqueue need, and in which state does it start? (virtio 1.3, 2.7) */
#include "drivers/virtio/split.h"


/* No line of memory is written by both sides, prefetched pairs of lines included. */
#define PART_ALIGN  128
#define LONG_TABLES 16

static void *take(struct virtqueue *vq, size_t bytes)
{
	void *p = dma_alloc(bytes, PART_ALIGN);

	if (p)
		vq->memory[vq->nr_memory++] = (struct vq_memory){p, bytes};
	return p;
}

static bool create_ring(struct virtqueue *vq)
{
	size_t size = vq->size, desc_bytes = sizeof(struct vring_desc) * size;
	size_t avail_bytes = 6 + 2 * size, used_bytes = 6 + 8 * size;

	vq->desc = take(vq, desc_bytes);
	vq->avail = take(vq, avail_bytes);
	vq->used = take(vq, used_bytes);
	vq->head = take(vq, sizeof(struct vq_head) * size);
	vq->next = take(vq, sizeof(uint16_t) * size);
	if (!vq->desc || !vq->avail || !vq->used || !vq->head || !vq->next)
		return false;
	vq->desc_dma = dma_map(vq->desc, desc_bytes);
	vq->avail_dma = dma_map(vq->avail, avail_bytes);
	vq->used_dma = dma_map(vq->used, used_bytes);
	for (unsigned i = 0; i < size; i++)
		vq->next[i] = (uint16_t)((i + 1) & vq->mask);
	return true;
}

static bool create_tables(struct virtqueue *vq, uint16_t entries)
{
	struct vq_tables *tables = &vq->tables;
	size_t short_bytes = sizeof(struct vring_desc) * VQ_TABLE_SHORT * vq->size;
	size_t stack_bytes = sizeof(struct vring_desc *) * (LONG_TABLES + (size_t)vq->size);
	struct vring_desc *table;

	tables->short_tables = take(vq, short_bytes);
	tables->free_long = take(vq, stack_bytes);
	table = take(vq, sizeof(struct vring_desc) * LONG_TABLES * entries);
	if (!tables->short_tables || !tables->free_long || !table)
		return false;
	tables->long_of = &tables->free_long[LONG_TABLES];
	tables->long_entries = entries;
	for (; tables->n_free_long < LONG_TABLES; table += entries)
		tables->free_long[tables->n_free_long++] = table;
	return true;
}

bool virtqueue_create(struct virtqueue *vq, uint16_t size, bool event_idx, uint16_t table_entries)
{
	*vq = (struct virtqueue){.size = size,
				 .mask = (uint16_t)(size - 1),
				 .n_free = size,
				 .event_idx = event_idx};
	if (!create_ring(vq) || (table_entries && !create_tables(vq, table_entries))) {
		virtqueue_destroy(vq);
		return false;
	}
	if (event_idx)
		virtqueue_park_interrupts(vq);
	else
		vq->avail->flags = VRING_AVAIL_F_NO_INTERRUPT;
	return true;
}

void virtqueue_destroy(struct virtqueue *vq)
{
	if (vq->used_dma) {
		dma_unmap(vq->desc_dma, sizeof(struct vring_desc) * vq->size);
		dma_unmap(vq->avail_dma, 6 + 2 * (size_t)vq->size);
		dma_unmap(vq->used_dma, 6 + 8 * (size_t)vq->size);
	}
	while (vq->nr_memory) {
		const struct vq_memory *m = &vq->memory[--vq->nr_memory];

		dma_free(m->p, m->bytes);
	}
}
