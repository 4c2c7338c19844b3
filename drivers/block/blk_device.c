/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a virtio-blk device become a disk? Start here; then blk_io.c. (virtio 1.3, 5.2) */
#include "drivers/block/blk.h"

#include "drivers/block/blk_config.h"
#include "drivers/block/blk_features.h"
#include "drivers/block/blk_queue.h"
#include "lib/format.h"
#include "lib/log.h"
#include "lib/mem.h"

#define DEVICE_MODERN	    0x1042 /* 0x1040 + device type 2 */
#define DEVICE_TRANSITIONAL 0x1001

#define TABLE_ENTRIES_MAX 1024

bool blk_is_disk(const struct pci_function *fn)
{
	return fn->vendor_id == VIRTIO_VENDOR &&
	       (fn->device_id == DEVICE_MODERN || fn->device_id == DEVICE_TRANSITIONAL);
}

/* 0, and why, if the ring cannot be used. */
static uint16_t choose_queue_size(const struct virtio_device *dev, uint16_t size,
				  const struct blk_config *config, char *why, size_t why_size)
{
	uint32_t wanted = config->qsize && config->qsize < size ? config->qsize : size;
	bool packed = virtio_has(dev, VIRTIO_F_RING_PACKED);

	if (size == 0)
		format(why, why_size, "does not exist");
	else if (size > VIRTQUEUE_SIZE_MAX)
		format(why, why_size, "size %u: a ring has at most %u descriptors", size,
		       VIRTQUEUE_SIZE_MAX);
	else if (!packed && (size & (size - 1)))
		format(why, why_size, "size %u is not a power of two, as a split ring needs", size);
	else if (size < VQ_FRAME_DESCRIPTORS)
		format(why, why_size, "size %u: a read needs %u descriptors", size,
		       VQ_FRAME_DESCRIPTORS);
	else if (wanted < VQ_FRAME_DESCRIPTORS || (!packed && (wanted & (wanted - 1))))
		return size; /* not what was asked for, as queue_size tells */
	else if (virtio_is_legacy(dev))
		return size; /* 4.1.5.1.3.1: as it is */
	else
		return (uint16_t)wanted;
	return 0;
}

static void destroy_queue(struct blk_queue *q)
{
	uint16_t size = q->size;

	virtqueue_destroy(&q->vq);
	if (q->status) {
		dma_unmap(q->status_dma, size);
		dma_free(q->status, size);
	}
	dma_free(q, sizeof(*q));
}

#define THRESHOLD_MIN	  16
#define THRESHOLD_DIVISOR 8

static uint32_t indirect_threshold(const struct blk_config *config, uint16_t size)
{
	uint32_t share = size / THRESHOLD_DIVISOR;

	if (config->indirect_below)
		return config->indirect_below;
	return share > THRESHOLD_MIN ? share : THRESHOLD_MIN;
}

/* IN_ORDER takes chains of one descriptor, and goes with AUTO and ALWAYS only. */
static enum blk_indirect policy_of(const struct virtio_device *dev, const struct blk_config *config)
{
	if (config->indirect != BLK_INDIRECT_AUTO)
		return config->indirect;
	if (virtio_has(dev, VIRTIO_F_INDIRECT_DESC) &&
	    (virtio_has(dev, VIRTIO_F_RING_PACKED) || virtio_has(dev, VIRTIO_F_IN_ORDER)))
		return BLK_INDIRECT_ALWAYS;
	return BLK_INDIRECT_NEVER;
}

static void set_indirect(struct vq_config *ring, const struct virtio_device *dev,
			 const struct blk_config *config)
{
	enum blk_indirect policy = policy_of(dev, config);

	if (policy == BLK_INDIRECT_ALWAYS)
		ring->indirect_below = VIRTQUEUE_SIZE_MAX + 1;
	else if (policy == BLK_INDIRECT_THRESHOLD)
		ring->indirect_below = indirect_threshold(config, ring->size);
	ring->adaptive = policy == BLK_INDIRECT_ADAPTIVE;
}

static bool create_ring(struct blk_queue *q, const struct virtio_device *dev,
			const struct blk_config *config)
{
	struct vq_config ring = {.size = q->size,
				 .packed = virtio_has(dev, VIRTIO_F_RING_PACKED),
				 .event_idx = virtio_has(dev, VIRTIO_F_EVENT_IDX),
				 .in_order = virtio_has(dev, VIRTIO_F_IN_ORDER),
				 .contiguous = virtio_is_legacy(dev)};

	if (virtio_has(dev, VIRTIO_F_INDIRECT_DESC))
		ring.table_entries = (uint16_t)(q->seg_max + 2);
	set_indirect(&ring, dev, config);
	q->status = dma_alloc(q->size, 128);
	if (!q->status)
		return false;
	q->status_dma = ring.status_dma = dma_map(q->status, q->size);
	return virtqueue_create(&q->vq, &ring);
}

