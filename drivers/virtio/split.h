/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How does a buffer get from the driver to the device and back? The split virtqueue (virtio 1.3,
 * 2.7). The functions of the hot path are here, to be inlined where a request is built:
 *
 *     virtqueue_chain_begin, _put …, _end   × n    describe buffers, tell nobody
 *     virtqueue_publish                            once: the device may look
 *     virtqueue_kick                               once, if the device asked for it
 *     virtqueue_used, then virtqueue_pop    × n    validated completions
 *
 * What the driver posted is remembered in private memory (head[], next[]); the shared descriptors
 * are written and never read back, since the device could have changed them.
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
	uint64_t len_flags_next; /* le32 len, le16 flags, le16 next: one store */
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

/* Private: one per descriptor, in use while it is the head of a chain that the device has. */
struct vq_head {
	void *token;
	uint32_t writable_bytes; /* what the device may write to the chain at most */
	uint16_t descriptors;	 /* 0: not in flight */
	uint16_t tail;		 /* the chain's last descriptor */
};

/* Indirect tables: a short one for each head, and a few long ones from a pool. */
#define VQ_TABLE_SHORT 8

struct vq_tables {
	struct vring_desc *short_tables; /* VQ_TABLE_SHORT entries per head; NULL: no tables */
	struct vring_desc **free_long;	 /* a stack */
	struct vring_desc **long_of;	 /* per head: the long table that it holds, or NULL */
	uint16_t n_free_long, long_entries;
};

struct virtqueue {
	struct vring_desc *desc;
	struct vring_avail *avail;
	struct vring_used *used;
	struct vq_head *head;
	uint16_t *next; /* private: the free list, and the links of chains in flight */
	uint16_t size, mask;
	uint16_t free_head, n_free;
	uint16_t avail_idx;	/* of the next entry; runs ahead of what is published */
	uint16_t published_idx; /* what avail->idx holds */
	uint16_t used_idx;	/* of the next entry to take */
	uint16_t index;
	bool event_idx;
	struct region doorbell;
	const char *broken; /* why the queue cannot be used any more; NULL while it can */
	struct vq_tables tables;

	dma_addr_t desc_dma, avail_dma, used_dma;
	struct vq_memory { /* what virtqueue_destroy() gives back */
		void *p;
		size_t bytes;
	} memory[8];
	unsigned nr_memory;
};

/*
 * Allocates and zeroes a ring of @size entries (a power of two) for polled use: the device is
 * asked for no used-buffer notifications. With @table_entries > 0 indirect tables are made, the
 * long ones that large. False if memory ran out.
 */
bool virtqueue_create(struct virtqueue *vq, uint16_t size, bool event_idx, uint16_t table_entries);
/* Only once the device is reset: it must not write to this memory any more. */
void virtqueue_destroy(struct virtqueue *vq);

/* A chain while it is built. @table is the ring's own table or an indirect one. */
struct vq_chain {
	struct vring_desc *table;
	uint16_t head, at, count;
	uint16_t last;
};

static inline void vring_desc_write(struct vring_desc *desc, dma_addr_t addr, uint32_t len,
				    uint16_t flags, uint16_t next)
{
	desc->addr = addr;
	desc->len_flags_next = len | (uint64_t)flags << 32 | (uint64_t)next << 48;
}

/* The caller has seen to it that n_free is enough for all that it will put. */
static inline struct vq_chain virtqueue_chain_begin(const struct virtqueue *vq)
{
	return (struct vq_chain){.table = vq->desc, .head = vq->free_head, .at = vq->free_head};
}

/* Readable pieces come before writable ones (2.7.4.2); the last carries no NEXT. */
static inline void virtqueue_chain_put(const struct virtqueue *vq, struct vq_chain *chain,
				       dma_addr_t addr, uint32_t len, uint16_t flags)
{
	uint16_t next = vq->next[chain->at];

	vring_desc_write(&chain->table[chain->at], addr, len, flags,
			 flags & VRING_DESC_F_NEXT ? next : 0);
	chain->last = chain->at;
	chain->at = next;
	chain->count++;
}

/* Puts the chain into the available ring, where the device sees it after virtqueue_publish(). */
static inline void virtqueue_chain_end(struct virtqueue *vq, const struct vq_chain *chain,
				       void *token, uint32_t writable_bytes)
{
	vq->head[chain->head] =
		(struct vq_head){token, writable_bytes, chain->count, chain->last};
	vq->free_head = chain->at;
	vq->n_free = (uint16_t)(vq->n_free - chain->count);
	__atomic_store_n(&vq->avail->ring[vq->avail_idx & vq->mask], chain->head, __ATOMIC_RELAXED);
	vq->avail_idx++;
}

