/* SPDX-License-Identifier: BSD-2-Clause */
/* What about requests of many pieces, or of more than the device takes at once? */
#include "drivers/block/blk_queue.h"

/* The data of one command: its pieces and bytes, cut to what device and ring allow. */
struct extent_size {
	uint32_t pieces, bytes;
};

/*
 * As many pieces as one command may have, the last one cut so that the command is whole logical
 * blocks. A copy of the cursor walks; the real one follows when the chain is built.
 */
static struct extent_size measure(const struct blk_queue *q, struct sgl_cursor cursor)
{
	struct extent_size size = {0};
	struct sg piece;
	uint32_t whole;

	while (size.pieces < q->seg_max && sgl_cursor_next(&cursor, q->size_max_bytes, &piece)) {
		size.pieces++;
		size.bytes += piece.len_bytes;
	}
	whole = size.bytes & ~(uint32_t)((q->lba_mask_512 + 1) * SECTOR_BYTES - 1);
	return whole ? (struct extent_size){size.pieces, whole} : (struct extent_size){0};
}

/* 2.7.13: header first, all data of one direction, the status byte last. */
struct command {
	uint32_t type;
	uint64_t sector;
	bool device_writes;
	struct extent_size size;
};

static void put_data(const struct blk_queue *q, struct vq_chain *chain, const struct command *c,
		     struct sgl_cursor *cursor)
{
	uint16_t flags = VRING_DESC_F_NEXT | (c->device_writes ? VRING_DESC_F_WRITE : 0);
	uint32_t left = c->size.bytes;
	struct sg piece;

	while (left > 0) {
		uint32_t most = left < q->size_max_bytes ? left : q->size_max_bytes;

		sgl_cursor_next(cursor, most, &piece);
		left -= piece.len_bytes;
		virtqueue_long_put(chain, piece.addr, piece.len_bytes, flags);
	}
}

/* False: no room in the ring. */
static bool add_command(struct blk_queue *q, struct blk_request *req, const struct command *c,
			struct sgl_cursor *cursor)
{
	struct vq_chain chain;
	struct vq_head *head;

	if (!virtqueue_long_begin(&q->vq, &chain, c->size.pieces + 2))
		return false;
	q->counters.indirect += chain.indirect;
	head = chain.head;
	head->stamp = VQ_NO_STAMP;
	head->frame->header[0] = c->type;
	head->frame->header[1] = c->sector;
	q->status[head->id] = BLK_STATUS_UNSET;
	req->progress.parts_left++;
	virtqueue_long_put(&chain, virtqueue_header_dma(&q->vq, head->id), VQ_HEADER_BYTES,
			   VRING_DESC_F_NEXT);
	put_data(q, &chain, c, cursor);
	virtqueue_long_put(&chain, head->status_dma, 1, VRING_DESC_F_WRITE);
	virtqueue_long_end(&chain, req, 1 + (c->device_writes ? c->size.bytes : 0));
	return true;
}

bool blk_continue_long(struct blk_queue *q)
{
	struct blk_request *req = q->partial;

	while (q->partial_left_bytes > 0) {
		struct command c = {.type = req->op == BLK_READ ? VIRTIO_BLK_T_IN
								: VIRTIO_BLK_T_OUT,
				    .sector = q->partial_lba_512,
				    .device_writes = req->op == BLK_READ,
				    .size = measure(q, q->cursor)};

		if (c.size.bytes == 0) {
			req->progress.status =
				BLK_UNSUPPORTED; /* pieces too small for seg_max of them */
			break;
		}
		if (!add_command(q, req, &c, &q->cursor))
			return false;
		q->partial_left_bytes -= c.size.bytes;
		q->partial_lba_512 += c.size.bytes >> SECTOR_SHIFT;
	}
	q->partial = NULL;
	if (--req->progress.parts_left == 0) /* nothing of it is out */
		blk_end(q, req, req->progress.status);
	return true;
}

/* FLUSH and GET_ID: one command, sector 0 (5.2.6.1). */
static bool add_control(struct blk_queue *q, struct blk_request *req)
{
	struct command c = {.type = VIRTIO_BLK_T_FLUSH};
	struct sgl_cursor cursor;

	req->progress.status = BLK_OK;
	req->progress.issued_scan = q->scans;
	req->progress.parts_left = 0;
	if (req->op == BLK_FLUSH && !q->flush) {
		blk_end(q, req, BLK_OK); /* no volatile cache, so nothing to flush */
		return true;
	}
	if (req->op == BLK_GET_ID)
		c = (struct command){.type = VIRTIO_BLK_T_GET_ID,
				     .device_writes = true,
				     .size = {req->sgl.n, BLK_ID_BYTES}};
	if (req->op > BLK_GET_ID || req->sgl.len_bytes != c.size.bytes || req->sgl.n > 1 ||
	    c.size.bytes > q->size_max_bytes) {
		blk_end(q, req, BLK_UNSUPPORTED);
		return true;
	}
	sgl_cursor_init(&cursor, &req->sgl);
	return add_command(q, req, &c, &cursor);
}

bool blk_add_long(struct blk_queue *q, struct blk_request *req)
{
	uint16_t before = q->vq.avail_idx;

	if (req->op > BLK_WRITE)
		return add_control(q, req);
	req->progress.status = BLK_OK;
	req->progress.issued_scan = q->scans;
	req->progress.parts_left = 1; /* held until the last command is added */
	q->partial = req;
	sgl_cursor_init(&q->cursor, &req->sgl);
	q->partial_lba_512 = req->lba_512;
	q->partial_left_bytes = req->sgl.len_bytes;
	if (blk_continue_long(q) || q->vq.avail_idx != before)
		return true;
	q->partial = NULL;
	return false;
}
