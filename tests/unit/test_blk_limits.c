/* SPDX-License-Identifier: BSD-2-Clause */
/* Are long requests split as device and ring demand, and batches cut without losing any? */
#include <stdlib.h>
#include <string.h>

#include "tests/host/rig.h"

#define POOL_CHUNKS 64

static struct sgl_pool pool;

static void start(struct rig *rig)
{
	rig_start(rig);
	pool = (struct sgl_pool){0};
	assert_true(sgl_pool_grow(&pool, POOL_CHUNKS));
}

/* A read of @bytes into pieces of @piece bytes, each on a page of its own. */
static struct blk_request scattered(enum blk_op op, uint64_t lba, uint32_t bytes, uint32_t piece)
{
	struct blk_request req = {.op = (uint8_t)op, .lba_512 = lba};
	uint32_t at, n;

	for (at = 0; at < bytes; at += n) {
		n = bytes - at < piece ? bytes - at : piece;
		assert_true(sgl_add(&req.sgl, &pool, dma_map(rig_memory(n), n), n));
	}
	return req;
}

/* Copies between the pieces of @req and @flat. */
static void flatten(const struct blk_request *req, uint8_t *flat, bool to_pieces)
{
	struct sgl_cursor cursor;
	struct sg piece;

	sgl_cursor_init(&cursor, &req->sgl);
	while (sgl_cursor_next(&cursor, UINT32_MAX, &piece)) {
		void *memory = (void *)(uintptr_t)piece.addr;

		if (to_pieces)
			memcpy(memory, flat, piece.len_bytes);
		else
			memcpy(flat, memory, piece.len_bytes);
		flat += piece.len_bytes;
	}
}

static void check_data(const struct blk_request *req)
{
	uint8_t *flat = malloc(req->sgl.len_bytes);

	assert_non_null(flat);
	flatten(req, flat, false);
	assert_true(fake_stamp_ok(flat, req->lba_512, req->sgl.len_bytes / 512));
	free(flat);
}

/* Read, and a write of other sectors' stamps read back; returns the commands that the read took. */
static uint64_t round_trip(struct rig *rig, uint32_t bytes, uint32_t piece)
{
	struct blk_request req = scattered(BLK_READ, 40, bytes, piece);
	uint8_t *flat = malloc(bytes);
	uint64_t before = rig->disk.nr_requests, commands;

	assert_non_null(flat);
	assert_int_equal(rig_run(rig->blk.queues[0], &req, 1), 1);
	assert_int_equal(req.progress.status, BLK_OK);
	check_data(&req);
	commands = rig->disk.nr_requests - before;
	fake_stamp(flat, 7777, bytes / 512);
	flatten(&req, flat, true);
	req.op = BLK_WRITE;
	req.lba_512 = 9000;
	assert_int_equal(rig_run(rig->blk.queues[0], &req, 1), 1);
	assert_int_equal(req.progress.status, BLK_OK);
	req.op = BLK_READ;
	memset(flat, 0, bytes);
	flatten(&req, flat, true);
	assert_int_equal(rig_run(rig->blk.queues[0], &req, 1), 1);
	flatten(&req, flat, false);
	assert_true(fake_stamp_ok(flat, 7777, bytes / 512));
	free(flat);
	sgl_clear(&req.sgl, &pool);
	assert_int_equal(pool.n_free, pool.n_total);
	return commands;
}

/* BLK-INIT-10, F-101, F-102: seg_max 0 and a missing one both mean one segment. */
static void segment_limit(void **state)
{
	static const struct {
		uint32_t seg_max;
		bool offered;
		uint32_t commands; /* for 64 KiB in pieces of 4096 */
	} cases[] = {{0, true, 16}, {1, true, 16},  {2, true, 8},    {5, true, 4},
		     {14, true, 2}, {0, false, 16}, {1000, true, 2}, {UINT32_MAX, true, 2}};
	struct rig *rig = *state;
	unsigned i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.seg_max = cases[i].seg_max;
		if (!cases[i].offered)
			rig->disk.features &= ~FAKE_BIT(FAKE_SEG_MAX);
		start(rig);
		assert_int_equal(round_trip(rig, 65536, 4096), cases[i].commands);
		blk_close(&rig->blk);
	}
}

/* BLK-INIT-09 */
static void segment_size_limit(void **state)
{
	static const uint32_t sizes[] = {512, 1024, 4096, 4097, 65535, UINT32_MAX};
	struct rig *rig = *state;
	unsigned i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.features |= FAKE_BIT(FAKE_SIZE_MAX);
		rig->disk.size_max = sizes[i];
		start(rig);
		round_trip(rig, 131072, 131072);
		round_trip(rig, 65536, 5120);
		blk_close(&rig->blk);
	}
}

