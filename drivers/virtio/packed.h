/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How does a buffer get from the driver to the device and back, if there is but one ring? The packed
 * virtqueue (virtio 1.3, 2.8). Callers use the names of virtqueue.h; split.h has the same functions.
 *
 * The driver writes descriptors at avail_pos, the device writes used ones over them at used_place,
 * both going round. Whose a descriptor is, two bits of its flags tell, AVAIL and USED; what they mean
 * is turned over with each lap (2.8.1). So avail_flags stands for the driver's wrap counter.
 *
 * A batch is a straight run: it ends where the ring ends. A chain across the end is a batch by itself,
 * with its descriptors at both ends. The first descriptor of all that is published at once is held
 * back (first_word), so that the device finds either nothing or everything (2.8.21.1).
 */
#ifndef DRIVERS_VIRTIO_PACKED_H
#define DRIVERS_VIRTIO_PACKED_H

#include "drivers/virtio/ring.h"

#define VRING_PACKED_DESC_F_AVAIL (1u << 7)
#define VRING_PACKED_DESC_F_USED  (1u << 15)
#define VRING_PACKED_DESC_F_BOTH  (VRING_PACKED_DESC_F_AVAIL | VRING_PACKED_DESC_F_USED)

/* A place in the ring, as off_wrap has it: the wrap counter there is bit 15. */
#define VRING_PACKED_PLACE_OFF	0x7fffu
#define VRING_PACKED_PLACE_WRAP 0x8000u

#define RING_EVENT_FLAGS_ENABLE	 0
#define RING_EVENT_FLAGS_DISABLE 1
#define RING_EVENT_FLAGS_DESC	 2 /* with EVENT_IDX only */

/* 2.8.14 */
struct vring_packed_event {
	uint16_t off_wrap, flags;
};

/* packed.c: parts of virtqueue_create() and of virtqueue_restart(). */
bool packed_create(struct virtqueue *vq);
void packed_start(struct virtqueue *vq);
/* Where batches differ: how the next is to be laid out, and how long it may be. */
struct vq_choice packed_choose(struct virtqueue *vq, unsigned wanted);
/* The place @distance descriptors, less than a lap, past used_place. */
uint16_t packed_place_ahead(const struct virtqueue *vq, uint32_t distance);
/* Where the @n-th chain from now will be used, or before; and whether the device is not past that. */
uint16_t packed_event_off_wrap(const struct virtqueue *vq, uint16_t n);
bool packed_before_event(const struct virtqueue *vq, uint16_t n);

static inline uint64_t packed_word(uint32_t len, uint32_t id, uint32_t flags)
{
	return len | (uint64_t)id << 32 | (uint64_t)flags << 48;
}

static inline uint32_t packed_free_descriptors(const struct virtqueue *vq)
{
	return vq->packed.n_free;
}

/* The wrap counter of avail_pos, as a place has it. */
static inline uint16_t packed_avail_wrap(const struct virtqueue *vq)
{
	return vq->packed.avail_flags & VRING_PACKED_DESC_F_AVAIL ? VRING_PACKED_PLACE_WRAP : 0;
}

/* 2.9, 2.8.16: where the next descriptor will be made available. */
static inline uint16_t packed_notify_place(const struct virtqueue *vq)
{
	return vq->packed.avail_pos | packed_avail_wrap(vq);
}

/* Moves avail_pos on by @n descriptors that have been written. */
static inline void packed_advance(struct virtqueue *vq, uint32_t n)
{
	uint32_t pos = vq->packed.avail_pos + n;

	vq->packed.n_free = (uint16_t)(vq->packed.n_free - n);
	vq->packed.added = (uint16_t)(vq->packed.added + n);
	if (pos >= vq->size) {
		pos -= vq->size;
		vq->packed.avail_flags ^= VRING_PACKED_DESC_F_BOTH;
	}
	vq->packed.avail_pos = (uint16_t)pos;
}

/* Where the second half of the next chain's first descriptor goes: it is held back if the device
 * would see it at once. */