static struct blk_queue *create_queue(const struct blk_device *blk, uint16_t index, uint16_t size,
				      const struct blk_config *config)
{
	struct blk_queue *q = dma_alloc(sizeof(*q), 128);

	if (!q)
		return NULL;
	q->driver = blk->driver;
	q->dev = &q->driver->dev;
	q->info = (struct blk_queue_info){.index = index, .size = size};
	q->size = size;
	q->capacity_512 = blk->capacity_512;
	q->lba_mask_512 = blk->block_bytes / SECTOR_BYTES - 1;
	q->seg_max = blk->seg_max;
	q->size_max_bytes = blk->size_max_bytes;
	q->op_max = blk->read_only ? BLK_READ : BLK_WRITE;
	q->flush = blk->flush;
	q->ended_tail = &q->ended;
	q->timeout_ns = config->timeout_ns;
	q->reset_alone = config->recover == BLK_RECOVER_QUEUE;
	q->clock_cpu = cpu_index();
	q->scanned_cycles = cycles();
	if (create_ring(q, q->dev, config))
		return q;
	destroy_queue(q);
	return NULL;
}

/* The limits of one command: the device's, and the ring's, which hold for a table too (2.7.5.3.1,
 * 2.8.17). */
static bool limit_segments(struct blk_device *blk, const struct virtio_device *dev, uint16_t size)
{
	uint32_t most = size < TABLE_ENTRIES_MAX ? size : TABLE_ENTRIES_MAX;

	if (blk->seg_max > most - 2)
		blk->seg_max = most - 2;
	if ((uint64_t)blk->seg_max * blk->size_max_bytes >= blk->block_bytes)
		return true;
	log_error("%s: %u segments of %u bytes cannot hold one block of %u", dev->name,
		  blk->seg_max, blk->size_max_bytes, blk->block_bytes);
	return false;
}

/* How many to use: what was asked for, or one for each CPU; at most what the device says it has. */
static unsigned queues_wanted(const struct blk_device *blk, const struct blk_config *config)
{
	unsigned n = config->queues ? config->queues : config->nr_cpus ? config->nr_cpus : 1;

	return n < blk->max_queues ? n : blk->max_queues;
}

/*
 * The sizes of up to @n queues; returns how many there are. The list ends, with a line that says why,
 * at the first that cannot be used, whatever num_queues says.
 */
static unsigned choose_sizes(struct blk_device *blk, struct virtio_device *dev,
			     const struct blk_config *config, uint16_t *sizes, unsigned n)
{
	char why[80];

	for (unsigned i = 0; i < n; i++) {
		sizes[i] = choose_queue_size(dev, virtio_queue_size(dev, (uint16_t)i), config, why,
					     sizeof(why));
		if (sizes[i] && (i == 0 || sizes[i] < blk->queue_size))
			blk->queue_size = sizes[i];
		if (sizes[i])
			continue;
		if (i == 0)
			log_error("%s: queue 0 %s", dev->name, why);
		else
			log_warn("%s: queue %u %s: using %u queues of the %u that the device "
				 "counts",
				 dev->name, i, why, i, blk->max_queues);
		blk->max_queues = (uint16_t)i;
		return i;
	}
	return n;
}

static bool create_queues(struct blk_device *blk, struct virtio_device *dev,
			  const struct blk_config *config, const uint16_t *sizes, unsigned n)
{
	struct blk_driver *driver = blk->driver;
	unsigned poll = config->poll_queues < n ? config->poll_queues : n - 1;

	driver->room = (uint16_t)n;
	driver->queues = dma_alloc(n * sizeof(*driver->queues), 64);
	driver->irq = dma_alloc(n * sizeof(*driver->irq), 64);
	for (unsigned i = 0; driver->queues && driver->irq && i < n; i++) {
		driver->queues[i] = create_queue(blk, (uint16_t)i, sizes[i], config);
		if (!driver->queues[i])
			break;
		driver->nr_queues++;
	}
	if (driver->nr_queues < n) {
		log_error("%s: no memory for queue %u of %u", dev->name, driver->nr_queues,
			  sizes[driver->nr_queues]);
		return false;
	}
	blk->queues = driver->queues;
	blk->nr_queues = (uint16_t)n;
	blk->nr_poll_queues = (uint16_t)poll;
	return true;
}

static bool set_up_queues(struct blk_device *blk, struct virtio_device *dev,
			  const struct blk_config *config)
{
	unsigned wanted = queues_wanted(blk, config), n;
	uint16_t *sizes = dma_alloc(wanted * sizeof(*sizes), 64);
	bool done;

	if (!sizes) {
		log_error("%s: no memory for the sizes of %u queues", dev->name, wanted);
		return false;
	}
	n = choose_sizes(blk, dev, config, sizes, wanted);
	done = n > 0 && limit_segments(blk, dev, blk->queue_size) &&
	       create_queues(blk, dev, config, sizes, n);
	dma_free(sizes, wanted * sizeof(*sizes));
	return done;
}

