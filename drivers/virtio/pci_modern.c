/* SPDX-License-Identifier: BSD-2-Clause */
/* How is a virtio device brought to life over its modern PCI registers? (virtio 1.3, 3.1, 4.1) */
#include "drivers/virtio/pci_caps.h"
#include "drivers/virtio/split.h"
#include "drivers/virtio/virtio.h"

#include "lib/log.h"

/* struct virtio_pci_common_cfg (4.1.4.3) */
enum {
	DEVICE_FEATURE_SELECT = 0,
	DEVICE_FEATURE = 4,
	DRIVER_FEATURE_SELECT = 8,
	DRIVER_FEATURE = 12,
	CONFIG_MSIX_VECTOR = 16,
	DEVICE_STATUS = 20,
	CONFIG_GENERATION = 21,
	QUEUE_SELECT = 22,
	QUEUE_SIZE = 24,
	QUEUE_MSIX_VECTOR = 26,
	QUEUE_ENABLE = 28,
	QUEUE_NOTIFY_OFF = 30,
	QUEUE_DESC = 32,
	QUEUE_DRIVER = 40,
	QUEUE_DEVICE = 48,
	QUEUE_NOTIF_CONFIG_DATA = 56, /* with NOTIF_CONFIG_DATA only */
};

uint8_t virtio_status(const struct virtio_device *dev)
{
	return region_read8(&dev->common, DEVICE_STATUS);
}

/* 2.1.1: bits are only ever added; a reset alone takes them away. */
static void add_status(struct virtio_device *dev, uint8_t bits)
{
	region_write8(&dev->common, DEVICE_STATUS, virtio_status(dev) | bits);
}

void virtio_fail(struct virtio_device *dev)
{
	add_status(dev, VIRTIO_STATUS_FAILED);
}

/* A device that does not confirm a reset may still write to memory: it loses the right to. */
static bool reset_failed(struct virtio_device *dev, uint8_t status)
{
	if (status == VIRTIO_STATUS_VANISHED)
		log_error("%s: device has vanished: status reads 0xff", dev->name);
	else
		log_error("%s: reset not done within 1 s: status reads 0x%02x; bus mastering "
			  "switched off",
			  dev->name, status);
	pci_disable_master(&dev->pci);
	return false;
}

/* 4.1.4.3.2: the reset is done when the status reads back 0, not before. */
bool virtio_reset(struct virtio_device *dev)
{
	uint64_t start = cycles(), limit = ns_to_cycles(VIRTIO_RESET_WAIT_NS);

	region_write8(&dev->common, DEVICE_STATUS, 0);
	for (;;) {
		uint8_t status = virtio_status(dev);

		if (status == 0)
			return true;
		if (status == VIRTIO_STATUS_VANISHED || cycles() - start > limit)
			return reset_failed(dev, status);
		cpu_relax();
	}
}

bool virtio_pci_open(struct virtio_device *dev)
{
	if (!virtio_pci_find(dev))
		return false;
	if (!virtio_reset(dev)) {
		virtio_fail(dev);
		return false;
	}
	add_status(dev, VIRTIO_STATUS_ACKNOWLEDGE);
	add_status(dev, VIRTIO_STATUS_DRIVER);
	return true;
}

static uint64_t read_features(struct virtio_device *dev)
{
	uint64_t low;

	region_write32(&dev->common, DEVICE_FEATURE_SELECT, 0);
	low = region_read32(&dev->common, DEVICE_FEATURE);
	region_write32(&dev->common, DEVICE_FEATURE_SELECT, 1);
	return low | (uint64_t)region_read32(&dev->common, DEVICE_FEATURE) << 32;
}

static void write_features(struct virtio_device *dev, uint64_t features)
{
	region_write32(&dev->common, DRIVER_FEATURE_SELECT, 0);
	region_write32(&dev->common, DRIVER_FEATURE, (uint32_t)features);
	region_write32(&dev->common, DRIVER_FEATURE_SELECT, 1);
	region_write32(&dev->common, DRIVER_FEATURE, (uint32_t)(features >> 32));
}

uint16_t virtio_map_config(struct virtio_device *dev, uint16_t vector)
{
	region_write16(&dev->common, CONFIG_MSIX_VECTOR, vector);
	return region_read16(&dev->common, CONFIG_MSIX_VECTOR);
}

