/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a batch of requests get to the device, and what comes back? The hot path. */
#include "drivers/block/blk_queue.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

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
VQ_INLINE unsigned add_run(struct blk_queue *q, struct blk_request *const *reqs, unsigned n)
{
	struct vq_choice next = virtqueue_choose(&q->vq, n);

	switch (next.kind) {
	case VQ_SPLIT_DIRECT:
		return add_prepared(q, reqs, next.limit, VQ_SPLIT_DIRECT);
	case VQ_SPLIT_TABLES:
		return add_prepared(q, reqs, next.limit, VQ_SPLIT_TABLES);
	case VQ_PACKED_DIRECT:
		return add_prepared(q, reqs, next.limit, VQ_PACKED_DIRECT);
	case VQ_SPLIT_IN_ORDER:
		return add_prepared(q, reqs, next.limit, VQ_SPLIT_IN_ORDER);
	case VQ_PACKED_IN_ORDER:
		return add_prepared(q, reqs, next.limit, VQ_PACKED_IN_ORDER);
	default:
		return add_prepared(q, reqs, next.limit, VQ_PACKED_TABLES);
	}
}

/* Adds all of @reqs, until the ring is full. */
VQ_INLINE unsigned add_all(struct blk_queue *q, struct blk_request *const *reqs, unsigned n)
{
	struct blk_odd odd = {0};
	unsigned taken = 0;

	while (taken < n) {
		unsigned run = add_run(q, reqs + taken, n - taken);

		taken += run;
		if (likely(run > 0))
			continue;
		odd = blk_add_odd(q, reqs + taken, n - taken, odd.lent);
		taken += odd.taken;
		if (!odd.go_on)
			break;
	}
	if (unlikely(odd.lent))
		blk_take_back(odd.lent);
	return taken;
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

unsigned blk_submit(struct blk_queue *q, struct blk_request *const *reqs, unsigned n)
{
	unsigned taken;

	if (likely(!q->partial) && likely(!blk_broken(q)))
		taken = add_all(q, reqs, n);
	else
		taken = blk_add_none(q, reqs, n);
	q->counters.requests += taken;
	q->published_cycles = cycles();
	publish_and_kick(q);
	return taken;
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

VQ_INLINE unsigned reap_run(struct blk_queue *q, struct blk_request **done, unsigned max, bool *odd)
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
	case VQ_PACKED_TABLES:
		return reap_frames(q, done, max, VQ_PACKED_TABLES, odd);
	case VQ_PACKED_IN_ORDER:
		return reap_frames(q, done, max, VQ_PACKED_IN_ORDER, odd);
	default:
		return reap_frames(q, done, max, VQ_PACKED_MIXED, odd);
	}
}

VQ_INLINE unsigned reap(struct blk_queue *q, struct blk_request **done, unsigned max)
{
	unsigned n = 0;
	bool odd;

	for (;;) {
		n += reap_run(q, done + n, max - n, &odd);
		if (likely(!odd))
			return n;
		n += blk_reap_odd(q, done + n);
		if (blk_broken(q))
			return n;
	}
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

static void __attribute__((noinline)) continue_partial(struct blk_queue *q)
{
	blk_continue_long(q);
	publish_and_kick(q);
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
	if (unlikely(q->partial))
		continue_partial(q);
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

const uint64_t *blk_published_cycles(const struct blk_queue *q)
{
	return &q->published_cycles;
}

const struct blk_counters *blk_counters(struct blk_queue *q)
{
	const struct blk_irq_counts *irqs = &q->irq_counts;

	q->counters.interrupts = __atomic_load_n(&irqs->interrupts, __ATOMIC_RELAXED);
	q->counters.interrupts_spurious = __atomic_load_n(&irqs->spurious, __ATOMIC_RELAXED);
	return &q->counters;
}
