/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a batch of requests get to the device, and what comes back? The hot path. */
#include "drivers/block/blk_queue.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Whether a prepared request may be sent as it is: whole blocks, and inside the disk (5.2.6.1). */
static inline bool is_ready(const struct blk_queue *q, const struct blk_request *req)
{
	return likely(req->prepared.queue == q) &&
	       likely(req->lba_512 <= req->prepared.lba_max_512) &&
	       likely((req->lba_512 & q->lba_mask_512) == 0);
}

/* Adds prepared requests until one is not, or the ring is full; returns how many. */
static inline __attribute__((always_inline)) unsigned add_prepared(struct blk_queue *q,
								   struct blk_request *const *reqs,
								   unsigned n, unsigned data_shift)
{
	struct vq_batch batch = virtqueue_batch_begin(&q->vq);
	struct blk_progress fresh = {.status = BLK_OK, .issued_scan = q->scans, .parts_left = 1};
	struct virtio_blk_header *headers = q->header;
	uint8_t *statuses = q->status;
	unsigned i;

	if (n > batch.room)
		n = batch.room;
	for (i = 0; i < n; i++) {
		struct blk_request *req = reqs[i];
		const struct blk_prepared *p = &req->prepared;
		uint32_t head;

		if (unlikely(!is_ready(q, req)))
			break;
		head = virtqueue_batch_head(&batch, i);
		headers[head].type = p->type;
		headers[head].sector = req->lba_512;
		statuses[head] = BLK_STATUS_UNSET;
		__builtin_memcpy(&req->progress, &fresh, sizeof(fresh)); /* one store */
		virtqueue_batch_add(&batch, i, head, data_shift, req, req->sgl.inline_sg[0].addr,
				    req->sgl.len_bytes, p->data_flags, p->writable_bytes);
	}
	virtqueue_batch_end(&q->vq, i);
	return i;
}

static inline unsigned add_ready(struct blk_queue *q, struct blk_request *const *reqs, unsigned n)
{
	/* Twice the same code, so that the shift is a constant in each. */
	return q->vq.tables.frames ? add_prepared(q, reqs, n, VQ_TABLE_SHIFT)
				   : add_prepared(q, reqs, n, 0);
}

/* Any other request: refused, or not prepared, or long. False: no room in the ring. */
static bool add_other(struct blk_queue *q, struct blk_request *req)
{
	enum blk_status refused = blk_check(q, req);
	unsigned added;

	if (refused != BLK_OK) {
		blk_end(q, req, refused);
		return true;
	}
	blk_prepare(q, req);
	if (!req->prepared.queue)
		return blk_add_long(q, req);
	added = add_ready(q, &req, 1);
	req->prepared.queue = NULL; /* the caller may change it without a word */
	return added == 1;
}

static inline void publish_and_kick(struct blk_queue *q)
{
	uint16_t commands = (uint16_t)(q->vq.avail_idx - q->vq.published_idx);

	if (unlikely(commands == 0))
		return;
	q->counters.commands += commands;
	if (q->vq.tables.frames)
		q->counters.indirect += commands;
	q->counters.batches++;
	virtqueue_publish(&q->vq);
	if (virtqueue_kick(&q->vq))
		q->counters.kicks++;
	else
		q->counters.kicks_suppressed++;
}

/* What add_ready() stopped at, and whatever follows; @taken requests are in. Returns how many are. */
static unsigned __attribute__((noinline))
submit_rest(struct blk_queue *q, struct blk_request *const *reqs, unsigned n, unsigned taken)
{
	if (blk_broken(q)) {
		for (; taken < n; taken++)
			blk_end(q, reqs[taken], BLK_DEVICE_GONE);
		return n;
	}
	while (taken < n && !q->partial && q->vq.n_free > 0 && add_other(q, reqs[taken])) {
		taken++;
		if (!q->partial)
			taken += add_ready(q, reqs + taken, n - taken);
	}
	if (taken < n)
		q->counters.ring_full++;
	return taken;
}

unsigned blk_submit(struct blk_queue *q, struct blk_request *const *reqs, unsigned n)
{
	unsigned taken = 0;

	if (likely(!q->partial) && likely(!blk_broken(q)))
		taken = add_ready(q, reqs, n);
	if (unlikely(taken < n))
		taken = submit_rest(q, reqs, n, taken);
	q->counters.requests += taken;
	q->published_cycles = cycles();
	publish_and_kick(q);
	return taken;
}

/*
 * A completion that is not just as expected: length or status. Any status but OK is an error, and
 * UNSUPP one of its own. 2.7.8.3: nothing past len can be relied on; of what the device may write,
 * the status byte speaks for itself, but data must be there in full. False: the device lied.
 */
