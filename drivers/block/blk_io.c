/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a batch of requests get to the device, and what comes back? The hot path. */
#include "drivers/block/blk_queue.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* 5.2.6.1: no request leaves that the device would have to refuse. No sum here can overflow. */
static inline enum blk_status check(const struct blk_queue *q, const struct blk_request *req)
{
	uint64_t sectors = req->sgl.len_bytes >> SECTOR_SHIFT;

	if (unlikely((req->sgl.len_bytes | (uint32_t)(req->lba_512 << SECTOR_SHIFT)) &
		     q->block_mask))
		return BLK_UNALIGNED;
	if (unlikely(sectors - 1 >= q->capacity_512))
		return sectors ? BLK_OUT_OF_RANGE : BLK_UNALIGNED;
	if (unlikely(req->lba_512 > q->capacity_512 - sectors))
		return BLK_OUT_OF_RANGE;
	if (unlikely(req->op == BLK_WRITE && q->read_only))
		return BLK_READ_ONLY;
	return BLK_OK;
}

/* Header, one piece of data, status: three descriptors, in the ring or in a short table. */
static inline void add_simple(struct blk_queue *q, struct blk_request *req, bool table)
{
	struct virtqueue *vq = &q->vq;
	uint32_t head = vq->free_head, len = req->sgl.len_bytes;
	bool read = req->op == BLK_READ;
	struct vq_chain chain;

	q->header[head] = (struct virtio_blk_header){
		.type = read ? VIRTIO_BLK_T_IN : VIRTIO_BLK_T_OUT, .sector = req->lba_512};
	q->status[head] = BLK_STATUS_UNSET;
	req->parts_left = 1;
	req->status = BLK_OK;

	dma_addr_t header = q->header_dma + head * sizeof(struct virtio_blk_header);
	dma_addr_t status = q->status_dma + head;
	uint16_t data_flags = VRING_DESC_F_NEXT | (read ? VRING_DESC_F_WRITE : 0);

	if (table) {
		chain = virtqueue_table_begin(vq, virtqueue_table(vq, 3));
		virtqueue_table_put(&chain, header, sizeof(*q->header), VRING_DESC_F_NEXT);
		virtqueue_table_put(&chain, req->sgl.inline_sg[0].addr, len, data_flags);
		virtqueue_table_put(&chain, status, 1, VRING_DESC_F_WRITE);
		virtqueue_table_end(vq, &chain, req, 1 + (read ? len : 0));
		q->counters.indirect++;
	} else {
		chain = virtqueue_chain_begin(vq);
		virtqueue_chain_put(vq, &chain, header, sizeof(*q->header), VRING_DESC_F_NEXT);
		virtqueue_chain_put(vq, &chain, req->sgl.inline_sg[0].addr, len, data_flags);
		virtqueue_chain_put(vq, &chain, status, 1, VRING_DESC_F_WRITE);
		virtqueue_chain_end(vq, &chain, req, 1 + (read ? len : 0));
	}
}

/* False: no room in the ring. */
static inline bool add(struct blk_queue *q, struct blk_request *req)
{
	enum blk_status refused;

	if (unlikely(req->op > BLK_WRITE))
		return blk_add_long(q, req);
	refused = check(q, req);
	if (unlikely(refused)) {
		blk_end(q, req, refused);
		return true;
	}
	if (unlikely(req->sgl.n != 1 || req->sgl.len_bytes > q->size_max_bytes))
		return blk_add_long(q, req);
	if (unlikely(q->vq.n_free < (q->tables ? 1 : 3)))
		return false;
	add_simple(q, req, q->tables);
	return true;
}

void blk_flush_batch(struct blk_queue *q)
{
	if (q->vq.avail_idx == q->vq.published_idx)
		return;
	q->counters.commands += (uint16_t)(q->vq.avail_idx - q->vq.published_idx);
	q->counters.batches++;
	virtqueue_publish(&q->vq);
	if (virtqueue_kick(&q->vq))
		q->counters.kicks++;
	else
		q->counters.kicks_suppressed++;
}

unsigned blk_submit(struct blk_queue *q, struct blk_request *const *reqs, unsigned n)
{
	unsigned taken = 0;
	uint64_t now;

	if (unlikely(q->vq.broken)) {
		for (; taken < n; taken++)
			blk_end(q, reqs[taken], BLK_DEVICE_GONE);
		return n;
	}
	if (unlikely(q->partial))
		return 0;
	while (taken < n && add(q, reqs[taken]))
		taken++;
	if (unlikely(taken < n))
		q->counters.ring_full++;
	q->counters.requests += taken;
	now = cycles();
	for (unsigned i = 0; i < taken; i++)
		reqs[i]->issued_cycles = now;
	blk_flush_batch(q);
	return taken;
}

/* Any status but OK is an error, UNSUPP one of its own, and so is data that was not delivered. */
static enum blk_status decode(uint8_t status)
{
	if (status == VIRTIO_BLK_S_OK)
		return BLK_SHORT;
	return status == VIRTIO_BLK_S_UNSUPP ? BLK_UNSUPPORTED : BLK_IO_ERROR;
}

/* The command at @head is done; returns its request, which may wait for further commands. */
static inline struct blk_request *complete(struct blk_queue *q, uint32_t head, uint32_t len)
{
	struct blk_request *req = q->vq.head[head].token;
	uint32_t writable = q->vq.head[head].writable_bytes;
	uint8_t status = __atomic_load_n(&q->status[head], __ATOMIC_RELAXED);

	/* 2.7.8.3: nothing past len can be relied on. The status byte speaks for itself. */
	if (unlikely(status != VIRTIO_BLK_S_OK || (len < writable && writable > 1)))
		req->status = decode(status);
	if (q->tables)
		virtqueue_table_release(&q->vq, head);
	return req;
}

static inline unsigned reap(struct blk_queue *q, struct blk_request **done, unsigned max)
{
	unsigned used = virtqueue_used(&q->vq), n = 0;

	if (used > max)
		used = max;
	for (; used > 0; used--) {
		uint32_t len, head = virtqueue_pop(&q->vq, &len);
		struct blk_request *req;

		if (unlikely(head == VQ_NO_HEAD))
			break;
		req = complete(q, head, len);
		if (likely(--req->parts_left == 0))
			done[n++] = req;
	}
	return n;
}

static unsigned take_ended(struct blk_queue *q, struct blk_request **done, unsigned max)
{
	unsigned n = 0;

	for (; n < max && q->ended; n++) {
		done[n] = q->ended;
		q->ended = q->ended->next;
	}
	if (!q->ended)
		q->ended_tail = &q->ended;
	return n;
}

unsigned blk_poll(struct blk_queue *q, struct blk_request **done, unsigned max)
{
	uint16_t before = q->vq.used_idx;
	unsigned n;

	if (unlikely(q->ended))
		return take_ended(q, done, max);
	n = reap(q, done, max);
	if (unlikely(q->vq.broken))
		blk_break(q, BLK_DEVICE_GONE, q->vq.broken);
	if (q->vq.used_idx == before) {
		q->counters.polls_empty++;
		return n;
	}
	if (q->vq.event_idx)
		virtqueue_park_interrupts(&q->vq);
	if (unlikely(q->partial)) {
		blk_continue_long(q);
		blk_flush_batch(q);
	}
	return n;
}

void blk_end(struct blk_queue *q, struct blk_request *req, enum blk_status status)
{
	req->status = (uint8_t)status;
	req->next = NULL;
	*q->ended_tail = req;
	q->ended_tail = &req->next;
}

const struct blk_counters *blk_counters(const struct blk_queue *q)
{
	return &q->counters;
}
