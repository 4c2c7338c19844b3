/* SPDX-License-Identifier: BSD-2-Clause */
/* How does the device side of a packed queue run, and who owns which of its slots? (2.8) */
#include <stdlib.h>
#include <string.h>

#include "tests/host/fake_inside.h"

#define EVENT_DISABLE 1u
#define EVENT_DESC    2u

/*
 * Positions count slots since the queue was enabled. From packed.used to packed.taken the device
 * owns them: none may change. From there to packed.used + size the driver may fill them.
 */
static bool wrap(const struct fake_queue *queue, uint64_t position)
{
	return !(position / queue->size & 1);
}

static struct fake_desc *slot(const struct fake_queue *queue, uint64_t position)
{
	return (struct fake_desc *)(uintptr_t)queue->ring[0] + position % queue->size;
}

/* Offset and wrap counter of @position, as event structures and notifications carry them. */
static uint16_t off_wrap(const struct fake_queue *queue, uint64_t position)
{
	return (uint16_t)(position % queue->size | (uint64_t)wrap(queue, position) << 15);
}

static bool available(const struct fake_queue *queue, uint64_t position)
{
	uint16_t flags = __atomic_load_n(&slot(queue, position)->word[1], __ATOMIC_ACQUIRE);

	return fake_packed_available(flags, wrap(queue, position));
}

static uint64_t published(const struct fake_queue *queue)
{
	uint64_t at = queue->packed.taken, end = queue->packed.used + queue->size;

	while (at < end && available(queue, at))
		at++;
	return at;
}

static bool enable(struct fake_disk *disk, struct fake_queue *queue)
{
	uint64_t bytes = 16ull * queue->size, i;
	bool ok = fake_ring_memory("RING-PACKED-01", "queue_desc", queue->ring[0], bytes, 16);
	ok &= fake_ring_memory("RING-PACKED-01", "queue_driver", queue->ring[1], 4, 4);
	ok &= fake_ring_memory("RING-PACKED-01", "queue_device", queue->ring[2], 4, 4);
	(void)disk;
	if (!ok)
		return false;
	for (i = 0; i < bytes; i++)
		if (((const uint8_t *)(uintptr_t)queue->ring[0])[i])
			fake_violate("RING-PACKED-33: the ring is not zero at byte %u",
				     (unsigned)i);
	queue->packed.shadow = calloc(queue->size, sizeof(*queue->packed.shadow));
	queue->packed.in_flight = calloc(UINT16_MAX + 1u, 1);
	if (!queue->packed.shadow || !queue->packed.in_flight)
		abort();
	return true;
}

/* ---- Event suppression: le16 offset and wrap counter, le16 flags, here as one word (2.8.14) ---- */

static uint32_t *event_area(const struct fake_queue *queue, unsigned ring)
{
	return (uint32_t *)(uintptr_t)queue->ring[ring];
}

static void suppress(struct fake_disk *disk, struct fake_queue *queue)
{
	uint16_t at = disk->junk ? (uint16_t)fake_random(disk) : 0, flags = 0;

	if (disk->event == FAKE_EVENT_FIXED) {
		flags = EVENT_DESC;
		at = disk->event_value;
	} else if (disk->service == FAKE_POLLING) {
		flags = EVENT_DISABLE;
	} else if (fake_accepted(disk, FAKE_EVENT_IDX)) {
		flags = EVENT_DESC;
		at = off_wrap(queue, queue->packed.taken);
	}
	__atomic_store_n(event_area(queue, 2), at | (uint32_t)flags << 16, __ATOMIC_RELAXED);
	host_fence();
}

/* Does the event structure ask for something that happened from @old to @new? (2.8.10) */
static bool asks(const struct fake_queue *queue, uint32_t event, uint64_t old, uint64_t new)
{
	if ((event >> 16 & 3) != EVENT_DESC)
		return !(event >> 16 & EVENT_DISABLE);
	for (; old < new; old++)
		if (off_wrap(queue, old) == (uint16_t)event)
			return true;
	return false;
}

static bool wanted(const struct fake_disk *disk, const struct fake_queue *queue, uint64_t end)
{
	(void)disk;
	return asks(queue, __atomic_load_n(event_area(queue, 2), __ATOMIC_RELAXED), queue->seen,
		    end);
}

