/* SPDX-License-Identifier: BSD-2-Clause */
/* Does the packed ring keep its places, its wrap counters and its trust in the device right? */
#include <string.h>

#include "tests/host/ring_rig.h"

static void bring_up(struct rig *rig, struct vq_config config)
{
	fake_reset();
	fake_disk_init(&rig->disk);
	rig->disk.features |= FAKE_BIT(FAKE_RING_PACKED);
	rig->disk.features &= ~FAKE_BIT(FAKE_SEG_MAX);
	rig->disk.finish = FAKE_HELD;
	rig->disk.order = FAKE_RANDOM;
	config.packed = true;
	ring_bring_up_as(rig, &config);
}

/* RING-PACKED-01/33 the fake inspects; RING-PACKED-17/28: what is asked for before all else. */
static void first_state(void **state)
{
	for (int event_idx = 0; event_idx < 2; event_idx++) {
		bring_up(*state, (struct vq_config){.size = 16, .event_idx = event_idx});
		assert_int_equal(ring.vq.packed.driver->flags, RING_EVENT_FLAGS_DISABLE);
		assert_int_equal(ring.vq.packed.used_place, 0x8000);
		assert_int_equal(ring.vq.packed.avail_flags, 0x80);
		assert_int_equal(ring_room(), 5);
		ring_tear_down();
	}
}

static bool has_room(void)
{
	return ring_room() > 0 &&
	       (ring.vq.kind != VQ_PACKED_MIXED || virtqueue_free_descriptors(&ring.vq) > 0);
}

/* Frames, and with @longest > 0 other chains among them, until @chains were sent; all come back. */
static void laps(struct rig *rig, struct vq_config config, unsigned chains, unsigned longest)
{
	unsigned sent = 0, got = 0, i, tables;

	bring_up(rig, config);
	tables = ring.vq.tables.n_free;
	while (sent < chains) {
		for (i = 0; i < RING_CELLS && has_room(); i++) {
			if (ring.cells[i].busy)
				continue;
			if (longest && fake_random(&rig->disk) % 2) {
				if (!ring_add_long(&ring.cells[i],
						   3 + fake_random(&rig->disk) % (longest - 2)))
					break;
			} else {
				ring_add(&ring.cells[i], sent % 4096);
			}
			sent++;
		}
		if (ring.vq.avail_idx != ring.vq.published_idx)
			ring_publish();
		fake_complete(&rig->disk, 1 + fake_random(&rig->disk) % 20);
		got += ring_collect();
	}
	fake_complete(&rig->disk, config.size);
	got += ring_collect();
	assert_int_equal(got, sent);
	assert_int_equal(rig->disk.nr_done, sent);
	assert_int_equal(ring.vq.packed.n_free, config.size);
	assert_int_equal(ring.vq.free.n, config.size);
	assert_int_equal(ring.vq.tables.n_free, tables);
	ring_tear_down();
}

static const uint16_t sizes[] = {3, 4, 5, 7, 8, 100, 255, 256};

/* RING-PACKED-05/09/15/17/18/19/20/21/34, F-067, F-087, F-088, F-091: frames, many times round. */
static void direct_laps(void **state)
{
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int event_idx = 0; event_idx < 2; event_idx++)
			laps(*state, (struct vq_config){.size = sizes[i], .event_idx = event_idx},
			     sizes[i] * 20, 0);
	laps(*state, (struct vq_config){.size = 256, .event_idx = true}, 70000, 0); /* F-070 */
}

/* RING-PACKED-10/11/13/14/24: the same with tables, always or past a threshold. */
static void table_laps(void **state)
{
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct vq_config config = {.size = sizes[i], .event_idx = true, .table_entries = 3};

		config.indirect_below = UINT32_MAX;
		laps(*state, config, sizes[i] * 20, 0);
		assert_int_equal(((struct rig *)*state)->disk.nr_indirect,
				 ((struct rig *)*state)->disk.nr_done);
		config.indirect_below = sizes[i] / 2;
		laps(*state, config, sizes[i] * 20, 0);
		config.indirect_below = 0;
		config.adaptive = true;
		laps(*state, config, sizes[i] * 20, 0);
	}
}

/* RING-PACKED-04/06/08/12, F-094: chains of any length among the frames. */
static void long_chains(void **state)
{
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct vq_config config = {.size = sizes[i], .event_idx = i % 2};

		laps(*state, config, sizes[i] * 20, sizes[i]);
		config.table_entries = sizes[i];
		config.indirect_below = UINT32_MAX;
		laps(*state, config, sizes[i] * 20, sizes[i]);
		config.indirect_below = sizes[i] / 2;
		laps(*state, config, sizes[i] * 20, sizes[i]);
	}
}

