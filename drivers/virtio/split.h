/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How does a buffer get from the driver to the device and back? The split virtqueue (virtio 1.3,
 * 2.7). The functions of the hot path are here, to be inlined where a request is built:
 *
 *     virtqueue_batch_begin, _add … × n, _end    describe buffers, tell nobody
 *     virtqueue_publish                          once: the device may look
 *     virtqueue_kick                             once, if the device asked for it
 *     virtqueue_drain_begin, _look × n, _end     validated completions
 *
 * A chain is header, data, status: a frame whose first and last descriptor never change, round one
 * that does. Descriptors are therefore dealt out in slots of one frame, and what never changes is
 * written once, in split.c; longer chains take several slots or a table (split_long.h). With
 * indirect descriptors the slot is one descriptor that points at a table with the frame.
 *
 * What the driver posted is remembered in private memory (vq_head); the shared descriptors are
 * written and never read back, since the device could have changed them.
 */
#ifndef DRIVERS_VIRTIO_SPLIT_H
#define DRIVERS_VIRTIO_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include <arch/machine.h>

#include "drivers/pci/region.h"

#define VRING_DESC_F_NEXT     1
#define VRING_DESC_F_WRITE    2
#define VRING_DESC_F_INDIRECT 4

#define VRING_AVAIL_F_NO_INTERRUPT 1
#define VRING_USED_F_NO_NOTIFY	   1

#define VIRTQUEUE_SIZE_MAX 32768

struct vring_desc {
	uint64_t addr;
	uint32_t len;
	uint16_t flags, next;
};

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

/* Where the frames are: the header of head h at header + h * header_bytes, its status byte at
 * status + h. A head is the number of a slot's first descriptor, so it is below the queue size. */
struct vq_frame {
	dma_addr_t header, status;
	uint32_t header_bytes;
};

/* Private: one per descriptor, in use while it is the head of a chain that the device has. */
struct vq_head {
	void *token;		 /* NULL: not in flight */
	uint32_t writable_bytes; /* what the device may write to the chain at most */
	uint16_t long_slots;	 /* 0: a frame, in one slot; else see split_long.c */
	uint16_t next_slot;	 /* of a chain of several slots */
};

#define VQ_FRAME_DESCRIPTORS 3
#define VQ_TABLE_ENTRIES     4 /* of a frame's table, one to spare: a line of 64 bytes */
#define VQ_TABLE_SHIFT	     2

/* Long indirect tables, from a pool: for chains of more than one piece of data. */
struct vq_tables {
	struct vring_desc *frames;   /* VQ_TABLE_ENTRIES per head; NULL: no indirect descriptors */
	struct vring_desc **free;    /* a stack of n_free long tables */
	struct vring_desc **long_of; /* per head: the long table that it holds, or NULL */
	uint16_t n_free, entries;
};

struct virtqueue {
	struct vring_desc *data; /* the data descriptor of head h is data[h << data_shift] */
	struct vring_desc *desc;
	struct vring_avail *avail;
	struct vring_used *used;
	struct vq_head *head;
	uint16_t *free; /* a stack of the heads of n_free slots */
	uint16_t size, mask, data_shift;
	uint16_t stride; /* descriptors in a slot */
	uint16_t n_slots, n_free;
	uint16_t avail_idx;	      /* of the next entry; runs ahead of what is published */
	uint16_t published_idx;	      /* what avail->idx holds */
	uint16_t used_idx;	      /* of the next entry to take */
	uint16_t index, notify_value; /* the latter is what the doorbell takes */
	bool notify_data;	      /* and the place in the ring with it, in 32 bits (2.9) */
	uint16_t vector;	      /* of MSI-X; VIRTIO_NO_VECTOR: used buffers raise none */
	bool event_idx;
	struct region doorbell;
	const char *broken; /* why the queue cannot be used any more; NULL while it can */
	struct vq_frame frame;
	struct vq_tables tables;

	dma_addr_t desc_dma, avail_dma, used_dma;
	struct vq_memory { /* what virtqueue_destroy() gives back */
		void *p;
		size_t bytes;
	} memory[12];
	unsigned nr_memory;
};

/*
 * Allocates a ring of @size entries (a power of two, at least 4) for polled use: the device is
 * asked for no used-buffer notifications. With @table_entries > 0 chains are indirect, of at most
 * that many entries. False if memory ran out.
 */
bool virtqueue_create(struct virtqueue *vq, uint16_t size, bool event_idx,
		      const struct vq_frame *frame, uint16_t table_entries);
/* The same for a legacy device: the ring in one block, whose address is vq->desc_dma (2.7.2). */
bool virtqueue_create_legacy(struct virtqueue *vq, uint16_t size, bool event_idx,
			     const struct vq_frame *frame, uint16_t table_entries);
