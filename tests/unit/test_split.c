/* SPDX-License-Identifier: BSD-2-Clause */
/* Does the split ring by itself keep its indexes, its free list and its trust in the device right? */
#include <string.h>

#include "tests/host/ring_rig.h"

/* RING-SPLIT-01/25, PCI-COM-12: the fake inspects alignment and zeroes; here what it cannot see. */
static void first_state(void **state)
{
	struct rig *rig = *state;

	ring_bring_up(rig, 16, false, 0);
	assert_int_equal(ring.vq.split.avail->flags, 1); /* RING-SPLIT-15 */
	assert_int_equal(ring_room(), 5);
	ring_tear_down();
	fake_reset();
	fake_disk_init(&rig->disk);
	ring_bring_up(rig, 16, true, 0);
	assert_int_equal(ring.vq.split.avail->flags, 0);       /* RING-SPLIT-16 */
	assert_int_equal(*split_used_event(&ring.vq), 0x8000); /* F-082 */
	ring_tear_down();
}

/* F-070, RING-SPLIT-13/35: every slot in use, the indexes through 65536 twice, any order. */
static void fill_and_drain(struct rig *rig, uint16_t size, enum fake_order order, uint16_t tables)
{
	unsigned sent = 0, got = 0, i, depth;

	fake_reset();
	fake_disk_init(&rig->disk);
	rig->disk.order = order;
	rig->disk.finish = FAKE_HELD;
	ring_bring_up(rig, size, true, tables);
	depth = ring_room();
	assert_int_equal(depth, tables ? size : size / 3);
	while (sent < 140000) {
		for (i = 0; i < depth; i++)
			ring_add(&ring.cells[i], sent++ % 4096);
		assert_int_equal(ring_room(), 0);
		ring_publish();
		assert_int_equal(fake_complete(&rig->disk, depth), depth);
		got += ring_collect();
		assert_int_equal(ring_room(), depth);
		assert_int_equal(virtqueue_in_flight(&ring.vq), 0);
	}
	assert_int_equal(got, sent);
	assert_int_equal(ring.vq.avail_idx, (uint16_t)sent);
	assert_int_equal(rig->disk.nr_done, sent);
	ring_tear_down();
}

static void indexes_wrap(void **state)
{
	fill_and_drain(*state, 4, FAKE_FIFO, 0);
	fill_and_drain(*state, 4, FAKE_FIFO, 4);
	fill_and_drain(*state, 256, FAKE_RANDOM, 0);
	fill_and_drain(*state, 256, FAKE_REVERSE, 4);
}

/* F-072, BLK-OP-23: completions out of order, new buffers among them. */
static void any_order(void **state)
{
	struct rig *rig = *state;
	unsigned sent = 0, got = 0, i, depth;

	rig->disk.order = FAKE_RANDOM;
	rig->disk.finish = FAKE_HELD;
	ring_bring_up(rig, 64, true, 0);
	depth = ring_room();
	while (got < 20000) {
		for (i = 0; i < RING_CELLS && ring_room() > 0; i++)
			if (!ring.cells[i].busy)
				ring_add(&ring.cells[i], sent++ % 4096);
		ring_publish();
		fake_complete(&rig->disk, 1 + fake_random(&rig->disk) % 21);
		got += ring_collect();
	}
	fake_complete(&rig->disk, 64);
	got += ring_collect();
	assert_int_equal(got, sent);
	assert_int_equal(ring_room(), depth);
	ring_tear_down();
}

/* DESIGN 2: what the driver posted it does not read back; the links in the table mean nothing. */
static void descriptors_are_not_read_back(void **state)
{
	struct rig *rig = *state;
	struct vring_desc kept[16];
	unsigned round, i;

	rig->disk.finish = FAKE_HELD;
	rig->disk.order = FAKE_REVERSE;
	ring_bring_up(rig, 16, true, 0);
	for (round = 0; round < 100; round++) {
		for (i = 0; i < 5; i++)
			ring_add(&ring.cells[i], round * 5 + i);
		ring_publish();
		fake_complete(&rig->disk, 5);
		memcpy(kept, ring.vq.split.desc, sizeof(kept));
		memset(ring.vq.split.desc, 0xff, sizeof(kept));
		memset(ring.vq.split.avail->ring, 0xff, 16 * 2);
		assert_int_equal(ring_collect(), 5);
		memcpy(ring.vq.split.desc, kept,
		       sizeof(kept)); /* frames are written once, as documented */
	}
	ring_tear_down();
}

