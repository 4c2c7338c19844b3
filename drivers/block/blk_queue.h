/* SPDX-License-Identifier: BSD-2-Clause */
/* What do the parts of the block driver share? The queue, and how requests end in it. */
#ifndef DRIVERS_BLOCK_BLK_QUEUE_H
#define DRIVERS_BLOCK_BLK_QUEUE_H

#include "drivers/block/blk.h"
#include "drivers/virtio/irq.h"
#include "drivers/virtio/long.h"
#include "drivers/virtio/virtio.h"
#include "lib/spinlock.h"

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

/* So many checks by other CPUs in a row, and one of these takes the time from then on. */
#define BLK_FOREIGN_CHECKS 64

#define SECTOR_SHIFT 9
#define SECTOR_BYTES 512u

/* Nothing else on these cache lines, nor on those that are fetched with them. */
#define BLK_OWN_LINES __attribute__((aligned(128)))

struct blk_driver;

struct blk_queue {
	struct virtqueue vq;
	uint8_t *status; /* one per head: of the command whose chain starts there */
	dma_addr_t status_dma;

	uint64_t capacity_512;
	uint64_t lba_mask_512; /* bits of an lba_512 that a whole logical block leaves 0 */
	uint32_t size_max_bytes, seg_max;
	uint16_t size;
	uint8_t op_max; /* BLK_READ on a read-only disk, else BLK_WRITE */
	bool flush;
	bool dead; /* broken, and what was in flight has ended */

	/* A request too long for one command, of which a part is still to be sent. */
	struct blk_request *partial;
	struct sgl_cursor cursor;
	uint64_t partial_lba_512;
	uint32_t partial_left_bytes;

	/* Requests that ended without a completion: refused, or failed with the queue. */
	struct blk_request *ended, **ended_tail;

	/* When something last moved, by the clock of one CPU: blk_check_progress(). */
	unsigned clock_cpu, foreign_checks; /* the latter by others, in a row */
	uint16_t seen_used_idx;
	uint64_t seen_commands;
	uint64_t seen_cycles, rekick_cycles, scanned_cycles;
	uint64_t timeout_ns;
	bool reset_alone;	 /* on a timeout, if the device can: blk_reset.c */
	uint64_t reset_commands; /* sent up to the last such reset */
	uint64_t published_cycles;
	uint8_t scans;

	struct virtio_device *dev;
	struct blk_driver *driver;
	struct blk_queue_info info;
	struct blk_counters counters; /* but for what irq_counts holds */

	/* Who uses it (blk_port.c). The list is changed under the lock, while no port is in use. */
	struct blk_queue_users {
		struct spinlock lock; /* for each call only if there are several ports */
		struct blk_port *ports;
		unsigned nr_ports, nr_halted;
	} users BLK_OWN_LINES;

	/* Written by the interrupt handler alone, with relaxed atomics. */
	struct blk_irq_counts {
		uint64_t interrupts, spurious;
	} irq_counts BLK_OWN_LINES;
} BLK_OWN_LINES;

/* What blk_device.driver points at. */
struct blk_driver {
	struct virtio_device dev;
	struct virtio_irqs irqs;
	struct virtio_irq_queue *irq; /* one for each queue */
	struct blk_queue **queues;
	uint16_t nr_queues, room; /* created; that the arrays have room for */
	bool config_changed;	  /* said by interrupt, not looked at yet; atomic */

	/* The device is reset for good, by whichever queue broke first; and has confirmed that. */
	struct spinlock lock;
	bool stopped, quiet;
};

/* NULL while the queue can be used. What was in flight is ended by those who use it: blk_break(). */
static inline const char *blk_broken(const struct blk_queue *queue)
{
	return virtqueue_broken(&queue->vq);
}

/*
 * blk_irq.c: sees to it that completions can be waited for, if @config asks for a mode that does, of
 * all queues that are not set aside for polling. Before the queues are enabled.
 */
void blk_irqs_open(struct blk_device *blk, const struct blk_config *config);
/* After they are enabled, when one may have lost its vector: fills in what was got. */
void blk_irqs_done(struct blk_device *blk, const struct blk_config *config);

/* blk_odd.c: what became of a request that is not just added. */
struct blk_odd {
	struct blk_request *lent; /* it is prepared now, until blk_take_back() */
	bool taken;		  /* it is dealt with */
	bool go_on;		  /* others can be added now, or it itself */
};
/* Of the first of @reqs; @lent is from the call before. */
struct blk_odd blk_add_odd(struct blk_queue *queue, struct blk_request *const *reqs, unsigned n,
			   struct blk_request *lent);
void blk_take_back(struct blk_request *lent);
/* The queue broke, or has a request of many parts to go on with. Returns how many are dealt with. */
unsigned blk_add_none(struct blk_queue *queue, struct blk_request *const *reqs, unsigned n);
/* Takes the next completion, whatever it is. Returns how many requests are done with that, at *@done:
 * one, or none. */
unsigned blk_reap_odd(struct blk_queue *queue, struct blk_request **done);

/* Appends @req to the requests that the next blk_poll() returns. */
void blk_end(struct blk_queue *queue, struct blk_request *req, enum blk_status status);
/* blk_check.c: why @req is not to be sent; BLK_OK if it may be. */
enum blk_status blk_check(const struct blk_queue *queue, const struct blk_request *req);

/* blk_long.c: a request of several pieces, and perhaps several commands. False: no room yet. */
bool blk_add_long(struct blk_queue *queue, struct blk_request *req);
/* Goes on with queue->partial; false while some of it remains. */
bool blk_continue_long(struct blk_queue *queue);

/* An interrupt of the queue came. Under its lock if it is shared. */
void blk_count_interrupt(struct blk_queue *queue);

/* blk_port.c: an interrupt of the queue came to this CPU; those who halt on others are woken. */
void blk_ports_interrupted(struct blk_queue *queue);
/* The device is reset: the CPUs of all ports, of any queue, are to notice. */
void blk_ports_wake_all(const struct blk_driver *driver);

/* blk_recover.c: resets the device, if that is not done yet, and ends all that is in flight in this
 * queue. @why is a literal. */
void blk_break(struct blk_queue *queue, enum blk_status status, const char *why);
/* Of a queue that is reset: ends what was in flight, with @late what is out for too long. */
void blk_end_in_flight(struct blk_queue *queue, enum blk_status late, enum blk_status rest);
/* blk_reset.c: the same for this queue alone, which goes on then. False: the device cannot. */
bool blk_reset_queue(struct blk_queue *queue);

#endif