/* Only while the device has no use for the queue: the memory as it was at first, nothing in flight. */
void virtqueue_restart(struct virtqueue *vq);
/* Only once the device is reset: it must not write to this memory any more. */
void virtqueue_destroy(struct virtqueue *vq);
/* Writes the descriptors of the frame at @head. */
void virtqueue_write_frame(struct virtqueue *vq, uint16_t head);

/*
 * ---- Adding ----
 *
 * A batch is a copy of what does not change while it grows, so that the compiler may keep it in
 * registers. Its length, the caller's loop counter, says how far the free stack and the available
 * ring are used.
 */
struct vq_batch {
	struct vring_desc *data;
	struct vq_head *head;
	const uint16_t *free_top;
	uint16_t *ring;
	uint32_t room, avail_idx, mask;
};

static inline struct vq_batch virtqueue_batch_begin(const struct virtqueue *vq)
{
	return (struct vq_batch){.data = vq->data,
				 .head = vq->head,
				 .free_top = vq->free + vq->n_free - 1,
				 .ring = vq->avail->ring,
				 .room = vq->n_free,
				 .avail_idx = vq->avail_idx,
				 .mask = vq->mask};
}

/* The head that the chain number @i of the batch will have; @i is less than room. */
static inline uint32_t virtqueue_batch_head(const struct vq_batch *b, uint32_t i)
{
	return *(b->free_top - i);
}

/*
 * Puts chain number @i, of one piece of data, into the available ring, where the device sees it
 * after virtqueue_publish(). @data_shift is vq->data_shift, a constant at the call. @flags:
 * VRING_DESC_F_NEXT, and VRING_DESC_F_WRITE if the device writes.
 */
static inline void virtqueue_batch_add(const struct vq_batch *b, uint32_t i, uint32_t head,
				       unsigned data_shift, void *token, dma_addr_t addr,
				       uint32_t len, uint16_t flags, uint32_t writable_bytes)
{
	struct vring_desc *data = &b->data[head << data_shift];

	data->addr = addr;
	data->len = len;
	data->flags = flags;
	b->head[head].token = token;
	b->head[head].writable_bytes = writable_bytes;
	__atomic_store_n(&b->ring[(b->avail_idx + i) & b->mask], (uint16_t)head, __ATOMIC_RELAXED);
}

static inline void virtqueue_batch_end(struct virtqueue *vq, uint32_t n)
{
	vq->n_free = (uint16_t)(vq->n_free - n);
	vq->avail_idx = (uint16_t)(vq->avail_idx + n);
}

/* 2.7.13.3: all that was written before becomes visible to the device no later than idx. */
static inline void virtqueue_publish(struct virtqueue *vq)
{
	__atomic_store_n(&vq->avail->idx, vq->avail_idx, __ATOMIC_RELEASE);
}

/* 2.9, 4.1.5.2.1: where the next entry of the available ring will be, above what names the queue. */
static inline uint32_t virtqueue_notify_data(const struct virtqueue *vq)
{
	return (uint32_t)vq->published_idx << 16 | vq->notify_value;
}

static inline void virtqueue_notify(const struct virtqueue *vq)
{
	if (__builtin_expect(vq->notify_data, 0))
		region_write32(&vq->doorbell, 0, virtqueue_notify_data(vq));
	else
		region_write16(&vq->doorbell, 0, vq->notify_value);
}

static inline uint16_t *virtqueue_used_event(const struct virtqueue *vq)
{
	return &vq->avail->ring[vq->size];
}

static inline uint16_t *virtqueue_avail_event(const struct virtqueue *vq)
{
	return (uint16_t *)&vq->used->ring[vq->size];
}

/*
 * Notifies the device of what was published since the last call, if it wants to know; returns
 * whether it did. The full barrier keeps the load of the device's wish behind the store of idx:
 * otherwise both sides could miss each other's (2.7.13.4.1).
 */
static inline bool virtqueue_kick(struct virtqueue *vq)
{
	uint16_t old_idx = vq->published_idx, new_idx = vq->avail_idx;
	bool wanted;

	vq->published_idx = new_idx;
	barrier_full();
	if (vq->event_idx) {
		uint16_t event = __atomic_load_n(virtqueue_avail_event(vq), __ATOMIC_RELAXED);

		wanted = (uint16_t)(new_idx - event - 1) < (uint16_t)(new_idx - old_idx);
	} else {
		wanted = !(__atomic_load_n(&vq->used->flags, __ATOMIC_RELAXED) &
			   VRING_USED_F_NO_NOTIFY);
	}
	if (wanted)
		virtqueue_notify(vq);
	return wanted;
}

