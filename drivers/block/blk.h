/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a caller read and write a disk? blk_submit() a batch, blk_poll() what is done. */
#ifndef DRIVERS_BLOCK_BLK_H
#define DRIVERS_BLOCK_BLK_H

#include <stdbool.h>
#include <stdint.h>

#include "drivers/block/sgl.h"
#include "drivers/virtio/virtio.h"

enum blk_op { BLK_READ, BLK_WRITE, BLK_FLUSH, BLK_GET_ID };

/* How a request ended. Each ends exactly once, with one of these. */
enum blk_status {
	BLK_OK,
	BLK_IO_ERROR,	  /* the device said IOERR, or an unknown status */
	BLK_UNSUPPORTED,  /* the device said UNSUPP, or the operation was not negotiated */
	BLK_SHORT,	  /* the device said OK but wrote less than was asked for */
	BLK_OUT_OF_RANGE, /* beyond the capacity; not sent */
	BLK_UNALIGNED,	  /* not whole logical blocks, or no data; not sent */
	BLK_READ_ONLY,	  /* a write to a read-only disk; not sent */
	BLK_TIMED_OUT,	  /* no answer within the limit; the device was reset */
	BLK_DEVICE_GONE,  /* the queue broke: the device lied, vanished or needs a reset */
	BLK_STATUS_COUNT
};

const char *blk_status_name(enum blk_status status);

struct blk_queue;

struct blk_request {
	/* The caller's part. */
	uint64_t lba_512; /* in units of 512 bytes, whatever the block size */
	uint8_t op;	  /* enum blk_op */
	struct sgl sgl;	  /* its len_bytes is the length */
	void *user;	  /* the caller's own */

	/* The driver's part. */
	struct blk_progress {
		uint8_t status; /* enum blk_status: how it ended, once blk_poll() returned it */
		uint8_t issued_scan; /* when it was sent, in scans for requests out for too long */
		uint16_t parts_left; /* device commands that are still out */
	} progress;
	struct blk_request *next; /* in the list of those that ended without the device's word */
	struct blk_port *port;	  /* through which it was sent, where a queue is shared */
	struct blk_prepared {
		const struct blk_queue *queue; /* NULL: not prepared */
		uint64_t stamp;		       /* of this preparation, as no other has it */
		uint64_t lba_max_512;	       /* the last place where its data still fits */
		uint64_t type;		       /* first half of the header */
		uint64_t data_word;	       /* of the descriptor of its data */
		uint64_t writable_bytes;
	} prepared;
};

/* What each queue counts, since it was opened (DESIGN §3). */
struct blk_counters {
	uint64_t requests;	   /* blk_requests accepted */
	uint64_t commands;	   /* device commands; more than requests where they were split */
	uint64_t batches;	   /* publications of the available index */
	uint64_t kicks;		   /* notifications sent, rekicks included */
	uint64_t kicks_suppressed; /* batches for which the device asked for none */
	uint64_t interrupts;
	uint64_t interrupts_spurious; /* of these, with nothing used */
	uint64_t polls_empty;	      /* blk_poll() calls that found nothing */
	uint64_t indirect;	      /* commands that used an indirect table */
	uint64_t ring_full;	      /* times that a batch was cut for want of descriptors */
	uint64_t rekicks;	      /* notifications repeated after a wait without progress */
	uint64_t timeouts;
	uint64_t queue_resets; /* of this queue alone, after a timeout */
};

/* How completions are noticed: by looking, by interrupt, or by looking for a while first. */
enum blk_mode { BLK_POLL, BLK_IRQ, BLK_HYBRID };
/* Which interrupt: the best that there is, or a vector of its own for each queue and nothing less; or
 * the best from one that queues share on, or from INTx on. */
enum blk_irq { BLK_IRQ_AUTO, BLK_IRQ_MSIX, BLK_IRQ_MSIX_SHARED, BLK_IRQ_INTX };
/* What is reset when a request is not answered in time: the device, or where it can, the queue. */
enum blk_recover { BLK_RECOVER_DEVICE, BLK_RECOVER_QUEUE };
enum blk_event_idx { BLK_EVENT_IDX_OFF, BLK_EVENT_IDX_ON, BLK_EVENT_IDX_AUTO };
enum blk_ring { BLK_RING_AUTO, BLK_RING_SPLIT, BLK_RING_PACKED };
/* Which chains go into indirect tables: those that fit no other way, all, or those for which fewer
 * descriptors than a threshold are free; adaptive: a threshold that follows how full the ring was.
 * IN_ORDER takes them for all, and is accepted with auto and always only. */
