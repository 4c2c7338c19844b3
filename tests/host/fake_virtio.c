/* SPDX-License-Identifier: BSD-2-Clause */
/* What does the common configuration of a modern device allow, and in which order? (4.1.4.3, 3.1) */
#include <stdlib.h>
#include <string.h>

#include "tests/host/fake_inside.h"

enum { SELECT_DEVICE = 1, SELECT_DRIVER = 2, SELECT_QUEUE = 4 };
/* Bits of fake_queue.written: three addresses in two halves, then the size, set or read as it is, and the vector. */
enum { WROTE_RINGS = 0x3f, KNOWS_SIZE = 0x40, WROTE_VECTOR = 0x80 };

enum {
	DEVICE_FEATURE_SELECT = 0,
	DEVICE_FEATURE = 4,
	DRIVER_FEATURE_SELECT = 8,
	DRIVER_FEATURE = 12,
	CONFIG_VECTOR = 16,
	NUM_QUEUES = 18,
	DEVICE_STATUS = 20,
	CONFIG_GENERATION = 21,
	QUEUE_SELECT = 22,
	QUEUE_SIZE = 24,
	QUEUE_VECTOR = 26,
	QUEUE_ENABLE = 28,
	QUEUE_NOTIFY_OFF = 30,
	QUEUE_DESC = 32,
	QUEUE_NOTIF_CONFIG_DATA = 56,
	QUEUE_RESET = 58,
};

/* The width of the field at each offset; 0: no field starts there. 64-bit ones as two halves. */
static const uint8_t width_at[64] = {
	[0] = 4,  [4] = 4,  [8] = 4,  [12] = 4, [16] = 2, [18] = 2, [20] = 1, [21] = 1,
	[22] = 2, [24] = 2, [26] = 2, [28] = 2, [30] = 2, [32] = 4, [36] = 4, [40] = 4,
	[44] = 4, [48] = 4, [52] = 4, [56] = 2, [58] = 2, [60] = 2, [62] = 2,
};

void fake_disk_reset(struct fake_disk *disk)
{
	unsigned i;

	disk->status = 0;
	disk->accepted = 0;
	disk->failed = disk->ready = disk->await_status = false;
	disk->selected = 0;
	disk->features_read = 0;
	disk->config_vector = disk->default_vector;
	disk->await_config_vector = false;
	disk->msix.nr_late = 0;
	disk->isr = 0;
	disk->writes_out = 0;
	for (i = 0; i < FAKE_QUEUES; i++) {
		fake_queue_free(&disk->queue[i]);
		fake_queue_init(&disk->queue[i]);
		disk->queue[i].size = disk->queue[i].max_size = disk->queue_size[i];
		disk->queue[i].vector = disk->default_vector;
	}
}

static struct fake_queue *selected_queue(struct fake_disk *disk)
{
	static struct fake_queue none;

	if (!(disk->selected & SELECT_QUEUE))
		fake_violate("PCI-COM-09: queue register used before queue_select was written");
	if (disk->queue_select < FAKE_QUEUES && disk->queue_select < disk->num_queues)
		return &disk->queue[disk->queue_select];
	memset(&none, 0, sizeof(none));
	return &none;
}

static bool common_ok(struct fake_disk *disk, uint64_t offset, unsigned width, bool write)
{
	if (offset >= 64 || width_at[offset] != width) {
		fake_violate("PCI-ACC-01: common configuration offset %u accessed with %u bytes",
			     (unsigned)offset, width);
		return false;
	}
	if (disk->by_legacy && disk->status && offset != DEVICE_STATUS)
		fake_violate("LEG-02: offset %u used beside the legacy registers",
			     (unsigned)offset);
	if (disk->await_zero && offset != DEVICE_STATUS)

		fake_violate("PCI-COM-05: offset %u used before the reset was seen to end",
			     (unsigned)offset);
	if (write && disk->failed && offset != DEVICE_STATUS)
		fake_violate("INIT-08: offset %u written after FAILED", (unsigned)offset);
	if (offset == QUEUE_NOTIF_CONFIG_DATA && !(disk->accepted >> FAKE_NOTIF_CONFIG_DATA & 1))
		fake_violate("PCI-COM-11: queue_notif_config_data used without its feature");
	if (offset == QUEUE_RESET && !(disk->accepted >> FAKE_RING_RESET & 1))
		fake_violate("PCI-COM-11: queue_reset used without its feature");
	if (offset >= 60)
		fake_violate("PCI-COM-07: admin queue register %u used", (unsigned)offset);
	return true;
}

