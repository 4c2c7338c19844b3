/* SPDX-License-Identifier: BSD-2-Clause */
/* What stands in a disk's configuration, who may read it when, and what is a right notification? */
#include <string.h>

#include "tests/host/fake_inside.h"

/* The fields of struct virtio_blk_config (5.2.4), 64-bit ones as two halves. */
static const struct {
	uint8_t offset, width, feature;
} fields[] = {
	{0, 4, 0},
	{4, 4, 0},
	{8, 4, FAKE_SIZE_MAX},
	{12, 4, FAKE_SEG_MAX},
	{16, 2, FAKE_GEOMETRY},
	{18, 1, FAKE_GEOMETRY},
	{19, 1, FAKE_GEOMETRY},
	{20, 4, FAKE_BLK_SIZE},
	{24, 1, FAKE_TOPOLOGY},
	{25, 1, FAKE_TOPOLOGY},
	{26, 2, FAKE_TOPOLOGY},
	{28, 4, FAKE_TOPOLOGY},
	{32, 1, FAKE_CONFIG_WCE},
	{34, 2, FAKE_MQ},
};

static void field_offered(const struct fake_disk *disk, unsigned i)
{
	if (fields[i].feature && !(disk->features >> fields[i].feature & 1))
		fake_violate("CFG-03: configuration offset %u used, feature %u not offered",
			     fields[i].offset, fields[i].feature);
}

static bool field_ok(const struct fake_disk *disk, uint64_t offset, unsigned width)
{
	unsigned i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (fields[i].offset != offset)
			continue;
		if (fields[i].width != width)
			fake_violate("PCI-ACC-01: device configuration offset %u, %u bytes",
				     (unsigned)offset, width);
		field_offered(disk, i);
		return true;
	}
	fake_violate("PCI-ACC-01: no field at device configuration offset %u", (unsigned)offset);
	return false;
}

/* Between the two halves, the capacity becomes another one (F-056). */
static uint32_t read_capacity(struct fake_disk *disk, uint64_t offset)
{
	uint32_t half = (uint32_t)(disk->capacity >> (8 * offset));
	uint64_t was = disk->capacity;

	if (disk->capacity_flips > 0) {
		disk->capacity_flips--;
		disk->capacity = disk->other_capacity;
		disk->other_capacity = was;
		disk->generation = (uint8_t)(disk->generation + !disk->flip_silently);
	}
	return half;
}

static uint32_t field_value(const struct fake_disk *disk, uint64_t offset)
{
	switch (offset) {
	case 8:
		return disk->size_max;
	case 12:
		return disk->seg_max;
	case 20:
		return disk->blk_size;
	case 32:
		return disk->writeback;
	case 34:
		return disk->config_queues < 0 ? disk->num_queues : (uint16_t)disk->config_queues;
	}
	return 0;
}

uint32_t fake_config_read(struct fake_disk *disk, uint64_t offset, unsigned width)
{
	disk->config_reads++;
	if (disk->await_zero)
		fake_violate("PCI-COM-05: configuration read before the reset was seen to end");
	if (!field_ok(disk, offset, width))
		return UINT32_MAX;
	if (offset == 32 && !(disk->status & FAKE_S_FEATURES_OK))
		fake_violate("BLK-INIT-04: writeback read before FEATURES_OK");
	return offset < 8 ? read_capacity(disk, offset) : field_value(disk, offset);
}

/* LEG-06: any width at any place; the capacity may change behind each access to it (LEG-18). */
uint32_t fake_config_legacy_read(struct fake_disk *disk, uint64_t offset, unsigned width)
{
	uint8_t image[64] = {0};
	uint32_t value = 0;
	unsigned i;

	disk->config_reads++;
	memcpy(image, &disk->capacity, 8);
	for (i = 2; i < sizeof(fields) / sizeof(fields[0]); i++) {
		uint32_t field = field_value(disk, fields[i].offset);

		memcpy(image + fields[i].offset, &field, fields[i].width);
		if (offset < fields[i].offset + fields[i].width &&
		    fields[i].offset < offset + width)
			field_offered(disk, i);
	}
	if (offset < 8)
		read_capacity(disk, offset);
	if (offset + width > sizeof(image))
		fake_violate("CFG-05: legacy configuration offset %u used", (unsigned)offset);
	else
		memcpy(&value, image + offset, width);
	return value;
}