/*
 * The same for a chain in an indirect table (2.7.5.3), which takes one descriptor of the ring.
 * virtqueue_table() says which table @entries fit into; NULL: all long ones are in use.
 */
static inline struct vring_desc *virtqueue_table(const struct virtqueue *vq, uint32_t entries)
{
	const struct vq_tables *tables = &vq->tables;

	if (entries <= VQ_TABLE_SHORT)
		return &tables->short_tables[(uint32_t)vq->free_head * VQ_TABLE_SHORT];
	return entries <= tables->long_entries && tables->n_free_long
		       ? tables->free_long[tables->n_free_long - 1]
		       : NULL;
}

static inline struct vq_chain virtqueue_table_begin(const struct virtqueue *vq,
						    struct vring_desc *table)
{
	return (struct vq_chain){.table = table, .head = vq->free_head};
}

static inline void virtqueue_table_put(struct vq_chain *chain, dma_addr_t addr, uint32_t len,
				       uint16_t flags)
{
	vring_desc_write(&chain->table[chain->at], addr, len, flags,
			 flags & VRING_DESC_F_NEXT ? (uint16_t)(chain->at + 1) : 0);
	chain->at++;
}

static inline void virtqueue_table_end(struct virtqueue *vq, const struct vq_chain *chain,
				       void *token, uint32_t writable_bytes)
{
	struct vq_chain ring = virtqueue_chain_begin(vq);
	uint32_t bytes = chain->at * (uint32_t)sizeof(struct vring_desc);

	if (chain->at > VQ_TABLE_SHORT)
		vq->tables.long_of[chain->head] =
			vq->tables.free_long[--vq->tables.n_free_long];
	virtqueue_chain_put(vq, &ring, dma_map(chain->table, bytes), bytes, VRING_DESC_F_INDIRECT);
	virtqueue_chain_end(vq, &ring, token, writable_bytes);
}

/* After a pop, on a queue that has tables. */
static inline void virtqueue_table_release(struct virtqueue *vq, uint32_t head)
{
	struct vring_desc *table = vq->tables.long_of[head];

	if (table) {
		vq->tables.free_long[vq->tables.n_free_long++] = table;
		vq->tables.long_of[head] = NULL;
	}
}

/* 2.7.13.3: all that was written before becomes visible to the device no later than idx. */
static inline void virtqueue_publish(struct virtqueue *vq)
{
	__atomic_store_n(&vq->avail->idx, vq->avail_idx, __ATOMIC_RELEASE);
}

static inline void virtqueue_notify(const struct virtqueue *vq)
{
	region_write16(&vq->doorbell, 0, vq->index);
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

/* A head index beyond every queue: no completion. */
#define VQ_NO_HEAD UINT32_MAX

/*
 * Takes one used entry, of those that virtqueue_used() counted. Returns the chain's head, for
 * vq->head[].token, and in @len what the device says that it wrote. VQ_NO_HEAD: the device lied
 * and the queue is broken.
 */
static inline uint32_t virtqueue_pop(struct virtqueue *vq, uint32_t *len)
{
	struct vring_used_elem *elem = &vq->used->ring[vq->used_idx & vq->mask];
	uint32_t id = __atomic_load_n(&elem->id, __ATOMIC_RELAXED);
	struct vq_head *head;

	*len = __atomic_load_n(&elem->len, __ATOMIC_RELAXED);
	if (__builtin_expect(id >= vq->size, 0)) {
		vq->broken = "used id outside the queue";
		return VQ_NO_HEAD;
	}
	head = &vq->head[id];
	if (__builtin_expect(head->descriptors == 0, 0)) {
		vq->broken = "used id is not in flight";
		return VQ_NO_HEAD;
	}
	if (__builtin_expect(*len > head->writable_bytes, 0)) {
		vq->broken = "used length beyond the writable buffer";
		return VQ_NO_HEAD;
	}
	vq->next[head->tail] = vq->free_head;
	vq->free_head = (uint16_t)id;
	vq->n_free = (uint16_t)(vq->n_free + head->descriptors);
	head->descriptors = 0;
	vq->used_idx++;
	return id;
}

/*
 * For polled use with EVENT_IDX, where the flags must stay 0 (2.7.7.1): used_event is kept just
 * behind, so that the next interrupt would be due after 65535 more completions, and never is.
 */
static inline void virtqueue_park_interrupts(const struct virtqueue *vq)
{
	__atomic_store_n(virtqueue_used_event(vq), (uint16_t)(vq->used_idx - 1), __ATOMIC_RELAXED);
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