static uint32_t feature_word(struct fake_disk *disk)
{
	if (!(disk->selected & SELECT_DEVICE))
		fake_violate("PCI-COM-09: device_feature read before device_feature_select");
	if (disk->device_select > 1)
		return 0;
	disk->features_read |= 1u << disk->device_select;
	return (uint32_t)(disk->features >> (32 * disk->device_select));
}

uint32_t fake_common_read(struct fake_disk *disk, uint64_t offset, unsigned width)
{
	struct fake_queue *queue;

	if (!common_ok(disk, offset, width, false))
		return UINT32_MAX;
	switch (offset) {
	case DEVICE_FEATURE_SELECT:
		return disk->device_select;
	case DEVICE_FEATURE:
		return feature_word(disk);
	case DRIVER_FEATURE_SELECT:
		return disk->driver_select;
	case DRIVER_FEATURE:
		return disk->driver_select > 1
			       ? 0
			       : (uint32_t)(disk->accepted >> (32 * disk->driver_select));
	case CONFIG_VECTOR:
		disk->await_config_vector = false;
		return disk->config_vector;
	case NUM_QUEUES:
		return disk->num_queues;
	case DEVICE_STATUS:
		return fake_status_read(disk);
	case CONFIG_GENERATION:
		return disk->generation;
	case QUEUE_SELECT:
		return disk->queue_select;
	}
	queue = selected_queue(disk);
	switch (offset) {
	case QUEUE_SIZE:
		queue->written |= KNOWS_SIZE;
		return queue->size;
	case QUEUE_VECTOR:
		queue->await_vector = false;
		return queue->vector;
	case QUEUE_ENABLE:
		return queue->enabled;
	case QUEUE_NOTIFY_OFF:
		return queue == &disk->queue[disk->queue_select % FAKE_QUEUES]
			       ? disk->notify_off[disk->queue_select]
			       : 0;
	case QUEUE_NOTIF_CONFIG_DATA:
		return disk->queue_select + 0x100u;
	case QUEUE_RESET:
		return fake_queue_reset_read(disk, queue);
	}

	return (uint32_t)(queue->ring[(offset - QUEUE_DESC) / 8] >> (offset % 8 * 8));
}

static void driver_feature_write(struct fake_disk *disk, uint32_t value)
{
	unsigned shift = 32 * disk->driver_select;

	if (!(disk->selected & SELECT_DRIVER))
		fake_violate("PCI-COM-09: driver_feature written before driver_feature_select");
	if (disk->status & FAKE_S_FEATURES_OK)
		fake_violate("INIT-04: driver_feature written after FEATURES_OK");
	if (!(disk->status & FAKE_S_DRIVER))
		fake_violate("INIT-01: driver_feature written before DRIVER");
	if (disk->driver_select > 1) {
		if (value)
			fake_violate("FEAT-05: features beyond bit 63 accepted");
		return;
	}
	if (value & ~(uint32_t)(disk->features >> shift))
		fake_violate("FEAT-01: accepted %#x of word %u, which offers %#x", value,
			     disk->driver_select, (uint32_t)(disk->features >> shift));
	disk->accepted &= ~(0xffffffffull << shift);
	disk->accepted |= (uint64_t)value << shift;
}

/* ---- Queue registers ---- */

static void queue_size_write(const struct fake_disk *disk, struct fake_queue *queue, uint32_t value)
{
	bool packed = fake_accepted(disk, FAKE_RING_PACKED);

	if (value == 0 && packed)
		fake_violate("PCI-COM-02: queue_size 0");
	else if (!packed && (value == 0 || (value & (value - 1))))
		fake_violate("PCI-COM-03: queue_size %u", value);
	if (value > queue->max_size)
		fake_violate("PCI-COM-10: queue_size %u is more than %u", value, queue->max_size);
	queue->size = (uint16_t)value;
	queue->written |= KNOWS_SIZE;
}

/* 5.2.2: one queue, or what num_queues of the configuration says. */
unsigned fake_usable_queues(const struct fake_disk *disk)
{
	/* There is a first one, even where the field says 0, which it must not. */
	if (!(disk->accepted >> FAKE_MQ & 1) || disk->config_queues == 0)
		return 1;
	return disk->config_queues < 0 ? disk->num_queues : (unsigned)disk->config_queues;
}