void fake_config_legacy_write(struct fake_disk *disk, uint64_t offset, uint32_t value,
			      unsigned width)
{
	if (offset != 32 || width != 1 || !(disk->features >> FAKE_CONFIG_WCE & 1) || value > 1)
		fake_violate("BLK-OP-12: %u written to legacy configuration offset %u", value,
			     (unsigned)offset);
	disk->writeback = (uint8_t)value;
}
void fake_config_write(struct fake_disk *disk, uint64_t offset, uint32_t value, unsigned width)
{
	if (!(disk->status & FAKE_S_FEATURES_OK))
		fake_violate("INIT-02: configuration written before FEATURES_OK");
	if (!field_ok(disk, offset, width))
		return;
	if (offset != 32 || !(disk->accepted >> FAKE_CONFIG_WCE & 1) || value > 1)
		fake_violate("BLK-OP-12: %u written to configuration offset %u", value,
			     (unsigned)offset);
	disk->writeback = (uint8_t)value;
}

/* ---- Notifications (4.1.5.2) ---- */

static void check_notify_word(struct fake_disk *disk, unsigned index, uint32_t value,
			      unsigned width)
{
	bool data = disk->accepted >> FAKE_NOTIFICATION_DATA & 1;
	bool config_data = disk->accepted >> FAKE_NOTIF_CONFIG_DATA & 1;
	uint32_t word = config_data ? index + 0x100 : index;
	const struct fake_queue *queue = &disk->queue[index];

	if (width != (data ? 4u : 2u))
		fake_violate("NOTIF-0%c: notification of %u bytes", data ? '2' : '1', width);
	if ((uint16_t)value != word)
		fake_violate("NOTIF-0%c: notification of queue %u carries %#x",
			     (config_data ? '5' : '3') + data, index, value);
	if (data && !disk->threaded && fake_queue_alive(disk, queue) &&
	    value >> 16 != queue->format->notify_data(queue))
		fake_violate("NOTIF-0%c: notification carries %#x, expected %#x above",
			     queue->format == &fake_split ? '7' : '8', value,
			     queue->format->notify_data(queue));
}

/* Which queue has its doorbell at @offset? With a multiplier of 0 all do: the value decides. */
static unsigned doorbell(const struct fake_disk *disk, uint64_t offset, uint32_t value)
{
	unsigned i;

	for (i = 0; i < fake_nr_queues(disk); i++)
		if ((uint64_t)disk->notify_off[i] * disk->notify_multiplier == offset &&
		    (disk->notify_multiplier || (value & 0xff) == i))
			return i;
	return FAKE_QUEUES;
}

void fake_notify(struct fake_disk *disk, uint64_t offset, uint32_t value, unsigned width)
{
	unsigned index = doorbell(disk, offset, value);

	if (index == FAKE_QUEUES) {
		fake_violate("PCI-NTF-01: notification %#x at offset %#llx", value,
			     (unsigned long long)offset);
		return;
	}
	check_notify_word(disk, index, value, width);
	fake_notify_queue(disk, index);
}

void fake_notify_queue(struct fake_disk *disk, unsigned index)
{
	struct fake_queue *queue = &disk->queue[index];

	if (!(disk->status & FAKE_S_DRIVER_OK)) {
		fake_violate("INIT-09: queue %u notified before DRIVER_OK", index);
		return;
	}
	if (queue->resetting) {
		fake_violate("QRST-04: queue %u notified while it is being reset", index);
		return;
	}
	if (!queue->enabled) {
		fake_violate("PCI-COM-04: queue %u notified and not enabled", index);
		return;
	}
	fake_queue_notified(disk, queue);
}