static inline vring_word *packed_first_word(struct virtqueue *vq)
{
	if (vq->packed.added)
		return vring_word_of(&vq->packed.desc[vq->packed.avail_pos]);
	vq->packed.first_pos = vq->packed.avail_pos;
	return &vq->packed.first_word;
}

VQ_INLINE struct vq_batch packed_batch_begin(struct virtqueue *vq, enum vq_kind kind,
					     uint32_t wanted)
{
	uint32_t pos = vq->packed.avail_pos, size = vq->size, avail = vq->packed.avail_flags;
	struct vq_batch b = virtqueue_batch_of(&vq->free, wanted);
	uint32_t free = vq->packed.n_free, to_end = size - pos;
	uint32_t least = to_end < free ? to_end : free;

	b.packed.next = (char *)&vq->packed.desc[pos];
	b.packed.first_word = packed_first_word(vq);
	if (kind == VQ_PACKED_TABLES) {
		b.room = least < b.room ? least : b.room;
		b.packed.first_bits =
			packed_word(VQ_FRAME_DESCRIPTORS * sizeof(struct vring_packed_desc), 0,
				    VRING_DESC_F_INDIRECT | avail);
		return b;
	}
	b.packed.second = sizeof(struct vring_packed_desc);
	b.packed.third = 2 * sizeof(struct vring_packed_desc);
	b.packed.first_bits = packed_word(VQ_HEADER_BYTES, 0, VRING_DESC_F_NEXT | avail);
	b.packed.second_bits = packed_word(0, 0, VRING_DESC_F_NEXT | avail);
	b.packed.third_bits = packed_word(1, 0, VRING_DESC_F_WRITE | avail);
	least /= VQ_FRAME_DESCRIPTORS;
	if (__builtin_expect(to_end < VQ_FRAME_DESCRIPTORS, 0)) {
		uint64_t turn = packed_word(0, 0, VRING_PACKED_DESC_F_BOTH);
		int64_t lap = (int64_t)(size * sizeof(struct vring_packed_desc));

		least = free >= VQ_FRAME_DESCRIPTORS;
		b.packed.third -= lap;
		b.packed.third_bits ^= turn;
		if (to_end == 1) {
			b.packed.second -= lap;
			b.packed.second_bits ^= turn;
		}
	}
	b.room = least < b.room ? least : b.room;
	return b;
}

/* The data in the table of this ID, where no flag but WRITE may be; a direct chain does without. */
VQ_INLINE void packed_batch_place(struct vq_head *head, enum vq_kind kind, dma_addr_t addr,
				  uint64_t data_word)
{
	struct vring_packed_desc *data = &head->frame->packed[1];

	data->addr = addr;
	*vring_word_of(data) = data_word;
	head->descriptors = kind == VQ_PACKED_DIRECT ? VQ_FRAME_DESCRIPTORS : 1;
}

/*
 * Direct: the three descriptors in a row, the buffer ID in the last (2.8.6), and in the first too,
 * from which QEMU 7.2 takes it. Otherwise the one that refers to the table of this ID.
 */
VQ_INLINE void packed_batch_add(struct vq_batch *b, struct vq_head *head, enum vq_kind kind,
				dma_addr_t addr, uint64_t data_word, uint64_t expected)
{
	struct vring_packed_desc *first = (struct vring_packed_desc *)(void *)b->packed.next;

	if (kind == VQ_PACKED_TABLES) {
		first->addr = head->packed.frame_dma;
		__atomic_store_n(b->packed.first_word, b->packed.first_bits | head->packed.id_word,
				 __ATOMIC_RELAXED);
		b->packed.next += sizeof(struct vring_packed_desc);
	} else {
		char *second = b->packed.next + b->packed.second;
		char *third = b->packed.next + b->packed.third;

		first->addr = head->packed.frame_dma + offsetof(struct vq_frame, header);
		__atomic_store_n(b->packed.first_word, b->packed.first_bits | head->packed.id_word,
				 __ATOMIC_RELAXED);
		((struct vring_packed_desc *)(void *)second)->addr = addr;
		__atomic_store_n(vring_word_of(second), data_word | b->packed.second_bits,
				 __ATOMIC_RELAXED);
		((struct vring_packed_desc *)(void *)third)->addr = head->status_dma;
		__atomic_store_n(vring_word_of(third), b->packed.third_bits | head->packed.id_word,
				 __ATOMIC_RELAXED);
		b->packed.next += VQ_FRAME_DESCRIPTORS * sizeof(struct vring_packed_desc);
	}
	b->packed.first_word = vring_word_of(b->packed.next);
	head->expected = expected;
}

