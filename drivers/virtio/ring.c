/* SPDX-License-Identifier: BSD-2-Clause */
/* What memory does a virtqueue need, whichever ring it has? */
#include "drivers/virtio/ring.h"

#include "drivers/virtio/packed.h"
#include "drivers/virtio/split.h"
#include "drivers/virtio/virtio.h"
#include "lib/mem.h"

/* Of each queue: so many long tables, or fewer where they are long. */
#define LONG_TABLES	  16
#define LONG_TABLES_BYTES 65536u

void *virtqueue_take_memory(struct virtqueue *vq, size_t bytes, size_t align)
{
	void *p = dma_alloc(bytes, align);

	if (p)
		vq->memory[vq->nr_memory++] = (struct vq_memory){p, bytes};
	return p;
}

static bool create_heads(struct virtqueue *vq, const struct vq_config *config)
{
	size_t frames_bytes = sizeof(struct vq_frame) * vq->size;

	vq->head = virtqueue_take_memory(vq, sizeof(struct vq_head) * vq->size, VQ_PART_ALIGN);
	vq->free.item = virtqueue_take_memory(vq, sizeof(*vq->free.item) * vq->size, VQ_PART_ALIGN);
	vq->frames = virtqueue_take_memory(vq, frames_bytes, VQ_PART_ALIGN);
	if (!vq->head || !vq->free.item || !vq->frames)
		return false;
	vq->frames_dma = dma_map(vq->frames, frames_bytes);
	for (unsigned head = 0; head < vq->size; head++)
		vq->head[head] = (struct vq_head){.expected = VQ_IDLE,
						  .frame = &vq->frames[head],
						  .status_dma = config->status_dma + head,
						  .id = (uint16_t)head};
	return true;
}

static bool create_tables(struct virtqueue *vq, uint16_t entries)
{
	struct vq_tables *tables = &vq->tables;
	size_t bytes = sizeof(struct vring_desc) * entries, n = LONG_TABLES_BYTES / bytes;

	if (n < 1 || n > LONG_TABLES)
		n = n < 1 ? 1 : LONG_TABLES;
	tables->all = virtqueue_take_memory(vq, n * bytes, VQ_PART_ALIGN);
	tables->free = virtqueue_take_memory(vq, sizeof(*tables->free) * n, VQ_PART_ALIGN);
	tables->of = virtqueue_take_memory(vq, sizeof(*tables->of) * vq->size, VQ_PART_ALIGN);
	if (!tables->free || !tables->of || !tables->all)
		return false;
	tables->all_bytes = n * bytes;
	tables->all_dma = dma_map(tables->all, tables->all_bytes);
	tables->entries = entries;
	for (; tables->n_free < n; tables->n_free++)
		tables->free[tables->n_free] = tables->all + tables->n_free * bytes;
	return true;
}

static enum vq_kind kind_of(const struct vq_config *config)
{
	unsigned way = 2; /* MIXED */

	if (config->in_order)
		way = 3;
	else if (!config->table_entries || (config->indirect_below == 0 && !config->adaptive))
		way = 0;
	else if (config->indirect_below > config->size && !config->adaptive)
		way = 1;
	return (enum vq_kind)((config->packed ? VQ_PACKED_DIRECT : VQ_SPLIT_DIRECT) + way);
}

static bool create_parts(struct virtqueue *vq, const struct vq_config *config)
{
	if (!create_heads(vq, config))
		return false;
	if (config->table_entries && !create_tables(vq, config->table_entries))
		return false;
	return config->packed ? packed_create(vq) : split_create(vq, config->contiguous);
}

bool virtqueue_create(struct virtqueue *vq, const struct vq_config *config)
{
	*vq = (struct virtqueue){.kind = kind_of(config),
				 .size = config->size,
				 .vector = VIRTIO_NO_VECTOR,
				 .event_idx = config->event_idx,
				 .adaptive = config->adaptive,
				 .indirect_below = config->indirect_below};
	if (!create_parts(vq, config)) {
		virtqueue_destroy(vq);
		return false;
	}
	virtqueue_restart(vq);
	return true;
}

void virtqueue_restart(struct virtqueue *vq)
{
	struct vq_tables *tables = &vq->tables;

	for (unsigned head = 0; head < vq->size; head++) {
		vq->head[head].expected = VQ_IDLE;
		vq->head[head].stamp = VQ_NO_STAMP;
		if (tables->of && tables->of[head]) {
			tables->free[tables->n_free++] = tables->of[head];
			tables->of[head] = NULL;
		}
	}
	vq->avail_idx = vq->published_idx = vq->used_idx = 0;
	vq->span = (struct vq_span){0};
	vq->wanted_16ths = 0;
	vq->free.n = 0;
	if (vq_is_packed(vq->kind))
		packed_start(vq);
	else
		split_start(vq);
}

void virtqueue_destroy(struct virtqueue *vq)
{
	if (vq->used_dma) {
		dma_unmap(vq->desc_dma, vq->desc_bytes);
		dma_unmap(vq->avail_dma, vq->avail_bytes);
		dma_unmap(vq->used_dma, vq->used_bytes);
		vq->used_dma = 0;
	}
	if (vq->frames_dma) {
		dma_unmap(vq->frames_dma, sizeof(struct vq_frame) * vq->size);
		vq->frames_dma = 0;
	}
	if (vq->tables.all_dma) {
		dma_unmap(vq->tables.all_dma, vq->tables.all_bytes);
		vq->tables.all_dma = 0;
	}
	while (vq->nr_memory) {
		const struct vq_memory *m = &vq->memory[--vq->nr_memory];

		dma_free(m->p, m->bytes);
	}
}
