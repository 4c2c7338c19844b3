/* SPDX-License-Identifier: BSD-2-Clause */
/* What does a driver see of a disk through the legacy registers in BAR0? (4.1.4.10, 2.7.2) */
#include <string.h>

#include "tests/host/fake_inside.h"

enum {
	DEVICE_FEATURES = 0,
	DRIVER_FEATURES = 4,
	QUEUE_ADDRESS = 8,
	QUEUE_SIZE = 12,
	QUEUE_SELECT = 14,
	QUEUE_NOTIFY = 16,
	DEVICE_STATUS = 18,
	ISR_STATUS = 19,
	CONFIG_VECTOR = 20, /* these two with MSI-X only */
	QUEUE_VECTOR = 22,
};
#define ALIGN	     4096u
#define UNUSED_BIT   30 /* a trap of 6.3 */
#define SELECT_QUEUE 4	/* as in fake_virtio.c */

static const uint8_t width_at[24] = {[0] = 4,  [4] = 4,	 [8] = 4,  [12] = 2, [14] = 2,
				     [16] = 2, [18] = 1, [19] = 1, [20] = 2, [22] = 2};

/* LEG-07/08: the header is longer while MSI-X is on. */
static unsigned header_bytes(const struct fake_disk *disk)
{
	return fake_msix_on(disk) ? 24 : 20;
}

static struct fake_queue *selected(struct fake_disk *disk)
{
	static struct fake_queue none;

	if (!(disk->selected & SELECT_QUEUE))
		fake_violate("PCI-COM-09: legacy queue register used before queue_select");
	memset(&none, 0, sizeof(none));
	return disk->queue_select < fake_nr_queues(disk) ? &disk->queue[disk->queue_select] : &none;
}

static bool access_ok(struct fake_disk *disk, uint64_t offset, unsigned width, bool write)
{
	if (width_at[offset] != width) {
		fake_violate("LEG-05: legacy register %u accessed with %u bytes", (unsigned)offset,
			     width);
		return false;
	}
	if (!disk->by_legacy && disk->status && write && offset != DEVICE_STATUS)
		fake_violate("LEG-02: legacy register %u used beside the modern ones",
			     (unsigned)offset);
	if (write && disk->failed && offset != DEVICE_STATUS)
		fake_violate("INIT-08: legacy register %u written after FAILED", (unsigned)offset);
	return true;
}

uint32_t fake_legacy_read(struct fake_disk *disk, uint64_t offset, unsigned width)
{
	if (offset >= header_bytes(disk))
		return fake_config_legacy_read(disk, offset - header_bytes(disk), width);
	if (!access_ok(disk, offset, width, false))
		return UINT32_MAX;
	switch (offset) {
	case DEVICE_FEATURES: /* LEG-09 */
		disk->features_read = 3;
		return (uint32_t)disk->features;
	case DRIVER_FEATURES:
		return (uint32_t)disk->accepted;
	case QUEUE_ADDRESS:
		return (uint32_t)(selected(disk)->ring[0] / ALIGN);
	case QUEUE_SIZE:
		return selected(disk)->max_size;
	case QUEUE_SELECT:
		return disk->queue_select;
	case DEVICE_STATUS:
		return fake_status_read(disk);
	case ISR_STATUS:
		return fake_isr_read(disk);
	case CONFIG_VECTOR:
		disk->await_config_vector = false;
		return disk->config_vector;
	case QUEUE_VECTOR:
		selected(disk)->await_vector = false;
		return selected(disk)->vector;
	}
	fake_violate("NOTIF-01: the legacy notification register was read");
	return 0;
}

static void features_write(struct fake_disk *disk, uint32_t value)
{
	if (!(disk->status & FAKE_S_DRIVER))
		fake_violate("INIT-01: legacy features written before DRIVER");
	if (disk->status & FAKE_S_DRIVER_OK)
		fake_violate("INIT-04: legacy features written after DRIVER_OK");
	if (value & ~(uint32_t)disk->features)
		fake_violate("FEAT-01: accepted %#x of %#x", value, (uint32_t)disk->features);
	if (value >> UNUSED_BIT & 1)
		fake_violate("LEG-22: bit 30 accepted");
	disk->accepted = value;
}

