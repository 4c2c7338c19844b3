/* SPDX-License-Identifier: BSD-2-Clause */
/* Does each policy of indirect descriptors do what it says, as the load goes up and down? */
#include <string.h>

#include "drivers/block/blk_queue.h"
#include "tests/host/rig.h"

#define RING 64
#define N    60

static struct load {
	struct rig *rig;
	struct blk_queue *q;
	struct blk_request reqs[N], *ready[N + RING];
	unsigned nr_ready, out;
} load;

static void start(struct rig *rig, bool packed, enum blk_indirect policy, uint32_t below)
{
	fake_reset();
	fake_disk_init(&rig->disk);
	if (packed)
		rig->disk.features |= FAKE_BIT(FAKE_RING_PACKED);
	rig->disk.queue_size[0] = RING;
	rig->disk.finish = FAKE_HELD;
	rig->disk.order = FAKE_RANDOM;
	rig->config = BLK_CONFIG_DEFAULT;
	rig->config.indirect = policy;
	rig->config.indirect_below = below;
	load = (struct load){.rig = rig, .q = rig_start(rig), .nr_ready = N};
	for (unsigned i = 0; i < N; i++) {
		load.reqs[i] = rig_request(BLK_READ, i, rig_memory(512), 512);
		blk_prepare(load.q, &load.reqs[i]);
		load.ready[i] = &load.reqs[i];
	}
}

static void collect(unsigned n)
{
	unsigned got;

	assert_int_equal(fake_complete(&load.rig->disk, n), n);
	got = blk_poll(load.q, load.ready + load.nr_ready, RING);
	assert_int_equal(got, n);
	load.nr_ready += got;
	load.out -= got;
}

/* @rounds of submitting up to @depth in flight; returns how many are, in all rounds together. */
static uint64_t run(unsigned depth, unsigned rounds)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < rounds; i++) {
		unsigned more = depth > load.out ? depth - load.out : 0, taken;

		taken = blk_submit(load.q, load.ready, more);
		load.nr_ready -= taken;
		load.out += taken;
		memmove(load.ready, load.ready + taken, load.nr_ready * sizeof(*load.ready));
		sum += load.out;
		collect(load.out < 1 + i % 3 ? load.out : 1 + i % 3);
	}
	return sum;
}

static void stop(void)
{
	collect(load.out);
	blk_close(&load.rig->blk);
}

/* As many in flight as wanted, where direct chains for all would not fit; direct again after. */
static void threshold_follows_the_load(void **state)
{
	for (unsigned packed = 0; packed < 2; packed++) {
		uint64_t before;

		start(*state, packed, BLK_INDIRECT_ADAPTIVE, 0);
		run(N, 1000);
		assert_true(run(N, 1000) > 1000 * (N - 2));
		run(4, 1000);
		before = load.q->counters.indirect;
		run(4, 1000);
		assert_int_equal(load.q->counters.indirect, before);
		stop();
	}
}

/* What is never more than the ring holds stays direct from the start. */
static void threshold_stays_low(void **state)
{
	for (unsigned packed = 0; packed < 2; packed++) {
		start(*state, packed, BLK_INDIRECT_ADAPTIVE, 0);
		run(RING / 3 - 3, 1000);
		assert_int_equal(load.q->counters.indirect, 0);
		stop();
	}
}

/* While some chains stay in flight, the slots that were broken up for many become whole. */
static void slots_come_back(void **state)
{
	for (unsigned packed = 0; packed < 2; packed++) {
		uint64_t before;

		start(*state, packed, BLK_INDIRECT_THRESHOLD, 40);
		run(N, 1000);
		assert_true(load.q->counters.indirect > 0);
		run(8, 1000);
		before = load.q->counters.indirect;
		run(8, 1000);
		assert_true(load.out > 0);
		assert_int_equal(load.q->counters.indirect, before);
		stop();
	}
}

static void add_pieces(struct blk_request *req, unsigned n)
{
	static struct sgl_pool pool;
	uint8_t *p = rig_memory(1024 * n);

	pool = (struct sgl_pool){0};
	assert_true(sgl_pool_grow(&pool, 16));
	*req = rig_request(BLK_READ, 64, p, 512);
	for (unsigned k = 1; k < n; k++)
		assert_true(sgl_add(&req->sgl, &pool, dma_map(p + 1024 * k, 512), 512));
}

/* "never": frames are direct, and a long chain that does not fit the ring goes into a table. */
static void never_but_for_want_of_room(void **state)
{
	for (unsigned packed = 0; packed < 2; packed++) {
		struct blk_request *list;

		start(*state, packed, BLK_INDIRECT_NEVER, 0);
		add_pieces(&load.reqs[N - 1], 10);
		load.out = blk_submit(load.q, load.ready, 5);
		assert_int_equal(load.out, 5);
		list = &load.reqs[N - 1];
		assert_int_equal(blk_submit(load.q, &list, 1), 1); /* 15 and 12 of 64 */
		assert_int_equal(load.q->counters.indirect, 0);
		load.out += 1 + blk_submit(load.q, load.ready + 5, 11);
		assert_int_equal(load.out, 17);
		assert_int_equal(virtqueue_free_descriptors(&load.q->vq), 4);
		add_pieces(&load.reqs[N - 2], 10);
		list = &load.reqs[N - 2];
		assert_int_equal(blk_submit(load.q, &list, 1), 1);
		assert_int_equal(load.q->counters.indirect, 1);
		load.out++;
		load.nr_ready = 0;
		stop();
		for (unsigned i = N - 2; i < N; i++)
			assert_int_equal(load.reqs[i].progress.status, BLK_OK);
	}
}

/* A long table is mapped with all others when the queue is made, and nothing stays mapped after it. */
static void tables_are_mapped_once(void **state)
{
	for (unsigned packed = 0; packed < 2; packed++) {
		struct blk_request *list = &load.reqs[0];
		uint64_t before;

		start(*state, packed, BLK_INDIRECT_ALWAYS, 0);
		add_pieces(list, 10);
		before = host.dma_maps;
		for (unsigned i = 0; i < 100; i++) {
			assert_int_equal(blk_submit(load.q, &list, 1), 1);
			assert_int_equal(fake_complete(&load.rig->disk, 1), 1);
			assert_int_equal(blk_poll(load.q, load.ready, 1), 1);
			assert_int_equal(list->progress.status, BLK_OK);
		}
		assert_int_equal(load.q->counters.indirect, 100);
		assert_int_equal(host.dma_maps, before);
		stop();
		assert_int_equal(host.dma_maps, N + 10); /* the data of the requests */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(threshold_follows_the_load),
		rig_test(threshold_stays_low),
		rig_test(slots_come_back),
		rig_test(never_but_for_want_of_room),
		rig_test(tables_are_mapped_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
