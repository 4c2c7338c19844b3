/* SPDX-License-Identifier: BSD-2-Clause */
/* How is a chain built that has more than one piece of data, or none? One descriptor at a time, in
 * the ring or in a long table. And how does any chain go back? */
#ifndef DRIVERS_VIRTIO_LONG_H
#define DRIVERS_VIRTIO_LONG_H

#include "drivers/virtio/virtqueue.h"

struct vq_chain {
	struct virtqueue *vq;
	struct vq_head *head;
	bool indirect;
	void *table;	      /* a long indirect table, or the ring's own descriptors */
	uint32_t at;	      /* the next entry of table */
	uint32_t n;	      /* entries so far */
	struct vq_head *unit; /* split, in the ring: see split_long.c */
	uint16_t in_unit;
	uint16_t flags; /* packed, in the ring: AVAIL or USED at this place */
};

/* Starts a chain of @entries descriptors. False: there is not enough room now. */
bool virtqueue_long_begin(struct virtqueue *vq, struct vq_chain *chain, uint32_t entries);
/* Readable pieces come before writable ones (2.7.4.2, 2.8.17); all but the last carry NEXT. */
void virtqueue_long_put(struct vq_chain *chain, dma_addr_t addr, uint32_t len, uint16_t flags);
/* Adds the chain to the batch. */
void virtqueue_long_end(struct vq_chain *chain, void *token, uint32_t writable_bytes);

/* The chain of @head, which virtqueue_look() found, is the driver's again, whatever it is. */
void virtqueue_release(struct virtqueue *vq, struct vq_head *head);

/* The parts of these that the ring decides: split_long.c, packed_long.c. */
void split_long_begin(struct vq_chain *chain);
void split_long_put(struct vq_chain *chain, dma_addr_t addr, uint32_t len, uint16_t flags);
void split_long_end(struct vq_chain *chain);
void split_release(struct virtqueue *vq, struct vq_head *head);
void packed_long_begin(struct vq_chain *chain);
void packed_long_put(struct vq_chain *chain, dma_addr_t addr, uint32_t len, uint16_t flags);
void packed_long_end(struct vq_chain *chain);
void packed_release(struct virtqueue *vq, struct vq_head *head);

#endif
