/* SPDX-License-Identifier: BSD-2-Clause */
/* How does the device side of the benchmark read chains and return them? (virtio 1.3, 2.7 and 2.8) */
#include "tests/ringbench/device.h"

void device_init(struct device *device, const struct virtqueue *vq)
{
	*device = (struct device){.vq = vq, .packed = vq_is_packed(vq->kind), .wrap = 1};
}

void device_polls(const struct device *device)
{
	if (device->packed)
		device->vq->packed.device->flags = RING_EVENT_FLAGS_DISABLE;
	else
		device->vq->split.used->flags = VRING_USED_F_NO_NOTIFY;
}

/* Both formats have address and length in the same places. */
static uint32_t writable_of(const struct vring_desc *desc, uint16_t flags)
{
	return flags & VRING_DESC_F_WRITE ? desc->len : 0;
}

static uint32_t split_walk(const struct vring_desc *table, uint16_t at)
{
	uint32_t bytes = 0;

	for (;; at = table[at].next) {
		bytes += writable_of(&table[at], table[at].flags);
		if (!(table[at].flags & VRING_DESC_F_NEXT))
			return bytes;
	}
}

static uint32_t split_chain(const struct vring_desc *ring, uint16_t head)
{
	const struct vring_desc *desc = &ring[head];

	if (desc->flags & VRING_DESC_F_INDIRECT)
		return split_walk((const struct vring_desc *)(uintptr_t)desc->addr, 0);
	return split_walk(ring, head);
}

static unsigned split_turn(struct device *device, unsigned max)
{
	const struct virtqueue *vq = device->vq;
	uint16_t idx = __atomic_load_n(&vq->split.avail->idx, __ATOMIC_ACQUIRE),
		 mask = vq->split.mask;
	unsigned i, n = (uint16_t)(idx - device->avail_idx);

	n = n < max ? n : max;
	for (i = 0; i < n; i++) {
		uint16_t head = vq->split.avail->ring[device->avail_idx++ & mask];
		struct vring_used_elem *elem = &vq->split.used->ring[device->used_idx++ & mask];

		elem->id = head;
		elem->len = split_chain(vq->split.desc, head);
	}
	if (n > 0)
		__atomic_store_n(&vq->split.used->idx, device->used_idx, __ATOMIC_RELEASE);
	return n;
}

static uint32_t table_bytes(const struct vring_desc *reference)
{
	const struct vring_desc *desc = (const struct vring_desc *)(uintptr_t)reference->addr;
	uint32_t i, bytes = 0;

	for (i = 0; i < reference->len / sizeof(*desc); i++)
		bytes += writable_of(&desc[i], ((const struct vring_packed_desc *)&desc[i])->flags);
	return bytes;
}

static bool packed_available(const struct device *device, uint16_t flags)
{
	return !!(flags & VRING_PACKED_DESC_F_AVAIL) == device->wrap &&
	       !!(flags & VRING_PACKED_DESC_F_USED) != device->wrap;
}

static void packed_next(struct device *device)
{
	if (++device->pos == device->vq->size) {
		device->pos = 0;
		device->wrap ^= 1;
	}
}

/* Takes the chain that begins at the device's place; its used descriptor goes over the first. */
static void packed_chain(struct device *device, uint16_t flags)
{
	struct vring_packed_desc *first = &device->vq->packed.desc[device->pos], *desc = first;
	uint16_t used = device->wrap ? VRING_PACKED_DESC_F_BOTH : 0;
	uint32_t bytes = 0;

	if (flags & VRING_DESC_F_INDIRECT)
		bytes = table_bytes((const struct vring_desc *)desc);
	for (;;) {
		bytes += writable_of((const struct vring_desc *)desc, flags);
		packed_next(device);
		if (!(flags & VRING_DESC_F_NEXT))
			break;
		desc = &device->vq->packed.desc[device->pos];
		flags = desc->flags;
	}
	first->id = desc->id;
	first->len = bytes;
	__atomic_store_n(&first->flags, used | (bytes ? VRING_DESC_F_WRITE : 0), __ATOMIC_RELEASE);
}

static unsigned packed_turn(struct device *device, unsigned max)
{
	unsigned n;

	for (n = 0; n < max; n++) {
		uint16_t flags = __atomic_load_n(&device->vq->packed.desc[device->pos].flags,
						 __ATOMIC_ACQUIRE);

		if (!packed_available(device, flags))
			break;
		packed_chain(device, flags);
	}
	return n;
}

unsigned device_turn(struct device *device, unsigned max)
{
	return device->packed ? packed_turn(device, max) : split_turn(device, max);
}
