/* SPDX-License-Identifier: BSD-2-Clause */
/* What does the device say about the disk, and is it believable? (virtio 1.3, 5.2.4) */
#include "drivers/block/blk_config.h"

#include "drivers/block/blk_queue.h"
#include "lib/log.h"

/* struct virtio_blk_config */
enum { CAPACITY = 0, SIZE_MAX_ = 8, SEG_MAX = 12, BLK_SIZE = 20, WRITEBACK = 32, NUM_QUEUES = 34 };

#define BLOCK_BYTES_MAX (16u << 20)

struct fields {
	uint64_t capacity;
	uint32_t size_max, seg_max, blk_size;
	uint16_t num_queues;
	uint8_t writeback;
};

/* 2.5.1: an optional field only with its feature, and only if the structure is long enough. */
static bool present(const struct virtio_device *dev, uint64_t feature, unsigned offset,
		    unsigned bytes)
{
	return virtio_has(dev, feature) && virtio_config_has(dev, offset, bytes);
}

static void read_fields(const struct virtio_device *dev, struct fields *f)
{
	*f = (struct fields){
		.size_max = UINT32_MAX, .seg_max = 1, .blk_size = SECTOR_BYTES, .num_queues = 1};
	f->capacity = virtio_config_read32(dev, CAPACITY) |
		      (uint64_t)virtio_config_read32(dev, CAPACITY + 4) << 32;
	if (present(dev, VIRTIO_BLK_F_SIZE_MAX, SIZE_MAX_, 4))
		f->size_max = virtio_config_read32(dev, SIZE_MAX_);
	if (present(dev, VIRTIO_BLK_F_SEG_MAX, SEG_MAX, 4))
		f->seg_max = virtio_config_read32(dev, SEG_MAX);
	if (present(dev, VIRTIO_BLK_F_BLK_SIZE, BLK_SIZE, 4))
		f->blk_size = virtio_config_read32(dev, BLK_SIZE);
	if (present(dev, VIRTIO_BLK_F_MQ, NUM_QUEUES, 2))
		f->num_queues = virtio_config_read16(dev, NUM_QUEUES);
	/* Without a way to ask: writeback if there is something to flush (5.2.5.1). */
	f->writeback = virtio_has(dev, VIRTIO_BLK_F_FLUSH);
	if (present(dev, VIRTIO_BLK_F_CONFIG_WCE, WRITEBACK, 1))
		f->writeback = virtio_config_read8(dev, WRITEBACK);
}

/* 2.5.4: without a generation, two readings must agree. */
static bool read_once(const struct virtio_device *dev, struct fields *f)
{
	uint8_t generation = virtio_config_generation(dev);
	struct fields again;

	read_fields(dev, f);
	if (!virtio_is_legacy(dev))
		return !virtio_config_changed(dev, generation);
	read_fields(dev, &again);
	return f->capacity == again.capacity && f->size_max == again.size_max &&
	       f->seg_max == again.seg_max && f->blk_size == again.blk_size &&
	       f->num_queues == again.num_queues && f->writeback == again.writeback;
}

static bool read_stable(const struct virtio_device *dev, struct fields *f)
{
	for (unsigned tries = 0; tries < VIRTIO_CONFIG_TRIES; tries++)
		if (read_once(dev, f))
			return true;
	log_error("%s: configuration changed during each of %u readings", dev->name,
		  VIRTIO_CONFIG_TRIES);
	return false;
}

static uint32_t usable_block_bytes(const struct virtio_device *dev, uint32_t blk_size)
{
	if (blk_size >= SECTOR_BYTES && blk_size <= BLOCK_BYTES_MAX &&
	    (blk_size & (blk_size - 1)) == 0)
		return blk_size;
	log_warn("%s: block size %u is not a power of two from 512 to %u; using 512", dev->name,
		 blk_size, BLOCK_BYTES_MAX);
	return SECTOR_BYTES;
}

static bool read_believable(const struct virtio_device *dev, struct fields *f)
{
	if (!read_stable(dev, f))
		return false;
	if (f->capacity >> (64 - SECTOR_SHIFT) == 0)
		return true;
	log_error("%s: capacity of %llu sectors is more than 2^64 bytes", dev->name,
		  (unsigned long long)f->capacity);
	return false;
}

bool blk_read_config(struct blk_device *blk, const struct virtio_device *dev)
{
	struct fields f;

	if (!virtio_config_has(dev, CAPACITY, 8)) {
		log_error("%s: device configuration of %u bytes has no capacity", dev->name,
			  dev->config.bytes);
		return false;
	}
	if (!read_believable(dev, &f))
		return false;
	blk->capacity_512 = f.capacity;
	blk->block_bytes = usable_block_bytes(dev, f.blk_size);
	blk->seg_max = f.seg_max ? f.seg_max : 1;
	blk->size_max_bytes = f.size_max ? f.size_max : UINT32_MAX;
	blk->max_queues = f.num_queues ? f.num_queues : 1;
	blk->read_only = dev->offered & VIRTIO_BLK_F_RO; /* whether accepted or not */
	blk->flush = virtio_has(dev, VIRTIO_BLK_F_FLUSH);
	blk->writeback = f.writeback;
	return true;
}

/* 5.2.6.1. The other fields are what the queues were made for; only this one changes online. */
bool blk_refresh(struct blk_device *blk)
{
	const struct blk_driver *driver = blk->driver;
	const struct virtio_device *dev = &driver->dev;
	struct fields f;

	if (driver->stopped || virtio_status(dev) == VIRTIO_STATUS_VANISHED ||
	    !read_believable(dev, &f) || f.capacity == blk->capacity_512)
		return false;
	log_warn("%s: capacity changed from %llu to %llu sectors", dev->name,
		 (unsigned long long)blk->capacity_512, (unsigned long long)f.capacity);
	blk->capacity_512 = f.capacity;
	for (unsigned i = 0; i < blk->nr_queues; i++)
		blk->queues[i]->capacity_512 = f.capacity;
	return true;
}