/* RING-SPLIT-30/31: over a batch of 3, [old, new) holds avail_event or it does not. */
static void sweep(struct rig *rig, uint16_t start)
{
	int k;

	for (k = -3; k < 6; k++) {
		struct fake_queue *queue = &rig->disk.queue[0];
		bool wanted = k >= 0 && k < 3;
		uint64_t before;

		/* The device says where it wants to be notified, then sees nothing until a step. */
		start = ring.vq.avail_idx;
		rig->disk.event = FAKE_EVENT_FIXED;
		rig->disk.event_value = (uint16_t)(start + k);
		*split_avail_event(&ring.vq) = rig->disk.event_value;
		before = queue->notifications;
		for (unsigned i = 0; i < 3; i++)
			ring_add(&ring.cells[i], i);
		virtqueue_publish(&ring.vq);
		assert_int_equal(virtqueue_kick(&ring.vq), wanted);
		assert_int_equal(queue->notifications - before, wanted);
		fake_step();
		assert_int_equal(ring_collect(), 3);
		assert_int_equal(queue->unneeded, 0);
	}
}

static void avail_event_sweep(void **state)
{
	struct rig *rig = *state;

	ring_bring_up(rig, 16, true, 0);
	sweep(rig, 0);
	while (ring.vq.avail_idx < 65522) {
		ring_add(&ring.cells[0], 0);
		ring_publish();
		fake_step();
		ring_collect();
	}
	rig->disk.event = FAKE_EVENT_NEXT;
	for (unsigned i = 0; i < 3; i++)
		sweep(rig, ring.vq.avail_idx); /* across 0xffff */
	assert_true(ring.vq.avail_idx < 1000);
	ring_tear_down();
}

/* RING-SPLIT-21, F-114, F-117, by hand in the used ring. */
static void lies_are_rejected(void **state)
{
	static const struct {
		uint32_t id;
		uint16_t idx;
		bool idx_is_the_lie;
	} lies[] = {
		{16, 1, false},	   {UINT32_MAX, 1, false}, {65536, 1, false}, {1u << 31, 1, false},
		{1, 1, false},	   {15, 1, false},	   {0, 2, true},      {0, 1000, true},
		{0, 0xffff, true}, {0, 0x8000, true},
	};
	struct rig *rig = *state;
	unsigned i;

	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.finish = FAKE_HELD;
		ring_bring_up(rig, 16, true, 0);
		ring_add(&ring.cells[0], 0);
		ring_publish();
		ring.vq.split.used->ring[0].id = lies[i].id;
		ring.vq.split.used->idx = lies[i].idx;
		assert_int_equal(split_used(&ring.vq), !lies[i].idx_is_the_lie);
		if (lies[i].idx_is_the_lie)
			assert_non_null(ring.vq.broken);
		else
			assert_false(ring_take());
		ring_tear_down();
	}
}

/* The same chain completed twice: the second is in flight no more. */
static void twice_is_rejected(void **state)
{
	struct rig *rig = *state;

	rig->disk.lie = FAKE_TWICE;
	rig->disk.finish = FAKE_HELD;
	ring_bring_up(rig, 16, true, 0);
	ring_add(&ring.cells[0], 0);
	ring_add(&ring.cells[1], 1);
	rig->disk.lie_count = 1;
	ring_publish();
	fake_complete(&rig->disk, 1);
	assert_true(ring_take());
	assert_false(ring_take());
	ring_tear_down();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(first_state),	     rig_test(indexes_wrap),
		rig_test(any_order),	     rig_test(descriptors_are_not_read_back),
		rig_test(avail_event_sweep), rig_test(lies_are_rejected),
		rig_test(twice_is_rejected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
