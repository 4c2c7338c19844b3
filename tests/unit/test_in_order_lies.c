/* SPDX-License-Identifier: BSD-2-Clause */
/* What if a device that keeps the order fails, lies, is reset or goes away, within a span or not? */
#include "tests/unit/in_order_rig.h"

static unsigned wait_for(struct rig *rig, unsigned n)
{
	uint64_t end = host.clock_ns + 100000000000ull;
	unsigned got = 0;

	while (got < n && host.clock_ns < end) {
		got += blk_poll(rig->blk.queues[0], done + got, n - got);
		blk_check_progress(rig->blk.queues[0]);
		host.clock_ns += 10000000;
		fake_step();
	}
	for (unsigned i = 0; i < got; i++)
		for (unsigned k = 0; k < i; k++)
			assert_ptr_not_equal(done[i], done[k]);
	return got;
}

static void tell(struct rig *rig, bool packed, unsigned span, enum fake_lie what, uint32_t value)
{
	fresh(rig, packed, 16, span);
	rig->disk.finish = FAKE_ON_STEP;
	rig->disk.lie = what;
	rig->disk.lie_value = value;
	rig->disk.lie_at = 2;
	rig->disk.lie_count = 1;
	start(rig);
	give_memory(512);
	assert_int_equal(blk_submit(rig->blk.queues[0], list, 6), 6);
	assert_int_equal(wait_for(rig, 6), 6);
}

/* A ring of 16 with @n requests out, of which the device uses none before it is told to. */
static struct blk_queue *held(struct rig *rig, bool packed, unsigned used_batch, unsigned n)
{
	struct blk_queue *q;

	fresh(rig, packed, 16, used_batch);
	rig->disk.finish = FAKE_HELD;
	start(rig);
	q = rig->blk.queues[0];
	give_memory(512);
	assert_int_equal(blk_submit(q, list, n), n);
	return q;
}

/*
 * RING-SPLIT-24, RING-PACKED-27: within a span each buffer has its own status, and no length; only that
 * of the last is told. Request 2 is in the middle of a span of 6, and the last of one of 3.
 */
static void each_status_counts(void **state)
{
	static const struct {
		enum fake_lie what;
		uint32_t value;
		unsigned middle, last; /* how request 2 ends */
	} cases[] = {
		{FAKE_STATUS, 1, BLK_IO_ERROR, BLK_IO_ERROR},
		{FAKE_STATUS, 2, BLK_UNSUPPORTED, BLK_UNSUPPORTED},
		{FAKE_STATUS, 0xff, BLK_IO_ERROR, BLK_IO_ERROR},
		{FAKE_NO_STATUS, 0, BLK_IO_ERROR, BLK_IO_ERROR},
		{FAKE_SHORT, 256, BLK_IO_ERROR, BLK_IO_ERROR},
		{FAKE_BAD_LEN, 200, BLK_OK, BLK_SHORT},
	};
	struct rig *rig = *state;

	for (unsigned i = 0; i < 4 * sizeof(cases) / sizeof(cases[0]); i++) {
		bool middle = i & 2;

		tell(rig, i & 1, middle ? 6 : 3, cases[i / 4].what, cases[i / 4].value);
		for (unsigned k = 0; k < 6; k++)
			assert_int_equal(reqs[k].progress.status, k != 2   ? BLK_OK
								  : middle ? cases[i / 4].middle
									   : cases[i / 4].last);
		assert_false(rig->blk.queues[0]->vq.broken);
		blk_close(&rig->blk);
	}
}

/*
 * An ID of nothing in flight, behind, or ahead, of a span longer than what is out; used twice; a length
 * beyond the buffer; an index that jumps. Each request ends once, and no stale data passes as good.
 */
static void lies(void **state)
{
	static const struct {
		enum fake_lie what;
		uint32_t value;
	} cases[] = {
		{FAKE_BAD_ID, 0},	    {FAKE_BAD_ID, 1},	     {FAKE_BAD_ID, 6},
		{FAKE_BAD_ID, 15},	    {FAKE_BAD_ID, 16},	     {FAKE_BAD_ID, 0xffff},
		{FAKE_BAD_ID, 0x10002},	    {FAKE_TWICE, 0},	     {FAKE_BAD_LEN, 4096},
		{FAKE_BAD_LEN, UINT32_MAX}, {FAKE_IDX_JUMP, 1},	     {FAKE_IDX_JUMP, 3},
		{FAKE_IDX_JUMP, 40},	    {FAKE_IDX_JUMP, 0xffff}, {FAKE_DROP, 0},
		{FAKE_NEEDS_RESET, 0},	    {FAKE_VANISH, 0},
	};
	struct rig *rig = *state;

	for (unsigned i = 0; i < 6 * sizeof(cases) / sizeof(cases[0]); i++) {
		tell(rig, i & 1, (unsigned[]){1, 3, 6}[i / 2 % 3], cases[i / 6].what,
		     cases[i / 6].value);
		for (unsigned k = 0; k < 6; k++)
			if (reqs[k].progress.status == BLK_OK)
				assert_true(fake_stamp_ok(data_of(&reqs[k]), 2 * k, 1));
		blk_close(&rig->blk);
	}
}