/* RING-SPLIT-09, F-069, F-093: a seg_max beyond the ring never makes a chain longer than it. */
static void ring_limit(void **state)
{
	static const uint16_t sizes[] = {4, 8, 64};
	struct rig *rig = *state;
	unsigned i, indirect;

	for (i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		indirect = i & 1;
		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.seg_max = 254;
		rig->disk.queue_size[0] = sizes[i / 2];
		rig->config.indirect = indirect ? BLK_INDIRECT_ALWAYS : BLK_INDIRECT_NEVER;
		start(rig);
		round_trip(rig, 256 << 10, 1024);
		assert_true(rig->disk.max_descs > sizes[i / 2] / 2);
		assert_int_equal(rig->disk.nr_indirect > 0, indirect);
		blk_close(&rig->blk);
	}
}

/* RING-SPLIT-03: three descriptors for data in one piece, or in pieces that touch; one more for each gap. */
static void no_more_descriptors_than_needed(void **state)
{
	struct rig *rig = *state;
	struct blk_request req;
	uint8_t *p;

	start(rig);
	p = rig_memory(65536);
	assert_int_equal(rig_do(rig, BLK_READ, 0, p, 65536), BLK_OK);
	assert_int_equal(fake_last(&rig->disk)->descs, 3);
	for (unsigned gap = 0; gap <= 4; gap++) { /* after so many of 5 pieces */
		req = (struct blk_request){.op = BLK_WRITE};
		for (unsigned i = 0; i < 5; i++)
			assert_true(sgl_add(&req.sgl, &pool,
					    dma_map(p + 4096 * i + (i < gap ? 0 : 512), 4096),
					    4096));
		assert_int_equal(rig_run(rig->blk.queues[0], &req, 1), 1);
		assert_int_equal(fake_last(&rig->disk)->descs, gap ? 4 : 3);
		sgl_clear(&req.sgl, &pool);
	}
	blk_close(&rig->blk);
}

/* Pieces of nothing are left out: QEMU takes a descriptor without bytes for a broken driver. */
static void empty_pieces(void **state)
{
	struct rig *rig = *state;
	struct blk_request req = {.op = BLK_READ};
	uint8_t *p;

	start(rig);
	p = rig_memory(8192);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(sgl_add(&req.sgl, &pool, dma_map(p + 256 + 2048 * i, 0), 0));
		assert_true(sgl_add(&req.sgl, &pool, dma_map(p + 1024 * i, 512), 512));
	}
	assert_int_equal(req.sgl.n, 3);
	assert_int_equal(rig_run(rig->blk.queues[0], &req, 1), 1);
	assert_int_equal(req.progress.status, BLK_OK);
	assert_int_equal(fake_last(&rig->disk)->descs, 5);
	sgl_clear(&req.sgl, &pool);
	blk_close(&rig->blk);
}

/* RING-SPLIT-04: data of a sector less than 4 GiB goes in one chain; there is no request of more. */
static void four_gibibytes(void **state)
{
	const uint32_t bytes = 8u << 20;
	struct rig *rig = *state;
	struct blk_request req = {.op = BLK_READ};
	uint8_t *p[2];
	unsigned i;

	rig->disk.seg_max = 1022;
	rig->disk.queue_size[0] = 1024;
	rig->disk.capacity = 1ull << 33;
	rig->disk.lie = FAKE_STATUS; /* so that it need not be carried out */
	rig->disk.lie_value = 1;
	rig->disk.lie_count = 1;
	start(rig);
	p[0] = rig_memory(bytes);
	p[1] = rig_memory(bytes);
	for (i = 0; i < 511; i++)
		assert_true(sgl_add(&req.sgl, &pool, dma_map(p[i % 2], bytes), bytes));
	assert_false(sgl_add(&req.sgl, &pool, dma_map(p[1], bytes), bytes));
	assert_true(sgl_add(&req.sgl, &pool, dma_map(p[1], bytes - 512), bytes - 512));
	assert_false(sgl_add(&req.sgl, &pool, dma_map(p[0], 512), 512));
	assert_int_equal(rig_run(rig->blk.queues[0], &req, 1), 1);
	assert_int_equal(req.progress.status, BLK_IO_ERROR);
	assert_int_equal(rig->disk.nr_requests, 1);
	assert_int_equal(fake_last(&rig->disk)->data_segs, 512);
	assert_int_equal(fake_last(&rig->disk)->bytes, UINT32_MAX - 511);
	sgl_clear(&req.sgl, &pool);
	blk_close(&rig->blk);
}

