/* SPDX-License-Identifier: BSD-2-Clause */
/* What do the parts of the block driver share? The queue, and how requests end in it. */
#ifndef DRIVERS_BLOCK_BLK_QUEUE_H
#define DRIVERS_BLOCK_BLK_QUEUE_H

#include "drivers/block/blk.h"
#include "drivers/virtio/irq.h"
#include "drivers/virtio/split_long.h"
#include "drivers/virtio/virtio.h"

/* Request types and status values (5.2.6). */
#define VIRTIO_BLK_T_IN	    0
#define VIRTIO_BLK_T_OUT    1
#define VIRTIO_BLK_T_FLUSH  4
#define VIRTIO_BLK_T_GET_ID 8

#define VIRTIO_BLK_S_OK	    0
#define VIRTIO_BLK_S_IOERR  1
#define VIRTIO_BLK_S_UNSUPP 2
/* What the status byte holds until the device writes it; no status has this value. */
#define BLK_STATUS_UNSET 0xff

/* A request times out when it has been seen in flight by more scans than this, spread evenly over
 * the time limit: at the limit, or up to a scan later. */
#define BLK_TIMEOUT_SCANS 16

#define SECTOR_SHIFT 9
#define SECTOR_BYTES 512u

struct virtio_blk_header {
	uint64_t type; /* le32 type, le32 reserved */
	uint64_t sector;
};

struct blk_queue {
	struct virtqueue vq;
	/* One per head: the header and the status byte of the command whose chain starts there. */
	struct virtio_blk_header *header;
	uint8_t *status;
	dma_addr_t header_dma, status_dma;

	uint64_t capacity_512;
	uint64_t lba_mask_512; /* bits of an lba_512 that a whole logical block leaves 0 */
	uint32_t size_max_bytes, seg_max;
	uint16_t size;
	uint8_t op_max; /* BLK_READ on a read-only disk, else BLK_WRITE */
	bool flush;
	bool dead;  /* the device is reset for good; requests end with BLK_DEVICE_GONE */
	bool quiet; /* and has confirmed that */

	/* A request too long for one command, of which a part is still to be sent. */
	struct blk_request *partial;
	struct sgl_cursor cursor;
	uint64_t partial_lba_512;
	uint32_t partial_left_bytes;

	/* Requests that ended without a completion: refused, or failed with the queue. */
	struct blk_request *ended, **ended_tail;

	/* When something last moved: blk_check_progress(). */
	uint16_t seen_used_idx;
	uint64_t seen_commands;
	uint64_t seen_cycles, rekick_cycles, scanned_cycles;
	uint64_t timeout_ns;
	uint64_t published_cycles;
	uint8_t scans;

	struct virtio_device *dev;
	struct blk_queue_info info;
	struct blk_counters counters;
	bool config_changed; /* said by interrupt, not looked at yet */
};

/* What blk_device.driver points at. */
struct blk_driver {
	struct virtio_device dev;
	struct virtio_irqs irqs;
	struct virtio_irq_queue irq; /* of queue 0 */
};

/*
 * blk_irq.c: sees to it that completions of the queue can be waited for, if @config asks for a mode
 * that does. Sets blk->mode and blk->interrupt to what was got. Before the queue is enabled.
 */
void blk_irqs_open(struct blk_device *blk, const struct blk_config *config);
/* After the queue is enabled: it may have lost its vector. */
void blk_irqs_check(struct blk_device *blk);
/* After the device is reset. */
void blk_irqs_close(struct blk_device *blk);

/* Appends @req to the requests that the next blk_poll() returns. */
void blk_end(struct blk_queue *queue, struct blk_request *req, enum blk_status status);
/* blk_check.c: why @req is not to be sent; BLK_OK if it may be. */
enum blk_status blk_check(const struct blk_queue *queue, const struct blk_request *req);

/* blk_long.c: a request of several pieces, and perhaps several commands. False: no room yet. */
bool blk_add_long(struct blk_queue *queue, struct blk_request *req);
/* Goes on with queue->partial; false while some of it remains. */
bool blk_continue_long(struct blk_queue *queue);

/* blk_recover.c: resets the device and ends all that is in flight. */
void blk_break(struct blk_queue *queue, enum blk_status status, const char *why);

#endif