static void check_event(const struct fake_disk *disk, const struct fake_queue *queue)
{
	uint32_t event = __atomic_load_n(event_area(queue, 1), __ATOMIC_RELAXED);
	unsigned flags = event >> 16;

	if (flags & ~3u)
		fake_violate("RING-PACKED-29: driver event flags are %#x", flags);
	if (flags == 3 || (flags == EVENT_DESC && !fake_accepted(disk, FAKE_EVENT_IDX)))
		fake_violate("RING-PACKED-28: driver event flags are %u", flags);
	if (flags == EVENT_DESC && (event & 0x7fff) >= queue->size)
		fake_violate("RING-PACKED-28: driver event at slot %u of %u", event & 0x7fff,
			     queue->size);
}

/* ---- Ownership ---- */

static void check_slot(const struct fake_queue *queue, uint64_t position)
{
	const struct fake_desc *was = &queue->packed.shadow[position % queue->size];
	uint16_t flags = __atomic_load_n(&slot(queue, position)->word[1], __ATOMIC_RELAXED);

	if (flags != was->word[1] &&
	    fake_packed_available(flags, wrap(queue, position + queue->size)))
		fake_violate("RING-PACKED-08: slot %u made available again: the ring is overrun",
			     (unsigned)(position % queue->size));
	else if (flags != was->word[1] || memcmp(slot(queue, position), was, 14))
		fake_violate("RING-PACKED-03: slot %u changed while the device owns it",
			     (unsigned)(position % queue->size));
}

static void check(struct fake_disk *disk, struct fake_queue *queue)
{
	uint64_t at;

	check_event(disk, queue);
	for (at = queue->packed.used; at < queue->packed.taken && !queue->packed.lied; at++)
		check_slot(queue, at);
}

/* The driver has shown the whole list by the flags of its head: see fake_packed_walk(). */
static unsigned take(struct fake_disk *disk, struct fake_queue *queue)
{
	struct fake_packed *packed = &queue->packed;
	unsigned n = 0;

	while (fake_live(disk) && packed->taken < packed->used + queue->size &&
	       available(queue, packed->taken)) {
		packed->taken += fake_packed_walk(disk, queue, wrap(queue, packed->taken));
		n++;
	}
	queue->seen = packed->taken;
	return n;
}

/* ---- Using: id, length, and the flags last (2.8.6, 2.8.8) ---- */

static void put_used(struct fake_disk *disk, struct fake_queue *queue, uint64_t position,
		     const struct fake_use *use)
{
	struct fake_desc *desc = slot(queue, position);
	uint16_t flags = wrap(queue, position) ? FAKE_D_AVAIL | FAKE_D_USED : 0;

	flags |= use->len ? FAKE_D_WRITE : 0;
	if (disk->junk) { /* RING-PACKED-22 */
		flags |= FAKE_D_NEXT | FAKE_D_INDIRECT;
		__atomic_store_n(&desc->addr, ~(uint64_t)fake_random(disk), __ATOMIC_RELAXED);
	}
	__atomic_store_n(&desc->len, disk->junk && !use->len ? fake_random(disk) : use->len,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&desc->word[0], (uint16_t)use->id, __ATOMIC_RELAXED);
	__atomic_store_n(&desc->word[1], flags ^ use->flip, __ATOMIC_RELEASE);
}

static bool use(struct fake_disk *disk, struct fake_queue *queue, const struct fake_use *use)
{
	uint64_t old = queue->packed.used;
	unsigned i;

	put_used(disk, queue, old, use);
	queue->packed.used += use->slots;
	for (i = 0; i < use->jump; i++)
		put_used(disk, queue, queue->packed.used++, use);
	if (use->jump || use->flip || queue->packed.used > queue->packed.taken)
		queue->packed.lied = true;
	host_fence();
	return asks(queue, __atomic_load_n(event_area(queue, 1), __ATOMIC_RELAXED), old,
		    queue->packed.used);
}

static uint16_t notify_data(const struct fake_queue *queue)
{
	return off_wrap(queue, published(queue));
}

const struct fake_ring fake_packed = {
	.missed = "RING-PACKED-30",
	.enable = enable,
	.suppress = suppress,
	.check = check,
	.published = published,
	.take = take,
	.wanted = wanted,
	.use = use,
	.notify_data = notify_data,
};