static bool __attribute__((noinline))
judge(struct blk_queue *q, struct vq_head *head, uint8_t status, uint32_t len)
{
	struct blk_request *req = head->token;

	if (virtio_is_legacy(q->dev)) /* 5.2.6.3: these report anything */
		len = head->writable_bytes;
	if (len > head->writable_bytes) {
		q->vq.broken = "used length beyond the writable buffer";
		return false;
	}
	if (status == VIRTIO_BLK_S_UNSUPP)
		req->progress.status = BLK_UNSUPPORTED;
	else if (status != VIRTIO_BLK_S_OK)
		req->progress.status = BLK_IO_ERROR;
	else if (len < head->writable_bytes && head->writable_bytes > 1)
		req->progress.status = BLK_SHORT;
	return true;
}

static inline bool is_good(struct blk_queue *q, struct vq_head *head, uint8_t status, uint32_t len)
{
	if (likely(status == VIRTIO_BLK_S_OK) && likely(len == head->writable_bytes))
		return true;
	return judge(q, head, status, len);
}

/* Takes up to @used completions of chains that are frames; stops at one that is not. */
static inline unsigned reap_frames(struct blk_queue *q, struct blk_request **done, unsigned used)
{
	struct vq_drain drain = virtqueue_drain_begin(&q->vq);
	const uint8_t *statuses = q->status;
	unsigned i;

	for (i = 0; i < used; i++) {
		uint32_t id, len;
		struct vq_head *head = virtqueue_drain_look(&drain, i, &id, &len);
		uint8_t status;

		if (unlikely(!head) || unlikely(virtqueue_is_long(head)))
			break;
		status = __atomic_load_n(&statuses[id], __ATOMIC_RELAXED);
		if (unlikely(!is_good(q, head, status, len)))
			break;
		done[i] = head->token;
		virtqueue_drain_free(&drain, i, id);
	}
	virtqueue_drain_end(&q->vq, i);
	return i;
}

/* Takes the next completion, of a long chain. The request if it is done with that, else NULL. */
static struct blk_request *reap_long(struct blk_queue *q)
{
	struct vq_drain drain = virtqueue_drain_begin(&q->vq);
	uint32_t id, len;
	struct vq_head *head = virtqueue_drain_look(&drain, 0, &id, &len);
	struct blk_request *req;

	/* The entry is read once more here, and may have changed since. */
	if (!head || !virtqueue_is_long(head)) {
		q->vq.broken = "used id is not in flight";
		return NULL;
	}
	req = head->token;
	if (!is_good(q, head, __atomic_load_n(&q->status[id], __ATOMIC_RELAXED), len))
		return NULL;
	virtqueue_long_free(&q->vq, id);
	return --req->progress.parts_left == 0 ? req : NULL;
}

static inline unsigned reap(struct blk_queue *q, struct blk_request **done, unsigned max)
{
	unsigned used = virtqueue_used(&q->vq), n = 0;

	if (used > max)
		used = max;
	while (used > 0) {
		unsigned frames = reap_frames(q, done + n, used);

		n += frames;
		used -= frames;
		if (likely(used == 0) || q->vq.broken)
			break;
		done[n] = reap_long(q);
		if (q->vq.broken)
			break;
		n += done[n] != NULL;
		used--;
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
	if (unlikely(blk_broken(q)))
		blk_break(q, BLK_DEVICE_GONE, blk_broken(q));
	if (q->vq.used_idx == before) {
		q->counters.polls_empty++;
		return n;
	}
	if (q->vq.event_idx)
		virtqueue_park_interrupts(&q->vq);
	if (unlikely(q->partial)) {
		blk_continue_long(q);
		publish_and_kick(q);
	}
	return n;
}

void blk_end(struct blk_queue *q, struct blk_request *req, enum blk_status status)
{
	req->progress.status = (uint8_t)status;
	req->next = NULL;
	*q->ended_tail = req;
	q->ended_tail = &req->next;
}

bool blk_arm(struct blk_queue *q, unsigned n)
{
	unsigned in_flight = virtqueue_in_flight(&q->vq);

	if (q->ended || in_flight == 0 || blk_broken(q))
		return false;
	return virtqueue_arm(&q->vq, (uint16_t)(n < in_flight ? n : in_flight));
}

void blk_disarm(struct blk_queue *q)
{
	virtqueue_disarm(&q->vq);
}

uint64_t blk_published_cycles(const struct blk_queue *q)
{
	return q->published_cycles;
}

const struct blk_counters *blk_counters(struct blk_queue *q)
{
	const struct blk_irq_counts *irqs = &q->irq_counts;

	q->counters.interrupts = __atomic_load_n(&irqs->interrupts, __ATOMIC_RELAXED);
	q->counters.interrupts_spurious = __atomic_load_n(&irqs->spurious, __ATOMIC_RELAXED);
	return &q->counters;
}
