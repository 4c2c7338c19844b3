/* SPDX-License-Identifier: BSD-2-Clause */
/* Is a completion ever missed by one who waits for it, and is no interrupt asked for otherwise? */

#include "tests/host/rig.h"

#define SECOND 1000000000ull

static struct blk_request reqs[16], *list[16], *done[16];

/* @way: bit 0 is EVENT_IDX, bit 1 a packed ring. */
static struct blk_queue *held(struct rig *rig, unsigned way, enum blk_mode mode)
{
	fake_reset();
	fake_disk_init(&rig->disk);
	rig->disk.finish = FAKE_HELD;
	rig->disk.queue_size[0] = 64;
	rig->config.mode = mode;
	rig->config.event_idx = way & 1 ? BLK_EVENT_IDX_ON : BLK_EVENT_IDX_OFF;
	rig->disk.features |= way & 2 ? FAKE_BIT(FAKE_RING_PACKED) : 0;
	rig_start(rig);
	assert_int_equal(rig->blk.mode, mode);
	return rig->blk.queues[0];
}

static void submit(struct blk_queue *queue, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		reqs[i] = rig_request(BLK_READ, i, rig_memory(512), 512);
		list[i] = &reqs[i];
	}
	assert_int_equal(blk_submit(queue, list, n), n);
}

static uint64_t irqs(const struct rig *rig)
{
	return blk_counters(rig->blk.queues[0])->interrupts;
}

/* F-084, RING-SPLIT-37, RING-PACKED-32: what came before the interrupt was armed is seen by arming it. */
static void pending_is_seen(void **state)
{
	struct rig *rig = *state;

	for (unsigned way = 0; way < 4; way++) {
		struct blk_queue *queue = held(rig, way, BLK_IRQ);

		submit(queue, 4);
		assert_int_equal(blk_poll(queue, done, 16), 0);
		assert_int_equal(fake_complete(&rig->disk, 1), 1); /* just in the gap */
		assert_false(blk_arm(queue, 1));
		blk_disarm(queue);
		assert_int_equal(blk_poll(queue, done, 16), 1);
		assert_true(blk_arm(queue, 1)); /* and now nothing is left */
		blk_disarm(queue);
		assert_int_equal(fake_complete(&rig->disk, 3), 3);
		assert_int_equal(blk_poll(queue, done, 16), 3);
		blk_close(&rig->blk);
	}
}

/* F-080, F-085: what comes after ends the wait, each time anew. */
static void wait_ends(void **state)
{
	struct rig *rig = *state;

	for (unsigned way = 0; way < 4; way++) {
		struct blk_queue *queue = held(rig, way, BLK_IRQ);

		submit(queue, 8);
		for (unsigned i = 0; i < 8; i++) {
			uint64_t before = irqs(rig), start = cycles();

			assert_true(blk_arm(queue, 1));
			assert_int_equal(fake_complete(&rig->disk, 1), 1);
			interrupt_wait(cycles() + SECOND);
			blk_disarm(queue);
			assert_int_equal(irqs(rig), before + 1);
			assert_true(cycles() - start < SECOND);
			assert_int_equal(blk_poll(queue, done, 16), 1);
		}
		blk_close(&rig->blk);
	}
}

/* One interrupt for several completions, and never for more than can come. */
static void coalesced(void **state)
{
	struct rig *rig = *state;
	struct blk_queue *queue = held(rig, 1, BLK_IRQ);

	submit(queue, 8);
	assert_true(blk_arm(queue, 3));
	assert_int_equal(fake_complete(&rig->disk, 2), 2);
	interrupt_wait(cycles() + 1000000);
	assert_int_equal(irqs(rig), 0);
	assert_int_equal(fake_complete(&rig->disk, 1), 1);
	interrupt_wait(cycles() + SECOND);
	assert_int_equal(irqs(rig), 1);
	blk_disarm(queue);
	assert_int_equal(blk_poll(queue, done, 16), 3);
	assert_true(blk_arm(queue, 100)); /* 5 are left, so for the fifth */
	assert_int_equal(fake_complete(&rig->disk, 5), 5);
	interrupt_wait(cycles() + SECOND);
	assert_int_equal(irqs(rig), 2);
	blk_disarm(queue);
	assert_int_equal(blk_poll(queue, done, 16), 5);
	assert_false(blk_arm(queue, 1)); /* nothing to wait for */
	blk_disarm(queue);
	blk_close(&rig->blk);
}

