/* SPDX-License-Identifier: BSD-2-Clause */
/* What about requests that are not just added, and completions that are not as expected? */
#include "drivers/block/blk_queue.h"

/* Of the last request of a batch that was cut, until the ring takes it. */
#define STATUS_CUT 0xff

/* What follows stays with the caller, who has the same request at the end when trying again. */
static void cut(struct blk_queue *q, struct blk_request *last)
{
	if (last->progress.status != STATUS_CUT)
		q->counters.ring_full++;
	last->progress.status = STATUS_CUT;
}

/* The caller may change it from now on without a word. */
void blk_take_back(struct blk_request *lent)
{
	lent->prepared = (struct blk_prepared){0};
}

/* @req will be prepared for this call, or it is long. One that was not taken may be the last of a
 * batch that was cut before, and says so still. */
static struct blk_odd add_unprepared(struct blk_queue *q, struct blk_request *req)
{
	uint8_t before = req->progress.status;
	bool added;

	blk_prepare(q, req);
	if (req->prepared.queue)
		return (struct blk_odd){.lent = req, .go_on = true};
	added = blk_add_long(q, req);
	if (!added)
		req->progress.status = before;
	return (struct blk_odd){.taken = added, .go_on = added && !q->partial};
}

/* Whether what @req was prepared for was a smaller disk: it has just passed blk_check(). */
static bool grew(struct blk_queue *q, struct blk_request *req)
{
	if (req->prepared.queue != q || req->lba_512 <= req->prepared.lba_max_512)
		return false;
	blk_prepare(q, req);
	return true;
}

/* What add_run() stops at is refused, not prepared, or met by a full ring. */
struct blk_odd blk_add_odd(struct blk_queue *q, struct blk_request *const *reqs, unsigned n,
			   struct blk_request *lent)
{
	enum blk_status refused = blk_check(q, reqs[0]);
	struct blk_odd odd = {0};

	if (lent)
		blk_take_back(lent);
	if (refused != BLK_OK) {
		blk_end(q, reqs[0], refused);
		return (struct blk_odd){.taken = true, .go_on = true};
	}
	if (reqs[0]->prepared.queue != q && reqs[0] != lent)
		odd = add_unprepared(q, reqs[0]);
	else
		odd.go_on = grew(q, reqs[0]);
	if (!odd.go_on && n > odd.taken)
		cut(q, reqs[n - 1]);
	return odd;
}

/* The queue broke, or has to go on with a request of many parts first. */
unsigned blk_add_none(struct blk_queue *q, struct blk_request *const *reqs, unsigned n)
{
	if (!blk_broken(q)) {
		if (n > 0)
			cut(q, reqs[n - 1]);
		return 0;
	}
	for (unsigned i = 0; i < n; i++)
		blk_end(q, reqs[i], BLK_DEVICE_GONE);
	return n;
}

/*
 * A completion that is not just as expected. Any status but OK is an error, and UNSUPP one of its
 * own. 2.7.8.3: nothing past len can be relied on; of what the device may write, the status byte
 * speaks for itself, but data must be there in full.
 */
static void judge(struct blk_request *req, uint8_t status, uint32_t len, uint32_t writable_bytes)
{
	if (status == VIRTIO_BLK_S_UNSUPP)
		req->progress.status = BLK_UNSUPPORTED;
	else if (status != VIRTIO_BLK_S_OK)
		req->progress.status = BLK_IO_ERROR;
	else if (len < writable_bytes && writable_bytes > 1)
		req->progress.status = BLK_SHORT;
}

/* What the ring says is read once more here, and may have changed since: it is believed no more than
 * before. */
unsigned blk_reap_odd(struct blk_queue *q, struct blk_request **done)
{
	uint32_t len;
	struct vq_head *head = virtqueue_look(&q->vq, &len);

	if (!head) {
		virtqueue_break(&q->vq, "used id is not in flight");
		return 0;
	}
	if (virtio_is_legacy(q->dev)) /* 5.2.6.3: these report anything */
		len = virtqueue_head_writable(head);
	if (len > virtqueue_head_writable(head)) {
		virtqueue_break(&q->vq, "used length beyond the writable buffer");
		return 0;
	}
	*done = head->token;
	judge(*done, __atomic_load_n(&q->status[head->id], __ATOMIC_RELAXED), len,
	      virtqueue_head_writable(head));
	virtqueue_release(&q->vq, head);
	return --(*done)->progress.parts_left == 0;
}
