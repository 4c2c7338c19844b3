/* SPDX-License-Identifier: BSD-2-Clause */
/* What if the device stops answering? Notify again, then reset and fail what is in flight. */
#include "drivers/block/blk_queue.h"

#include "lib/log.h"

/*
 * Without EVENT_IDX a slow device looks like one that missed a notification: wait longer, and keep
 * to the longest wait that it has needed so far.
 */
#define REKICK_NS	   50000000ull
#define REKICK_NS_NO_EVENT 100000000ull
#define STUCK_NAMED	   8

static const char *op_name(uint8_t op)
{
	static const char *const name[] = {"read", "write", "flush", "get-id"};

	return op <= BLK_GET_ID ? name[op] : "unknown";
}

/* A request's age is counted in scans, so that the hot path needs no clock for it. */
static bool timed_out(const struct blk_queue *q, const struct blk_request *req)
{
	return (uint8_t)(q->scans - req->progress.issued_scan) > BLK_TIMEOUT_SCANS;
}

/*
 * One reset serves all queues. Who comes second waits here until it is done, at most as long as a
 * reset may take: what is in flight may end only then.
 */
static void stop_device(struct blk_driver *driver)
{
	spin_lock(&driver->lock);
	if (!driver->stopped) {
		driver->stopped = true;
		for (unsigned i = 0; i < driver->nr_queues; i++)
			if (!blk_broken(driver->queues[i]))
				virtqueue_break(&driver->queues[i]->vq, "the device was reset");
		driver->quiet = virtio_reset(&driver->dev);
		blk_ports_wake_all(driver);
	}
	spin_unlock(&driver->lock);
}

void blk_end_in_flight(struct blk_queue *q, enum blk_status late, enum blk_status rest)
{
	struct blk_request *partial = q->partial;

	q->partial = NULL;
	for (unsigned head = 0; head < q->vq.size; head++) {
		struct vq_head *h = &q->vq.head[head];
		struct blk_request *req = virtqueue_token(&q->vq, head);
		bool is_long = virtqueue_head_is_long(h);

		if (!req)
			continue;
		h->expected = VQ_IDLE;
		if ((!is_long || --req->progress.parts_left == 0) && req != partial)
			blk_end(q, req, timed_out(q, req) ? late : rest);
	}
	if (partial)
		blk_end(q, partial, timed_out(q, partial) ? late : rest);
	/* An interrupt may look meanwhile: split_has_used(). */
	__atomic_store_n(&q->vq.used_idx, q->vq.published_idx, __ATOMIC_RELAXED);
}

/* 3.3.1: buffers come back only from a queue that is not live, so the device is reset first. */
void blk_break(struct blk_queue *q, enum blk_status status, const char *why)
{
	if (q->dead)
		return;
	log_error("%s: queue %u: %s; %u commands in flight fail", q->dev->name, q->vq.index, why,
		  virtqueue_in_flight(&q->vq));
	q->dead = true;
	virtqueue_break(&q->vq, why);
	stop_device(q->driver);
	blk_end_in_flight(q, status, status == BLK_TIMED_OUT ? BLK_DEVICE_GONE : status);
}

static void name_stuck(const struct blk_queue *q)
{
	unsigned named = 0;

	for (unsigned head = 0; head < q->vq.size; head++) {
		const struct blk_request *req = virtqueue_token(&q->vq, head);

		if (!req || !timed_out(q, req))
			continue;
		if (++named <= STUCK_NAMED)
			log_error("%s: queue %u tag %u: %s of %u bytes at sector %llu not answered "
				  "within %llu ms",
				  q->dev->name, q->vq.index, head, op_name(req->op),
				  req->sgl.len_bytes, (unsigned long long)req->lba_512,
				  (unsigned long long)(q->timeout_ns / 1000000));
	}
	if (named > STUCK_NAMED)
		log_error("%s: and %u more", q->dev->name, named - STUCK_NAMED);
}

/* Whether anything is out for too long. */
static bool scan(struct blk_queue *q)
{
	q->scans++;
	for (unsigned head = 0; head < q->vq.size; head++) {
		const struct blk_request *req = virtqueue_token(&q->vq, head);

		if (req && timed_out(q, req))
			return true;
	}
	return false;
}

/* The status register tells of a device that vanished or gave up; reading it is slow. */
static bool device_alive(struct blk_queue *q)
{
	uint8_t status = virtio_status(q->dev);

	if (status == VIRTIO_STATUS_VANISHED)
		blk_break(q, BLK_DEVICE_GONE, "device has vanished (registers read all ones)");
	else if (status & VIRTIO_STATUS_NEEDS_RESET)
		blk_break(q, BLK_DEVICE_GONE, "device asks for a reset (DEVICE_NEEDS_RESET)");
	return !blk_broken(q);
}

/* Whoever looks first looks for all queues. */
static bool told_of_change(struct blk_driver *driver)
{
	return __atomic_load_n(&driver->config_changed, __ATOMIC_RELAXED) &&
	       __atomic_exchange_n(&driver->config_changed, false, __ATOMIC_RELAXED);
}

/*
 * The clocks of two CPUs may differ by more than a time limit: only one takes the time, until it looks no
 * more. What was measured by another is forgotten then.
 */
static bool takes_time(struct blk_queue *q, uint64_t now)
{
	unsigned here = cpu_index();

	if (q->clock_cpu != here) {
		if (q->foreign_checks++ < BLK_FOREIGN_CHECKS)
			return false;
		q->clock_cpu = here;
		q->seen_cycles = q->scanned_cycles = now;
	}
	q->foreign_checks = 0;
	return true;
}

/* Each repetition waits twice as long as the one before. */
static void rekick(struct blk_queue *q)
{
	q->rekick_cycles *= 2;
	if (!virtqueue_may_have_missed(&q->vq))
		return;
	q->counters.rekicks++;
	q->counters.kicks++;
	virtqueue_notify(&q->vq);
}

bool blk_check_progress(struct blk_queue *q)
{
	bool moved = q->seen_used_idx != q->vq.used_idx || q->seen_commands != q->counters.commands;
	uint64_t now = cycles();

	if (blk_broken(q))
		blk_break(q, BLK_DEVICE_GONE, blk_broken(q));
	if (blk_broken(q) || (told_of_change(q->driver) && !device_alive(q)))
		return false;
	if (!takes_time(q, now))
		return true;
	if (now - q->scanned_cycles >= ns_to_cycles(q->timeout_ns / BLK_TIMEOUT_SCANS)) {
		q->scanned_cycles = now;
		if (scan(q)) {
			name_stuck(q);
			q->counters.timeouts++;
			if (!blk_reset_queue(q))
				blk_break(q, BLK_TIMED_OUT, "request timed out");
			return !blk_broken(q);
		}
	}
	if (moved || virtqueue_in_flight(&q->vq) == 0) {
		q->seen_used_idx = q->vq.used_idx;
		q->seen_commands = q->counters.commands;
		q->seen_cycles = now;
		if (q->vq.event_idx || !q->rekick_cycles)
			q->rekick_cycles =
				ns_to_cycles(q->vq.event_idx ? REKICK_NS : REKICK_NS_NO_EVENT);
		return true;
	}
	if (now - q->seen_cycles >= q->rekick_cycles && device_alive(q))
		rekick(q);
	return !blk_broken(q);
}
