/* SPDX-License-Identifier: BSD-2-Clause */
/* Does the driver keep the order, and understand one used entry for many buffers? (2.7.9, 2.8.8) */
#include "lib/crc32c.h"
#include "tests/unit/in_order_rig.h"

/* Writes @n blocks, then reads them: the same CRC comes back. */
static void round_trip(struct rig *rig, unsigned n, uint32_t bytes, uint32_t seed)
{
	uint32_t crc[N];

	for (unsigned op = 0; op < 2; op++) {
		for (unsigned i = 0; i < n; i++) {
			uint8_t *data = data_of(&reqs[i]);

			reqs[i] = rig_request(op ? BLK_READ : BLK_WRITE,
					      (seed * 64 + 2 * i) % FAKE_STORE, data, bytes);
			for (uint32_t k = 0; k < bytes; k++)
				data[k] = op ? 0 : (uint8_t)((seed + i) * 31 + k * 7 + (k >> 8));
			if (!op)
				crc[i] = crc32c(0, data, bytes);
		}
		assert_int_equal(rig_run(rig->blk.queues[0], reqs, n), n);
		for (unsigned i = 0; i < n; i++) {
			assert_int_equal(reqs[i].progress.status, BLK_OK);
			if (op)
				assert_int_equal(crc32c(0, data_of(&reqs[i]), bytes), crc[i]);
		}
	}
}

/*
 * RING-SPLIT-05/06/11/23/24, RING-PACKED-26/27, RSVD-15: each size and length of a span, with events
 * and without, in both rings. The fake device judges the order of descriptors.
 */
static void each_size_and_span(void **state)
{
	static const uint16_t sizes[][2] = {{4, 3}, {4, 5}, {8, 7}, {128, 100}};
	static const unsigned spans[] = {1, 2, 3, 64};
	struct rig *rig = *state;

	for (unsigned way = 0; way < 4 * 4 * 4; way++) {
		bool packed = way & 1;

		fresh(rig, packed, sizes[way / 16][packed], spans[way / 4 % 4]);
		rig->config.event_idx = way & 2 ? BLK_EVENT_IDX_ON : BLK_EVENT_IDX_OFF;
		rig->disk.finish = way & 4 ? FAKE_ON_STEP : FAKE_AT_ONCE;
		rig->disk.order = FAKE_REVERSE; /* IN_ORDER has the last word */
		rig->disk.junk = way & 8;
		start(rig);
		give_memory(1024);
		for (unsigned k = 0; k < 25; k++)
			round_trip(rig, 1 + k * 7 % N, 1024, k);
		assert_int_equal(blk_counters(rig->blk.queues[0])->rekicks, 0);
		assert_int_equal(blk_counters(rig->blk.queues[0])->indirect, rig->disk.nr_done);
		blk_close(&rig->blk);
	}
}

/* More than 65536 buffers: what counts in 16 bits goes round. */
static void long_runs(void **state)
{
	struct rig *rig = *state;

	for (unsigned packed = 0; packed < 2; packed++) {
		fresh(rig, packed, packed ? 101 : 64, 3);
		start(rig);
		give_memory(512);
		for (unsigned n = 0; n < 70000; n += N)
			assert_int_equal(rig_run(rig->blk.queues[0], reqs, N), N);
		for (unsigned i = 0; i < N; i++)
			assert_true(fake_stamp_ok(data_of(&reqs[i]), 2 * i, 1));
		blk_close(&rig->blk);
	}
}

/* RING-SPLIT-23, RING-PACKED-26: a poll that takes less than a span, and the next that goes on there.
 * What is left of a span is used: there is nothing to wait for. */
static void parts_of_a_span(void **state)
{
	struct rig *rig = *state;
	struct blk_queue *q;

	for (unsigned way = 0; way < 4 * 5; way++) {
		unsigned max = 1 + way / 4, got = 0;

		fresh(rig, way & 1, 16, 7);
		rig->config.event_idx = way & 2 ? BLK_EVENT_IDX_ON : BLK_EVENT_IDX_OFF;
		rig->disk.finish = FAKE_HELD;
		start(rig);
		q = rig->blk.queues[0];
		give_memory(512);
		for (unsigned lap = 0; lap < 9; lap++, got = 0) {
			assert_int_equal(blk_submit(q, list, 9), 9);
			assert_true(blk_arm(q, 1));
			assert_int_equal(fake_complete(&rig->disk, 7), 7);
			while (got < 7) {
				assert_false(blk_arm(q, 7 - got));
				assert_true(blk_arm(q, 8 - got));
				blk_disarm(q);
				got += blk_poll(q, done, max < 7 - got ? max : 7 - got);
			}
			assert_int_equal(blk_poll(q, done, N), 0);
			assert_true(blk_arm(q, 1));
			blk_disarm(q);
			assert_int_equal(fake_complete(&rig->disk, 2), 2);
			assert_int_equal(blk_poll(q, done, N), 2);
		}
		blk_close(&rig->blk);
	}
}

