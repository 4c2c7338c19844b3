/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a batch of requests get to the device, and what comes back? The hot path. */
#include "drivers/block/blk_queue.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Of the last request of a batch that was cut, until the ring takes it. */
#define STATUS_CUT 0xff

/* Whether a prepared request's place is right: whole blocks, and inside the disk (5.2.6.1). */
static inline bool is_inside(const struct blk_queue *q, const struct blk_request *req)
{
	return likely(req->lba_512 <= req->prepared.lba_max_512) &&
	       likely((req->lba_512 & q->lba_mask_512) == 0);
}

/*
 * Adds prepared requests until one is not, or the batch is full; returns how many. @kind is a constant
 * where this is called: the same code several times over, each with one layout in it.
 */
VQ_INLINE unsigned add_prepared(struct blk_queue *q, struct blk_request *const *reqs, unsigned n,
				enum vq_kind kind)
{
	struct vq_batch batch = virtqueue_batch_begin(&q->vq, kind, n);
	struct blk_progress fresh = {.status = BLK_OK, .issued_scan = q->scans, .parts_left = 1};
	uint8_t *statuses = q->status;
	unsigned i;

	for (i = 0; i < batch.room; i++) {
		struct vq_head *head = virtqueue_batch_head(&batch, i, kind);
		struct blk_request *req = reqs[i];
		const struct blk_prepared *p = &req->prepared;

		if (unlikely(!is_inside(q, req)))
			break;
		if (unlikely(head->stamp != virtqueue_batch_stamp(p->stamp, kind))) {
			if (p->queue != q)
				break;
			head->stamp = virtqueue_batch_stamp(p->stamp, kind);
			head->frame->header[0] = p->type;
			virtqueue_batch_place(head, kind, req, req->sgl.inline_sg[0].addr,
					      p->data_word);
		}
		head->frame->header[1] = req->lba_512;
		__builtin_memcpy(&req->progress, &fresh, sizeof(fresh)); /* one store */
		virtqueue_batch_add(&batch, i, head, kind, req->sgl.inline_sg[0].addr, p->data_word,
				    p->writable_bytes);
		statuses[head->id] = BLK_STATUS_UNSET;
	}
	virtqueue_batch_end(&q->vq, &batch, i, kind);
	if (kind == VQ_SPLIT_TABLES || kind == VQ_PACKED_TABLES || vq_is_in_order(kind))
		q->counters.indirect += i;
	return i;
}

/* One batch, as long as the layout stays the same. */
static inline unsigned add_run(struct blk_queue *q, struct blk_request *const *reqs, unsigned n)
{
	switch (virtqueue_choose(&q->vq, &n)) {
	case VQ_SPLIT_DIRECT:
		return add_prepared(q, reqs, n, VQ_SPLIT_DIRECT);
	case VQ_SPLIT_TABLES:
		return add_prepared(q, reqs, n, VQ_SPLIT_TABLES);
	case VQ_PACKED_DIRECT:
		return add_prepared(q, reqs, n, VQ_PACKED_DIRECT);
	case VQ_SPLIT_IN_ORDER:
		return add_prepared(q, reqs, n, VQ_SPLIT_IN_ORDER);
	case VQ_PACKED_IN_ORDER:
		return add_prepared(q, reqs, n, VQ_PACKED_IN_ORDER);
	default:
		return add_prepared(q, reqs, n, VQ_PACKED_TABLES);
	}
}

static inline unsigned add_ready(struct blk_queue *q, struct blk_request *const *reqs, unsigned n)
{
	unsigned added = 0, run;

	do {
		run = add_run(q, reqs + added, n - added);
		added += run;
	} while (unlikely(added < n) && run > 0);
	return added;
}

/* Any other request: refused, or not prepared, or long. False: no room in the ring. */
static bool add_other(struct blk_queue *q, struct blk_request *req)
{
	enum blk_status refused = blk_check(q, req);
	bool prepared = req->prepared.queue == q;
	unsigned added;

	if (refused != BLK_OK) {
		blk_end(q, req, refused);
		return true;
	}
	if (!prepared)
		blk_prepare(q, req);
	if (!req->prepared.queue)
		return blk_add_long(q, req);
	added = add_ready(q, &req, 1);
	if (!prepared) /* the caller may change it without a word */
		req->prepared = (struct blk_prepared){0};
	return added == 1;
}

