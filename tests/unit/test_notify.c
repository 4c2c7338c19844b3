/* SPDX-License-Identifier: BSD-2-Clause */
/* Is the device notified when it asks for it and only then, and never interrupting a polled queue? */
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "tests/host/rig.h"

static struct blk_request reqs[64], *list[64];

static void prepare(unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		reqs[i] = rig_request(BLK_READ, i, rig_memory(512), 512);
		list[i] = &reqs[i];
	}
}

static void start(struct rig *rig, bool event_idx, uint16_t queue_size)
{
	rig->disk.queue_size[0] = queue_size;
	rig->config.event_idx = event_idx;
	rig_start(rig);
}

static void again(struct rig *rig)
{
	fake_reset();
	fake_disk_init(&rig->disk);
}

/* One batch of @n, and what it cost. */
static void batch(struct rig *rig, unsigned n, unsigned notifications, unsigned barriers)
{
	const struct fake_queue *queue = &rig->disk.queue[0];
	const struct blk_counters *counters = blk_counters(rig->blk.queues[0]);
	struct blk_counters before = *counters;
	uint64_t came = queue->notifications, fences = host.barriers;
	struct blk_request *done[64];

	assert_int_equal(blk_submit(rig->blk.queues[0], list, n), n);
	assert_int_equal(queue->notifications - came, notifications);
	assert_int_equal(host.barriers - fences, barriers);
	assert_int_equal(counters->kicks - before.kicks, notifications);
	assert_int_equal(counters->batches - before.batches, 1);
	assert_int_equal(counters->kicks_suppressed - before.kicks_suppressed, 1 - notifications);
	fake_step();
	assert_int_equal(rig_drain(rig->blk.queues[0], done, n), n);
}

/*
 * RING-SPLIT-28/33/34, RING-PACKED-16: one notification and one full barrier a batch, whatever its
 * length. RSVD-08, RSVD-09: it is the machine's strongest, so that ORDER_PLATFORM asks for no more.
 */
static void one_notification_a_batch(void **state)
{
	struct rig *rig = *state;
	unsigned n, way;

	for (way = 0; way < 8; way++) {
		again(rig);
		rig->disk.features |= way & 2 ? FAKE_BIT(FAKE_RING_PACKED) : 0;
		rig->disk.features |= way & 4 ? FAKE_BIT(FAKE_ORDER_PLATFORM) : 0;
		start(rig, way & 1, 64);
		assert_int_equal(rig->disk.accepted >> FAKE_ORDER_PLATFORM & 1, way >> 2);
		prepare(21);
		for (n = 1; n <= 21; n++)
			batch(rig, n, 1, 1);
		assert_int_equal(rig->disk.queue[0].repeated, 0);
		assert_int_equal(blk_counters(rig->blk.queues[0])->rekicks, 0);
		blk_close(&rig->blk);
	}
}

/* RING-SPLIT-27, RING-SPLIT-31: none while the device polls by itself. */
static void none_while_suppressed(void **state)
{
	struct rig *rig = *state;
	unsigned n, event_idx;

	for (event_idx = 0; event_idx < 2; event_idx++) {
		again(rig);
		rig->disk.service = FAKE_POLLING;
		start(rig, event_idx, 64);
		prepare(21);
		for (n = 1; n <= 21; n++)
			batch(rig, n, 0, 1);
		assert_int_equal(rig->disk.queue[0].notifications, 0);
		blk_close(&rig->blk);
	}
}

/* RING-SPLIT-26, RING-SPLIT-29: the field that was not negotiated means nothing, whatever it holds. */
static void junk_in_the_other_field(void **state)
{
	struct rig *rig = *state;
	unsigned n, event_idx;

	for (event_idx = 0; event_idx < 2; event_idx++) {
		again(rig);
		rig->disk.junk = true;
		start(rig, event_idx, 64);
		prepare(21);
		for (n = 0; n < 200; n++)
			batch(rig, 1 + n % 21, 1, 1);
		blk_close(&rig->blk);
	}
}

