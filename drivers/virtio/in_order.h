/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What if the device uses buffers in the order in which it got them? VIRTIO_F_IN_ORDER, for both rings
 * (virtio 1.3, 2.7.9 and 2.8.8). Callers use the names of virtqueue.h.
 *
 * Each chain lies in a table, so that it takes one descriptor, and the heads go round with the ring:
 * the descriptor at a place, its table, its status byte and, in a packed ring, its buffer ID are those
 * of the head with the number of the place. So nothing is looked up and there are no free heads to
 * remember; in a split ring even descriptors and available ring are written once (split.c).
 *
 * A used entry may stand for several buffers: it names the last, lies where the one of the first would,
 * and the next follows where the next buffer's would; the used index of a split ring counts buffers.
 * Of the others nothing is known but that they were used in full: their status bytes tell the rest.
 * Such a span is looked at once, when it is opened, and then taken one buffer at a time (vq->span).
 */
#ifndef DRIVERS_VIRTIO_IN_ORDER_H
#define DRIVERS_VIRTIO_IN_ORDER_H

#include "drivers/virtio/packed.h"
#include "drivers/virtio/split.h"

/* in_order.c: parts of virtqueue_arm() and of virtqueue_release(). */
bool in_order_before_event(const struct virtqueue *vq, uint16_t n);
void in_order_release(struct virtqueue *vq, struct vq_head *head);

static inline uint32_t in_order_used_pos(const struct virtqueue *vq)
{
	return vq_is_packed(vq->kind) ? vq->packed.used_place & VRING_PACKED_PLACE_OFF
				      : vq->used_idx & vq->split.mask;
}

static inline uint32_t in_order_free_descriptors(const struct virtqueue *vq)
{
	return vq->size - (uint16_t)(vq->avail_idx - vq->used_idx);
}

/* In either ring a batch is a straight run. */
VQ_INLINE struct vq_batch in_order_batch_begin(struct virtqueue *vq, enum vq_kind kind,
					       uint32_t wanted)
{
	uint32_t pos, free, to_end;
	struct vq_batch b = {0};

	if (kind == VQ_PACKED_IN_ORDER) {
		b = packed_batch_begin(vq, VQ_PACKED_TABLES, wanted);
		b.first = &vq->head[vq->packed.avail_pos];
		return b;
	}
	pos = vq->avail_idx & vq->split.mask;
	free = in_order_free_descriptors(vq);
	to_end = vq->size - pos;
	free = free < to_end ? free : to_end;
	b.first = &vq->head[pos];
	b.room = free < wanted ? free : wanted;
	return b;
}

VQ_INLINE void in_order_batch_place(struct vq_head *head, enum vq_kind kind, dma_addr_t addr,
				    uint64_t data_word)
{
	if (kind == VQ_PACKED_IN_ORDER)
		packed_batch_place(head, kind, addr, data_word);
	else
		split_batch_place(head, VQ_SPLIT_TABLES, addr, data_word);
}

VQ_INLINE void in_order_batch_add(struct vq_batch *b, struct vq_head *head, enum vq_kind kind,
				  dma_addr_t addr, uint64_t data_word, uint64_t expected)
{
	if (kind == VQ_PACKED_IN_ORDER)
		packed_batch_add(b, head, VQ_PACKED_TABLES, addr, data_word, expected);
	else
		head->expected = expected;
}

VQ_INLINE void in_order_batch_end(struct virtqueue *vq, uint32_t n, enum vq_kind kind)
{
	vq->avail_idx = (uint16_t)(vq->avail_idx + n);
	if (kind == VQ_PACKED_IN_ORDER)
		packed_advance(vq, n);
}

/* How many buffers an entry at @pos stands for that names @id; 0: there is no such ID. */
static inline uint32_t in_order_span(uint32_t pos, uint32_t id, uint32_t size)
{
	if (id >= size)
		return 0;
	return (id < pos ? id + size : id) - pos + 1;
}

/* Whether there is more to be taken though the packed ring shows none. Also from an interrupt, as
 * packed_has_used(). */
static inline bool in_order_in_span(const struct virtqueue *vq)
{
	return __atomic_load_n(&vq->span.left, __ATOMIC_RELAXED) > 0;
}