static inline uint16_t virtqueue_in_flight(const struct virtqueue *vq)
{
	return (uint16_t)(vq->published_idx - vq->used_idx);
}

/*
 * How many used entries wait to be popped. The acquire pairs with the device's release of idx:
 * entries and data are seen whole (2.7.8.2). An index that runs ahead of what was published, or
 * backwards, breaks the queue.
 */
static inline uint16_t virtqueue_used(struct virtqueue *vq)
{
	uint16_t n = (uint16_t)(__atomic_load_n(&vq->used->idx, __ATOMIC_ACQUIRE) - vq->used_idx);

	if (__builtin_expect(n > virtqueue_in_flight(vq), 0)) {
		vq->broken = "used index outside what was submitted";
		return 0;
	}
	return n;
}

/* ---- Taking back: likewise ---- */

struct vq_drain {
	const struct vring_used_elem *ring;
	struct vq_head *head;
	uint16_t *free_end;
	uint32_t used_idx, mask, size;
};

static inline struct vq_drain virtqueue_drain_begin(const struct virtqueue *vq)
{
	return (struct vq_drain){.ring = vq->used->ring,
				 .head = vq->head,
				 .free_end = vq->free + vq->n_free,
				 .used_idx = vq->used_idx,
				 .mask = vq->mask,
				 .size = vq->size};
}

/*
 * Looks at used entry number @i, of those that virtqueue_used() counted: the head of its chain,
 * NULL if there is no such chain in flight. What the device says that it wrote is in @len, not
 * yet compared with anything.
 */
static inline struct vq_head *virtqueue_drain_look(const struct vq_drain *d, uint32_t i,
						   uint32_t *id, uint32_t *len)
{
	const struct vring_used_elem *elem = &d->ring[(d->used_idx + i) & d->mask];

	*id = __atomic_load_n(&elem->id, __ATOMIC_RELAXED);
	*len = __atomic_load_n(&elem->len, __ATOMIC_RELAXED);
	if (__builtin_expect(*id >= d->size, 0) || __builtin_expect(!d->head[*id].token, 0))
		return NULL;
	return &d->head[*id];
}

/* The slot of entry number @i is the driver's again; not for long chains. */
static inline void virtqueue_drain_free(const struct vq_drain *d, uint32_t i, uint32_t id)
{
	d->head[id].token = NULL;
	d->free_end[i] = (uint16_t)id;
}

static inline void virtqueue_drain_end(struct virtqueue *vq, uint32_t n)
{
	vq->n_free = (uint16_t)(vq->n_free + n);
	vq->used_idx = (uint16_t)(vq->used_idx + n);
}

/*
 * For polled use with EVENT_IDX, where the flags must stay 0 (2.7.7.1): used_event is kept half the
 * circle of indexes ahead. The device, which may look at it at any time, has at most a queue of
 * 32768 to complete until it is moved on, and cannot come past it.
 */
static inline void virtqueue_park_interrupts(const struct virtqueue *vq)
{
	__atomic_store_n(virtqueue_used_event(vq), (uint16_t)(vq->used_idx + 0x8000),
			 __ATOMIC_RELAXED);
}

/*
 * Asks for an interrupt once @n more buffers are used. False if they are already: then none may
 * come. The full barrier keeps the look at the used index behind the store of the wish, as the
 * device keeps its look at the wish behind the store of the index: one of the two sees the other
 * (2.7.14, and 2.7.10 for the other direction).
 */
static inline bool virtqueue_arm(const struct virtqueue *vq, uint16_t n)
{
	if (vq->event_idx)
		__atomic_store_n(virtqueue_used_event(vq), (uint16_t)(vq->used_idx + n - 1),
				 __ATOMIC_RELAXED);
	else
		__atomic_store_n(&vq->avail->flags, 0, __ATOMIC_RELAXED);
	barrier_full();
	return (uint16_t)(__atomic_load_n(&vq->used->idx, __ATOMIC_ACQUIRE) - vq->used_idx) < n;
}

/* Asks for none; one that is under way may still come. */
static inline void virtqueue_disarm(const struct virtqueue *vq)
{
	if (vq->event_idx)
		virtqueue_park_interrupts(vq);
	else
		__atomic_store_n(&vq->avail->flags, VRING_AVAIL_F_NO_INTERRUPT, __ATOMIC_RELAXED);
}

/*
 * Whether the device can have missed a notification. With EVENT_IDX it says how far it has read;
 * without, only that nothing came back for a while is known.
 */
static inline bool virtqueue_may_have_missed(const struct virtqueue *vq)
{
	return !vq->event_idx ||
	       __atomic_load_n(virtqueue_avail_event(vq), __ATOMIC_RELAXED) != vq->published_idx;
}

#endif