/* In the form that packed_batch_place() and packed_batch_add() take. */
static inline uint64_t packed_data_word(uint32_t len, uint16_t flags)
{
	return packed_word(len, 0, flags & VRING_DESC_F_WRITE);
}

VQ_INLINE void packed_batch_end(struct virtqueue *vq, const struct vq_batch *b, uint32_t n,
				enum vq_kind kind)
{
	virtqueue_batch_took(&vq->free, b, n);
	vq->avail_idx = (uint16_t)(vq->avail_idx + n);
	packed_advance(vq, kind == VQ_PACKED_TABLES ? n : n * VQ_FRAME_DESCRIPTORS);
}

/* 2.8.21.1.1: all that was written before becomes visible to the device no later than these flags. */
static inline void packed_publish(struct virtqueue *vq)
{
	struct vring_packed_desc *first = &vq->packed.desc[vq->packed.first_pos];
	uint64_t word = vq->packed.first_word;

	first->len = (uint32_t)word;
	first->id = (uint16_t)(word >> 32);
	__atomic_store_n(&first->flags, (uint16_t)(word >> 48), __ATOMIC_RELEASE);
}

/*
 * After a full barrier: whether the device wants to know of the last @added descriptors (2.8.21.2).
 * It writes off_wrap before flags.
 */
static inline bool packed_wants_kick(const struct virtqueue *vq, uint16_t added)
{
	const struct vring_packed_event *device = vq->packed.device;
	uint16_t flags = __atomic_load_n(&device->flags, __ATOMIC_ACQUIRE) & 3, off_wrap;
	uint32_t event;

	if (!vq->event_idx || flags != RING_EVENT_FLAGS_DESC)
		return flags != RING_EVENT_FLAGS_DISABLE;
	off_wrap = __atomic_load_n(&device->off_wrap, __ATOMIC_RELAXED);
	event = off_wrap & VRING_PACKED_PLACE_OFF;
	if ((off_wrap & VRING_PACKED_PLACE_WRAP) != packed_avail_wrap(vq))
		event -= vq->size;
	return (uint16_t)(vq->packed.avail_pos - event - 1) < added;
}

static inline bool packed_is_used(const struct vring_packed_desc *desc, uint16_t used_flags)
{
	uint16_t flags = __atomic_load_n(&desc->flags, __ATOMIC_ACQUIRE);

	return (flags & VRING_PACKED_DESC_F_BOTH) == used_flags;
}

static inline uint16_t packed_used_flags(uint16_t place)
{
	return place & VRING_PACKED_PLACE_WRAP ? VRING_PACKED_DESC_F_BOTH : 0;
}

/* Also from an interrupt, whichever CPU drains the queue meanwhile. */
static inline bool packed_has_used(const struct virtqueue *vq)
{
	uint16_t place = __atomic_load_n(&vq->packed.used_place, __ATOMIC_RELAXED);

	return packed_is_used(&vq->packed.desc[place & VRING_PACKED_PLACE_OFF],
			      packed_used_flags(place));
}

VQ_INLINE struct vq_drain packed_drain_begin(struct virtqueue *vq)
{
	uint16_t place = vq->packed.used_place;
	return (struct vq_drain){.head = vq->head,
				 .free_end = vq->free.item + vq->free.n,
				 .size = vq->size,
				 .packed = {.at = &vq->packed.desc[place & VRING_PACKED_PLACE_OFF],
					    .end = &vq->packed.desc[vq->size],
					    .used_flags = packed_used_flags(place)}};
}

/*
 * Looks at the next used descriptor, if there is one. The acquire pairs with the device's release of
 * the flags: ID, length and data are seen whole (2.8.22). Nothing else of the descriptor means anything.
 */
