/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions does a driver call, whatever the ring? In this order:
 *
 *     virtqueue_choose                           how the next batch is laid out
 *     virtqueue_batch_begin, _place and _add × n, _end
 *                                                describe buffers, tell nobody
 *     virtqueue_publish                          once: the device may look
 *     virtqueue_kick                             once, if the device asked for it
 *     virtqueue_drain_begin, _frame × n, _end    completions as expected
 *     virtqueue_look, virtqueue_release          any other
 *
 * Where a @kind is passed it is a constant at the call, so that nothing is left of the choice.
 */
#ifndef DRIVERS_VIRTIO_VIRTQUEUE_H
#define DRIVERS_VIRTIO_VIRTQUEUE_H

#include "drivers/virtio/in_order.h"
#include "drivers/virtio/packed.h"
#include "drivers/virtio/split.h"

static inline uint32_t virtqueue_free_descriptors(const struct virtqueue *vq)
{
	if (vq->kind == VQ_SPLIT_IN_ORDER)
		return in_order_free_descriptors(vq);
	return vq_is_packed(vq->kind) ? packed_free_descriptors(vq) : split_free_descriptors(vq);
}

VQ_INLINE struct vq_choice virtqueue_choose(struct virtqueue *vq, unsigned wanted)
{
	if (__builtin_expect(vq->kind == VQ_SPLIT_MIXED, 0))
		return split_choose(vq, wanted);
	if (__builtin_expect(vq->kind == VQ_PACKED_MIXED, 0))
		return packed_choose(vq, wanted);
	return (struct vq_choice){vq->kind, wanted};
}

/* Of at most @wanted chains, for which there is room. */
VQ_INLINE struct vq_batch virtqueue_batch_begin(struct virtqueue *vq, enum vq_kind kind,
						uint32_t wanted)
{
	if (vq_is_in_order(kind))
		return in_order_batch_begin(vq, kind, wanted);
	return vq_is_packed(kind) ? packed_batch_begin(vq, kind, wanted)
				  : split_batch_begin(vq, kind, wanted);
}

/* What vq_head.stamp is to be for contents of @stamp, below 2^63: a buffer ID of a packed ring that
 * carried a chain of one descriptor is to be placed anew for one of three. */
VQ_INLINE uint64_t virtqueue_batch_stamp(uint64_t stamp, enum vq_kind kind)
{
	return kind == VQ_PACKED_DIRECT ? stamp | 1ull << 63 : stamp;
}

/* Puts into the frame of @head what stays the same from one use to the next: see vq_head.stamp. */
VQ_INLINE void virtqueue_batch_place(struct vq_head *head, enum vq_kind kind, void *token,
				     dma_addr_t addr, uint64_t data_word)
{
	head->token = token;
	if (vq_is_in_order(kind))
		in_order_batch_place(head, kind, addr, data_word);
	else if (vq_is_packed(kind))
		packed_batch_place(head, kind, addr, data_word);
	else
		split_batch_place(head, kind, addr, data_word);
}

/*
 * Adds chain number @i, of one piece of data, which is placed; what virtqueue_batch_head() said is
 * @head, and its header is written. @data_word is from virtqueue_data_word(), @expected what the
 * device may write, status byte included. The device sees the chain after virtqueue_publish().
 */
VQ_INLINE void virtqueue_batch_add(struct vq_batch *b, uint32_t i, struct vq_head *head,
				   enum vq_kind kind, dma_addr_t addr, uint64_t data_word,
				   uint64_t expected)
{
	if (vq_is_in_order(kind))
		in_order_batch_add(b, head, kind, addr, data_word, expected);
	else if (vq_is_packed(kind))
		packed_batch_add(b, head, kind, addr, data_word, expected);
	else
		split_batch_add(b, i, head, expected);
}

/* @len bytes, and VRING_DESC_F_WRITE if the device writes them. */
static inline uint64_t virtqueue_data_word(const struct virtqueue *vq, uint32_t len, uint16_t flags)
{
	return vq_is_packed(vq->kind) ? packed_data_word(len, flags) : split_data_word(len, flags);
}

VQ_INLINE void virtqueue_batch_end(struct virtqueue *vq, const struct vq_batch *b, uint32_t n,
				   enum vq_kind kind)
{
	if (vq_is_in_order(kind))
		in_order_batch_end(vq, n, kind);
	else if (vq_is_packed(kind))
		packed_batch_end(vq, b, n, kind);
	else
		split_batch_end(vq, b, n, kind);
}

static inline void virtqueue_publish(struct virtqueue *vq)
{
	if (vq_is_packed(vq->kind))
		packed_publish(vq);
	else
		split_publish(vq);
}

/* 2.9, 4.1.5.2.1: how far the driver has come, above what names the queue. */
static inline uint32_t virtqueue_notify_data(const struct virtqueue *vq)
{
	uint32_t place = vq_is_packed(vq->kind) ? packed_notify_place(vq) : split_notify_place(vq);

	return place << 16 | vq->notify_value;
}

