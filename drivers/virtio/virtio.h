/* SPDX-License-Identifier: BSD-2-Clause */
/* What must every virtio driver know? Status bits, feature bits, and the device's life. */
#ifndef DRIVERS_VIRTIO_VIRTIO_H
#define DRIVERS_VIRTIO_VIRTIO_H

#include <stdbool.h>
#include <stdint.h>

#include "drivers/pci/pci.h"
#include "drivers/pci/region.h"

/* Device status (virtio 1.3, 2.1). */
#define VIRTIO_STATUS_ACKNOWLEDGE 1
#define VIRTIO_STATUS_DRIVER	  2
#define VIRTIO_STATUS_DRIVER_OK	  4
#define VIRTIO_STATUS_FEATURES_OK 8
#define VIRTIO_STATUS_NEEDS_RESET 64
#define VIRTIO_STATUS_FAILED	  128
#define VIRTIO_STATUS_VANISHED	  0xff /* what absent hardware reads as */

/* Feature bits of any device type (virtio 1.3, 6). */
#define VIRTIO_F(bit)		   (1ull << (bit))
#define VIRTIO_F_ANY_LAYOUT	   VIRTIO_F(27) /* legacy only */
#define VIRTIO_F_INDIRECT_DESC	   VIRTIO_F(28)
#define VIRTIO_F_EVENT_IDX	   VIRTIO_F(29)
#define VIRTIO_F_VERSION_1	   VIRTIO_F(32)
#define VIRTIO_F_ACCESS_PLATFORM   VIRTIO_F(33)
#define VIRTIO_F_RING_PACKED	   VIRTIO_F(34)
#define VIRTIO_F_IN_ORDER	   VIRTIO_F(35)
#define VIRTIO_F_ORDER_PLATFORM	   VIRTIO_F(36)
#define VIRTIO_F_NOTIFICATION_DATA VIRTIO_F(38)
#define VIRTIO_F_NOTIF_CONFIG_DATA VIRTIO_F(39)
#define VIRTIO_F_RING_RESET	   VIRTIO_F(40)

#define VIRTIO_VENDOR	     0x1af4
#define VIRTIO_DEVICE_MODERN 0x1040 /* device IDs from here on have no legacy interface (4.1.2) */
#define VIRTIO_NO_VECTOR     0xffff
#define VIRTIO_RESET_WAIT_NS 1000000000ull

struct virtqueue;
struct virtio_transport;

/* Which registers to use where a device has both; where it has one kind, that one is used. */
enum virtio_interface { VIRTIO_AUTO, VIRTIO_MODERN, VIRTIO_LEGACY };

struct virtio_device {
	/* The caller's part. */
	struct pci_function pci;
	char name[32];		       /* "vda 00:03.0", for messages */
	enum virtio_interface prefers; /* VIRTIO_AUTO is modern */

	const struct virtio_transport *transport; /* transport.h: modern or legacy */
	bool has_legacy, legacy;		  /* registers: that it has; that are in use */
	uint8_t msix_cap;			  /* its offset; 0: none */
	struct region common; /* legacy: the header in BAR0, the one structure */
	struct region config; /* read by virtio_config_read*(), which knows where it starts */
	struct region isr;    /* its one byte may be read only while MSI-X is off (4.1.4.5.2) */
	struct bar_window legacy_bar; /* if has_legacy */
	struct bar_window notify;     /* each queue's doorbell is mapped as the queue is enabled */
	uint32_t notify_multiplier;
	uint64_t offered, accepted; /* feature bits */
};

/*
 * Finds the registers of @dev->pci, resets the device and tells it that a driver is here (3.1.1,
 * steps 1 to 3). A device without modern ones is a legacy device (4.1.5.1.1.1). On failure logs why
 * and returns false; the device is then left FAILED, if its registers could be reached at all.
 */
bool virtio_pci_open(struct virtio_device *dev);

/*
 * Steps 4 to 6 of 3.1.1: accepts what is offered of @wanted, VERSION_1 always, and makes sure
 * that the device agrees; a legacy device is not asked (3.1.2). IN_ORDER is accepted only along with
 * INDIRECT_DESC: in_order.h. Sets dev->offered and dev->accepted. Configuration changes have no
 * vector yet.
 */
bool virtio_negotiate(struct virtio_device *dev, uint64_t wanted);

/* Of all feature bits, those that the transport has room for. */
uint64_t virtio_features_possible(const struct virtio_device *dev);

/* The size that the device offers for queue @index, 0 if there is none. A legacy device's is the
 * size of the ring, which cannot be changed. */
uint16_t virtio_queue_size(struct virtio_device *dev, uint16_t index);
/*
 * Tells the device where @vq is and which vector it raises, enables it and fills in the queue's
 * doorbell (4.1.5.1.3). If the device refuses the vector, vq->vector is VIRTIO_NO_VECTOR after.
 */
bool virtio_queue_enable(struct virtio_device *dev, uint16_t index, struct virtqueue *vq);
/*
 * With RING_RESET: resets queue @index alone, which then is as before virtio_queue_enable(): that may
 * follow, the ring's memory made anew (2.6.1). False if the device has not confirmed it within 1 s.
 */
bool virtio_queue_reset(struct virtio_device *dev, uint16_t index);
/*
 * Map an MSI-X vector, or none (VIRTIO_NO_VECTOR), to a queue or to configuration changes; return
 * what reads back: another value than @vector is a refusal (4.1.5.1.2.2). A vector may only be
 * mapped while MSI-X is on, a queue's only before it is enabled.
 */
uint16_t virtio_map_queue(struct virtio_device *dev, uint16_t index, uint16_t vector);
uint16_t virtio_map_config(struct virtio_device *dev, uint16_t vector);
/* Step 8: the device is live. */
void virtio_driver_ok(struct virtio_device *dev);

/* Gives up on the device: FAILED is set and nothing further is written but a reset. */
void virtio_fail(struct virtio_device *dev);
/*
 * Writes 0 to the status and waits until it reads back 0. False if it does not within 1 s; the
 * device may not read or write memory any more then.
 */
bool virtio_reset(struct virtio_device *dev);
/* The status register; 0xff from a device that has vanished. */
uint8_t virtio_status(const struct virtio_device *dev);

/* Whether the legacy interface is in use: 2.2.3 and the other sections of that name hold then. */
static inline bool virtio_is_legacy(const struct virtio_device *dev)
{
	return dev->legacy;
}

static inline bool virtio_has(const struct virtio_device *dev, uint64_t feature)
{
	return dev->accepted & feature;
}

/*
 * Device configuration (2.5). Fields that belong together, or are wider than 32 bits, are read as:
 *     do { g = virtio_config_generation(dev); …read… } while (virtio_config_changed(dev, g));
 * The caller bounds the loop by VIRTIO_CONFIG_TRIES. A legacy device has no generation, here always
 * 0: its fields are read twice and compared (2.5.4).
 */
#define VIRTIO_CONFIG_TRIES 100
uint8_t virtio_config_generation(const struct virtio_device *dev);
bool virtio_config_changed(const struct virtio_device *dev, uint8_t generation);
/* Whether the configuration is long enough to hold @bytes at @offset. */
bool virtio_config_has(const struct virtio_device *dev, unsigned offset, unsigned bytes);
uint8_t virtio_config_read8(const struct virtio_device *dev, unsigned offset);
uint16_t virtio_config_read16(const struct virtio_device *dev, unsigned offset);
uint32_t virtio_config_read32(const struct virtio_device *dev, unsigned offset);

#endif