static uint64_t align_up(uint64_t bytes)
{
	return (bytes + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

/* One block: descriptors, available ring, padding to a page, used ring (2.7.2). */
static void address_write(struct fake_disk *disk, struct fake_queue *queue, uint32_t page)
{
	uint64_t base = (uint64_t)page * ALIGN, size = queue->max_size;
	uint64_t used = align_up(16 * size + 2 * (3 + size));

	if (page == 0) {
		if (disk->status & FAKE_S_DRIVER_OK)
			fake_violate("CLEAN-02: queue %u taken away while it is live",
				     disk->queue_select);
		fake_queue_free(queue);
		queue->ring[0] = 0;
		return;
	}
	if (queue->enabled || (disk->status & FAKE_S_DRIVER_OK))
		fake_violate("INIT-06: address of queue %u written %s", disk->queue_select,
			     queue->enabled ? "twice" : "after DRIVER_OK");
	if (size == 0)
		fake_violate("PCI-COM-10: set up of queue %u, which is not there",
			     disk->queue_select);
	if (disk->queue_select >= fake_usable_queues(disk))
		fake_violate("BLK-INIT-06: queue %u enabled of %u", disk->queue_select,
			     fake_usable_queues(disk));
	if (queue->await_vector)
		fake_violate("MSIX-05: the vector of queue %u was not read back",
			     disk->queue_select);
	if (!host_dma_ok(base, used + align_up(6 + 8 * size)))
		fake_violate("LEG-12: %llu bytes at page %#x are not one allocation",
			     (unsigned long long)(used + align_up(6 + 8 * size)), page);
	queue->ring[0] = base;
	queue->ring[1] = base + 16 * size;
	queue->ring[2] = base + used; /* LEG-13 */
	if (!fake_violation())
		fake_queue_enable(disk, queue);
}

static void vector_write(struct fake_disk *disk, uint32_t value)
{
	struct fake_queue *queue = selected(disk);

	queue->vector = fake_msix_map(disk, disk->queue_select, value);
	queue->await_vector = value != 0xffff;
}

void fake_legacy_write(struct fake_disk *disk, uint64_t offset, uint32_t value, unsigned width)
{
	if (offset >= header_bytes(disk)) {
		fake_config_legacy_write(disk, offset - header_bytes(disk), value, width);
		return;
	}
	if (!access_ok(disk, offset, width, true))
		return;
	switch (offset) {
	case DRIVER_FEATURES:
		features_write(disk, value);
		break;
	case QUEUE_ADDRESS:
		address_write(disk, selected(disk), value);
		break;
	case QUEUE_SELECT:
		disk->queue_select = (uint16_t)value;
		disk->selected |= SELECT_QUEUE;
		break;
	case DEVICE_STATUS:
		disk->by_legacy = true;
		fake_status_write(disk, (uint8_t)value);
		break;
	case CONFIG_VECTOR:
		disk->config_vector = fake_msix_map(disk, -1, value);
		disk->await_config_vector = value != 0xffff;
		break;
	case QUEUE_VECTOR:
		vector_write(disk, value);
		break;
	default:
		fake_violate("LEG-14: read-only legacy register %u written", (unsigned)offset);
	}
}

/* It comes without the disk's lock, as all notifications. */
void fake_legacy_notify(struct fake_disk *disk, uint32_t value, unsigned width)
{
	if (width != 2)
		fake_violate("NOTIF-01: legacy notification of %u bytes", width);
	else if (value >= fake_nr_queues(disk))
		fake_violate("NOTIF-03: legacy notification carries %#x", value);
	else
		fake_notify_queue(disk, value);
}

/*
 * LEG-20: without ANY_LAYOUT the header is one descriptor and the status is one; 5.2.6.4 says 8
 * bytes and means the 16 of the structure.
 */
void fake_legacy_framing(const struct fake_disk *disk, const struct fake_chain *chain)
{
	const struct fake_seg *first = &chain->seg[0], *last = &chain->seg[chain->nr_segs - 1];

	if (!disk->by_legacy || fake_accepted(disk, FAKE_ANY_LAYOUT))
		return;
	if (first->write || first->len != 16)
		fake_violate("LEG-20: first descriptor of %u bytes, not a header alone",
			     first->len);
	if (!last->write || last->len != 1)
		fake_violate("LEG-20: last descriptor of %u bytes, not a status alone", last->len);
}

void fake_legacy_ready(const struct fake_disk *disk)
{
	if ((disk->features >> FAKE_ANY_LAYOUT & 1) && !fake_accepted(disk, FAKE_ANY_LAYOUT))
		fake_violate("LEG-21: ANY_LAYOUT was offered and not accepted");
}