/* An interrupt is asked for after n buffers, not entries: it comes when a span reaches that far. */
static void interrupt_within_a_span(void **state)
{
	struct rig *rig = *state;
	struct fake_queue *fake = &rig->disk.queue[0];

	for (unsigned packed = 0; packed < 2; packed++)
		for (unsigned n = 1; n <= 8; n++) {
			fresh(rig, packed, 16, 4);
			rig->disk.finish = FAKE_HELD;
			start(rig);
			give_memory(512);
			for (unsigned lap = 0; lap < 7; lap++) {
				uint64_t before = fake->interrupts;

				assert_int_equal(blk_submit(rig->blk.queues[0], list, 8), 8);
				assert_true(blk_arm(rig->blk.queues[0], n));
				fake_complete(&rig->disk, 4);
				assert_int_equal(fake->interrupts - before, n <= 4);
				fake_complete(&rig->disk, 4);
				assert_int_equal(fake->interrupts - before, 1);
				blk_disarm(rig->blk.queues[0]);
				assert_int_equal(blk_poll(rig->blk.queues[0], done, N), 8);
			}
			blk_close(&rig->blk);
		}
}

/* ---- Long chains ---- */

/* RING-SPLIT-11: frames and long chains in one span; there are fewer long tables than heads. */
static void long_chains(void **state)
{
	struct rig *rig = *state;

	for (unsigned way = 0; way < 8; way++) {
		fresh(rig, way & 1, way & 2 ? 64 : 16, way & 4 ? 5 : 64);
		rig->disk.finish = FAKE_ON_STEP;
		start(rig);
		give_scattered(N);
		for (unsigned lap = 0; lap < 6; lap++) {
			assert_int_equal(rig_run(rig->blk.queues[0], reqs, N), N);
			for (unsigned i = 0; i < N; i++) {
				struct sgl_cursor cursor;
				struct sg piece;
				unsigned k = 0;

				assert_int_equal(reqs[i].progress.status, BLK_OK);
				sgl_cursor_init(&cursor, &reqs[i].sgl);
				for (; sgl_cursor_next(&cursor, 512, &piece); k++) {
					assert_true(fake_stamp_ok((void *)(uintptr_t)piece.addr,
								  16 * i + k, 1));
					memset((void *)(uintptr_t)piece.addr, 0, 512);
				}
			}
		}
		blk_close(&rig->blk);
	}
}

/* RSVD-15: what the driver could not keep to, it does not accept. */
static void when_it_is_accepted(void **state)
{
	static const struct {
		uint64_t features, off;
		enum blk_indirect indirect;
		const char *state, *policy; /* NULL: that of the ring */
	} cases[] = {
		{FAKE_BIT(FAKE_INDIRECT_DESC), 0, BLK_INDIRECT_AUTO, "accepted", "always"},
		{FAKE_BIT(FAKE_INDIRECT_DESC), 0, BLK_INDIRECT_ALWAYS, "accepted", "always"},
		{FAKE_BIT(FAKE_INDIRECT_DESC), 0, BLK_INDIRECT_NEVER, "declined", "never"},
		{FAKE_BIT(FAKE_INDIRECT_DESC), 0, BLK_INDIRECT_ADAPTIVE, "declined",
		 "threshold:auto"},
		{FAKE_BIT(FAKE_INDIRECT_DESC), FAKE_BIT(FAKE_IN_ORDER), BLK_INDIRECT_AUTO,
		 "declined", NULL},
		{FAKE_BIT(FAKE_INDIRECT_DESC), FAKE_BIT(FAKE_INDIRECT_DESC), BLK_INDIRECT_AUTO,
		 "declined", "never"},
		{0, 0, BLK_INDIRECT_AUTO, "declined", "never"},
	};
	struct rig *rig = *state;

	for (unsigned i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		fresh(rig, i & 1, 16, 3);
		rig->disk.features &= ~FAKE_BIT(FAKE_INDIRECT_DESC);
		rig->disk.features |= cases[i / 2].features;
		rig->config.features_off = cases[i / 2].off;
		rig->config.indirect = cases[i / 2].indirect;
		rig_start(rig);
		assert_string_equal(blk_feature_state(&rig->blk, FAKE_IN_ORDER),
				    cases[i / 2].state);
		assert_string_equal(rig->blk.indirect, cases[i / 2].policy ? cases[i / 2].policy
						       : i & 1		   ? "always"
									   : "never");
		give_memory(1024);
		round_trip(rig, N, 1024, i);
		blk_close(&rig->blk);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(each_size_and_span), rig_test(long_runs),
		rig_test(parts_of_a_span),    rig_test(interrupt_within_a_span),
		rig_test(long_chains),	      rig_test(when_it_is_accepted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
