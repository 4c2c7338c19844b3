/* SPDX-License-Identifier: BSD-2-Clause */
/* What differs between the modern and the legacy registers of a PCI device? For device.c. */
#ifndef DRIVERS_VIRTIO_TRANSPORT_H
#define DRIVERS_VIRTIO_TRANSPORT_H

#include "drivers/virtio/virtio.h"

/* The slow path only: a notification goes straight to the queue's doorbell. */
struct virtio_transport {
	/* Where in dev->common the registers lie that both have. */
	struct {
		uint8_t status, queue_select, queue_size, queue_vector, config_vector;
	} at;
	/* Whether the vectors' are there now. */
	bool (*has_vectors)(const struct virtio_device *dev);
	uint64_t (*features)(struct virtio_device *dev);
	void (*set_features)(struct virtio_device *dev, uint64_t features);
	/* Which of them this device can have, whatever it offers. */
	uint64_t (*features_possible)(const struct virtio_device *dev);
	/* Before the vector is mapped: size and doorbell. Logs why if not. */
	bool (*queue_prepare)(struct virtio_device *dev, struct virtqueue *vq);
	/* After it: where the ring is, and go. Logs why if not. */
	bool (*queue_start)(struct virtio_device *dev, const struct virtqueue *vq);
	/* Begin a reset of the queue; whether it is still going on. NULL: not here. */
	void (*queue_reset)(struct virtio_device *dev, uint16_t index);
	bool (*queue_resetting)(struct virtio_device *dev, uint16_t index);
	uint8_t (*generation)(const struct virtio_device *dev);
	/* Where in dev->config the device's own configuration starts, now. */
	unsigned (*config_start)(const struct virtio_device *dev);
};

extern const struct virtio_transport virtio_modern, virtio_legacy;

#endif
