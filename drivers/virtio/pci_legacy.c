/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a device of before virtio 1.0 keep its registers, and its rings? (virtio 1.3, 4.1.4.10) */
#include "drivers/virtio/pci_caps.h"
#include "drivers/virtio/ring.h"
#include "drivers/virtio/transport.h"
#include "lib/log.h"

/* In BAR0, an I/O BAR; numbers have the byte order of the guest, here the PCI's. */
enum {
	DEVICE_FEATURES = 0,
	DRIVER_FEATURES = 4,
	QUEUE_ADDRESS = 8, /* in pages of 4096 */
	QUEUE_SIZE = 12,
	QUEUE_SELECT = 14,
	QUEUE_NOTIFY = 16,
	DEVICE_STATUS = 18,
	ISR_STATUS = 19,
	HEADER_BYTES = 20,
	/* and while MSI-X is on: */
	CONFIG_MSIX_VECTOR = 20,
	QUEUE_MSIX_VECTOR = 22,
	MSIX_BYTES = 4,
};

#define CONFIG_BYTES_MIN 8 /* block: its capacity */
#define CONFIG_BYTES_MAX 256

#define PAGE_SHIFT 12

#define MSIX_CONTROL 2
#define MSIX_ENABLE  0x8000

/* LEG-05: only a transitional device ID has them; a modern one may have an I/O BAR for other ends. */
bool virtio_pci_find_legacy(struct virtio_device *dev, const struct pci_bar bars[PCI_BARS])
{
	const struct pci_bar *bar = &bars[0];

	return dev->pci.device_id < VIRTIO_DEVICE_MODERN && bar->io && bar->base &&
	       bar->bytes >= HEADER_BYTES + MSIX_BYTES + CONFIG_BYTES_MIN &&
	       bar->base + bar->bytes <= 0x10000;
}

void virtio_use_legacy(struct virtio_device *dev)
{
	uint64_t bytes = dev->legacy_bar.bytes;

	if (bytes > HEADER_BYTES + CONFIG_BYTES_MAX)
		bytes = HEADER_BYTES + CONFIG_BYTES_MAX;
	dev->transport = &virtio_legacy;
	dev->legacy = true;
	region_map(&dev->common, &dev->legacy_bar, 0, HEADER_BYTES + MSIX_BYTES);
	region_map(&dev->isr, &dev->legacy_bar, ISR_STATUS, 1);
	region_map(&dev->config, &dev->legacy_bar, HEADER_BYTES, (uint32_t)bytes - HEADER_BYTES);
}

/* Whatever switched it on: it moves registers about, so it is looked at each time. Without it the
 * device's configuration is where the vectors would be. */
static bool msix_on(const struct virtio_device *dev)
{
	return dev->msix_cap && (pci_read16(&dev->pci, dev->msix_cap + MSIX_CONTROL) & MSIX_ENABLE);
}

static unsigned config_start(const struct virtio_device *dev)
{
	return msix_on(dev) ? MSIX_BYTES : 0;
}

static uint64_t features(struct virtio_device *dev)
{
	return region_read32(&dev->common, DEVICE_FEATURES);
}

static void set_features(struct virtio_device *dev, uint64_t value)
{
	region_write32(&dev->common, DRIVER_FEATURES, (uint32_t)value);
}

static uint64_t features_possible(const struct virtio_device *dev)
{
	(void)dev;
	return UINT32_MAX;
}

/* 4.1.5.1.3.1: the size is the device's own. */
static bool queue_prepare(struct virtio_device *dev, struct virtqueue *vq)
{
	uint16_t size = virtio_queue_size(dev, vq->index);

	if (size == vq->size)
		return region_map(&vq->doorbell, &dev->legacy_bar, QUEUE_NOTIFY, 2);
	log_error("%s: queue %u: a ring of %u; the size of a legacy queue, %u, is fixed", dev->name,
		  vq->index, vq->size, size);
	return false;
}

/* 2.7.2: one address says it all, since the parts follow each other. */
static bool queue_start(struct virtio_device *dev, const struct virtqueue *vq)
{
	uint64_t page = vq->desc_dma >> PAGE_SHIFT;

	if (page > UINT32_MAX) {
		log_error("%s: queue %u: a legacy ring at 0x%llx, beyond 2^44", dev->name,
			  vq->index, (unsigned long long)vq->desc_dma);
		return false;
	}
	region_write16(&dev->common, QUEUE_SELECT, vq->index);
	region_write32(&dev->common, QUEUE_ADDRESS, (uint32_t)page);
	return true;
}

static uint8_t generation(const struct virtio_device *dev)
{
	(void)dev;
	return 0;
}

const struct virtio_transport virtio_legacy = {
	.at = {.status = DEVICE_STATUS,
	       .queue_select = QUEUE_SELECT,
	       .queue_size = QUEUE_SIZE,
	       .queue_vector = QUEUE_MSIX_VECTOR,
	       .config_vector = CONFIG_MSIX_VECTOR},
	.has_vectors = msix_on,
	.features = features,
	.set_features = set_features,
	.features_possible = features_possible,
	.queue_prepare = queue_prepare,
	.queue_start = queue_start,
	.generation = generation,
	.config_start = config_start,
};
