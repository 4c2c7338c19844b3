/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How does a buffer get from the driver to the device and back? The split virtqueue (virtio 1.3,
 * 2.7). Callers use the names of virtqueue.h; packed.h has the same functions for the other ring.
 *
 * Descriptors are dealt out in slots of one frame, whose first and last descriptor never change:
 * they are written when the queue is made, and again only if a longer chain has used the slot. Where
 * chains are indirect a slot is broken up into three descriptors, each of which points at the table
 * of its head, likewise for good (split.c).
 */
#ifndef DRIVERS_VIRTIO_SPLIT_H
#define DRIVERS_VIRTIO_SPLIT_H

#include "drivers/virtio/ring.h"

#define VRING_AVAIL_F_NO_INTERRUPT 1
#define VRING_USED_F_NO_NOTIFY	   1

struct vring_avail {
	uint16_t flags, idx;
	uint16_t ring[]; /* size entries, then used_event */
};

struct vring_used_elem {
	uint32_t id, len;
};

struct vring_used {
	uint16_t flags, idx;
	struct vring_used_elem ring[]; /* size entries, then avail_event */
};

/* split.c: parts of virtqueue_create() and of virtqueue_restart(). */
bool split_create(struct virtqueue *vq, bool contiguous);
void split_start(struct virtqueue *vq);
/* Writes the descriptors of a whole slot, and the one of a head whose chain is a table. */
void split_write_slot(struct virtqueue *vq, struct vq_head *head);
void split_write_single(struct virtqueue *vq, struct vq_head *head);
/* Where batches differ: how the next is to be laid out, and how long it may be. */
struct vq_choice split_choose(struct virtqueue *vq, unsigned wanted);

static inline struct vq_stack *split_stack(struct virtqueue *vq, enum vq_kind kind)
{
	return kind == VQ_SPLIT_TABLES ? &vq->split.singles : &vq->free;
}

static inline uint32_t split_free_descriptors(const struct virtqueue *vq)
{
	return vq->free.n * VQ_FRAME_DESCRIPTORS + vq->split.singles.n;
}

VQ_INLINE struct vq_batch split_batch_begin(struct virtqueue *vq, enum vq_kind kind,
					    uint32_t wanted)
{
	struct vq_batch b = virtqueue_batch_of(split_stack(vq, kind), wanted);

	b.split.ring = vq->split.avail->ring;
	b.split.avail_idx = vq->avail_idx;
	b.split.mask = vq->split.mask;
	return b;
}

/* The data descriptor is the middle one of the slot, or of the table. */
VQ_INLINE void split_batch_place(struct vq_head *head, enum vq_kind kind, dma_addr_t addr,
				 uint64_t data_word)
{
	struct vring_desc *data =
		kind == VQ_SPLIT_TABLES ? &head->frame->split[1] : head->split_data;

	data->addr = addr;
	if (kind == VQ_SPLIT_TABLES) {
		*vring_word_of(data) = data_word;
	} else {
		data->len = (uint32_t)data_word;
		data->flags = (uint16_t)(data_word >> 32);
	}
}

/* The head goes into the next entry of the available ring. The device sees nothing yet. */
VQ_INLINE void split_batch_add(struct vq_batch *b, uint32_t i, struct vq_head *head,
			       uint64_t expected)
{
	head->expected = expected;
	__atomic_store_n(&b->split.ring[(b->split.avail_idx + i) & b->split.mask], head->id,
			 __ATOMIC_RELAXED);
}

/* In the form that split_batch_place() takes: the link is that of a table. */
static inline uint64_t split_data_word(uint32_t len, uint16_t flags)
{
	return len | (uint64_t)(flags | VRING_DESC_F_NEXT) << 32 | 2ull << 48;
}

VQ_INLINE void split_batch_end(struct virtqueue *vq, const struct vq_batch *b, uint32_t n,
			       enum vq_kind kind)
{
	virtqueue_batch_took(split_stack(vq, kind), b, n);
	vq->avail_idx = (uint16_t)(vq->avail_idx + n);
}

/* 2.7.13.3: all that was written before becomes visible to the device no later than idx. */
static inline void split_publish(struct virtqueue *vq)
{
	__atomic_store_n(&vq->split.avail->idx, vq->avail_idx, __ATOMIC_RELEASE);
}

static inline uint16_t *split_used_event(const struct virtqueue *vq)
{
	return &vq->split.avail->ring[vq->size];
}

static inline uint16_t *split_avail_event(const struct virtqueue *vq)
{
	return (uint16_t *)&vq->split.used->ring[vq->size];
}

/* 2.9: where the next entry of the available ring will be. */
static inline uint16_t split_notify_place(const struct virtqueue *vq)
{
	return vq->published_idx;
}

/* After a full barrier: whether the device wants to know of the batch (2.7.13.4.1). */
static inline bool split_wants_kick(const struct virtqueue *vq, uint16_t old_idx)
{
	uint16_t event;

	if (!vq->event_idx)
		return !(__atomic_load_n(&vq->split.used->flags, __ATOMIC_RELAXED) &
			 VRING_USED_F_NO_NOTIFY);
	event = __atomic_load_n(split_avail_event(vq), __ATOMIC_RELAXED);
	return (uint16_t)(vq->avail_idx - event - 1) < (uint16_t)(vq->avail_idx - old_idx);
}

/*
 * How many used entries wait to be taken. The acquire pairs with the device's release of idx:
 * entries and data are seen whole (2.7.8.2). An index that runs ahead of what was published, or
 * backwards, breaks the queue.
 */
