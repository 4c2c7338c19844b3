/* SPDX-License-Identifier: BSD-2-Clause */
/* In which state does a packed virtqueue start, and for what does it ask the device? (virtio 1.3,
 * 2.8) */
#include "drivers/virtio/packed.h"

#include "drivers/virtio/adapt.h"
#include "lib/mem.h"

bool packed_create(struct virtqueue *vq)
{
	vq->desc_bytes = sizeof(struct vring_packed_desc) * vq->size;
	vq->avail_bytes = vq->used_bytes = sizeof(struct vring_packed_event);
	vq->packed.desc = virtqueue_take_memory(vq, vq->desc_bytes, VQ_PART_ALIGN);
	vq->packed.driver = virtqueue_take_memory(vq, vq->avail_bytes, VQ_PART_ALIGN);
	vq->packed.device = virtqueue_take_memory(vq, vq->used_bytes, VQ_PART_ALIGN);
	if (!vq->packed.desc || !vq->packed.driver || !vq->packed.device)
		return false;
	vq->desc_dma = dma_map(vq->packed.desc, vq->desc_bytes);
	vq->avail_dma = dma_map(vq->packed.driver, vq->avail_bytes);
	vq->used_dma = dma_map(vq->packed.device, vq->used_bytes);
	return true;
}

/* 2.8.19: no flag but WRITE in a table, no ID, and entries that follow each other without a link. */
static void write_frame(const struct virtqueue *vq, struct vq_head *head)
{
	struct vring_packed_desc *entry = head->frame->packed;

	entry[0].addr = virtqueue_header_dma(vq, head->id);
	entry[0].len = VQ_HEADER_BYTES;
	entry[2].addr = head->status_dma;
	entry[2].len = 1;
	entry[2].flags = VRING_DESC_F_WRITE;
	head->packed.frame_dma = virtqueue_frame_dma(vq, head->id);
	head->packed.id_word = packed_word(0, head->id, 0);
}

/* 2.8.1: both wrap counters start as 1. */
void packed_start(struct virtqueue *vq)
{
	memset(vq->packed.desc, 0, vq->desc_bytes);
	memset(vq->packed.device, 0, vq->used_bytes);
	vq->packed.avail_pos = 0;
	vq->packed.avail_flags = VRING_PACKED_DESC_F_AVAIL;
	vq->packed.used_place = VRING_PACKED_PLACE_WRAP;
	vq->packed.n_free = vq->size;
	vq->packed.added = 0;
	vq->packed.n_long = 0;
	packed_disarm(vq);
	for (unsigned id = 0; id < vq->size; id++) {
		write_frame(vq, &vq->head[id]);
		vq->free.item[vq->free.n++] = &vq->head[id];
	}
}

struct vq_choice packed_choose(struct virtqueue *vq, unsigned wanted)
{
	unsigned direct = vq_direct_limit(vq, vq->packed.n_free, wanted);

	if (direct == 0)
		return (struct vq_choice){VQ_PACKED_TABLES, wanted};
	return (struct vq_choice){VQ_PACKED_DIRECT, wanted < direct ? wanted : direct};
}

uint16_t packed_place_ahead(const struct virtqueue *vq, uint32_t distance)
{
	uint32_t pos = (vq->packed.used_place & VRING_PACKED_PLACE_OFF) + distance;
	uint32_t wrap = vq->packed.used_place & VRING_PACKED_PLACE_WRAP;

	if (pos >= vq->size) {
		pos -= vq->size;
		wrap ^= VRING_PACKED_PLACE_WRAP;
	}
	return (uint16_t)(pos | wrap);
}

/*
 * How many descriptors the device will have passed at least when it is at the @n-th chain from now, in
 * whichever order it takes them: an event may come early, never late.
 */
static uint32_t event_distance(const struct virtqueue *vq, uint16_t n)
{
	bool frames = vq->kind == VQ_PACKED_DIRECT && vq->packed.n_long == 0;

	return n > 1 ? (n - 1u) * (frames ? VQ_FRAME_DESCRIPTORS : 1) : 0;
}

uint16_t packed_event_off_wrap(const struct virtqueue *vq, uint16_t n)
{
	return packed_place_ahead(vq, event_distance(vq, n));
}

/* Walks over what is used, as the drain will; a lie among it ends the walk, for that to find. */
bool packed_before_event(const struct virtqueue *vq, uint16_t n)
{
	uint32_t event = event_distance(vq, n), distance = 0;

	while (distance <= event) {
		uint16_t place = packed_place_ahead(vq, distance), id;
		const struct vring_packed_desc *desc =
			&vq->packed.desc[place & VRING_PACKED_PLACE_OFF];

		if (!packed_is_used(desc, packed_used_flags(place)))
			return true;
		id = __atomic_load_n(&desc->id, __ATOMIC_RELAXED);
		if (id >= vq->size || !virtqueue_head_in_flight(&vq->head[id]))
			return false;
		distance += vq->head[id].descriptors;
	}
	return false;
}
