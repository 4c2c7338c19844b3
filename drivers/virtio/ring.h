/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What do the two kinds of virtqueue have in common? (virtio 1.3, 2.6) What the driver remembers:
 * its heads, its frames, and how it goes about indirect descriptors. Then read split.h or packed.h,
 * which have the same functions in the same order; virtqueue.h chooses between them.
 *
 * A chain is header, data, status: a frame round one piece of data. Each chain has a head, a number
 * below the queue size: of its first descriptor in a split ring, a buffer ID in a packed one. Private
 * memory (vq_head), the header, the status byte and a table of three descriptors belong to it.
 *
 * What the driver posted is remembered in private memory; the shared descriptors are written and
 * never read back, since the device could have changed them.
 */
#ifndef DRIVERS_VIRTIO_RING_H
#define DRIVERS_VIRTIO_RING_H

#include <stdbool.h>
#include <stdint.h>

#include <arch/machine.h>

#include "drivers/pci/region.h"

#define VRING_DESC_F_NEXT     1
#define VRING_DESC_F_WRITE    2
#define VRING_DESC_F_INDIRECT 4

#define VIRTQUEUE_SIZE_MAX 32768

/* Where a @kind is a constant at the call, or the compiler's own choice costs instructions. */
#define VQ_INLINE static inline __attribute__((always_inline))

/* 2.7.5 */
struct vring_desc {
	uint64_t addr;
	uint32_t len;
	uint16_t flags, next;
};

/* 2.8.13 */
struct vring_packed_desc {
	uint64_t addr;
	uint32_t len;
	uint16_t id, flags;
};

/* The half of a descriptor that is not the address, in one access. */
typedef uint64_t __attribute__((may_alias)) vring_word;

static inline vring_word *vring_word_of(void *descriptor)
{
	return (vring_word *)((char *)descriptor + sizeof(uint64_t));
}

#define VQ_FRAME_DESCRIPTORS 3
#define VQ_HEADER_BYTES	     16

/* One per head, a line of memory that the device only reads: the header, and before it the table of
 * a chain that is indirect, written once but for the data. */
struct vq_frame {
	union {
		struct vring_desc split[VQ_FRAME_DESCRIPTORS];
		struct vring_packed_desc packed[VQ_FRAME_DESCRIPTORS];
	};
	uint64_t header[VQ_HEADER_BYTES / sizeof(uint64_t)];
};
_Static_assert(sizeof(struct vq_frame) == 64, "a line");

/*
 * Private: one per head. Nothing but a frame in flight whose data came as expected equals a 32-bit
 * length, so that one comparison on the hot path stands for three questions.
 *
 * A frame keeps what was in it. Its stamp tells whether that is what the next chain needs: no two
 * stamps of different contents are equal.
 */
struct vq_head {
	void *token;
	uint64_t expected;	/* VQ_IDLE, or what the device may write to the chain, | VQ_LONG */
	uint64_t stamp;		/* of token, type in the header, and data; VQ_NO_STAMP: of none */
	struct vq_frame *frame; /* from here on to id written once */
	dma_addr_t status_dma;
	union {
		struct vring_desc *split_data; /* of a slot: its second descriptor */
		struct {
			dma_addr_t frame_dma;
			uint64_t id_word;
		} packed;
	};
	uint16_t id;
	uint16_t next_unit;   /* of a long chain: see split_long.c */
	uint32_t descriptors; /* split: at this place (see split.c); packed: of the chain */
};
_Static_assert(sizeof(struct vq_head) == 64, "a line");

#define VQ_IDLE	    UINT64_MAX
#define VQ_NO_STAMP UINT64_MAX
#define VQ_LONG	    (1ull << 32) /* no frame: of several pieces, or none */

static inline bool virtqueue_head_in_flight(const struct vq_head *head)
{
	return head->expected != VQ_IDLE;
}

static inline bool virtqueue_head_is_long(const struct vq_head *head)
{
	return head->expected & VQ_LONG;
}

static inline uint32_t virtqueue_head_writable(const struct vq_head *head)
{
	return (uint32_t)head->expected;
}

struct vq_stack {
	struct vq_head **item;
	uint16_t n;
};

/* Long indirect tables, from a pool: for chains of more than one piece of data. */
struct vq_tables {
	void **free; /* a stack of n_free */
	void **of;   /* that the chain of a head lies in; NULL: in none, or in the frame's own */
	char *all;   /* one behind another */
	dma_addr_t all_dma;
	size_t all_bytes;
	uint16_t n_free, entries;
};

