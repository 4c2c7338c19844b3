/* SPDX-License-Identifier: BSD-2-Clause */
/* What does the device say about the disk? */
#ifndef DRIVERS_BLOCK_BLK_CONFIG_H
#define DRIVERS_BLOCK_BLK_CONFIG_H

#include "drivers/block/blk.h"
#include "drivers/virtio/virtio.h"

/* Block feature bits (5.2.3). */
#define VIRTIO_BLK_F_SIZE_MAX	VIRTIO_F(1)
#define VIRTIO_BLK_F_SEG_MAX	VIRTIO_F(2)
#define VIRTIO_BLK_F_RO		VIRTIO_F(5)
#define VIRTIO_BLK_F_BLK_SIZE	VIRTIO_F(6)
#define VIRTIO_BLK_F_FLUSH	VIRTIO_F(9)
#define VIRTIO_BLK_F_CONFIG_WCE VIRTIO_F(11)
#define VIRTIO_BLK_F_MQ		VIRTIO_F(12)

/*
 * Reads the configuration as a whole, between two equal generations, and fills in the geometry,
 * limits, cache mode and max_queues of @blk. After FEATURES_OK. On failure logs why and returns false.
 */
bool blk_read_config(struct blk_device *blk, const struct virtio_device *dev);

#endif