/* F-086: the hint toggles at random; the fake sees a kick that is left out or superfluous. */
static void toggling_hint(void **state)
{
	struct rig *rig = *state;
	struct fake_queue *queue = &rig->disk.queue[0];
	struct blk_request *done[64];
	unsigned i, n, event_idx, wanted = 0;

	for (event_idx = 0; event_idx < 2; event_idx++) {
		again(rig);
		start(rig, event_idx, 64);
		prepare(21);
		for (i = 0; i < 2000; i++) {
			rig->disk.service =
				fake_random(&rig->disk) % 2 ? FAKE_POLLING : FAKE_NOTIFIED;
			wanted += rig->disk.service == FAKE_NOTIFIED;
			fake_queue_look(&rig->disk, queue);
			rig->disk.service = FAKE_POLLING; /* whatever it said, it looks */
			n = 1 + fake_random(&rig->disk) % 21;
			assert_int_equal(blk_submit(rig->blk.queues[0], list, n), n);
			fake_step();
			assert_int_equal(rig_drain(rig->blk.queues[0], done, n), n);
		}
		assert_int_equal(queue->unneeded, 0);
		assert_int_equal(queue->repeated, 0);
		blk_close(&rig->blk);
	}
	assert_true(wanted > 1000);
}

/* F-082, RING-SPLIT-15/16/17, MSIX-07: a polled job asks for no interrupt, over 3 laps of the index. */
static void polled_mode_is_quiet(void **state)
{
	struct rig *rig = *state;
	struct blk_request *done[64];
	unsigned i, event_idx;

	for (event_idx = 0; event_idx < 2; event_idx++) {
		again(rig);
		start(rig, event_idx, 64);
		prepare(21);
		for (i = 0; i < 200000; i += 20) {
			assert_int_equal(blk_submit(rig->blk.queues[0], list, 20), 20);
			assert_int_equal(rig_drain(rig->blk.queues[0], done, 20), 20);
		}
		assert_int_equal(rig->disk.queue[0].interrupts, 0);
		assert_int_equal(rig->disk.queue[0].vector, 0xffff);
		assert_int_equal(rig->disk.config_vector, 0xffff);
		assert_int_equal(blk_counters(rig->blk.queues[0])->interrupts, 0);
		blk_close(&rig->blk);
	}
}

/* Waits as a benchmark does, in steps of a millisecond; returns how many came. */
static unsigned wait_for(struct rig *rig, unsigned n)
{
	struct blk_request *done[64];
	unsigned got = 0, turns;

	for (turns = 0; turns < 5000 && got < n; turns++) {
		got += blk_poll(rig->blk.queues[0], done, n - got);
		blk_check_progress(rig->blk.queues[0]);
		host.clock_ns += 1000000;
	}
	return got;
}

/* DESIGN 3: a lost notification is repeated and counted; some more may be lost on the way. */
static void lost_notification(void **state)
{
	struct rig *rig = *state;
	unsigned lost, event_idx;

	for (event_idx = 0; event_idx < 2; event_idx++)
		for (lost = 1; lost <= 3; lost++) {
			again(rig);
			start(rig, event_idx, 64);
			prepare(5);
			rig->disk.lose = lost;
			assert_int_equal(blk_submit(rig->blk.queues[0], list, 5), 5);
			assert_int_equal(wait_for(rig, 5), 5);
			assert_int_equal(blk_counters(rig->blk.queues[0])->rekicks, lost);
			assert_int_equal(rig->disk.queue[0].repeated, lost);
			assert_int_equal(reqs[4].progress.status, BLK_OK);
			blk_close(&rig->blk);
		}
}

/*
 * With EVENT_IDX a slow device shows that it has seen the buffers: nothing to repeat. Without, it
 * is notified again, each time after twice as long.
 */
static void slow_device(void **state)
{
	struct rig *rig = *state;
	unsigned event_idx;

	for (event_idx = 0; event_idx < 2; event_idx++) {
		uint64_t rekicks;

		again(rig);
		rig->disk.finish = FAKE_HELD;
		start(rig, event_idx, 64);
		prepare(5);
		assert_int_equal(blk_submit(rig->blk.queues[0], list, 5), 5);
		assert_int_equal(wait_for(rig, 5), 0); /* 5 s */
		rekicks = blk_counters(rig->blk.queues[0])->rekicks;
		assert_true(event_idx ? rekicks == 0 : rekicks > 1 && rekicks < 10);
		assert_int_equal(fake_complete(&rig->disk, 5), 5);
		assert_int_equal(wait_for(rig, 5), 5);
		blk_close(&rig->blk);
	}
}

/*
 * A device that asks for no notifications has missed none: it looks by itself, if late. In a split ring
 * with EVENT_IDX that cannot be told from one that missed it.
 */
