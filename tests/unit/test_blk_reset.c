/* SPDX-License-Identifier: BSD-2-Clause */
/* Is a stuck queue reset by itself, what it held ended once, and does it work again? (2.6.1) */
#include <string.h>

#include "tests/host/fake_inside.h"
#include "tests/host/rig.h"

#define N 5 /* what a ring of 16 holds */

static struct blk_request reqs[N], *list[N], *done[N];

static void start(struct rig *rig, bool event_idx, bool indirect)
{
	fake_reset();
	fake_disk_init(&rig->disk);
	rig->disk.features |= FAKE_BIT(FAKE_RING_RESET);
	rig->config.recover = BLK_RECOVER_QUEUE;
	rig->config.timeout_ns = 1000000000;
	rig->config.event_idx = event_idx ? BLK_EVENT_IDX_ON : BLK_EVENT_IDX_OFF;
	rig->config.indirect = indirect ? BLK_INDIRECT_ALWAYS : BLK_INDIRECT_NEVER;
	rig_start(rig);
}

/* Sends N reads, of several pieces each if @pieces is more than 1; returns how many were taken. */
static unsigned send(struct rig *rig, unsigned pieces)
{
	for (unsigned i = 0; i < N; i++) {
		uint8_t *p = rig_memory(8192);

		reqs[i] = rig_request(BLK_READ, 16 * i, p, 512);
		for (unsigned k = 1; k < pieces; k++)
			assert_true(sgl_add(&reqs[i].sgl, NULL, dma_map(p + 1024 * k, 512), 512));
		list[i] = &reqs[i];
	}
	return blk_submit(rig->blk.queues[0], list, N);
}

static void free_data(void)
{
	for (unsigned k = 0; k < N; k++)
		dma_free((void *)(uintptr_t)reqs[k].sgl.inline_sg[0].addr, 8192);
}

/* A millisecond a turn, for at most 5 s. */
static void wait_for(struct rig *rig, unsigned n, enum blk_status status)
{
	uint64_t end = host.clock_ns + 5000000000;
	unsigned got = 0;

	while (got < n && host.clock_ns < end) {
		got += blk_poll(rig->blk.queues[0], done + got, n - got);
		blk_check_progress(rig->blk.queues[0]);
		host.clock_ns += 1000000;
		fake_step();
	}
	assert_int_equal(got, n);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(done[i]->progress.status, status);
}

/*
 * QRST-01/02/03/04/05/07/08, CLEAN-02, F-154: the fake wants all registers again, and the ring as new; what was
 * in flight is no longer the device's, and is freed.
 */
static void stuck_queue(void **state)
{
	struct rig *rig = *state;

	for (unsigned i = 0; i < 8; i++) {
		unsigned sent, resets;
		uint64_t before;

		start(rig, i & 1, i & 2);
		rig->disk.queue_reset_reads = i & 4 ? 1000 : 0;
		for (resets = 1; resets <= 5; resets++) {
			rig->disk.finish = FAKE_HELD;
			sent = send(rig, resets > 1 ? 2 : 1);
			assert_true(sent > 0);
			wait_for(rig, sent, BLK_TIMED_OUT);
			free_data();
			rig->disk.finish = FAKE_AT_ONCE;
			for (unsigned n = 0; n < 40; n++) { /* through the whole ring, and more */
				assert_int_equal(send(rig, 1), N);
				wait_for(rig, N, BLK_OK);
				assert_true(fake_stamp_ok(
					(void *)(uintptr_t)reqs[1].sgl.inline_sg[0].addr, 16, 1));
				free_data();
			}
			assert_int_equal(rig->disk.queue[0].resets, resets);
			assert_int_equal(blk_counters(rig->blk.queues[0])->queue_resets, resets);
		}
		/* No long table was lost with what was in flight. */
		before = blk_counters(rig->blk.queues[0])->indirect;
		sent = send(rig, 2);
		wait_for(rig, sent, BLK_OK);
		assert_int_equal(blk_counters(rig->blk.queues[0])->indirect - before,
				 i & 2 ? sent : 0);
		assert_int_equal(rig->disk.status, 15); /* the device was not reset */
		assert_true(rig_logged(rig, "queue 0 was reset by itself"));
		blk_close(&rig->blk);
	}
}

/* If that does not help, or is not confirmed, it is the device's turn, and nothing is lost. */
static void device_s_turn(void **state)
{
	struct rig *rig = *state;
	unsigned sent;

	start(rig, true, false);
	rig->disk.finish = FAKE_HELD;
	wait_for(rig, send(rig, 1), BLK_TIMED_OUT);
	wait_for(rig, send(rig, 1), BLK_TIMED_OUT);
	assert_int_equal(rig->disk.queue[0].resets, 0); /* the device's reset forgets it */
	assert_int_equal(rig->disk.status, 0);
	assert_int_equal(blk_counters(rig->blk.queues[0])->queue_resets, 1);
	blk_close(&rig->blk);

	start(rig, true, false);
	rig->disk.finish = FAKE_HELD;
	rig->disk.queue_reset_never = true;
	sent = send(rig, 1);
	wait_for(rig, sent, BLK_TIMED_OUT);
	assert_true(rig_logged(rig, "queue 0: its reset is not done within 1 s"));
	assert_int_equal(rig->disk.status, 0);
	assert_int_equal(blk_counters(rig->blk.queues[0])->queue_resets, 0);
	blk_close(&rig->blk);
}

/* Something came back since the last reset, though the index is where it was: 65536 requests. */
static void stuck_a_lap_later(void **state)
{
	struct rig *rig = *state;
	unsigned sent, got;

	start(rig, true, false);
	rig->disk.finish = FAKE_HELD;
	wait_for(rig, send(rig, 1), BLK_TIMED_OUT);
	rig->disk.finish = FAKE_AT_ONCE;
	sent = send(rig, 1);
	wait_for(rig, sent, BLK_OK);
	for (unsigned n = sent; n < 65536; n++) {
		list[0] = &reqs[0];
		assert_int_equal(blk_submit(rig->blk.queues[0], list, 1), 1);
		for (got = 0; got == 0; fake_step())
			got = blk_poll(rig->blk.queues[0], done, 1);
	}
	rig->disk.finish = FAKE_HELD;
	wait_for(rig, send(rig, 1), BLK_TIMED_OUT);
	assert_int_equal(rig->disk.queue[0].resets, 2);
	assert_int_equal(rig->disk.status, 15);
	blk_close(&rig->blk);
}

/* Without the feature, or unasked, the device is reset. */
static void not_asked_for(void **state)
{
	struct rig *rig = *state;

	for (unsigned i = 0; i < 2; i++) {
		start(rig, true, false);
		blk_close(&rig->blk);
		if (i == 0)
			rig->config.recover = BLK_RECOVER_DEVICE;
		else
			rig->config.features_off = FAKE_BIT(FAKE_RING_RESET);
		assert_true(rig_open(rig));
		rig->disk.finish = FAKE_HELD;
		wait_for(rig, send(rig, 1), BLK_TIMED_OUT);
		assert_int_equal(rig->disk.status, 0);
		blk_close(&rig->blk);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(stuck_queue),
		rig_test(device_s_turn),
		rig_test(stuck_a_lap_later),
		rig_test(not_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