/* @wanted is an allow-list: what is offered beyond it is never accepted (2.2.1). */
bool virtio_negotiate(struct virtio_device *dev, uint64_t wanted)
{
	uint8_t status;

	dev->offered = read_features(dev);
	if (dev->common.bytes < QUEUE_NOTIF_CONFIG_DATA + 2)
		wanted &= ~VIRTIO_F_NOTIF_CONFIG_DATA; /* no room for its register */
	dev->accepted = dev->offered & (wanted | VIRTIO_F_VERSION_1);
	if (!virtio_has(dev, VIRTIO_F_VERSION_1)) {
		log_error("%s: device does not offer VERSION_1 (offers 0x%llx)", dev->name,
			  (unsigned long long)dev->offered);
		return false;
	}
	write_features(dev, dev->accepted);
	add_status(dev, VIRTIO_STATUS_FEATURES_OK);
	status = virtio_status(dev);
	if (!(status & VIRTIO_STATUS_FEATURES_OK) || status == VIRTIO_STATUS_VANISHED) {
		log_error("%s: device refused features 0x%llx of 0x%llx offered (FEATURES_OK reads "
			  "back as status 0x%02x)",
			  dev->name, (unsigned long long)dev->accepted,
			  (unsigned long long)dev->offered, status);
		return false;
	}
	log_debug("%s: features offered 0x%llx, accepted 0x%llx", dev->name,
		  (unsigned long long)dev->offered, (unsigned long long)dev->accepted);
	virtio_map_config(dev, VIRTIO_NO_VECTOR);
	return true;
}

uint16_t virtio_queue_size(struct virtio_device *dev, uint16_t index)
{
	region_write16(&dev->common, QUEUE_SELECT, index);
	return region_read16(&dev->common, QUEUE_SIZE);
}

static void write64(struct virtio_device *dev, unsigned offset, uint64_t value)
{
	region_write32(&dev->common, offset, (uint32_t)value);
	region_write32(&dev->common, offset + 4, (uint32_t)(value >> 32));
}

/* 4.1.4.4: cap.offset + queue_notify_off * notify_off_multiplier, worked out once. */
static bool find_doorbell(struct virtio_device *dev, struct virtqueue *vq)
{
	uint64_t offset = region_read16(&dev->common, QUEUE_NOTIFY_OFF);

	offset *= dev->notify_multiplier;
	if (offset % 2 == 0 && region_map(&vq->doorbell, &dev->notify, offset, 2))
		return true;
	log_error("%s: queue %u: notification address at offset 0x%llx of a structure of 0x%llx "
		  "bytes",
		  dev->name, vq->index, (unsigned long long)offset,
		  (unsigned long long)dev->notify.bytes);
	return false;
}

/* A smaller size than the device's own counts only if the device took it. */
static bool set_size(struct virtio_device *dev, const struct virtqueue *vq)
{
	uint16_t size = region_read16(&dev->common, QUEUE_SIZE);

	if (size == vq->size)
		return true;
	region_write16(&dev->common, QUEUE_SIZE, vq->size);
	size = region_read16(&dev->common, QUEUE_SIZE);
	if (size != vq->size)
		log_error("%s: queue %u: device refused the size %u (read back %u)", dev->name,
			  vq->index, vq->size, size);
	return size == vq->size;
}

uint16_t virtio_map_queue(struct virtio_device *dev, uint16_t index, uint16_t vector)
{
	region_write16(&dev->common, QUEUE_SELECT, index);
	region_write16(&dev->common, QUEUE_MSIX_VECTOR, vector);
	return region_read16(&dev->common, QUEUE_MSIX_VECTOR);
}

/* A polled queue has none, which is written too: a device's own default may be another. */
static void set_vector(struct virtio_device *dev, struct virtqueue *vq)
{
	uint16_t got = virtio_map_queue(dev, vq->index, vq->vector);

	if (got == vq->vector || vq->vector == VIRTIO_NO_VECTOR)
		return;
	log_warn("%s: queue %u: device refused MSI-X vector %u (read back 0x%04x); using polled "
		 "completion",
		 dev->name, vq->index, vq->vector, got);
	vq->vector = VIRTIO_NO_VECTOR;
	virtio_map_queue(dev, vq->index, VIRTIO_NO_VECTOR);
}

bool virtio_queue_enable(struct virtio_device *dev, uint16_t index, struct virtqueue *vq)
{
	region_write16(&dev->common, QUEUE_SELECT, index);
	vq->index = index;
	if (!find_doorbell(dev, vq) || !set_size(dev, vq))
		return false;
	/* 4.1.5.2.1: what the doorbell takes. */
	vq->notify_value = virtio_has(dev, VIRTIO_F_NOTIF_CONFIG_DATA)
				   ? region_read16(&dev->common, QUEUE_NOTIF_CONFIG_DATA)
				   : index;
	set_vector(dev, vq);
	write64(dev, QUEUE_DESC, vq->desc_dma);
	write64(dev, QUEUE_DRIVER, vq->avail_dma);
	write64(dev, QUEUE_DEVICE, vq->used_dma);
	region_write16(&dev->common, QUEUE_ENABLE, 1);
	return true;
}

void virtio_driver_ok(struct virtio_device *dev)
{
	add_status(dev, VIRTIO_STATUS_DRIVER_OK);
}

uint8_t virtio_config_generation(const struct virtio_device *dev)
{
	return region_read8(&dev->common, CONFIG_GENERATION);
}

bool virtio_config_changed(const struct virtio_device *dev, uint8_t generation)
{
	return virtio_config_generation(dev) != generation;
}

bool virtio_config_has(const struct virtio_device *dev, unsigned offset, unsigned bytes)
{
	return offset + bytes <= dev->config.bytes;
}