VQ_INLINE struct vq_head *packed_drain_frame(struct vq_drain *d)
{
	const struct vring_packed_desc *desc = d->packed.at;
	uint32_t id, len;

	if (!packed_is_used(desc, d->packed.used_flags))
		return NULL;
	id = __atomic_load_n(&desc->id, __ATOMIC_RELAXED);
	len = __atomic_load_n(&desc->len, __ATOMIC_RELAXED);
	return virtqueue_drain_known(d, id, len);
}

/* The chain took up @taken descriptors of the ring, of which the device wrote one: past them. */
VQ_INLINE void packed_drain_free(struct vq_drain *d, struct vq_head *head, uint32_t taken)
{
	head->expected = VQ_IDLE;
	*d->free_end++ = head;
	d->packed.at += taken;
	if (d->packed.at >= d->packed.end) {
		d->packed.at -= d->size;
		d->packed.used_flags ^= VRING_PACKED_DESC_F_BOTH;
	}
}

/* Where the drain is now; as used_place. */
static inline uint16_t packed_drain_place(const struct virtqueue *vq, const struct vq_drain *d)
{
	return (uint16_t)((d->packed.at - vq->packed.desc) |
			  (d->packed.used_flags & VRING_PACKED_PLACE_WRAP));
}

/* How far that is, in descriptors; at most a lap. */
static inline uint32_t packed_distance(const struct virtqueue *vq, uint16_t place)
{
	bool turned = (place ^ vq->packed.used_place) & VRING_PACKED_PLACE_WRAP;

	return (place & VRING_PACKED_PLACE_OFF) + (turned ? vq->size : 0u) -
	       (vq->packed.used_place & VRING_PACKED_PLACE_OFF);
}

VQ_INLINE void packed_drain_end(struct virtqueue *vq, const struct vq_drain *d, uint32_t n)
{
	uint16_t place = packed_drain_place(vq, d);

	vq->free.n = (uint16_t)(vq->free.n + n);
	vq->used_idx = (uint16_t)(vq->used_idx + n);
	vq->packed.n_free = (uint16_t)(vq->packed.n_free + packed_distance(vq, place));
	__atomic_store_n(&vq->packed.used_place, place, __ATOMIC_RELAXED);
}

/* As split_look(). */
static inline struct vq_head *packed_look(const struct virtqueue *vq, uint32_t *len)
{
	const struct vring_packed_desc *desc =
		&vq->packed.desc[vq->packed.used_place & VRING_PACKED_PLACE_OFF];
	uint16_t id = __atomic_load_n(&desc->id, __ATOMIC_RELAXED);

	*len = __atomic_load_n(&desc->len, __ATOMIC_RELAXED);
	return id < vq->size && virtqueue_head_in_flight(&vq->head[id]) ? &vq->head[id] : NULL;
}

/* The device reads flags before off_wrap, so they are written the other way round. */
static inline void packed_wish(const struct virtqueue *vq, uint16_t n)
{
	struct vring_packed_event *driver = vq->packed.driver;

	if (vq->event_idx)
		__atomic_store_n(&driver->off_wrap, packed_event_off_wrap(vq, n), __ATOMIC_RELAXED);
	__atomic_store_n(&driver->flags,
			 vq->event_idx ? RING_EVENT_FLAGS_DESC : RING_EVENT_FLAGS_ENABLE,
			 __ATOMIC_RELEASE);
}

static inline void packed_disarm(const struct virtqueue *vq)
{
	__atomic_store_n(&vq->packed.driver->flags, RING_EVENT_FLAGS_DISABLE, __ATOMIC_RELAXED);
}

static inline bool packed_may_have_missed(const struct virtqueue *vq)
{
	const struct vring_packed_event *device = vq->packed.device;
	uint16_t flags = __atomic_load_n(&device->flags, __ATOMIC_ACQUIRE) & 3;

	if (!vq->event_idx || flags != RING_EVENT_FLAGS_DESC)
		return flags != RING_EVENT_FLAGS_DISABLE;
	return __atomic_load_n(&device->off_wrap, __ATOMIC_RELAXED) != packed_notify_place(vq);
}

#endif