/* In a packed ring the event is a place: chains of other lengths must not move it too far. */
static void coalesced_with_a_long_one(void **state)
{
	static struct sgl_pool pool;
	struct rig *rig = *state;
	struct blk_queue *queue;
	uint8_t *p;

	rig->disk.features |= FAKE_BIT(FAKE_RING_PACKED);
	rig->disk.queue_size[0] = 128;
	rig->disk.seg_max = 100;
	rig->disk.finish = FAKE_HELD;
	rig->config.mode = BLK_IRQ;
	rig->config.event_idx = BLK_EVENT_IDX_ON;
	rig->config.indirect = BLK_INDIRECT_NEVER;
	queue = rig_start(rig);
	submit(queue, 3);
	p = rig_memory(60 * 1024);
	reqs[3] = rig_request(BLK_READ, 64, p, 512);
	assert_true(sgl_pool_grow(&pool, 16));
	for (unsigned k = 1; k < 60; k++)
		assert_true(sgl_add(&reqs[3].sgl, &pool, dma_map(p + 1024 * k, 512), 512));
	list[0] = &reqs[3];
	assert_int_equal(blk_submit(queue, list, 1), 1);
	assert_true(blk_arm(queue, 2));
	assert_int_equal(fake_complete(&rig->disk, 2), 2);
	interrupt_wait(cycles() + SECOND);
	assert_int_equal(irqs(rig), 1);
	blk_disarm(queue);
	assert_int_equal(blk_poll(queue, done, 16), 2);
	assert_int_equal(fake_complete(&rig->disk, 2), 2);
	assert_int_equal(blk_poll(queue, done, 16), 2);
	/* The long one is gone: exact again. */
	submit(queue, 3);
	assert_true(blk_arm(queue, 3));
	assert_int_equal(fake_complete(&rig->disk, 2), 2);
	interrupt_wait(cycles() + 1000000);
	assert_int_equal(irqs(rig), 1);
	assert_int_equal(fake_complete(&rig->disk, 1), 1);
	interrupt_wait(cycles() + SECOND);
	assert_int_equal(irqs(rig), 2);
	blk_disarm(queue);
	assert_int_equal(blk_poll(queue, done, 16), 3);
	blk_close(&rig->blk);
}

/* RING-SPLIT-14/16/36, RING-PACKED-31, F-082: not armed, no interrupt; with EVENT_IDX a split
 * ring's flags stay 0 all the same.
 */
static void disarmed_is_silent(void **state)
{
	struct rig *rig = *state;

	for (unsigned way = 0; way < 4; way++) {
		struct blk_queue *queue = held(rig, way, BLK_IRQ);

		for (unsigned round = 0; round < 100; round++) {
			submit(queue, 16);
			if (blk_arm(queue, 16))
				blk_disarm(queue);
			assert_int_equal(fake_complete(&rig->disk, 16), 16);
			interrupt_wait(cycles() + 1000);
			assert_int_equal(blk_poll(queue, done, 16), 16);
			for (unsigned i = 0; i < 16; i++)
				dma_free((void *)(uintptr_t)reqs[i].sgl.inline_sg[0].addr, 512);
		}
		assert_int_equal(irqs(rig), 0);
		blk_close(&rig->blk);
	}
}

/* RING-SPLIT-18: one out of nothing is counted and does no harm. */
static void spurious(void **state)
{
	struct rig *rig = *state;
	struct blk_queue *queue = held(rig, 1, BLK_IRQ);

	submit(queue, 1);
	assert_true(blk_arm(queue, 1));
	fake_spurious(&rig->disk, 0);
	interrupt_wait(cycles() + SECOND);
	blk_disarm(queue);
	assert_int_equal(irqs(rig), 1);
	assert_int_equal(blk_counters(queue)->interrupts_spurious, 1);
	assert_int_equal(blk_poll(queue, done, 16), 0);
	assert_int_equal(fake_complete(&rig->disk, 1), 1);
	assert_int_equal(blk_poll(queue, done, 16), 1);
	blk_close(&rig->blk);
}

/* STAT-05: a device that gives up says so by its configuration interrupt; nobody waits for it. */
static void needs_reset(void **state)
{
	struct rig *rig = *state;
	struct blk_queue *queue = held(rig, 1, BLK_IRQ);

	submit(queue, 3);
	assert_true(blk_arm(queue, 1));
	fake_needs_reset(&rig->disk);
	fake_config_change(&rig->disk);
	interrupt_wait(cycles() + SECOND);
	blk_disarm(queue);
	assert_false(blk_check_progress(queue));
	assert_int_equal(blk_poll(queue, done, 16), 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(done[i]->progress.status, BLK_DEVICE_GONE);
	blk_close(&rig->blk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(pending_is_seen),    rig_test(wait_ends),
		rig_test(coalesced),	      rig_test(coalesced_with_a_long_one),
		rig_test(disarmed_is_silent), rig_test(spurious),
		rig_test(needs_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