static inline void virtqueue_notify(const struct virtqueue *vq)
{
	if (__builtin_expect(vq->notify_data, 0))
		region_write32(&vq->doorbell, 0, virtqueue_notify_data(vq));
	else
		region_write16(&vq->doorbell, 0, vq->notify_value);
}

/*
 * Notifies the device of what was published since the last call, if it wants to know; returns
 * whether it did. The full barrier keeps the load of the device's wish behind the store that
 * published: otherwise both sides could miss each other's.
 */
VQ_INLINE bool virtqueue_kick(struct virtqueue *vq)
{
	uint16_t old_idx = vq->published_idx, added = vq->packed.added;
	bool wanted;

	vq->published_idx = vq->avail_idx;
	barrier_full();
	if (vq_is_packed(vq->kind)) {
		vq->packed.added = 0;
		wanted = packed_wants_kick(vq, added);
	} else {
		wanted = split_wants_kick(vq, old_idx);
	}
	if (wanted)
		virtqueue_notify(vq);
	return wanted;
}

static inline bool virtqueue_has_used(const struct virtqueue *vq)
{
	return vq_is_packed(vq->kind) ? packed_has_used(vq) || in_order_in_span(vq)
				      : split_has_used(vq);
}

VQ_INLINE struct vq_drain virtqueue_drain_begin(struct virtqueue *vq, enum vq_kind kind)
{
	if (vq_is_in_order(kind))
		return in_order_drain_begin(vq, kind);
	return vq_is_packed(kind) ? packed_drain_begin(vq) : split_drain_begin(vq, kind);
}

/*
 * The head of completion number @i: of a frame that is in flight and in which the device wrote
 * just what was expected. NULL: there is no further one, or one that is not that (drain->odd).
 */
VQ_INLINE struct vq_head *virtqueue_drain_frame(struct vq_drain *d, uint32_t i, enum vq_kind kind)
{
	if (vq_is_in_order(kind))
		return in_order_drain_frame(d, i, kind);
	return vq_is_packed(kind) ? packed_drain_frame(d) : split_drain_frame(d, i);
}

/* The frame is the driver's again. */
VQ_INLINE void virtqueue_drain_free(struct vq_drain *d, struct vq_head *head, enum vq_kind kind)
{
	if (vq_is_in_order(kind))
		in_order_drain_free(d, head, kind);
	else if (vq_is_packed(kind))
		packed_drain_free(d, head, kind == VQ_PACKED_TABLES ? 1 : head->descriptors);
	else
		split_drain_free(d, head, kind);
}

VQ_INLINE void virtqueue_drain_end(struct virtqueue *vq, const struct vq_drain *d, uint32_t n,
				   enum vq_kind kind)
{
	if (vq_is_in_order(kind))
		in_order_drain_end(vq, d, n, kind);
	else if (vq_is_packed(kind))
		packed_drain_end(vq, d, n);
	else
		split_drain_end(vq, d, n, kind);
}

/* Of the completion at which a drain stopped; after virtqueue_drain_end(). NULL: it is none of ours. */
static inline struct vq_head *virtqueue_look(const struct virtqueue *vq, uint32_t *len)
{
	if (vq_is_in_order(vq->kind))
		return in_order_look(vq, len);
	return vq_is_packed(vq->kind) ? packed_look(vq, len) : split_look(vq, len);
}

/* To be called after each drain that found something, in a queue that is polled. */
static inline void virtqueue_park_interrupts(const struct virtqueue *vq)
{
	if (!vq_is_packed(vq->kind))
		split_park_interrupts(vq);
}

/*
 * Asks for an interrupt once @n more buffers are used, at most those in flight, or before where
 * chains in a packed ring may differ in length. False if they are already: then none may come. The
 * full barrier keeps the look at the ring behind the store of the wish, as the device keeps its look
 * at the wish behind the store that used: one of the two sees the other (2.7.14, 2.8.22).
 */
static inline bool virtqueue_arm(const struct virtqueue *vq, uint16_t n)
{
	bool packed = vq_is_packed(vq->kind);

	if (packed)
		packed_wish(vq, n);
	else
		split_wish(vq, n);
	barrier_full();
	if (vq_is_in_order(vq->kind))
		return in_order_before_event(vq, n);
	return packed ? packed_before_event(vq, n) : split_before_event(vq, n);
}

/* Asks for none; one that is under way may still come. */
static inline void virtqueue_disarm(const struct virtqueue *vq)
{
	if (vq_is_packed(vq->kind))
		packed_disarm(vq);
	else
		split_disarm(vq);
}

/*
 * Whether the device can have missed a notification. With EVENT_IDX it says how far it has read;
 * without, that it wants none, or only that nothing came back for a while is known.
 */
static inline bool virtqueue_may_have_missed(const struct virtqueue *vq)
{
	return vq_is_packed(vq->kind) ? packed_may_have_missed(vq) : split_may_have_missed(vq);
}

#endif