VQ_INLINE void publish_and_kick(struct blk_queue *q)
{
	uint16_t commands = (uint16_t)(q->vq.avail_idx - q->vq.published_idx);

	if (unlikely(commands == 0))
		return;
	q->counters.commands += commands;
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
	while (taken < n && !q->partial && add_other(q, reqs[taken])) {
		taken++;
		if (!q->partial)
			taken += add_ready(q, reqs + taken, n - taken);
	}
	/* Who tries again with the rest of a batch has the same request at its end. */
	if (taken < n && reqs[n - 1]->progress.status != STATUS_CUT) {
		reqs[n - 1]->progress.status = STATUS_CUT;
		q->counters.ring_full++;
	}
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

/* Takes the next completion, whatever it is. The request if it is done with that, else NULL. What the
 * ring says is read once more here, and may have changed since: it is believed no more than before. */
static struct blk_request *__attribute__((noinline)) reap_odd(struct blk_queue *q)
{
	uint32_t len;
	struct vq_head *head = virtqueue_look(&q->vq, &len);
	struct blk_request *req;

	if (!head) {
		q->vq.broken = "used id is not in flight";
		return NULL;
	}
	if (virtio_is_legacy(q->dev)) /* 5.2.6.3: these report anything */
		len = virtqueue_head_writable(head);
	if (len > virtqueue_head_writable(head)) {
		q->vq.broken = "used length beyond the writable buffer";
		return NULL;
	}
	req = head->token;
	judge(req, __atomic_load_n(&q->status[head->id], __ATOMIC_RELAXED), len,
	      virtqueue_head_writable(head));
	virtqueue_release(&q->vq, head);
	return --req->progress.parts_left == 0 ? req : NULL;
}

/* Takes up to @max completions of frames that are good; stops at another, which is then *@odd. */
VQ_INLINE unsigned reap_frames(struct blk_queue *q, struct blk_request **done, unsigned max,
			       enum vq_kind kind, bool *odd)
{
	struct vq_drain drain = virtqueue_drain_begin(&q->vq, kind);
	const uint8_t *statuses = q->status;
	unsigned i;

	for (i = 0; i < max; i++) {
		struct vq_head *head = virtqueue_drain_frame(&drain, i, kind);

		if (!head)
			break;
		if (unlikely(__atomic_load_n(&statuses[head->id], __ATOMIC_RELAXED) !=
			     VIRTIO_BLK_S_OK)) {
			drain.odd = true;
			break;
		}
		done[i] = head->token;
		virtqueue_drain_free(&drain, head, kind);
	}
	virtqueue_drain_end(&q->vq, &drain, i, kind);
	*odd = drain.odd;
	return i;
}

static inline unsigned reap_run(struct blk_queue *q, struct blk_request **done, unsigned max,
				bool *odd)
{
	switch (q->vq.kind) {
	case VQ_SPLIT_DIRECT:
		return reap_frames(q, done, max, VQ_SPLIT_DIRECT, odd);
	case VQ_SPLIT_TABLES:
		return reap_frames(q, done, max, VQ_SPLIT_TABLES, odd);
	case VQ_SPLIT_MIXED:
		return reap_frames(q, done, max, VQ_SPLIT_MIXED, odd);
	case VQ_SPLIT_IN_ORDER:
		return reap_frames(q, done, max, VQ_SPLIT_IN_ORDER, odd);
	case VQ_PACKED_IN_ORDER:
		return reap_frames(q, done, max, VQ_PACKED_IN_ORDER, odd);
	default:
		return reap_frames(q, done, max, VQ_PACKED_MIXED, odd);
	}
}

static inline unsigned reap(struct blk_queue *q, struct blk_request **done, unsigned max)
{
	bool odd;
	unsigned n = reap_run(q, done, max, &odd);

	while (unlikely(odd)) {
		struct blk_request *req = reap_odd(q);

		if (req) /* even if another CPU has just reset the device */
			done[n++] = req;
		if (blk_broken(q))
			break;
		n += reap_run(q, done + n, max - n, &odd);
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

/* The used index moved, or requests ended without that. */
static unsigned __attribute__((noinline))
poll_found(struct blk_queue *q, struct blk_request **done, unsigned max)
{
	uint16_t before = q->vq.used_idx;
	unsigned n;

	if (unlikely(q->ended))
		return take_ended(q, done, max);
	n = reap(q, done, max);
	if (unlikely(blk_broken(q)))
		blk_break(q, BLK_DEVICE_GONE, blk_broken(q));
	if (unlikely(q->vq.used_idx == before)) {
		q->counters.polls_empty++;
		return n;
	}
	virtqueue_park_interrupts(&q->vq);
	if (unlikely(q->partial)) {
		blk_continue_long(q);
		publish_and_kick(q);
	}
	return n;
}

/* Who waits for a device calls this again and again: what finds nothing is kept short. */
unsigned blk_poll(struct blk_queue *q, struct blk_request **done, unsigned max)
{
	if (virtqueue_has_used(&q->vq) || unlikely(q->ended) || unlikely(blk_broken(q)))
		return poll_found(q, done, max);
	q->counters.polls_empty++;
	return 0;
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