/* RING-PACKED-16/30: over a batch of 3 frames, the added places hold the event or they do not. */
static void event_sweep(void **state)
{
	struct rig *rig = *state;

	bring_up(rig, (struct vq_config){.size = 20, .event_idx = true});
	rig->disk.finish = FAKE_AT_ONCE;
	for (int round = 0; round < 400; round++) {
		int k = round % 19 - 5; /* the event, from the first added place on */
		uint32_t pos = ring.vq.packed.avail_pos;
		bool wrap = ring.vq.packed.avail_flags == VRING_PACKED_DESC_F_AVAIL;
		int place = (int)pos + k;
		uint64_t before = rig->disk.queue[0].notifications;

		if (place < 0 || place >= 20) {
			place += place < 0 ? 20 : -20;
			wrap = !wrap;
		}
		rig->disk.event = FAKE_EVENT_FIXED;
		rig->disk.event_value = (uint16_t)(place | (wrap ? 0x8000 : 0));
		ring.vq.packed.device->off_wrap = rig->disk.event_value;
		ring.vq.packed.device->flags = RING_EVENT_FLAGS_DESC;
		for (unsigned i = 0; i < 3; i++)
			ring_add(&ring.cells[i], i);
		virtqueue_publish(&ring.vq);
		assert_int_equal(virtqueue_kick(&ring.vq), k >= 0 && k < 9);
		assert_int_equal(rig->disk.queue[0].notifications - before, k >= 0 && k < 9);
		fake_step();
		assert_int_equal(ring_collect(), 3);
	}
	ring_tear_down();
}

/* RING-PACKED-28/30: the other words of the device. */
static void event_flags(void **state)
{
	static const struct {
		uint16_t flags;
		bool kick;
	} cases[] = {{RING_EVENT_FLAGS_ENABLE, true}, {RING_EVENT_FLAGS_DISABLE, false}};

	for (unsigned i = 0; i < 4; i++) {
		bring_up(*state, (struct vq_config){.size = 16, .event_idx = i & 2});
		ring_add(&ring.cells[0], 0);
		virtqueue_publish(&ring.vq);
		ring.vq.packed.device->flags = cases[i & 1].flags;
		assert_int_equal(virtqueue_kick(&ring.vq), cases[i & 1].kick);
		ring_tear_down();
	}
}

/* RING-PACKED-29/32, F-084: a wish that comes too late is told from one that will be seen. */
static void arm(void **state)
{
	struct rig *rig = *state;

	for (unsigned n = 1; n <= 5; n++) {
		for (unsigned done = 0; done <= 5; done++) {
			bring_up(rig, (struct vq_config){.size = 16, .event_idx = true});
			rig->disk.order = FAKE_FIFO;
			/* Across the end of the ring, in part. */
			for (unsigned i = 0; i < n; i++) {
				ring_add(&ring.cells[0], 0);
				ring_publish();
				fake_complete(&rig->disk, 1);
				assert_int_equal(ring_collect(), 1);
			}
			for (unsigned i = 0; i < 5; i++)
				ring_add(&ring.cells[i], i);
			ring_publish();
			fake_complete(&rig->disk, done);
			assert_int_equal(virtqueue_arm(&ring.vq, (uint16_t)n), done < n);
			assert_int_equal(ring.vq.packed.driver->flags, RING_EVENT_FLAGS_DESC);
			assert_int_equal(ring.vq.packed.driver->off_wrap & 0x7fff,
					 (3 * n + 3 * (n - 1)) % 16);
			virtqueue_disarm(&ring.vq);
			assert_int_equal(ring.vq.packed.driver->flags, RING_EVENT_FLAGS_DISABLE);
			fake_complete(&rig->disk, 5);
			assert_int_equal(ring_collect(), 5);
			ring_tear_down();
		}
	}
}