static inline uint16_t split_used(struct virtqueue *vq)
{
	uint16_t idx = __atomic_load_n(&vq->split.used->idx, __ATOMIC_ACQUIRE);
	uint16_t n = (uint16_t)(idx - vq->used_idx);

	if (__builtin_expect(n > virtqueue_in_flight(vq), 0)) {
		virtqueue_break(vq, "used index outside what was submitted");
		return 0;
	}
	return n;
}

/* Also from an interrupt, whichever CPU drains the queue meanwhile. */
static inline bool split_has_used(const struct virtqueue *vq)
{
	return __atomic_load_n(&vq->split.used->idx, __ATOMIC_ACQUIRE) !=
	       __atomic_load_n(&vq->used_idx, __ATOMIC_RELAXED);
}

VQ_INLINE struct vq_drain split_drain_begin(struct virtqueue *vq, enum vq_kind kind)
{
	struct vq_stack *stack = split_stack(vq, kind == VQ_SPLIT_MIXED ? VQ_SPLIT_DIRECT : kind);

	return (struct vq_drain){
		.head = vq->head,
		.free_end = stack->item + stack->n,
		.size = vq->size,
		.split = {.ring = vq->split.used->ring,
			  .singles_end = vq->split.singles.item + vq->split.singles.n,
			  .used_idx = vq->used_idx,
			  .mask = vq->split.mask,
			  .n = split_used(vq)}};
}

/* Looks at used entry number @i. */
VQ_INLINE struct vq_head *split_drain_frame(struct vq_drain *d, uint32_t i)
{
	const struct vring_used_elem *elem =
		&d->split.ring[(d->split.used_idx + i) & d->split.mask];
	uint32_t id, len;

	if (i >= d->split.n)
		return NULL;
	id = __atomic_load_n(&elem->id, __ATOMIC_RELAXED);
	len = __atomic_load_n(&elem->len, __ATOMIC_RELAXED);
	return virtqueue_drain_known(d, id, len);
}

VQ_INLINE void split_drain_free(struct vq_drain *d, struct vq_head *head, enum vq_kind kind)
{
	head->expected = VQ_IDLE;
	if (kind == VQ_SPLIT_MIXED && head->descriptors == 1)
		*d->split.singles_end++ = head;
	else
		*d->free_end++ = head;
}

VQ_INLINE void split_drain_end(struct virtqueue *vq, const struct vq_drain *d, uint32_t n,
			       enum vq_kind kind)
{
	struct vq_stack *stack = split_stack(vq, kind);

	if (kind == VQ_SPLIT_MIXED) {
		stack = &vq->free;
		vq->split.singles.n = (uint16_t)(d->split.singles_end - vq->split.singles.item);
	}
	stack->n = (uint16_t)(d->free_end - stack->item);
	__atomic_store_n(&vq->used_idx, (uint16_t)(vq->used_idx + n), __ATOMIC_RELAXED);
}

/* The next used entry, whatever it is; there must be one. NULL: no chain of that head is in flight.
 * What the device says that it wrote is in @len, not yet compared with anything. */
static inline struct vq_head *split_look(const struct virtqueue *vq, uint32_t *len)
{
	const struct vring_used_elem *elem = &vq->split.used->ring[vq->used_idx & vq->split.mask];
	uint32_t id = __atomic_load_n(&elem->id, __ATOMIC_RELAXED);

	*len = __atomic_load_n(&elem->len, __ATOMIC_RELAXED);
	return id < vq->size && virtqueue_head_in_flight(&vq->head[id]) ? &vq->head[id] : NULL;
}

/*
 * For polled use with EVENT_IDX, where the flags must stay 0 (2.7.7.1): used_event is kept half the
 * circle of indexes ahead. The device, which may look at it at any time, has at most a queue of
 * 32768 to complete until it is moved on, and cannot come past it.
 */
static inline void split_park_interrupts(const struct virtqueue *vq)
{
	if (vq->event_idx)
		__atomic_store_n(split_used_event(vq), (uint16_t)(vq->used_idx + 0x8000),
				 __ATOMIC_RELAXED);
}

static inline void split_wish(const struct virtqueue *vq, uint16_t n)
{
	if (vq->event_idx)
		__atomic_store_n(split_used_event(vq), (uint16_t)(vq->used_idx + n - 1),
				 __ATOMIC_RELAXED);
	else
		__atomic_store_n(&vq->split.avail->flags, 0, __ATOMIC_RELAXED);
}

static inline bool split_before_event(const struct virtqueue *vq, uint16_t n)
{
	uint16_t idx = __atomic_load_n(&vq->split.used->idx, __ATOMIC_ACQUIRE);

	return (uint16_t)(idx - vq->used_idx) < n;
}

static inline void split_disarm(const struct virtqueue *vq)
{
	if (vq->event_idx)
		split_park_interrupts(vq);
	else
		__atomic_store_n(&vq->split.avail->flags, VRING_AVAIL_F_NO_INTERRUPT,
				 __ATOMIC_RELAXED);
}

static inline bool split_may_have_missed(const struct virtqueue *vq)
{
	if (!vq->event_idx)
		return !(__atomic_load_n(&vq->split.used->flags, __ATOMIC_RELAXED) &
			 VRING_USED_F_NO_NOTIFY);
	return __atomic_load_n(split_avail_event(vq), __ATOMIC_RELAXED) != vq->published_idx;
}

#endif
