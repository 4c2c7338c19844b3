/* SPDX-License-Identifier: BSD-2-Clause */
/* Does the block driver keep the rules of the packed ring, with any size and whatever the device does? */
#include <string.h>

#include "lib/crc32c.h"
#include "tests/host/rig.h"

#define N 40 /* requests at once, at most */

static struct blk_request reqs[N], *list[N], *done[N];

static void fresh(struct rig *rig, uint16_t size, bool event_idx, enum blk_indirect indirect)
{
	fake_reset();
	rig->log_bytes = 0;
	fake_disk_init(&rig->disk);
	rig->disk.features |= FAKE_BIT(FAKE_RING_PACKED);
	rig->disk.queue_size[0] = size;
	rig->disk.seg_max = size < 16 ? 1 : 14;
	rig->config.event_idx = event_idx;
	rig->config.indirect = indirect;
	rig_start(rig);
	assert_string_equal(rig->blk.ring, "packed");
}

static void fill(uint8_t *data, uint32_t bytes, uint32_t seed)
{
	uint32_t i;

	for (i = 0; i < bytes; i++)
		data[i] = (uint8_t)(seed * 31 + i * 7 + (i >> 8));
}

/* Writes @n blocks, then reads them: the same CRC comes back. */
static void round_trip(struct rig *rig, unsigned n, uint32_t bytes, uint32_t seed)
{
	uint32_t crc[N];
	unsigned i, op;

	for (op = 0; op < 2; op++) {
		for (i = 0; i < n; i++) {
			uint8_t *data = (uint8_t *)(uintptr_t)reqs[i].sgl.inline_sg[0].addr;

			reqs[i] = rig_request(op ? BLK_READ : BLK_WRITE,
					      (seed * 64 + 2 * i) % FAKE_STORE, data, bytes);
			if (op)
				memset(data, 0, bytes);
			else
				fill(data, bytes, seed + i);
			if (!op)
				crc[i] = crc32c(0, data, bytes);
		}
		assert_int_equal(rig_run(rig->blk.queues[0], reqs, n), n);
		for (i = 0; i < n; i++) {
			assert_int_equal(reqs[i].progress.status, BLK_OK);
			if (op)
				assert_int_equal(
					crc32c(0, (void *)(uintptr_t)reqs[i].sgl.inline_sg[0].addr,
					       bytes),
					crc[i]);
		}
	}
}

static void give_memory(uint32_t bytes)
{
	unsigned i;

	for (i = 0; i < N; i++)
		reqs[i] = rig_request(BLK_READ, 0, rig_memory(bytes), bytes);
}

/* RING-PACKED-17/18/19/21/34, RING-PACKED-05: each size, direct and not, in any order of completion. */
static void each_size_and_order(void **state)
{
	static const uint16_t sizes[] = {3, 4, 5, 7, 8, 128};
	struct rig *rig = *state;
	unsigned i, k, way;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (way = 0; way < 8; way++) {
			fresh(rig, sizes[i], way & 1,
			      way & 2 ? BLK_INDIRECT_ALWAYS : BLK_INDIRECT_NEVER);
			rig->disk.order = way & 4 ? FAKE_RANDOM : FAKE_FIFO;
			rig->disk.finish = way & 4 ? FAKE_ON_STEP : FAKE_AT_ONCE;
			rig->disk.junk = way & 4;
			give_memory(1024);
			for (k = 0; k < 60; k++)
				round_trip(rig, 1 + k % N, 1024, k);
			assert_int_equal(blk_counters(rig->blk.queues[0])->rekicks, 0);
			blk_close(&rig->blk);
		}
}

/* More than 65536 slots, and chains: what counts in 16 bits goes round. */
static void long_runs(void **state)
{
	static const uint16_t sizes[] = {3, 5, 128};
	struct rig *rig = *state;
	unsigned i, n;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fresh(rig, sizes[i], i & 1, i ? BLK_INDIRECT_NEVER : BLK_INDIRECT_ALWAYS);
		give_memory(512);
		for (n = 0; n < 70000; n += N)
			assert_int_equal(rig_run(rig->blk.queues[0], reqs, N), N);
		assert_true(rig->disk.queue[0].packed.used > 65536 + 4096);
		assert_true(fake_stamp_ok((void *)(uintptr_t)reqs[0].sgl.inline_sg[0].addr, 0, 1));
		blk_close(&rig->blk);
	}
}

