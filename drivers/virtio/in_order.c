/* SPDX-License-Identifier: BSD-2-Clause */
/* What of VIRTIO_F_IN_ORDER is not done for each buffer? (virtio 1.3, 2.7.9 and 2.8.8) */
#include "drivers/virtio/in_order.h"

/* Walks from span to span, as the drain will; a lie among them ends the walk, for that to find. */
static bool packed_before(const struct virtqueue *vq, uint32_t n)
{
	uint32_t done = vq->span.left, in_flight = virtqueue_in_flight(vq);

	while (done < n) {
		uint16_t place = packed_place_ahead(vq, done);
		uint32_t pos = place & VRING_PACKED_PLACE_OFF, span;
		const struct vring_packed_desc *desc = &vq->packed.desc[pos];

		if (!packed_is_used(desc, packed_used_flags(place)))
			return true;
		span = in_order_span(pos, __atomic_load_n(&desc->id, __ATOMIC_RELAXED), vq->size);
		if (span - 1 >= in_flight - done)
			return false;
		done += span;
	}
	return false;
}

bool in_order_before_event(const struct virtqueue *vq, uint16_t n)
{
	return vq_is_packed(vq->kind) ? packed_before(vq, n) : split_before_event(vq, n);
}

static struct vq_drain rest_of_span(const struct virtqueue *vq)
{
	struct vq_drain d = {.size = vq->size, .span = vq->span};

	d.in_order.pos = in_order_used_pos(vq);
	d.in_order.used_flags = packed_used_flags(vq->packed.used_place);
	return d;
}

/* In a split ring the descriptor refers to the frame's table again, as in_order_batch_add() expects. */
void in_order_release(struct virtqueue *vq, struct vq_head *head)
{
	struct vq_drain drain = rest_of_span(vq);

	if (!vq_is_packed(vq->kind))
		split_write_single(vq, head);
	in_order_drain_free(&drain, head, vq->kind);
	in_order_drain_end(vq, &drain, 1, vq->kind);
}