static void slow_and_polling(void **state)
{
	struct rig *rig = *state;

	for (unsigned way = 0; way < 3; way++) {
		bool event_idx = way == 2;

		again(rig);
		rig->disk.finish = FAKE_HELD;
		rig->disk.service = FAKE_POLLING;
		if (way > 0)
			rig->disk.features |= FAKE_BIT(FAKE_RING_PACKED);
		start(rig, event_idx, 64);
		prepare(5);
		assert_int_equal(blk_submit(rig->blk.queues[0], list, 5), 5);
		assert_int_equal(wait_for(rig, 5), 0); /* 5 s */
		assert_int_equal(blk_counters(rig->blk.queues[0])->rekicks, 0);
		fake_step();
		assert_int_equal(fake_complete(&rig->disk, 5), 5);
		assert_int_equal(wait_for(rig, 5), 5);
		blk_close(&rig->blk);
	}
}

/* ---- F-077: the device is another thread. No clock moves, so nothing is repeated for it. ---- */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool finished(struct blk_request *req)
{
	const uint64_t *first = (const uint64_t *)(uintptr_t)req->sgl.inline_sg[0].addr;

	return req->progress.status == BLK_OK && first[0] == req->lba_512 &&
	       first[63] == (req->lba_512 ^ 63ull << 56);
}

/* @n requests, up to @depth in flight; a stall of 10 s is a lost notification. */
static void hammer(struct rig *rig, unsigned depth, unsigned n)
{
	struct blk_request *ready[64], *done[64];
	uint64_t moved = now_ns();
	unsigned n_ready = depth, sent = 0, total = 0, taken, got, i;

	for (i = 0; i < depth; i++)
		ready[i] = &reqs[i];
	while (total < n) {
		if (n_ready > n - sent)
			n_ready = n - sent;
		for (i = 0; i < n_ready; i++)
			ready[i]->lba_512 = (sent + i) % FAKE_STORE;
		taken = n_ready ? blk_submit(rig->blk.queues[0], ready, n_ready) : 0;
		for (i = taken; i < n_ready; i++)
			ready[i - taken] = ready[i];
		n_ready -= taken;
		sent += taken;
		got = blk_poll(rig->blk.queues[0], done, 64);
		for (i = 0; i < got; i++) {
			if (!finished(done[i]))
				fail_msg("stale data of sector %llu",
					 (unsigned long long)done[i]->lba_512);
			ready[n_ready++] = done[i];
		}
		total += got;
		if (got)
			moved = now_ns();
		else
			sched_yield();
		if (fake_violation() || now_ns() - moved > 10000000000u)
			fail_msg("%s", fake_violation() ? fake_violation() : "F-077: a stall");
	}
	assert_int_equal(total, sent);
}

/* RING-SPLIT-22/32/33, RING-PACKED-09/15/16/23: no step is out of order that the other side can see. */
static void beside_a_thread(void **state)
{
	static const unsigned depths[] = {1, 3, 40};
	struct rig *rig = *state;
	unsigned i;

	/* Of those with tables most keep the order: RING-SPLIT-23, RING-PACKED-26. */
	for (i = 0; i < 24; i++) {
		again(rig);
		rig->disk.order = FAKE_RANDOM;
		rig->disk.used_batch = 1 + i % 7;
		if (i & 1)
			rig->disk.features |= FAKE_BIT(FAKE_RING_PACKED);
		if (i / 8 != 1)
			rig->disk.features |= FAKE_BIT(FAKE_IN_ORDER);
		rig->config.indirect = i & 4 ? BLK_INDIRECT_ALWAYS : BLK_INDIRECT_NEVER;
		start(rig, i & 2, i % 3 ? 64 : i & 1 ? 9 : 4);
		host.step_ns = 0;
		prepare(40);
		fake_thread_start(&rig->disk, 1 + i);
		hammer(rig, depths[i / 8], 20000);
		fake_thread_stop(&rig->disk);
		assert_int_equal(rig->disk.nr_done, 20000);
		assert_int_equal(blk_counters(rig->blk.queues[0])->rekicks, 0);
		blk_close(&rig->blk);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(one_notification_a_batch),
		rig_test(none_while_suppressed),
		rig_test(junk_in_the_other_field),
		rig_test(toggling_hint),
		rig_test(polled_mode_is_quiet),
		rig_test(lost_notification),
		rig_test(slow_device),
		rig_test(slow_and_polling),
		rig_test(beside_a_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