/* How a batch is laid out. MIXED is how a queue is where batches differ; IN_ORDER, where the device
 * keeps to the order: in_order.h. */
enum vq_kind {
	VQ_SPLIT_DIRECT,
	VQ_SPLIT_TABLES,
	VQ_SPLIT_MIXED,
	VQ_SPLIT_IN_ORDER,
	VQ_PACKED_DIRECT,
	VQ_PACKED_TABLES,
	VQ_PACKED_MIXED,
	VQ_PACKED_IN_ORDER,
};

/* Of the next batch. */
struct vq_choice {
	enum vq_kind kind; /* never MIXED */
	unsigned limit;	   /* chains of that kind, at most */
};

static inline bool vq_is_packed(enum vq_kind kind)
{
	return kind >= VQ_PACKED_DIRECT;
}

static inline bool vq_is_in_order(enum vq_kind kind)
{
	return kind == VQ_SPLIT_IN_ORDER || kind == VQ_PACKED_IN_ORDER;
}

/* With IN_ORDER: what is left to be taken of the used entry seen last, and the length that it gave. */
struct vq_span {
	uint32_t left; /* buffers */
	uint32_t len;  /* of the last of them */
};

struct vq_config {
	uint16_t size; /* split: a power of two; at least 3 */
	bool packed, event_idx;
	bool in_order;	 /* all chains are indirect then */
	bool contiguous; /* split, for a legacy device: all in one block, at desc_dma (2.7.2) */
	uint16_t table_entries; /* the longest chain of a table; 0: no indirect descriptors */
	/* Chains are indirect when less than so many descriptors are free. 0: never, unless they
	 * fit no other way; more than the size: always. */
	uint32_t indirect_below;
	bool adaptive;	       /* indirect_below follows how full the ring was */
	dma_addr_t status_dma; /* of one byte for each head, for a device to write */
};

struct virtqueue {
	enum vq_kind kind;
	uint16_t size;
	struct vq_head *head;
	struct vq_frame *frames;
	struct vq_stack free; /* split: whole slots; packed: buffer IDs */
	/* Chains, counted modulo 65536. avail_idx runs ahead of what is published. */
	uint16_t avail_idx, published_idx, used_idx;
	struct vq_span span;
	uint16_t index, notify_value; /* the latter is what the doorbell takes */
	bool notify_data;	      /* and a place in the ring with it, in 32 bits (2.9) */
	uint16_t vector;	      /* of MSI-X; VIRTIO_NO_VECTOR: used buffers raise none */
	bool event_idx, adaptive;
	uint32_t indirect_below;
	uint32_t wanted_16ths; /* in flight, of late: see adapt.h */
	struct region doorbell;
	const char *broken; /* see virtqueue_break() */

	union {
		struct {
			struct vring_desc *desc;
			struct vring_avail *avail;
			struct vring_used *used;
			struct vq_stack singles;  /* descriptors that belong to no slot */
			uint16_t mask, broken_up; /* the latter in slots */
		} split;
		struct {
			struct vring_packed_desc *desc;
			struct vring_packed_event *driver, *device;
			uint16_t avail_pos, first_pos;
			uint16_t avail_flags; /* of a descriptor made available at avail_pos */
			uint16_t used_place;  /* with bit 15 the wrap counter; see packed.h */
			uint16_t n_free;      /* descriptors */
			uint16_t added;	      /* descriptors, since the last notification */
			uint16_t n_long;      /* chains in flight that are no frames */
			uint64_t first_word;  /* of the descriptor at first_pos, held back */
		} packed;
	};

	dma_addr_t frames_dma;
	struct vq_tables tables;
	dma_addr_t desc_dma, avail_dma, used_dma; /* descriptor, driver and device area (2.6) */
	size_t desc_bytes, avail_bytes, used_bytes;
	struct vq_memory { /* what virtqueue_destroy() gives back */
		void *p;
		size_t bytes;
	} memory[12];
	unsigned nr_memory;
};

/*
 * Allocates a ring for polled use: the device is asked for no used-buffer notifications. False if
 * memory ran out.
 */
bool virtqueue_create(struct virtqueue *vq, const struct vq_config *config);
/* Only while the device has no use for the queue: the memory as it was at first, nothing in flight. */
void virtqueue_restart(struct virtqueue *vq);
/* Only once the device is reset: it must not write to this memory any more. */
void virtqueue_destroy(struct virtqueue *vq);

/* Zeroed memory that virtqueue_destroy() gives back; for split.c and packed.c. No line of it is written
 * by both sides, prefetched pairs of lines included. */
