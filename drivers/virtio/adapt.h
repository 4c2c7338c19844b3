/* SPDX-License-Identifier: BSD-2-Clause */
/* When is a ring so full that chains go into tables? Where batches differ: blk.indirect=threshold. */
#ifndef DRIVERS_VIRTIO_ADAPT_H
#define DRIVERS_VIRTIO_ADAPT_H

#include "drivers/virtio/ring.h"

/*
 * Where the threshold follows the load: direct chains for all that was wanted in flight of late, what
 * is and what is to come, would take three descriptors each. What the ring is short of then is the
 * threshold; 0 while all would fit. What is in flight alone would not tell: the ring limits it.
 */
static inline void vq_adapt(struct virtqueue *vq, unsigned to_come)
{
	uint32_t in_flight = (uint16_t)(vq->avail_idx - vq->used_idx), most = vq->size - in_flight;
	uint32_t need;

	vq->wanted_16ths -= vq->wanted_16ths / 16;
	vq->wanted_16ths += in_flight + (to_come < most ? to_come : most);
	need = vq->wanted_16ths * VQ_FRAME_DESCRIPTORS / 16;
	vq->indirect_below = need > vq->size ? need - vq->size : 0;
}

/* How many of @to_come chains may be direct, or more, with @free descriptors, before the threshold
 * is passed. */
static inline unsigned vq_direct_limit(struct virtqueue *vq, uint32_t free, unsigned to_come)
{
	if (vq->adaptive)
		vq_adapt(vq, to_come);
	if (free < vq->indirect_below || free < VQ_FRAME_DESCRIPTORS)
		return 0;
	return (free - vq->indirect_below) / VQ_FRAME_DESCRIPTORS + 1;
}

#endif