/* A segment limit that cannot hold one block can serve nothing. */
static void impossible_limits(void **state)
{
	struct rig *rig = *state;

	rig->disk.features |= FAKE_BIT(FAKE_SIZE_MAX);
	rig->disk.size_max = 512;
	rig->disk.seg_max = 1;
	rig->disk.blk_size = 4096;
	rig_plug(rig);
	assert_false(rig_open(rig));
	assert_true(rig_logged(rig, "cannot hold one block"));
	assert_int_equal(host.live, 0);
}

/* F-023, F-110: pieces that are no whole blocks, at odd addresses, on pages that are no neighbours. */
static void odd_pieces(void **state)
{
	static const uint32_t pieces[] = {1, 7, 511, 513, 1000, 4095, 4097};
	struct rig *rig = *state;
	unsigned i;

	rig->disk.seg_max = 254;
	rig->disk.queue_size[0] = 1024;
	start(rig);
	host.scatter = true;
	for (i = 1; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		round_trip(rig, 32768 / (i == 1 ? 64 : 1), pieces[i]);
	blk_close(&rig->blk);
}

/* Pieces so small that seg_max of them hold no block: a named error, and nothing is lost. */
static void pieces_too_small(void **state)
{
	struct rig *rig = *state;
	struct blk_request req;

	rig->disk.seg_max = 4;
	start(rig);
	req = scattered(BLK_READ, 0, 512, 100);
	assert_int_equal(rig_run(rig->blk.queues[0], &req, 1), 1);
	assert_int_equal(req.progress.status, BLK_UNSUPPORTED);
	req = rig_request(BLK_READ, 8, rig_memory(512), 512);
	assert_int_equal(rig_run(rig->blk.queues[0], &req, 1), 1);
	assert_int_equal(req.progress.status, BLK_OK);
	blk_close(&rig->blk);
}

/* F-073, F-075: far more requests than the ring holds. Back-pressure, and none is lost. */
static void more_than_the_ring_holds(void **state)
{
	struct rig *rig = *state;
	struct blk_request reqs[512], *list[512];
	unsigned i, taken;

	rig->disk.queue_size[0] = 8;
	rig->disk.finish = FAKE_ON_STEP;
	rig->disk.order = FAKE_RANDOM;
	start(rig);
	for (i = 0; i < 512; i++) {
		reqs[i] = rig_request(BLK_READ, i, rig_memory(512), 512);
		list[i] = &reqs[i];
	}
	taken = blk_submit(rig->blk.queues[0], list, 512);
	assert_int_equal(taken, 2);
	assert_int_equal(blk_submit(rig->blk.queues[0], list + 2, 510), 0);
	/* One batch was cut, however often its rest is tried. */
	assert_int_equal(blk_counters(rig->blk.queues[0])->ring_full, 1);
	assert_int_equal(rig_drain(rig->blk.queues[0], list, 2), 2);
	assert_int_equal(rig_run(rig->blk.queues[0], reqs + 2, 510), 510);
	for (i = 0; i < 512; i++) {
		assert_int_equal(reqs[i].progress.status, BLK_OK);
		check_data(&reqs[i]);
	}
	assert_int_equal(blk_counters(rig->blk.queues[0])->requests, 512);
	assert_int_equal(rig->disk.nr_done, 512);
	blk_close(&rig->blk);
}

/* F-073: nor is it counted again where a request of more than one piece, or without data, is last. */
static void cut_before_what_is_long(void **state)
{
	struct rig *rig = *state;

	for (unsigned flush = 0; flush < 2; flush++) {
		struct blk_request reqs[3], *list[3] = {&reqs[0], &reqs[1], &reqs[2]}, *done[3];
		struct blk_queue *queue;

		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.features &= ~FAKE_BIT(FAKE_INDIRECT_DESC);
		rig->disk.queue_size[0] = 4;
		rig->disk.finish = FAKE_HELD;
		start(rig);
		queue = rig->blk.queues[0];
		reqs[0] = rig_request(BLK_READ, 0, rig_memory(512), 512);
		reqs[1] = rig_request(BLK_READ, 1, rig_memory(512), 512);
		reqs[2] = flush ? rig_request(BLK_FLUSH, 0, NULL, 0)
				: scattered(BLK_READ, 2, 512, 256);
		assert_int_equal(blk_submit(queue, list, 3), 1);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(blk_submit(queue, list + 1, 2), 0);
		assert_int_equal(fake_complete(&rig->disk, 1), 1);
		assert_int_equal(blk_poll(queue, done, 3), 1);
		assert_int_equal(blk_submit(queue, list + 1, 2), 1);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(blk_submit(queue, list + 2, 1), 0);
		assert_int_equal(blk_counters(queue)->ring_full, 1);
		rig->disk.finish = FAKE_ON_STEP;
		assert_int_equal(rig_drain(queue, done, 1), 1);
		assert_int_equal(rig_run(queue, &reqs[2], 1), 1);
		assert_int_equal(reqs[2].progress.status, BLK_OK);
		blk_close(&rig->blk);
	}
}

/* F-073: nothing is added past a request of which a part is still to be sent; that too is cut once. */
static void cut_behind_a_part(void **state)
{
	struct rig *rig = *state;
	struct blk_request reqs[2], *list[2] = {&reqs[0], &reqs[1]}, *done[2];
	struct blk_queue *queue;

	rig->disk.seg_max = 1;
	rig->disk.queue_size[0] = 8;
	rig->disk.finish = FAKE_ON_STEP;
	start(rig);
	queue = rig->blk.queues[0];
	reqs[0] = scattered(BLK_READ, 0, 4096, 512);
	reqs[1] = rig_request(BLK_READ, 8, rig_memory(512), 512);
	assert_int_equal(blk_submit(queue, list, 1), 1);
	assert_int_equal(blk_counters(queue)->ring_full, 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(blk_submit(queue, list + 1, 1), 0);
	assert_int_equal(blk_submit(queue, list + 1, 0), 0);
	assert_int_equal(blk_counters(queue)->ring_full, 1);
	assert_int_equal(rig_drain(queue, done, 1), 1);
	assert_int_equal(rig_run(queue, &reqs[1], 1), 1);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(reqs[i].progress.status, BLK_OK);
		check_data(&reqs[i]);
	}
	blk_close(&rig->blk);
}

/* A bag of requests of all kinds, under limits drawn at random, in any order of completion. */
static void mixed_job(struct rig *rig, uint32_t seed)
{
	struct blk_request reqs[48];
	struct fake_disk *disk = &rig->disk;
	unsigned i;

	fake_reset();
	fake_disk_init(disk);
	disk->random = seed;
	disk->order = FAKE_RANDOM;
	disk->finish = seed % 2 ? FAKE_ON_STEP : FAKE_AT_ONCE;
	disk->queue_size[0] = (uint16_t)(4u << fake_random(disk) % 6);
	disk->seg_max = 1 + fake_random(disk) % 20;
	if (seed % 3)
		disk->features |= FAKE_BIT(FAKE_SIZE_MAX);
	disk->size_max = 512 + fake_random(disk) % 10000;
	if (seed % 5 == 0)
		disk->features &= ~FAKE_BIT(FAKE_EVENT_IDX);
	if (seed & 1)
		disk->features |= FAKE_BIT(FAKE_RING_PACKED);
	rig->config.indirect = (enum blk_indirect)(seed / 2 % 4);
	start(rig);
	for (i = 0; i < 48; i++) {
		uint32_t bytes = 512 * (1 + fake_random(disk) % 40);
		uint32_t piece = 512 * (1 + fake_random(disk) % 20);

		reqs[i] = scattered(BLK_READ, fake_random(disk) % 32768, bytes, piece);
	}
	assert_int_equal(rig_run(rig->blk.queues[0], reqs, 48), 48);
	for (i = 0; i < 48; i++) {
		bool inside = reqs[i].lba_512 + reqs[i].sgl.len_bytes / 512 <= disk->capacity;

		assert_int_equal(reqs[i].progress.status, inside ? BLK_OK : BLK_OUT_OF_RANGE);
		if (inside)
			check_data(&reqs[i]);
		sgl_clear(&reqs[i].sgl, &pool);
	}
	assert_int_equal(blk_counters(rig->blk.queues[0])->commands, disk->nr_requests);
	blk_close(&rig->blk);
}

static void mixed_jobs(void **state)
{
	uint32_t seed;

	for (seed = 1; seed <= 120; seed++)
		mixed_job(*state, seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(segment_limit),
		rig_test(segment_size_limit),
		rig_test(ring_limit),
		rig_test(no_more_descriptors_than_needed),
		rig_test(empty_pieces),
		rig_test(four_gibibytes),
		rig_test(impossible_limits),
		rig_test(odd_pieces),
		rig_test(pieces_too_small),
		rig_test(more_than_the_ring_holds),
		rig_test(cut_before_what_is_long),
		rig_test(cut_behind_a_part),
		rig_test(mixed_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