static void queue_enable_write(struct fake_disk *disk, struct fake_queue *queue, uint32_t value)
{
	const char *rule = queue->was_reset ? "QRST-03" : "PCI-COM-04";

	if (value != 1) {
		fake_violate("PCI-COM-06: %u written to queue_enable", value);
		return;
	}
	if (disk->queue_select >= fake_usable_queues(disk))
		fake_violate("BLK-INIT-06: queue %u enabled of %u", disk->queue_select,
			     fake_usable_queues(disk));
	if (!(queue->written & KNOWS_SIZE))
		fake_violate("%s: queue_enable written without a known queue_size", rule);
	if (fake_msix_on(disk) && !(queue->written & WROTE_VECTOR))
		fake_violate("%s: queue_enable written before queue_msix_vector", rule);
	if (queue->await_vector)
		fake_violate("MSIX-05: the vector of queue %u was not read back",
			     disk->queue_select);
	if ((queue->written & WROTE_RINGS) != WROTE_RINGS)
		fake_violate("%s: queue_enable written before %s", rule,
			     (queue->written & 0x03) != 0x03   ? "queue_desc"
			     : (queue->written & 0x0c) != 0x0c ? "queue_driver"
							       : "queue_device");
	fake_queue_enable(disk, queue);
}

static void queue_write(struct fake_disk *disk, uint64_t offset, uint32_t value)
{
	struct fake_queue *queue = selected_queue(disk);
	unsigned shift = offset % 8 * 8;

	if (!(disk->status & FAKE_S_FEATURES_OK) || disk->await_status)
		fake_violate("INIT-01: queue set up before FEATURES_OK was read back");
	if (queue->resetting && offset != QUEUE_RESET)
		fake_violate("QRST-04: queue register %u written before queue_reset reads 0",
			     (unsigned)offset);
	if ((disk->status & FAKE_S_DRIVER_OK) && offset != QUEUE_RESET && !queue->was_reset)

		fake_violate("INIT-06: queue register %u written after DRIVER_OK",
			     (unsigned)offset);
	if (queue->enabled && offset != QUEUE_RESET)
		fake_violate("PCI-COM-04: queue register %u written after queue_enable",
			     (unsigned)offset);
	if (queue->max_size == 0)
		fake_violate("PCI-COM-10: set up of queue %u, which is not there",
			     disk->queue_select);
	if (disk->hostile && queue->enabled && offset != QUEUE_RESET && offset != QUEUE_VECTOR)
		return;

	if (offset == QUEUE_SIZE) {
		if (!disk->size_fixed)
			queue_size_write(disk, queue, value);
	} else if (offset == QUEUE_VECTOR) {
		queue->vector = fake_msix_map(disk, disk->queue_select, value);
		queue->await_vector = value != 0xffff;
		queue->written |= WROTE_VECTOR;
	} else if (offset == QUEUE_RESET) {
		fake_queue_reset_write(disk, queue, value);
	} else if (offset == QUEUE_ENABLE) {

		queue_enable_write(disk, queue, value);
	} else if (offset >= QUEUE_DESC && offset < QUEUE_DESC + 24) {
		uint64_t *ring = &queue->ring[(offset - QUEUE_DESC) / 8];

		*ring = (*ring & ~(0xffffffffull << shift)) | (uint64_t)value << shift;
		queue->written |= 1u << ((offset - QUEUE_DESC) / 4);
	}
}

void fake_common_write(struct fake_disk *disk, uint64_t offset, uint32_t value, unsigned width)
{
	if (!common_ok(disk, offset, width, true))
		return;
	switch (offset) {
	case DEVICE_FEATURE_SELECT:
		disk->device_select = value;
		disk->selected |= SELECT_DEVICE;
		break;
	case DRIVER_FEATURE_SELECT:
		disk->driver_select = value;
		disk->selected |= SELECT_DRIVER;
		break;
	case DRIVER_FEATURE:
		driver_feature_write(disk, value);
		break;
	case CONFIG_VECTOR:
		disk->config_vector = fake_msix_map(disk, -1, value);
		disk->await_config_vector = value != 0xffff;
		break;
	case DEVICE_STATUS:
		disk->by_legacy = false;
		fake_status_write(disk, (uint8_t)value);
		break;
	case QUEUE_SELECT:
		disk->queue_select = (uint16_t)value;
		disk->selected |= SELECT_QUEUE;
		break;
	case DEVICE_FEATURE:
	case NUM_QUEUES:
	case CONFIG_GENERATION:
	case QUEUE_NOTIFY_OFF:
	case QUEUE_NOTIF_CONFIG_DATA:
		fake_violate("PCI-COM-01: read-only offset %u written", (unsigned)offset);
		break;
	default:
		queue_write(disk, offset, value);
	}
}
