/* SPDX-License-Identifier: BSD-2-Clause */
/* What is written to the doorbell of a queue, and when the queue's place goes with it? (2.9, 4.1.5.2) */
#include <string.h>

#include "tests/host/rig.h"

/*
 * RSVD-14, NOTIF-01/02/04/05/06, PCI-COM-11: the doorbell takes the queue's index or the device's own
 * word for it, alone or with the place in the ring, as the features say; the fake checks each word.
 */
static void notification_words(void **state)
{
	static const uint32_t common_bytes[] = {56, 57, 58, 60, 64};
	struct rig *rig = *state;

	for (unsigned i = 0; i < 4 * sizeof(common_bytes) / sizeof(common_bytes[0]); i++) {
		fake_reset();
		fake_disk_init(&rig->disk);
		if (i & 1)
			rig->disk.features |= FAKE_BIT(FAKE_NOTIF_CONFIG_DATA);
		if (i & 2)
			rig->disk.features |= FAKE_BIT(FAKE_NOTIFICATION_DATA);
		rig->disk.common_bytes = common_bytes[i / 4];
		rig_start(rig);
		assert_int_equal(rig->disk.accepted >> FAKE_NOTIF_CONFIG_DATA & 1,
				 (i & 1) && common_bytes[i / 4] >= 58);
		assert_int_equal(rig->disk.accepted >> FAKE_NOTIFICATION_DATA & 1, i >> 1 & 1);
		assert_int_equal(rig_do(rig, BLK_READ, 9, rig_memory(512), 512), BLK_OK);
		assert_true(rig->disk.queue[0].notifications > 0);
		blk_close(&rig->blk);
	}
}

/* NOTIF-07, NOTIF-11: the whole of the available index, as it goes round; the fake compares. */
static void notification_data_wraps(void **state)
{
	struct rig *rig = *state;
	uint8_t *p;

	rig->disk.features |= FAKE_BIT(FAKE_NOTIFICATION_DATA);
	rig_start(rig);
	p = rig_memory(512);
	for (unsigned i = 0; i < 66000; i++)
		assert_int_equal(rig_do(rig, BLK_READ, 9, p, 512), BLK_OK);
	assert_true(rig->disk.queue[0].notifications >= 66000);
	blk_close(&rig->blk);
}

/* 4.1.4.4.1: doorbells that are not all at multiples of 4 take 16 bits: declined. */
static void notification_data_without_room(void **state)
{
	struct rig *rig = *state;

	for (unsigned i = 0; i < 2; i++) {
		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.features |= FAKE_BIT(FAKE_NOTIFICATION_DATA);
		rig->disk.notify_multiplier = i == 0 ? 2 : 4;
		fake_disk_plug(&rig->disk, 0, 3, 0);
		rig->disk.region[FAKE_NOTIFY].offset += i == 1 ? 2 : 0;
		fake_disk_caps(&rig->disk);
		assert_true(rig_open(rig));
		assert_false(rig->disk.accepted & FAKE_BIT(FAKE_NOTIFICATION_DATA));
		assert_int_equal(rig_do(rig, BLK_READ, 9, rig_memory(512), 512), BLK_OK);
		blk_close(&rig->blk);
	}
}

/*
 * NOTIF-08, NOTIF-09: in a packed ring it is the first slot that is not available yet, after batches of
 * each length, over the end of rings of many sizes; the fake compares.
 */
static void packed_place(void **state)
{
	static const uint16_t sizes[] = {7, 16, 33};
	struct blk_request reqs[5], *list[5], *done[5];
	struct rig *rig = *state;

	for (unsigned i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t came;

		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.features |= FAKE_BIT(FAKE_NOTIFICATION_DATA) | FAKE_BIT(FAKE_RING_PACKED);
		rig->disk.queue_size[0] = sizes[i / 2];
		rig->config.indirect = i & 1 ? BLK_INDIRECT_ALWAYS : BLK_INDIRECT_NEVER;
		rig_start(rig);
		assert_string_equal(rig->blk.ring, "packed");
		for (unsigned k = 0; k < 5; k++) {
			reqs[k] = rig_request(BLK_READ, k, rig_memory(512), 512);
			list[k] = &reqs[k];
		}
		for (unsigned round = 0; round < 500; round++) {
			unsigned n = blk_submit(rig->blk.queues[0], list, 1 + round % 5);

			assert_int_equal(rig_drain(rig->blk.queues[0], done, n), n);
		}
		came = rig->disk.queue[0].notifications;
		assert_int_equal(came, blk_counters(rig->blk.queues[0])->kicks);
		assert_true(came > 499);
		blk_close(&rig->blk);
	}
}

/* NOTIF-10, NOTIF-11: one that was lost comes again, with the same word. */
static void again_with_the_same_word(void **state)
{
	struct rig *rig = *state;
	struct blk_request req, *list = &req, *done;

	for (unsigned packed = 0; packed < 2; packed++) {
		unsigned got = 0;

		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.features |= FAKE_BIT(FAKE_NOTIFICATION_DATA);
		rig->disk.features |= packed ? FAKE_BIT(FAKE_RING_PACKED) : 0;
		rig_start(rig);
		rig->disk.lose = 2;
		req = rig_request(BLK_READ, 3, rig_memory(512), 512);
		assert_int_equal(blk_submit(rig->blk.queues[0], &list, 1), 1);
		for (unsigned turns = 0; turns < 5000 && got == 0; turns++) {
			got = blk_poll(rig->blk.queues[0], &done, 1);
			blk_check_progress(rig->blk.queues[0]);
			host.clock_ns += 1000000;
		}
		assert_int_equal(got, 1);
		assert_int_equal(blk_counters(rig->blk.queues[0])->rekicks, 2);
		assert_int_equal(rig->disk.queue[0].repeated, 2);
		blk_close(&rig->blk);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(notification_words),
		rig_test(notification_data_wraps),
		rig_test(notification_data_without_room),
		rig_test(packed_place),
		rig_test(again_with_the_same_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