enum blk_indirect {
	BLK_INDIRECT_AUTO, /* never in a split ring, always in a packed one: the cheaper of the two */
	BLK_INDIRECT_NEVER,
	BLK_INDIRECT_ALWAYS,
	BLK_INDIRECT_THRESHOLD,
	BLK_INDIRECT_ADAPTIVE,
};

/* The driver options of the command line, "blk.*" and "virtio.*". */
struct blk_config {
	enum virtio_interface
		transport; /* where the device has both; blk_device says which it is */
	enum blk_mode mode;
	uint32_t irq_coalesce; /* completions for which one interrupt is asked for */
	enum blk_irq irq;
	enum blk_ring ring; /* auto: packed where it is offered */
	enum blk_indirect indirect;
	uint32_t indirect_below;      /* the threshold; 0: an eighth of the ring, at least 16 */
	enum blk_event_idx event_idx; /* off: not accepted though offered */
	uint64_t features_off;	      /* bits not to be accepted though offered */
	uint64_t features_on;	      /* bits that the caller counts on; blk_device says what is */
	uint32_t qsize;		      /* 0: what the device offers */
	uint64_t timeout_ns;	      /* a request older than this fails */
	enum blk_recover recover;
	uint32_t queues;      /* 0: one for each CPU, as far as the device has them */
	uint32_t poll_queues; /* of these, how many are only polled; at most all but one */
	uint32_t nr_cpus;     /* to share the queues out to; 0 is 1 */
};

#define BLK_CONFIG_DEFAULT                                    \
	((struct blk_config){.irq_coalesce = 1,               \
			     .indirect = BLK_INDIRECT_AUTO,   \
			     .event_idx = BLK_EVENT_IDX_AUTO, \
			     .timeout_ns = 30000000000ull})

#define BLK_ID_BYTES 20

struct pci_function;

struct blk_device {
	char name[8];		 /* vda, vdb, … in PCI order */
	char address[16];	 /* 00:03.0 */
	uint64_t capacity_512;	 /* sectors of 512 bytes */
	uint32_t block_bytes;	 /* logical block size: the unit that requests must keep */
	uint32_t seg_max;	 /* data segments in one command, after all limits */
	uint32_t size_max_bytes; /* bytes in one segment */
	bool read_only, flush;
	bool writeback; /* the cache mode that the figures were taken with */
	bool event_idx, indirect_desc;
	/* Bits: of the device, of this driver where the transport has room for them, of both. */
	struct blk_features {
		uint64_t offered, known, accepted;
	} features;
	const char *transport; /* "modern", "legacy" */
	const char *ring;      /* "split", "packed" */
	char indirect[16];     /* "never", "always", "threshold:32", "threshold:auto" */
	uint32_t irq_coalesce;
	/* Of queue 0, as of all that are not set aside for polling unless one was refused its vector. */
	enum blk_mode mode;    /* what was asked for, or BLK_POLL where no interrupt could be had */
	const char *interrupt; /* "msix", "msix-shared", "intx", "none" */
	const char *irq_refused;   /* why BLK_IRQ_MSIX, if asked for, cannot be; NULL: it can */
	uint16_t queue_size;	   /* the smallest */
	uint16_t max_queues;	   /* that the device has, as far as was looked */
	uint16_t nr_queues;	   /* in use */
	uint16_t nr_poll_queues;   /* of these, the last ones: polled whatever the mode */
	struct blk_queue **queues; /* nr_queues of them */
	void *driver;		   /* the driver's own */
};

/* Where a queue's completions are noticed, and how. */
struct blk_queue_info {
	uint16_t index, size;
	enum blk_mode mode;    /* BLK_POLL where no interrupt could be had */
	const char *interrupt; /* "msix", "msix-shared", "intx", "none" */
	uint16_t vector;       /* of MSI-X; 0xffff: none */
	unsigned cpu;	       /* that the interrupt leads to */
};
void blk_queue_info(const struct blk_queue *queue, struct blk_queue_info *info);

