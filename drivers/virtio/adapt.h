/* SPDX-License-Identifier: BSD-2-Clause */
/* When is a ring so full that chains go into tables? Where batches differ: blk.indirect=threshold. */
#ifndef DRIVERS_VIRTIO_ADAPT_H
#define DRIVERS_VIRTIO_ADAPT_H

#include "drivers/virtio/ring.h"

/*
 * Where the threshold follows the ring: direct chains for all that was in flight of late would take
 * three descriptors each. What the ring is short of then is the threshold; 0 while all would fit.
 */
static inline void vq_adapt(struct virtqueue *vq)
{
	uint32_t need;

	vq->in_flight_16ths += virtqueue_in_flight(vq);
	vq->in_flight_16ths -= vq->in_flight_16ths / 16;
	need = vq->in_flight_16ths * VQ_FRAME_DESCRIPTORS / 16;
	vq->indirect_below = need > vq->size ? need - vq->size : 0;
}

/* How many direct chains there may be, with @free descriptors, before the threshold is passed. */
static inline unsigned vq_direct_limit(struct virtqueue *vq, uint32_t free)
{
	if (vq->adaptive)
		vq_adapt(vq);
	if (free < vq->indirect_below || free < VQ_FRAME_DESCRIPTORS)
		return 0;
	return (free - vq->indirect_below) / VQ_FRAME_DESCRIPTORS + 1;
}

#endif
