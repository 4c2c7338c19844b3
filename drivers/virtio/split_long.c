/* SPDX-License-Identifier: BSD-2-Clause */
/* How is a chain built that has more than one piece of data? */
#include "drivers/virtio/split_long.h"

/* In vq_head.long_slots, else the number of slots that the chain takes: it lies in a long table,
 * and one slot refers to that. */
#define SLOTS_TABLE UINT16_MAX

static uint16_t take_slot(struct virtqueue *vq)
{
	return vq->free[--vq->n_free];
}

bool virtqueue_long_begin(struct virtqueue *vq, struct vq_chain *chain, uint32_t entries)
{
	bool indirect = entries <= vq->tables.entries && vq->tables.n_free > 0 && vq->n_free > 0;

	if (!indirect && (uint32_t)vq->n_free * vq->stride < entries)
		return false;
	*chain = (struct vq_chain){.vq = vq, .indirect = indirect, .table = vq->desc};
	chain->head = chain->slot = chain->at = take_slot(vq);
	if (indirect) {
		chain->table = vq->tables.free[--vq->tables.n_free];
		chain->at = 0;
		vq->tables.long_of[chain->head] = chain->table;
	}
	vq->head[chain->head].long_slots = indirect ? SLOTS_TABLE : 1;
	return true;
}

/* The entry after the current one; at the end of a slot, the first of a further slot. */
static uint16_t next_entry(struct vq_chain *chain)
{
	struct virtqueue *vq = chain->vq;
	uint16_t slot;

	if (chain->indirect || ++chain->in_slot < vq->stride)
		return (uint16_t)(chain->at + 1);
	slot = take_slot(vq);
	vq->head[chain->slot].next_slot = slot;
	vq->head[chain->head].long_slots++;
	chain->slot = slot;
	chain->in_slot = 0;
	return slot;
}

void virtqueue_long_put(struct vq_chain *chain, dma_addr_t addr, uint32_t len, uint16_t flags)
{
	struct vring_desc *desc = &chain->table[chain->at];
	uint16_t next = flags & VRING_DESC_F_NEXT ? next_entry(chain) : 0;

	*desc = (struct vring_desc){addr, len, flags, next};
	/* Slot 0 is a slot like any other: next alone says nothing. */
	chain->at = flags & VRING_DESC_F_NEXT ? next : (uint16_t)(chain->at + 1);
}

void virtqueue_long_end(struct vq_chain *chain, void *token, uint32_t writable_bytes)
{
	struct virtqueue *vq = chain->vq;
	uint32_t bytes = chain->at * (uint32_t)sizeof(struct vring_desc);

	if (chain->indirect)
		vq->desc[chain->head] = (struct vring_desc){dma_map(chain->table, bytes), bytes,
							    VRING_DESC_F_INDIRECT, 0};
	vq->head[chain->head].token = token;
	vq->head[chain->head].writable_bytes = writable_bytes;
	__atomic_store_n(&vq->avail->ring[vq->avail_idx & vq->mask], chain->head, __ATOMIC_RELAXED);
	vq->avail_idx++;
}

static void free_slot(struct virtqueue *vq, uint16_t slot)
{
	virtqueue_write_frame(vq, slot);
	vq->free[vq->n_free++] = slot;
}

void virtqueue_long_free(struct virtqueue *vq, uint32_t head)
{
	struct vq_head *h = &vq->head[head];
	uint16_t slot = (uint16_t)head;

	if (h->long_slots == SLOTS_TABLE) {
		vq->tables.free[vq->tables.n_free++] = vq->tables.long_of[head];
		vq->tables.long_of[head] = NULL;
		h->long_slots = 1;
	}
	for (; h->long_slots > 0; h->long_slots--) {
		uint16_t next = vq->head[slot].next_slot;

		free_slot(vq, slot);
		slot = next;
	}
	h->token = NULL;
	vq->used_idx++;
}

uint32_t virtqueue_entries_max(const struct virtqueue *vq)
{
	uint32_t direct = (uint32_t)vq->n_slots * vq->stride;

	return direct > vq->tables.entries ? direct : vq->tables.entries;
}