/* Which of a disk's queues a CPU uses: all kinds are dealt out, or only those of one kind. */
enum blk_queue_kind { BLK_QUEUE_ANY, BLK_QUEUE_NOT_POLL, BLK_QUEUE_POLL };
/* The queue of @cpu; NULL if the disk has none of that kind. */
struct blk_queue *blk_queue_of(const struct blk_device *dev, unsigned cpu,
			       enum blk_queue_kind kind);

/* Whether @pci is a virtio-blk device, modern or transitional. For pci_scan(). */
bool blk_is_disk(const struct pci_function *pci);

/* The most queues of a disk: what its 16-bit field can say. */
#define BLK_QUEUES_MAX 65535

/* Brings up the disk at @pci; on failure logs one line that says what and where, returns false. */
bool blk_open(struct blk_device *dev, const struct pci_function *pci, unsigned index,
	      const struct blk_config *config);
/* Resets the device; whatever was in flight ends with BLK_DEVICE_GONE first. */
void blk_close(struct blk_device *dev);

/*
 * Looks whether the capacity has changed; if so, says it in one line of the log, goes by the new one
 * on all queues and returns true. On the CPU that opened the disk, while no queue is in use; what was
 * prepared before is to be prepared again. Until then, what lies beyond a new end fails in the device.
 */
bool blk_refresh(struct blk_device *dev);

/*
 * Works out what does not change from one use of @req to the next, so that blk_submit() need not:
 * worth it for a request that is used again and again with another lba_512. To be repeated when op
 * or sgl change. A request that is not prepared is looked at each time it is submitted.
 */
void blk_prepare(const struct blk_queue *queue, struct blk_request *req);

/*
 * Adds as many of @reqs, from the first on, as the ring has room for, publishes them at once and
 * notifies the device once, if it asked for that. Returns how many were taken: fewer than @n is
 * back-pressure (poll, then submit the rest). A request that is refused (range, alignment,
 * read-only) counts as taken and comes back from the next blk_poll() with its status.
 */
unsigned blk_submit(struct blk_queue *queue, struct blk_request *const *reqs, unsigned n);

/* Where the cycle count of the last blk_submit() is kept: from just before it published its batch. */
const uint64_t *blk_published_cycles(const struct blk_queue *queue);

/* Stores at most @max finished requests in @done; returns how many. Never waits. */
unsigned blk_poll(struct blk_queue *queue, struct blk_request **done, unsigned max);

/*
 * To be called with nothing to poll: asks for an interrupt after @n more completions, at most what
 * is in flight. True: nothing has come yet, and interrupt_wait() will not miss it. False: poll
 * again. Either way blk_disarm() has to follow, before the next poll.
 */
bool blk_arm(struct blk_queue *queue, unsigned n);
void blk_disarm(struct blk_queue *queue);

/*
 * To be called now and then by a caller that waits and sees no progress. Notifies again where the
 * device may have missed a notification; past the time limit resets the device and fails what is
 * in flight. False once the queue is broken: requests then end at once with BLK_DEVICE_GONE.
 */
bool blk_check_progress(struct blk_queue *queue);

/* They stay where they are; those of interrupts are brought up to date by the call. */
const struct blk_counters *blk_counters(struct blk_queue *queue);
/* The one of them that any CPU may look at at any time. */
uint64_t blk_interrupts(const struct blk_queue *queue);

/* One request on a queue with nothing else in flight, waited for. @data is @bytes of DMA memory
 * (NULL for a flush). */
enum blk_status blk_do(struct blk_queue *queue, enum blk_op op, uint64_t lba_512, void *data,
		       uint32_t bytes);
/* Logs a table, at LOG_INFO. */
void blk_log_features(const struct blk_device *dev);
/* "accepted", "declined" by an option, "unknown" to this driver, "not offered". */
const char *blk_feature_state(const struct blk_device *dev, unsigned bit);
/* The serial, NUL-terminated, unprintable bytes replaced by '?'. */
enum blk_status blk_get_id(struct blk_device *dev, char id[BLK_ID_BYTES + 1]);

#endif