#define VQ_PART_ALIGN 128
void *virtqueue_take_memory(struct virtqueue *vq, size_t bytes, size_t align);

/*
 * Why the queue cannot be used any more; NULL while it can. Atomic, since a CPU that resets the device
 * says so to all queues. @why is a literal.
 */
static inline const char *virtqueue_broken(const struct virtqueue *vq)
{
	return __atomic_load_n(&vq->broken, __ATOMIC_RELAXED);
}

static inline void virtqueue_break(struct virtqueue *vq, const char *why)
{
	__atomic_store_n(&vq->broken, why, __ATOMIC_RELAXED);
}

static inline uint16_t virtqueue_in_flight(const struct virtqueue *vq)
{
	return (uint16_t)(vq->published_idx - vq->used_idx);
}

/* NULL where no chain of @head is in flight. */
static inline void *virtqueue_token(const struct virtqueue *vq, uint32_t head)
{
	return virtqueue_head_in_flight(&vq->head[head]) ? vq->head[head].token : NULL;
}

static inline dma_addr_t virtqueue_frame_dma(const struct virtqueue *vq, uint32_t head)
{
	return vq->frames_dma + head * sizeof(struct vq_frame);
}

static inline dma_addr_t virtqueue_header_dma(const struct virtqueue *vq, uint32_t head)
{
	return virtqueue_frame_dma(vq, head) + offsetof(struct vq_frame, header);
}

static inline dma_addr_t virtqueue_table_dma(const struct virtqueue *vq, const void *table)
{
	return vq->tables.all_dma + (size_t)((const char *)table - vq->tables.all);
}

/*
 * A batch is a copy of what does not change while it grows, so that the compiler may keep it in
 * registers. Its heads are those on top of the stack, the lowest first: the order in which they came
 * back. Requests that are kept the same way meet their old heads, with all that is in their frames.
 */
struct vq_batch {
	union {
		struct vq_head **heads;
		struct vq_head *first; /* in order: they follow each other */
	};
	uint32_t wanted; /* of them, at most; fewer may be used */
	uint32_t room;	 /* in chains */
	union {
		struct {
			uint16_t *ring;
			uint32_t avail_idx, mask;
		} split;
		struct {
			char *next;	       /* the next chain's first descriptor */
			int64_t second, third; /* from there to the others, in bytes */
			vring_word *first_word;
			uint64_t first_bits, second_bits, third_bits;
		} packed;
	};
};

/* The head that the chain number @i of the batch will have; @i is less than room. */
VQ_INLINE struct vq_head *virtqueue_batch_head(const struct vq_batch *b, uint32_t i,
					       enum vq_kind kind)
{
	return vq_is_in_order(kind) ? b->first + i : b->heads[i];
}

VQ_INLINE struct vq_batch virtqueue_batch_of(const struct vq_stack *stack, uint32_t wanted)
{
	if (wanted > stack->n)
		wanted = stack->n;
	return (struct vq_batch){
		.heads = stack->item + stack->n - wanted, .wanted = wanted, .room = wanted};
}

/* @n heads are taken: closes the gap under those that were not. */
VQ_INLINE void virtqueue_batch_took(struct vq_stack *stack, const struct vq_batch *b, uint32_t n)
{
	for (uint32_t i = n; n && __builtin_expect(i < b->wanted, 0); i++)
		b->heads[i - n] = b->heads[i];
	stack->n = (uint16_t)(stack->n - n);
}

/* Taking back: likewise. */
struct vq_drain {
	struct vq_head *head;
	struct vq_head **free_end;
	uint32_t size;
	bool odd; /* there is an entry that is no frame with just what was expected */
	struct vq_span span;
	union {
		struct {
			const struct vring_used_elem *ring;
			struct vq_head **singles_end;
			uint32_t used_idx, mask, n;
		} split;
		struct {
			const struct vring_packed_desc *at, *end;
			uint16_t used_flags;
		} packed;
		struct {
			union {
				const struct vring_used_elem *used;
				const struct vring_packed_desc *desc;
			};
			uint32_t pos, most; /* the latter: buffers of this drain, at most */
			uint16_t used_flags;
		} in_order;
	};
};

/* The head with number @id, which must be below the queue size, if its chain is a frame in flight in
 * which @len is what the device was to write. It is looked up in private memory, never in the ring. */
VQ_INLINE struct vq_head *virtqueue_drain_known(struct vq_drain *d, uint32_t id, uint32_t len)
{
	if (__builtin_expect(id < d->size, 1) && __builtin_expect(d->head[id].expected == len, 1))
		return &d->head[id];
	d->odd = true;
	return NULL;
}

#endif