/* F-114, F-117: IDs that are out of range, or of nothing that is in flight; a chain used twice. */
static void lies_are_rejected(void **state)
{
	static const uint16_t ids[] = {16, 1, 0, 0x8000, 0xffff};
	struct rig *rig = *state;

	for (unsigned i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct vring_packed_desc *desc;

		bring_up(rig, (struct vq_config){.size = 16, .event_idx = true});
		ring_add(&ring.cells[0], 0);
		ring_publish();
		desc = ring.vq.packed.desc;
		desc->id = ids[i];
		__atomic_store_n(&desc->flags, 0x8080, __ATOMIC_RELEASE);
		assert_false(ring_take());
		ring_tear_down();
	}
	bring_up(rig, (struct vq_config){.size = 16, .event_idx = true});
	rig->disk.lie = FAKE_TWICE;
	rig->disk.lie_count = 1;
	ring_add(&ring.cells[0], 0);
	ring_add(&ring.cells[1], 1);
	ring_publish();
	rig->disk.order = FAKE_FIFO;
	fake_complete(&rig->disk, 1);
	assert_true(ring_take());
	assert_false(ring_take());
	ring_tear_down();
}

/* RING-PACKED-22, DESIGN 2: what the driver posted it does not read back. */
static void descriptors_are_not_read_back(void **state)
{
	struct rig *rig = *state;

	bring_up(rig, (struct vq_config){.size = 16, .event_idx = true});
	for (unsigned round = 0; round < 100; round++) {
		for (unsigned i = 0; i < 5; i++)
			ring_add(&ring.cells[i], round * 5 + i);
		ring_publish();
		fake_complete(&rig->disk, 5);
		for (unsigned i = 0; i < 16; i++)
			ring.vq.packed.desc[i].addr = UINT64_MAX;
		assert_int_equal(ring_collect(), 5);
	}
	ring_tear_down();
}

static void expect_untouched(const void *before, unsigned from, unsigned n)
{
	size_t at = from * sizeof(struct vring_packed_desc);

	assert_memory_equal((const uint8_t *)ring.vq.packed.desc + at, (const uint8_t *)before + at,
			    n * sizeof(struct vring_packed_desc));
}

/*
 * RING-PACKED-02/03/07: a full ring, and one with less room than a chain needs, stay as they are,
 * the device's part and the driver's.
 */
static void nearly_full(void **state)
{
	struct vring_packed_desc before[16];
	struct rig *rig = *state;

	bring_up(rig, (struct vq_config){.size = 16, .event_idx = true});
	rig->disk.order = FAKE_FIFO;
	for (unsigned i = 0; i < 5; i++)
		ring_add(&ring.cells[i], i);
	ring_publish();
	for (unsigned done = 0; done < 5; done++) {
		unsigned room = 1 + 3 * done;

		assert_int_equal(fake_complete(&rig->disk, done ? 1 : 0), done ? 1 : 0);
		assert_int_equal(ring_collect(), done ? 1 : 0);
		assert_int_equal(virtqueue_free_descriptors(&ring.vq), room);
		memcpy(before, ring.vq.packed.desc, sizeof(before));
		for (unsigned entries = room + 1; entries <= 16; entries++)
			assert_false(ring_add_long(&ring.cells[9], entries));
		fake_step();
		expect_untouched(before, 0, 16);
	}
	assert_true(ring_add_long(&ring.cells[9], 13)); /* and that is just what fits */
	expect_untouched(before, 12, 3);
	ring_publish();
	expect_untouched(before, 12, 3);
	assert_int_equal(fake_complete(&rig->disk, 2), 2);
	assert_int_equal(ring_collect(), 2);
	ring_tear_down();
}

/* RING-PACKED-25: a device that looks all the time sees nothing of a batch, or all of it. */
static void shown_at_once(void **state)
{
	struct rig *rig = *state;

	for (unsigned round = 0; round < 20; round++) {
		bring_up(rig, (struct vq_config){.size = 17, .event_idx = true});
		rig->disk.service = FAKE_POLLING;
		rig->disk.finish = FAKE_AT_ONCE;
		for (unsigned i = 0; i < round; i++) { /* from each place on */
			ring_add(&ring.cells[i], i);
			ring_publish();
			fake_step();
			assert_int_equal(ring_collect(), 1);
		}
		for (unsigned i = 1; i <= 5; i++) {
			if (i == 3)
				assert_true(ring_add_long(&ring.cells[i], 3));
			else
				ring_add(&ring.cells[i], i);
			fake_step();
			assert_int_equal(rig->disk.nr_requests, round);
		}
		ring_publish();
		fake_step();
		assert_int_equal(rig->disk.nr_requests, round + 5);
		assert_int_equal(ring_collect(), 5);
		ring_tear_down();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(first_state),
		rig_test(direct_laps),
		rig_test(table_laps),
		rig_test(long_chains),
		rig_test(event_sweep),
		rig_test(event_flags),
		rig_test(arm),
		rig_test(lies_are_rejected),
		rig_test(descriptors_are_not_read_back),
		rig_test(nearly_full),
		rig_test(shown_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
