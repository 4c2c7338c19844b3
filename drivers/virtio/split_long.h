/* SPDX-License-Identifier: BSD-2-Clause */
/* How is a chain built that has more than one piece of data? From several slots, or in a table. */
#ifndef DRIVERS_VIRTIO_SPLIT_LONG_H
#define DRIVERS_VIRTIO_SPLIT_LONG_H

#include "drivers/virtio/split.h"

struct vq_chain {
	struct virtqueue *vq;
	struct vring_desc *table; /* a long indirect table, or the ring's own descriptors */
	uint16_t head, at;	  /* at: the next entry of table */
	uint16_t slot, in_slot;	  /* the slot that at lies in, and how far; in the ring only */
	bool indirect;
};

/* Starts a chain of @entries descriptors, frame included, indirect if a table is free and large
 * enough. False: there is not enough room now. */
bool virtqueue_long_begin(struct virtqueue *vq, struct vq_chain *chain, uint32_t entries);
/* Readable pieces come before writable ones (2.7.4.2); all but the last carry NEXT. */
void virtqueue_long_put(struct vq_chain *chain, dma_addr_t addr, uint32_t len, uint16_t flags);
/* Puts the chain into the available ring. */
void virtqueue_long_end(struct vq_chain *chain, void *token, uint32_t writable_bytes);

/* Whether a completed chain goes back by virtqueue_long_free(), not by virtqueue_drain_free(). */
static inline bool virtqueue_is_long(const struct vq_head *head)
{
	return head->long_slots != 0;
}

/* The counterpart of virtqueue_drain_free(), outside a drain: frames are made whole again. */
void virtqueue_long_free(struct virtqueue *vq, uint32_t head);

/* The most entries that a chain can have, whichever way it is built. */
uint32_t virtqueue_entries_max(const struct virtqueue *vq);

#endif