/*
 * Which IDs are believed: those of the six in flight, from 4 on, or from 12 on round the end of the ring.
 * If it is not the newest, the rest is missing; a split ring shows that at once, since its index has
 * moved by all.
 */
static void ids_believed(void **state)
{
	struct rig *rig = *state;

	for (unsigned i = 0; i < 4 * 20; i++) {
		unsigned before = i & 2 ? 12 : 4, id = i / 4;
		unsigned place = (id + 16 - before) % 16,
			 taken = id < 16 && place < 6 ? place + 1 : 0;
		bool packed = i & 1, broken = packed ? taken == 0 : taken < 6;
		struct blk_queue *q;

		if (before == 12 && taken > 0 && taken < 6)
			continue; /* the entry that was not written names 0, which could be true */
		q = held(rig, packed, 64, before);
		fake_complete(&rig->disk, before);
		assert_int_equal(blk_poll(q, done, N), before);
		assert_int_equal(blk_submit(q, list, 6), 6);
		rig->disk.lie = FAKE_BAD_ID;
		rig->disk.lie_value = id;
		rig->disk.lie_at = before + 5;
		rig->disk.lie_count = 1;
		fake_complete(&rig->disk, 6);
		/* A look at the ring ends, whatever is there: all has come, or a lie, or some. */
		assert_int_equal(blk_arm(q, 6), packed && taken > 0 && taken < 6);
		blk_disarm(q);
		assert_int_equal(blk_poll(q, done, N), taken);
		assert_int_equal(q->vq.broken != NULL, broken);
		assert_int_equal(wait_for(rig, 6 - taken), 6 - taken);
		blk_close(&rig->blk);
	}
}

/*
 * The same behind an honest entry for two of the six, and where the device used but four: what is in
 * flight beyond the split ring's index, or was taken by the entry before, is not believed.
 */
static void ids_believed_later(void **state)
{
	struct rig *rig = *state;

	for (unsigned i = 0; i < 8 * 16; i++) {
		bool packed = i & 1, honest_before = i & 2;
		unsigned first = honest_before ? 2 : 0, used = i & 4 ? 6 : 4, place = i / 8;
		unsigned most = packed ? 6 : used;
		unsigned taken = place >= first && place < most ? place + 1 : first;
		struct blk_queue *q;

		q = held(rig, packed, 64, 6);
		fake_complete(&rig->disk, first);
		rig->disk.lie = FAKE_BAD_ID;
		rig->disk.lie_value = place;
		rig->disk.lie_at = used - 1;
		rig->disk.lie_count = 1;
		fake_complete(&rig->disk, used - first);
		assert_int_equal(blk_poll(q, done, N), taken);
		assert_int_equal(q->vq.broken != NULL, taken == first || (!packed && taken < used));
		assert_int_equal(wait_for(rig, 6 - taken), 6 - taken);
		blk_close(&rig->blk);
	}
}

/* QRST-04/05: a queue that is reset when part of a span is taken begins at place 0 again. */
static void reset_within_a_span(void **state)
{
	struct rig *rig = *state;
	struct blk_queue *q;

	for (unsigned packed = 0; packed < 2; packed++) {
		fresh(rig, packed, 16, 4);
		rig->disk.features |= FAKE_BIT(FAKE_RING_RESET);
		rig->config.recover = BLK_RECOVER_QUEUE;
		rig->config.timeout_ns = 1000000000;
		rig->disk.finish = FAKE_HELD;
		start(rig);
		q = rig->blk.queues[0];
		give_scattered(9);
		assert_int_equal(blk_submit(q, list, 9), 9);
		fake_complete(&rig->disk, 4);
		assert_int_equal(blk_poll(q, done, 2), 2);
		for (uint64_t end = host.clock_ns + 5000000000ull; host.clock_ns < end;) {
			blk_check_progress(q);
			host.clock_ns += 1000000;
		}
		assert_int_equal(blk_counters(q)->queue_resets, 1);
		assert_int_equal(wait_for(rig, 7), 7);
		rig->disk.finish = FAKE_ON_STEP;
		for (unsigned lap = 0; lap < 5; lap++)
			assert_int_equal(rig_run(q, reqs, 9), 9);
		assert_int_equal(reqs[8].progress.status, BLK_OK);
		blk_close(&rig->blk);
	}
}

/* What is left of a span when the device has vanished ends once, and is not taken as used later. */
static void gone_within_a_span(void **state)
{
	struct rig *rig = *state;
	struct blk_queue *q;

	for (unsigned packed = 0; packed < 2; packed++) {
		q = held(rig, packed, 6, 6);
		fake_complete(&rig->disk, 6);
		assert_int_equal(blk_poll(q, done, 2), 2);
		blk_break(q, BLK_DEVICE_GONE, "a test");
		assert_int_equal(blk_poll(q, done, N), 4);
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(done[i]->progress.status, BLK_DEVICE_GONE);
		assert_int_equal(blk_poll(q, done, N), 0);
		assert_int_equal(blk_poll(q, done, N), 0);
		blk_close(&rig->blk);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(each_status_counts),  rig_test(lies),
		rig_test(ids_believed),	       rig_test(ids_believed_later),
		rig_test(reset_within_a_span), rig_test(gone_within_a_span),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