VQ_INLINE struct vq_drain in_order_drain_begin(struct virtqueue *vq, enum vq_kind kind)
{
	struct vq_drain d = {.head = vq->head, .size = vq->size, .span = vq->span};

	d.in_order.pos = in_order_used_pos(vq);
	if (kind == VQ_PACKED_IN_ORDER) {
		d.in_order.desc = vq->packed.desc;
		d.in_order.used_flags = packed_used_flags(vq->packed.used_place);
		d.in_order.most = virtqueue_in_flight(vq);
	} else {
		d.in_order.used = vq->split.used->ring;
		d.in_order.most = split_used(vq);
		if (__builtin_expect(d.in_order.most < d.span.left, 0)) {
			virtqueue_break(vq, "used index went backwards");
			d.in_order.most = d.span.left = 0;
		}
	}
	return d;
}

/* Reads the next used entry, if there is one. As for acquire, see split_used() and packed_drain_frame(). */
VQ_INLINE bool in_order_next_used(struct vq_drain *d, uint32_t i, enum vq_kind kind, uint32_t *id)
{
	const struct vring_packed_desc *desc = &d->in_order.desc[d->in_order.pos];
	const struct vring_used_elem *elem = &d->in_order.used[d->in_order.pos];

	if (kind == VQ_PACKED_IN_ORDER) {
		if (!packed_is_used(desc, d->in_order.used_flags))
			return false;
		*id = __atomic_load_n(&desc->id, __ATOMIC_RELAXED);
		d->span.len = __atomic_load_n(&desc->len, __ATOMIC_RELAXED);
	} else {
		if (i >= d->in_order.most)
			return false;
		*id = __atomic_load_n(&elem->id, __ATOMIC_RELAXED);
		d->span.len = __atomic_load_n(&elem->len, __ATOMIC_RELAXED);
	}
	return true;
}

/* Whether an entry that names @id can be true: it must not stand for more than is in flight, or, in a
 * split ring, than the used index has moved by. */
VQ_INLINE bool in_order_open(struct vq_drain *d, uint32_t i, uint32_t id)
{
	uint32_t n = in_order_span(d->in_order.pos, id, d->size);

	d->odd = n - 1 >= d->in_order.most - i;
	d->span.left = d->odd ? 0 : n;
	return !d->odd;
}

/* The length is that of the last of a span; the first question is for the span that is but one. */
VQ_INLINE struct vq_head *in_order_drain_frame(struct vq_drain *d, uint32_t i, enum vq_kind kind)
{
	struct vq_head *head = &d->head[d->in_order.pos];
	uint32_t id;

	if (d->span.left == 0) {
		if (!in_order_next_used(d, i, kind, &id))
			return NULL;
		if (__builtin_expect(id == d->in_order.pos, 1) &&
		    __builtin_expect(head->expected == d->span.len, 1)) {
			d->span.left = 1;
			return head;
		}
		if (!in_order_open(d, i, id))
			return NULL;
	}
	if (__builtin_expect(d->span.left == 1 ? head->expected == d->span.len
					       : !(head->expected & VQ_LONG),
			     1))
		return head;
	d->odd = true;
	return NULL;
}

VQ_INLINE void in_order_drain_free(struct vq_drain *d, struct vq_head *head, enum vq_kind kind)
{
	head->expected = VQ_IDLE;
	d->span.left--;
	if (++d->in_order.pos == d->size) {
		d->in_order.pos = 0;
		if (kind == VQ_PACKED_IN_ORDER)
			d->in_order.used_flags ^= VRING_PACKED_DESC_F_BOTH;
	}
}

VQ_INLINE void in_order_drain_end(struct virtqueue *vq, const struct vq_drain *d, uint32_t n,
				  enum vq_kind kind)
{
	__atomic_store_n(&vq->span.left, d->span.left, __ATOMIC_RELAXED);
	vq->span.len = d->span.len;
	__atomic_store_n(&vq->used_idx, (uint16_t)(vq->used_idx + n), __ATOMIC_RELAXED);
	if (kind != VQ_PACKED_IN_ORDER)
		return;
	vq->packed.n_free = (uint16_t)(vq->packed.n_free + n);
	__atomic_store_n(
		&vq->packed.used_place,
		(uint16_t)(d->in_order.pos | (d->in_order.used_flags & VRING_PACKED_PLACE_WRAP)),
		__ATOMIC_RELAXED);
}

/* Of the span that the drain opened; if it would not, what it saw was a lie. */
static inline struct vq_head *in_order_look(const struct virtqueue *vq, uint32_t *len)
{
	struct vq_head *head = &vq->head[in_order_used_pos(vq)];

	if (vq->span.left == 0 || !virtqueue_head_in_flight(head))
		return NULL;
	*len = vq->span.left == 1 ? vq->span.len : virtqueue_head_writable(head);
	return head;
}

#endif
