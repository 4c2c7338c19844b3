/* SPDX-License-Identifier: BSD-2-Clause */
/* How does the device side of a split queue read what is available, and write what is used? (2.7) */
#include <stdlib.h>

#include "tests/host/fake_inside.h"

/* Each field that both sides touch is one atomic access; offsets in units of the field (2.7.6). */
static uint16_t *avail_field(const struct fake_queue *queue, unsigned index)
{
	return (uint16_t *)(uintptr_t)queue->ring[1] + index;
}

static uint16_t *used_flags(const struct fake_queue *queue)
{
	return (uint16_t *)(uintptr_t)queue->ring[2];
}

static uint32_t *used_elem(const struct fake_queue *queue, uint16_t index)
{
	return (uint32_t *)(uintptr_t)queue->ring[2] + 1 + 2 * (index % queue->size);
}

static uint16_t *avail_event(const struct fake_queue *queue)
{
	return used_flags(queue) + 2 + 4 * queue->size;
}

static uint16_t avail_idx(const struct fake_queue *queue)
{
	return __atomic_load_n(avail_field(queue, 1), __ATOMIC_ACQUIRE);
}

static uint64_t published(const struct fake_queue *queue)
{
	return avail_idx(queue);
}

static bool event_idx(const struct fake_disk *disk)
{
	return fake_accepted(disk, FAKE_EVENT_IDX);
}

static void suppress(struct fake_disk *disk, struct fake_queue *queue)
{
	bool polling = disk->service == FAKE_POLLING;
	uint16_t event = disk->event == FAKE_EVENT_FIXED ? disk->event_value
			 : polling			 ? (uint16_t)(queue->last_avail + 0x8000)
							 : queue->last_avail;
	uint16_t flags = polling;

	if (event_idx(disk))
		flags = disk->junk; /* RING-SPLIT-29 */
	else
		event = disk->junk ? (uint16_t)fake_random(disk) : 0; /* RING-SPLIT-26 */
	__atomic_store_n(used_flags(queue), flags, __ATOMIC_RELAXED);
	if (event_idx(disk) || disk->junk)
		__atomic_store_n(avail_event(queue), event, __ATOMIC_RELAXED);
	host_fence();
}

static bool enable(struct fake_disk *disk, struct fake_queue *queue)
{
	uint64_t used_bytes = 6 + 8ull * queue->size, i;

	bool ok = fake_ring_memory("RING-SPLIT-01", "queue_desc", queue->ring[0],
				   16ull * queue->size, 16);
	ok &= fake_ring_memory("RING-SPLIT-01", "queue_driver", queue->ring[1],
			       6 + 2ull * queue->size, 2);
	ok &= fake_ring_memory("RING-SPLIT-01", "queue_device", queue->ring[2], used_bytes, 4);
	(void)disk;
	if (!ok)
		return false;
	for (i = 0; i < used_bytes; i++)
		if (((const uint8_t *)(uintptr_t)queue->ring[2])[i])
			fake_violate("RING-SPLIT-25: the used ring is not zero at byte %u",
				     (unsigned)i);
	if (avail_idx(queue) != 0)
		fake_violate("PCI-COM-12: the available index starts at %u", avail_idx(queue));
	queue->owner = calloc(queue->size, sizeof(*queue->owner));
	if (!queue->owner)
		abort();
	return true;
}

static void check(struct fake_disk *disk, struct fake_queue *queue)
{
	uint16_t flags = __atomic_load_n(avail_field(queue, 0), __ATOMIC_RELAXED);

	if (event_idx(disk) && flags)
		fake_violate("RING-SPLIT-16: available flags are %#x with EVENT_IDX", flags);
	if (flags > 1)
		fake_violate("RING-SPLIT-14: available flags are %#x", flags);
}

static unsigned take(struct fake_disk *disk, struct fake_queue *queue)
{
	uint16_t idx = avail_idx(queue), n = (uint16_t)(idx - queue->last_avail);

	if (n > queue->size - queue->nr_pending) {
		fake_violate("RING-SPLIT-13: available index %u after %u, queue size %u", idx,
			     queue->last_avail, queue->size);
		return 0;
	}
	while (queue->last_avail != idx && fake_live(disk)) {
		unsigned slot = queue->last_avail++ % queue->size;

		fake_chain_walk(disk, queue,
				__atomic_load_n(avail_field(queue, 2 + slot), __ATOMIC_RELAXED));
	}
	queue->seen = idx;
	return n;
}

/* 2.7.10 */
static bool wanted(const struct fake_disk *disk, const struct fake_queue *queue, uint64_t idx)
{
	uint16_t event = __atomic_load_n(avail_event(queue), __ATOMIC_RELAXED);

	if (!event_idx(disk))
		return !__atomic_load_n(used_flags(queue), __ATOMIC_RELAXED);
	return (uint16_t)(idx - event - 1) < (uint16_t)(idx - queue->seen);
}

static bool interrupts(const struct fake_disk *disk, const struct fake_queue *queue, uint16_t old)
{
	uint16_t event;

	host_fence();
	event = __atomic_load_n(avail_field(queue, 2u + queue->size), __ATOMIC_RELAXED);
	if (event_idx(disk))
		return (uint16_t)(queue->used - event - 1) < (uint16_t)(queue->used - old);
	return !(__atomic_load_n(avail_field(queue, 0), __ATOMIC_RELAXED) & 1);
}

/* 2.7.9: the element of a batch is its first, and what it skips stays unwritten. */
static bool use(struct fake_disk *disk, struct fake_queue *queue, const struct fake_use *use)
{
	uint32_t *elem = used_elem(queue, queue->used);
	uint16_t old = queue->used;

	__atomic_store_n(&elem[0], use->id, __ATOMIC_RELAXED);
	__atomic_store_n(&elem[1], use->len, __ATOMIC_RELAXED);
	queue->used = (uint16_t)(queue->used + use->buffers + use->jump);
	__atomic_store_n(used_flags(queue) + 1, queue->used, __ATOMIC_RELEASE);
	return interrupts(disk, queue, old);
}

static uint16_t notify_data(const struct fake_queue *queue)
{
	return avail_idx(queue);
}

const struct fake_ring fake_split = {
	.missed = "RING-SPLIT-30",
	.enable = enable,
	.suppress = suppress,
	.check = check,
	.published = published,
	.take = take,
	.wanted = wanted,
	.use = use,
	.notify_data = notify_data,
};
