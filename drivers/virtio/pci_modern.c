/* SPDX-License-Identifier: BSD-2-Clause */
/* How are a virtio device's modern PCI registers written and read? (virtio 1.3, 4.1.4, 4.1.5) */
#include "drivers/virtio/ring.h"
#include "drivers/virtio/transport.h"
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
	QUEUE_RESET = 58,	      /* with RING_RESET only */
};

static uint64_t features(struct virtio_device *dev)
{
	uint64_t low;

	region_write32(&dev->common, DEVICE_FEATURE_SELECT, 0);
	low = region_read32(&dev->common, DEVICE_FEATURE);
	region_write32(&dev->common, DEVICE_FEATURE_SELECT, 1);
	return low | (uint64_t)region_read32(&dev->common, DEVICE_FEATURE) << 32;
}

static void set_features(struct virtio_device *dev, uint64_t value)
{
	region_write32(&dev->common, DRIVER_FEATURE_SELECT, 0);
	region_write32(&dev->common, DRIVER_FEATURE, (uint32_t)value);
	region_write32(&dev->common, DRIVER_FEATURE_SELECT, 1);
	region_write32(&dev->common, DRIVER_FEATURE, (uint32_t)(value >> 32));
}

/* 4.1.4.4: cap.offset + queue_notify_off * notify_off_multiplier, worked out once: a queue that is set up
 * again after a reset has its doorbell where it was. */
static bool find_doorbell(struct virtio_device *dev, struct virtqueue *vq)
{
	uint32_t bytes = vq->notify_data ? 4 : 2;
	uint64_t offset;

	if (vq->doorbell.bytes)
		return true;
	offset = (uint64_t)region_read16(&dev->common, QUEUE_NOTIFY_OFF) * dev->notify_multiplier;
	if (offset % bytes == 0 && region_map(&vq->doorbell, &dev->notify, offset, bytes))
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

static bool queue_prepare(struct virtio_device *dev, struct virtqueue *vq)
{
	region_write16(&dev->common, QUEUE_SELECT, vq->index);
	vq->notify_data = virtio_has(dev, VIRTIO_F_NOTIFICATION_DATA);
	if (!find_doorbell(dev, vq) || !set_size(dev, vq))
		return false;
	/* 4.1.5.2.1: what the doorbell takes. */
	if (virtio_has(dev, VIRTIO_F_NOTIF_CONFIG_DATA))
		vq->notify_value = region_read16(&dev->common, QUEUE_NOTIF_CONFIG_DATA);
	return true;
}

static void write64(struct virtio_device *dev, unsigned offset, uint64_t value)
{
	region_write32(&dev->common, offset, (uint32_t)value);
	region_write32(&dev->common, offset + 4, (uint32_t)(value >> 32));
}

static bool queue_start(struct virtio_device *dev, const struct virtqueue *vq)
{
	region_write16(&dev->common, QUEUE_SELECT, vq->index);
	write64(dev, QUEUE_DESC, vq->desc_dma);
	write64(dev, QUEUE_DRIVER, vq->avail_dma);
	write64(dev, QUEUE_DEVICE, vq->used_dma);
	region_write16(&dev->common, QUEUE_ENABLE, 1);
	if (region_read16(&dev->common, QUEUE_ENABLE) == 1)
		return true;
	log_error("%s: queue %u: device did not enable it", dev->name, vq->index);
	return false;
}

static void queue_reset(struct virtio_device *dev, uint16_t index)
{
	region_write16(&dev->common, QUEUE_SELECT, index);
	region_write16(&dev->common, QUEUE_RESET, 1);
}

/* 4.1.4.3.2: until queue_reset reads 0, and with it queue_enable. */
static bool queue_resetting(struct virtio_device *dev, uint16_t index)
{
	region_write16(&dev->common, QUEUE_SELECT, index);
	return region_read16(&dev->common, QUEUE_RESET) != 0 ||
	       region_read16(&dev->common, QUEUE_ENABLE) != 0;
}

static bool has_vectors(const struct virtio_device *dev)
{
	(void)dev;
	return true;
}

static uint8_t generation(const struct virtio_device *dev)
{
	return region_read8(&dev->common, CONFIG_GENERATION);
}

static unsigned config_start(const struct virtio_device *dev)
{
	(void)dev;
	return 0;
}

static uint64_t features_possible(const struct virtio_device *dev)
{
	uint64_t possible = ~VIRTIO_F_ANY_LAYOUT;

	/* 4.1.4.3, 4.1.4.4: not without room for its register. */
	if (dev->common.bytes < QUEUE_NOTIF_CONFIG_DATA + 2)
		possible &= ~VIRTIO_F_NOTIF_CONFIG_DATA;
	if (dev->common.bytes < QUEUE_RESET + 2)
		possible &= ~VIRTIO_F_RING_RESET;
	/* 4.1.4.4.1: doorbells of 32 bits, at multiples of 4. */
	if (dev->notify.bytes < 4 || dev->notify.base % 4 || dev->notify_multiplier % 4)
		possible &= ~VIRTIO_F_NOTIFICATION_DATA;
	return possible;
}

const struct virtio_transport virtio_modern = {
	.at = {.status = DEVICE_STATUS,
	       .queue_select = QUEUE_SELECT,
	       .queue_size = QUEUE_SIZE,
	       .queue_vector = QUEUE_MSIX_VECTOR,
	       .config_vector = CONFIG_MSIX_VECTOR},
	.has_vectors = has_vectors,
	.features = features,
	.set_features = set_features,
	.features_possible = features_possible,
	.queue_prepare = queue_prepare,
	.queue_start = queue_start,
	.queue_reset = queue_reset,
	.queue_resetting = queue_resetting,
	.generation = generation,
	.config_start = config_start,
};