static void name_indirect(struct blk_device *blk, const struct virtio_device *dev,
			  const struct blk_config *config)
{
	static const char *const name[] = {"auto", "never", "always", "threshold",
					   "threshold:auto"};
	enum blk_indirect policy = policy_of(dev, config);

	if (policy == BLK_INDIRECT_THRESHOLD)
		format(blk->indirect, sizeof(blk->indirect), "threshold:%u",
		       indirect_threshold(config, blk->queue_size));
	else
		format(blk->indirect, sizeof(blk->indirect), "%s", name[policy]);
}

/* 3.1.1, steps 4 to 8. */
static bool start(struct blk_device *blk, struct virtio_device *dev,
		  const struct blk_config *config)
{
	if (!virtio_negotiate(dev, blk_features_wanted(config)) || !blk_read_config(blk, dev))
		return false;
	blk->features = (struct blk_features){
		dev->offered, blk_features_known() & virtio_features_possible(dev), dev->accepted};
	if (!set_up_queues(blk, dev, config))
		return false;
	blk_irqs_open(blk, config);
	for (uint16_t i = 0; i < blk->nr_queues; i++)
		if (!virtio_queue_enable(dev, i, &blk->queues[i]->vq))
			return false;
	blk_irqs_done(blk, config);
	virtio_driver_ok(dev);
	blk->event_idx = virtio_has(dev, VIRTIO_F_EVENT_IDX);
	blk->indirect_desc = virtio_has(dev, VIRTIO_F_INDIRECT_DESC);
	name_indirect(blk, dev, config);
	blk->ring = virtio_has(dev, VIRTIO_F_RING_PACKED) ? "packed" : "split";
	return true;
}

static void free_driver(struct blk_driver *driver)
{
	virtio_irqs_close(&driver->irqs);
	for (unsigned i = 0; i < driver->nr_queues; i++)
		destroy_queue(driver->queues[i]);
	dma_free(driver->queues, driver->room * sizeof(*driver->queues));
	dma_free(driver->irq, driver->room * sizeof(*driver->irq));
	dma_free(driver, sizeof(*driver));
}

/* 3.3.1: memory that the device may still write to, not being @quiet, is never given away. */
static void let_go(struct blk_device *blk, bool quiet)
{
	if (quiet)
		free_driver(blk->driver);
	blk->driver = NULL;
	blk->queues = NULL;
}

bool blk_open(struct blk_device *blk, const struct pci_function *pci, unsigned index,
	      const struct blk_config *config)
{
	struct blk_driver *driver = dma_alloc(sizeof(*driver), 64);
	bool quiet = true;

	*blk = (struct blk_device){.driver = driver};
	format(blk->name, sizeof(blk->name), index < 26 ? "vd%c" : "vd#%u",
	       index < 26 ? 'a' + index : index);
	format(blk->address, sizeof(blk->address), "%s", pci->address);
	if (!driver) {
		log_error("%s %s: no memory", blk->name, blk->address);
		return false;
	}
	driver->dev.pci = *pci;
	format(driver->dev.name, sizeof(driver->dev.name), "%s %s", blk->name, blk->address);
	driver->dev.prefers = config->transport;
	if (virtio_pci_open(&driver->dev)) {
		blk->transport = virtio_is_legacy(&driver->dev) ? "legacy" : "modern";
		if (start(blk, &driver->dev, config))
			return true;
		/* The device may know of queues. */
		quiet = driver->nr_queues == 0 || virtio_reset(&driver->dev);
		virtio_fail(&driver->dev);
	}
	let_go(blk, quiet);
	return false;
}

/* Whether the device is reset, and has said so. */
static bool quiesce(struct blk_driver *driver)
{
	for (unsigned i = 0; i < driver->nr_queues; i++) {
		struct blk_queue *q = driver->queues[i];

		if (virtqueue_in_flight(&q->vq))
			blk_break(q, BLK_DEVICE_GONE, "closed with requests in flight");
	}
	return driver->stopped ? driver->quiet : virtio_reset(&driver->dev);
}

void blk_close(struct blk_device *blk)
{
	if (blk->driver)
		let_go(blk, quiesce(blk->driver));
}

const char *blk_status_name(enum blk_status status)
{
	static const char *const name[BLK_STATUS_COUNT] = {
		[BLK_OK] = "ok",
		[BLK_IO_ERROR] = "I/O error",
		[BLK_UNSUPPORTED] = "unsupported",
		[BLK_SHORT] = "short transfer",
		[BLK_OUT_OF_RANGE] = "out of range",
		[BLK_UNALIGNED] = "unaligned",
		[BLK_READ_ONLY] = "read-only",
		[BLK_TIMED_OUT] = "timed out",
		[BLK_DEVICE_GONE] = "device gone",
	};

	return status < BLK_STATUS_COUNT ? name[status] : "unknown";
}
