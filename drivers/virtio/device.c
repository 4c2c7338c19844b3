/* SPDX-License-Identifier: BSD-2-Clause */
/* How is a virtio device brought to life, whichever registers it has? (virtio 1.3, 3.1) */
#include "drivers/virtio/pci_caps.h"
#include "drivers/virtio/ring.h"
#include "drivers/virtio/transport.h"
#include "drivers/virtio/virtio.h"

#include "lib/log.h"

uint8_t virtio_status(const struct virtio_device *dev)
{
	return region_read8(&dev->common, dev->transport->at.status);
}

static void set_status(struct virtio_device *dev, uint8_t status)
{
	region_write8(&dev->common, dev->transport->at.status, status);
}

/* 2.1.1: bits are only ever added; a reset alone takes them away. */
static void add_status(struct virtio_device *dev, uint8_t bits)
{
	set_status(dev, virtio_status(dev) | bits);
}

void virtio_fail(struct virtio_device *dev)
{
	add_status(dev, VIRTIO_STATUS_FAILED);
}

void virtio_driver_ok(struct virtio_device *dev)
{
	add_status(dev, VIRTIO_STATUS_DRIVER_OK);
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

/* 2.4.2, 4.1.4.3.2: the reset is done when the status reads back 0, not before. */
bool virtio_reset(struct virtio_device *dev)
{
	uint64_t start = cycles(), limit = ns_to_cycles(VIRTIO_RESET_WAIT_NS);

	set_status(dev, 0);
	for (;;) {
		uint8_t status = virtio_status(dev);

		if (status == 0)
			return true;
		if (status == VIRTIO_STATUS_VANISHED || cycles() - start > limit)
			return reset_failed(dev, status);
		cpu_relax();
	}
}

static bool greet(struct virtio_device *dev)
{
	if (!virtio_reset(dev)) {
		virtio_fail(dev);
		return false;
	}
	add_status(dev, VIRTIO_STATUS_ACKNOWLEDGE);
	add_status(dev, VIRTIO_STATUS_DRIVER);
	return true;
}

bool virtio_pci_open(struct virtio_device *dev)
{
	if (!virtio_pci_find(dev) || !greet(dev))
		return false;
	/* 2.2.3: modern registers without VERSION_1 are a legacy device all the same. */
	if (virtio_is_legacy(dev) || !dev->has_legacy ||
	    (dev->transport->features(dev) & VIRTIO_F_VERSION_1))
		return true;
	log_warn("%s: VERSION_1 is not offered; using the legacy interface", dev->name);
	virtio_use_legacy(dev);
	return greet(dev);
}

/* Steps 5 and 6, which a legacy device does not know (3.1.2). */
static bool confirm_features(struct virtio_device *dev)
{
	uint8_t status;

	if (!virtio_has(dev, VIRTIO_F_VERSION_1)) {
		log_error("%s: device does not offer VERSION_1 (offers 0x%llx)", dev->name,
			  (unsigned long long)dev->offered);
		return false;
	}
	add_status(dev, VIRTIO_STATUS_FEATURES_OK);
	status = virtio_status(dev);
	if ((status & VIRTIO_STATUS_FEATURES_OK) && status != VIRTIO_STATUS_VANISHED)
		return true;
	log_error("%s: device refused features 0x%llx of 0x%llx offered (FEATURES_OK reads "
		  "back as status 0x%02x)",
		  dev->name, (unsigned long long)dev->accepted, (unsigned long long)dev->offered,
		  status);
	return false;
}

uint64_t virtio_features_possible(const struct virtio_device *dev)
{
	return dev->transport->features_possible(dev);
}

/* @wanted is an allow-list: what is offered beyond it is never accepted (2.2.1). */
bool virtio_negotiate(struct virtio_device *dev, uint64_t wanted)
{
	wanted |= VIRTIO_F_VERSION_1; /* 6.1 */
	dev->offered = dev->transport->features(dev);
	dev->accepted = dev->offered & wanted & virtio_features_possible(dev);
	if (!virtio_has(dev, VIRTIO_F_INDIRECT_DESC))
		dev->accepted &= ~VIRTIO_F_IN_ORDER;
	dev->transport->set_features(dev, dev->accepted);
	if (!virtio_is_legacy(dev) && !confirm_features(dev))
		return false;
	log_debug("%s: features offered 0x%llx, accepted 0x%llx", dev->name,
		  (unsigned long long)dev->offered, (unsigned long long)dev->accepted);
	virtio_map_config(dev, VIRTIO_NO_VECTOR);
	return true;
}

static uint16_t write_back(struct virtio_device *dev, unsigned offset, uint16_t value)
{
	region_write16(&dev->common, offset, value);
	return region_read16(&dev->common, offset);
}

static void select_queue(struct virtio_device *dev, uint16_t index)
{
	region_write16(&dev->common, dev->transport->at.queue_select, index);
}

uint16_t virtio_map_config(struct virtio_device *dev, uint16_t vector)
{
	if (!dev->transport->has_vectors(dev))
		return VIRTIO_NO_VECTOR;
	return write_back(dev, dev->transport->at.config_vector, vector);
}

uint16_t virtio_map_queue(struct virtio_device *dev, uint16_t index, uint16_t vector)
{
	if (!dev->transport->has_vectors(dev))
		return VIRTIO_NO_VECTOR;
	select_queue(dev, index);
	return write_back(dev, dev->transport->at.queue_vector, vector);
}

uint16_t virtio_queue_size(struct virtio_device *dev, uint16_t index)
{
	select_queue(dev, index);
	return region_read16(&dev->common, dev->transport->at.queue_size);
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
	vq->index = vq->notify_value = index;
	if (!dev->transport->queue_prepare(dev, vq))
		return false;
	set_vector(dev, vq);
	return dev->transport->queue_start(dev, vq);
}

/* 2.6.1.1.2: the driver makes sure that the reset has happened. */
bool virtio_queue_reset(struct virtio_device *dev, uint16_t index)
{
	uint64_t start = cycles(), limit = ns_to_cycles(VIRTIO_RESET_WAIT_NS);

	if (!dev->transport->queue_reset || !virtio_has(dev, VIRTIO_F_RING_RESET))
		return false;
	dev->transport->queue_reset(dev, index);
	while (dev->transport->queue_resetting(dev, index)) {
		if (cycles() - start > limit) {
			log_error("%s: queue %u: its reset is not done within 1 s", dev->name,
				  index);
			return false;
		}
		cpu_relax();
	}
	return true;
}

uint8_t virtio_config_generation(const struct virtio_device *dev)
{
	return dev->transport->generation(dev);
}

bool virtio_config_changed(const struct virtio_device *dev, uint8_t generation)
{
	return virtio_config_generation(dev) != generation;
}

bool virtio_config_has(const struct virtio_device *dev, unsigned offset, unsigned bytes)
{
	return dev->transport->config_start(dev) + offset + bytes <= dev->config.bytes;
}

uint8_t virtio_config_read8(const struct virtio_device *dev, unsigned offset)
{
	return region_read8(&dev->config, dev->transport->config_start(dev) + offset);
}

uint16_t virtio_config_read16(const struct virtio_device *dev, unsigned offset)
{
	return region_read16(&dev->config, dev->transport->config_start(dev) + offset);
}

uint32_t virtio_config_read32(const struct virtio_device *dev, unsigned offset)
{
	return region_read32(&dev->config, dev->transport->config_start(dev) + offset);
}