/* RING-PACKED-16/30: the event at each slot and wrap, near and in a batch of each length. */
static void event_sweep(void **state)
{
	static const uint16_t sizes[] = {7, 16};
	struct rig *rig = *state;
	struct fake_queue *queue = &rig->disk.queue[0];
	unsigned i, event, n, k;

	for (i = 0; i < 2; i++) {
		fresh(rig, sizes[i], true, BLK_INDIRECT_ALWAYS);
		rig->disk.finish = FAKE_ON_STEP;
		give_memory(512);
		for (k = 0; k < N; k++)
			list[k] = &reqs[k];
		for (event = 0; event < 2u * sizes[i] * 5; event++) {
			n = 1 + event % 5;
			rig->disk.event = FAKE_EVENT_FIXED;
			rig->disk.event_value = (uint16_t)(event / 5 % sizes[i] |
							   (event / 5 < sizes[i] ? 0 : 0x8000));
			fake_packed.suppress(&rig->disk, queue);
			assert_int_equal(blk_submit(rig->blk.queues[0], list, n), n);
			fake_step();
			assert_int_equal(rig_drain(rig->blk.queues[0], done, n), n);
		}
		assert_int_equal(queue->unneeded, 0);
		assert_int_equal(queue->repeated, 0);
		blk_close(&rig->blk);
	}
}

/* ---- Lies ---- */

static unsigned wait_for(struct rig *rig, unsigned n)
{
	uint64_t end = host.clock_ns + 100000000000ull;
	unsigned got = 0, i, k;

	while (got < n && host.clock_ns < end) {
		got += blk_poll(rig->blk.queues[0], done + got, n - got);
		blk_check_progress(rig->blk.queues[0]);
		host.clock_ns += 10000000;
		fake_step();
	}
	for (i = 0; i < got; i++)
		for (k = 0; k < i; k++)
			assert_ptr_not_equal(done[i], done[k]);
	return got;
}

/*
 * RING-PACKED-20/22, F-rows of the packed ring: a wrong id, one of nothing in flight, twice, too long,
 * flags that are wrong, used ahead. Each request ends once; then the disk works again, or is gone.
 */
static void lies(void **state)
{
	static const struct {
		enum fake_lie what;
		uint32_t value;
	} cases[] = {
		{FAKE_BAD_ID, 0},	    {FAKE_BAD_ID, 1},
		{FAKE_BAD_ID, 15},	    {FAKE_BAD_ID, 16},
		{FAKE_BAD_ID, 0xffff},	    {FAKE_TWICE, 0},
		{FAKE_BAD_LEN, 0},	    {FAKE_BAD_LEN, 1},
		{FAKE_BAD_LEN, 4096},	    {FAKE_BAD_LEN, 1u << 31},
		{FAKE_BAD_LEN, UINT32_MAX}, {FAKE_IDX_JUMP, 1},
		{FAKE_IDX_JUMP, 3},	    {FAKE_IDX_JUMP, 40},
		{FAKE_FLAGS, 0x8000},	    {FAKE_FLAGS, 0x80},
		{FAKE_FLAGS, 0x8080},	    {FAKE_FLAGS, 2},
		{FAKE_FLAGS, 0x7f7d},	    {FAKE_DROP, 0},
		{FAKE_STATUS, 1},	    {FAKE_STATUS, 0xff},
		{FAKE_NO_STATUS, 0},	    {FAKE_SHORT, 256},
		{FAKE_NEEDS_RESET, 0},	    {FAKE_VANISH, 0},
	};
	struct rig *rig = *state;
	unsigned i, k, n;

	for (i = 0; i < 4 * sizeof(cases) / sizeof(cases[0]); i++) {
		fresh(rig, 16, i & 1, i & 2 ? BLK_INDIRECT_ALWAYS : BLK_INDIRECT_NEVER);
		rig->disk.finish = FAKE_ON_STEP;
		rig->disk.lie = cases[i / 4].what;
		rig->disk.lie_value = cases[i / 4].value;
		rig->disk.lie_at = 2;
		rig->disk.lie_count = 1;
		give_memory(512);
		for (k = 0; k < 5; k++)
			list[k] = &reqs[k];
		n = blk_submit(rig->blk.queues[0], list, 5);
		assert_int_equal(n, 5);
		assert_int_equal(wait_for(rig, n), n);
		for (k = 0; k < n; k++)
			if (reqs[k].progress.status == BLK_OK)
				assert_true(fake_stamp_ok(
					(void *)(uintptr_t)reqs[k].sgl.inline_sg[0].addr, 0, 1));
		if (cases[i / 4].what == FAKE_STATUS)
			assert_int_equal(reqs[2].progress.status, BLK_IO_ERROR);
		blk_close(&rig->blk);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(each_size_and_order),
		rig_test(long_runs),
		rig_test(event_sweep),
		rig_test(lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
