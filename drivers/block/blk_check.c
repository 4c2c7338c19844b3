/* SPDX-License-Identifier: BSD-2-Clause */
/* Which requests may go to the device at all? (virtio 1.3, 5.2.6.1) */
#include "drivers/block/blk_queue.h"

static uint64_t sectors_of(const struct blk_request *req)
{
	return req->sgl.len_bytes >> SECTOR_SHIFT;
}

static bool whole_blocks(const struct blk_queue *q, const struct blk_request *req)
{
	uint64_t block_mask = (q->lba_mask_512 + 1) * SECTOR_BYTES - 1;

	return req->sgl.len_bytes > 0 && (req->sgl.len_bytes & block_mask) == 0;
}

/* No sum here can overflow. */
enum blk_status blk_check(const struct blk_queue *q, const struct blk_request *req)
{
	if (req->op > BLK_WRITE)
		return BLK_OK; /* no range to check */
	if (req->op > q->op_max)
		return BLK_READ_ONLY;
	if (!whole_blocks(q, req) || (req->lba_512 & q->lba_mask_512))
		return BLK_UNALIGNED;
	if (sectors_of(req) > q->capacity_512 || req->lba_512 > q->capacity_512 - sectors_of(req))
		return BLK_OUT_OF_RANGE;
	return BLK_OK;
}

static uint64_t stamps; /* given out */

/* Only what is a frame with one piece of data, and right wherever it is put, is prepared. */
void blk_prepare(const struct blk_queue *q, struct blk_request *req)
{
	bool read = req->op == BLK_READ;

	req->prepared = (struct blk_prepared){0};
	if (req->op > q->op_max || req->sgl.n != 1 || req->sgl.len_bytes > q->size_max_bytes ||
	    !whole_blocks(q, req) || sectors_of(req) > q->capacity_512)
		return;
	req->prepared = (struct blk_prepared){
		.queue = q,
		.stamp = __atomic_add_fetch(&stamps, 1, __ATOMIC_RELAXED),
		.lba_max_512 = q->capacity_512 - sectors_of(req),
		.type = read ? VIRTIO_BLK_T_IN : VIRTIO_BLK_T_OUT,
		.writable_bytes = read ? req->sgl.len_bytes + 1 : 1,
		.data_word = virtqueue_data_word(&q->vq, req->sgl.len_bytes,
						 read ? VRING_DESC_F_WRITE : 0),
	};
}
