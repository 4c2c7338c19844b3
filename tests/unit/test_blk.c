/* SPDX-License-Identifier: BSD-2-Clause */
/* Does a disk read and write what was asked for, and refuse what it must not send? */
#include <string.h>

#include "tests/host/rig.h"

/* One request and where it must have gone. */
static void expect_sent(struct rig *rig, uint32_t type, uint64_t sector, uint32_t bytes)
{
	const struct fake_request *last = fake_last(&rig->disk);

	assert_int_equal(last->type, type);
	assert_int_equal(last->sector, sector);
	assert_int_equal(last->bytes, bytes);
}

/* BLK-OP-17/18: the fake judges header and status of each. */
static void reads_and_writes(void **state)
{
	struct rig *rig = *state;
	uint8_t *p;

	rig_start(rig);
	p = rig_memory(8192);
	assert_int_equal(rig_do(rig, BLK_READ, 100, p, 8192), BLK_OK);
	assert_true(fake_stamp_ok(p, 100, 16));
	expect_sent(rig, 0, 100, 8192);
	fake_stamp(p, 5000, 4);
	assert_int_equal(rig_do(rig, BLK_WRITE, 102, p, 2048), BLK_OK);
	expect_sent(rig, 1, 102, 2048);
	memset(p, 0, 8192);
	assert_int_equal(rig_do(rig, BLK_READ, 100, p, 8192), BLK_OK);
	assert_true(fake_stamp_ok(p, 100, 2));
	assert_true(fake_stamp_ok(p + 1024, 5000, 4));
	assert_true(fake_stamp_ok(p + 3072, 106, 10));
	blk_close(&rig->blk);
}

/* BLK-OP-02, BLK-OP-06, F-111, F-148, F-149: refused here, never sent, and returned once. */
static void refused(void **state)
{
	static const struct {
		uint8_t op;
		uint64_t lba;
		uint32_t bytes;
		enum blk_status status;
	} cases[] = {
		{BLK_READ, 32767, 512, BLK_OK},
		{BLK_READ, 0, 512, BLK_OK},
		{BLK_READ, 32767, 1024, BLK_OUT_OF_RANGE},
		{BLK_READ, 32768, 512, BLK_OUT_OF_RANGE},
		{BLK_WRITE, 32761, 4096, BLK_OUT_OF_RANGE},
		{BLK_READ, UINT64_MAX, 512, BLK_OUT_OF_RANGE},
		{BLK_READ, UINT64_MAX - 7, 4096, BLK_OUT_OF_RANGE},
		{BLK_READ, 1ull << 55, 512, BLK_OUT_OF_RANGE},
		{BLK_READ, 1ull << 32, 512, BLK_OUT_OF_RANGE},
		{BLK_READ, 0, 0, BLK_UNALIGNED},
		{BLK_READ, 0, 511, BLK_UNALIGNED},
		{BLK_WRITE, 0, 513, BLK_UNALIGNED},
		{BLK_FLUSH, 0, 512, BLK_UNSUPPORTED},
		{BLK_GET_ID, 0, 19, BLK_UNSUPPORTED},
		{BLK_GET_ID, 0, 21, BLK_UNSUPPORTED}, /* BLK-OP-08 */
		{17, 0, 512, BLK_UNSUPPORTED},
	};
	struct rig *rig = *state;
	uint8_t *p;
	unsigned i;

	rig_start(rig);
	p = rig_memory(8192);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t before = rig->disk.nr_requests;
		enum blk_status status = rig_do(rig, cases[i].op, cases[i].lba, p, cases[i].bytes);

		if (status != cases[i].status)
			fail_msg("case %u: %s", i, blk_status_name(status));
		assert_int_equal(rig->disk.nr_requests - before, status == BLK_OK);
	}
	blk_close(&rig->blk);
}

/* F-097, BLK-INIT-07, F-062: units stay 512 bytes, requests whole blocks. */
static void large_blocks(void **state)
{
	static const uint32_t sizes[] = {512, 1024, 4096, 65536, 2u << 20};
	struct rig *rig = *state;
	uint8_t *p;
	unsigned i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t bytes = sizes[i], sectors = bytes / 512;

		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.blk_size = bytes;
		rig_start(rig);
		p = rig_memory(bytes);
		assert_int_equal(rig->blk.block_bytes, bytes);
		assert_int_equal(rig->blk.capacity_512, FAKE_STORE);
		assert_int_equal(rig_do(rig, BLK_READ, sectors, p, bytes), BLK_OK);
		assert_true(fake_stamp_ok(p, sectors, sectors));
		if (bytes > 512) {
			assert_int_equal(rig_do(rig, BLK_READ, 0, p, 512), BLK_UNALIGNED);
			assert_int_equal(rig_do(rig, BLK_READ, 1, p, bytes), BLK_UNALIGNED);
		}
		blk_close(&rig->blk);
	}
}

/* F-063 */
static void hopeless_block_sizes(void **state)
{
	static const uint32_t sizes[] = {0, 1, 256, 511, 768, 1u << 31, UINT32_MAX};
	struct rig *rig = *state;
	unsigned i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.blk_size = sizes[i];
		rig_start(rig);
		assert_int_equal(rig->blk.block_bytes, 512);
		assert_true(rig_logged(rig, "warning: vda 00:03.0: block size"));
		assert_int_equal(rig_do(rig, BLK_READ, 1, rig_memory(512), 512), BLK_OK);
		blk_close(&rig->blk);
	}
}

/* F-100: sectors beyond 2^32. */
static void beyond_2_tib(void **state)
{
	struct rig *rig = *state;
	uint64_t end = (1ull << 33) + 5;
	uint8_t *p;

	rig->disk.capacity = end;
	rig_start(rig);
	p = rig_memory(4096);
	assert_int_equal(rig->blk.capacity_512, end);
	assert_int_equal(rig_do(rig, BLK_READ, (1ull << 32) + 8, p, 4096), BLK_OK);
	assert_true(fake_stamp_ok(p, (1ull << 32) + 8, 8));
	assert_int_equal(rig_do(rig, BLK_READ, end - 1, p, 512), BLK_OK);
	assert_true(fake_stamp_ok(p, end - 1, 1));
	assert_int_equal(rig_do(rig, BLK_READ, end - 1, p, 1024), BLK_OUT_OF_RANGE);
	blk_close(&rig->blk);
}

static void odd_capacities(void **state)
{
	static const uint64_t capacities[] = {0, 1, 7, 131073};
	struct rig *rig = *state;
	unsigned i;

	for (i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
		uint64_t n = capacities[i];

		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.capacity = n;
		rig_start(rig);
		assert_int_equal(rig->blk.capacity_512, n);
		assert_int_equal(rig_do(rig, BLK_READ, n, rig_memory(512), 512), BLK_OUT_OF_RANGE);
		if (n)
			assert_int_equal(rig_do(rig, BLK_READ, n - 1, rig_memory(512), 512),
					 BLK_OK);
		blk_close(&rig->blk);
	}
	fake_reset();
	fake_disk_init(&rig->disk);
	rig->disk.capacity = 1ull << 56; /* 2^65 bytes */
	rig_plug(rig);
	assert_false(rig_open(rig));
	assert_true(rig_logged(rig, "capacity"));
}

/* BLK-INIT-08, BLK-OP-03, F-105 */
static void read_only_disk(void **state)
{
	struct rig *rig = *state;
	uint8_t *p;

	rig->disk.features |= FAKE_BIT(FAKE_RO);
	rig_start(rig);
	p = rig_memory(512);
	assert_true(rig->blk.read_only);
	assert_int_equal(rig_do(rig, BLK_WRITE, 0, p, 512), BLK_READ_ONLY);
	assert_int_equal(rig->disk.nr_requests, 0);
	assert_int_equal(rig_do(rig, BLK_READ, 3, p, 512), BLK_OK);
	assert_true(fake_stamp_ok(p, 3, 1));
	blk_close(&rig->blk);
}

/* BLK-INIT-01, BLK-OP-04/05/20, BLK-OP-24, F-106: header and status only; nothing sent where not negotiated. */
static void flush(void **state)
{
	struct rig *rig = *state;

	rig_start(rig);
	assert_true(rig->blk.flush);
	assert_int_equal(rig_do(rig, BLK_WRITE, 0, rig_memory(512), 512), BLK_OK);
	assert_int_equal(rig_do(rig, BLK_FLUSH, 0, NULL, 0), BLK_OK);
	assert_int_equal(rig->disk.flush_races, 0);
	expect_sent(rig, 4, 0, 0);
	assert_int_equal(fake_last(&rig->disk)->descs, 2);
	rig->disk.lie = FAKE_STATUS;
	rig->disk.lie_value = 2;
	assert_int_equal(rig_do(rig, BLK_FLUSH, 12345, NULL, 0), BLK_UNSUPPORTED);
	rig->disk.lie_value = 1;
	assert_int_equal(rig_do(rig, BLK_FLUSH, 0, NULL, 0), BLK_IO_ERROR);
	rig->disk.lie = FAKE_HONEST;
	assert_int_equal(rig_do(rig, BLK_READ, 0, rig_memory(512), 512), BLK_OK);
	blk_close(&rig->blk);
	rig->disk.features &= ~FAKE_BIT(FAKE_FLUSH);
	rig->disk.nr_requests = 0;
	assert_true(rig_open(rig));
	assert_false(rig->blk.flush);
	assert_int_equal(rig_do(rig, BLK_FLUSH, 0, NULL, 0), BLK_OK);
	assert_int_equal(rig->disk.nr_requests, 0);
	blk_close(&rig->blk);
}

/* BLK-INIT-02/03/05, BLK-OP-21, F-107 */
static void cache_mode(void **state)
{
	static const struct {
		bool flush, wce;
		uint8_t writeback;
		bool seen;
	} cases[] = {{false, false, 1, false}, {true, false, 0, true}, {true, true, 0, false},
		     {true, true, 1, true},    {false, true, 1, true}, {false, true, 0, false}};
	struct rig *rig = *state;
	unsigned i;

	rig_plug(rig);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rig->disk.features &= ~(FAKE_BIT(FAKE_FLUSH) | FAKE_BIT(FAKE_CONFIG_WCE));
		rig->disk.features |= cases[i].flush ? FAKE_BIT(FAKE_FLUSH) : 0;
		rig->disk.features |= cases[i].wce ? FAKE_BIT(FAKE_CONFIG_WCE) : 0;
		rig->disk.writeback = cases[i].writeback;
		assert_true(rig_open(rig));
		assert_int_equal(rig->blk.writeback, cases[i].seen);
		blk_close(&rig->blk);
	}
}

/* BLK-OP-08/26, F-108: 20 bytes with no NUL, and junk. */
static void serial_number(void **state)
{
	static const struct {
		const char *id, *seen;
	} cases[] = {{"", ""},
		     {"a", "a"},
		     {"12345678901234567890", "12345678901234567890"},
		     {"tab\tbell\a\x80\xff", "tab?bell???"}};
	struct rig *rig = *state;
	struct {
		char before[8], id[BLK_ID_BYTES + 1], after[8];
	} text;
	unsigned i;

	rig_start(rig);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(&text, '#', sizeof(text));
		memset(rig->disk.id, 0, sizeof(rig->disk.id));
		memcpy(rig->disk.id, cases[i].id, strlen(cases[i].id));
		assert_int_equal(blk_get_id(&rig->blk, text.id), BLK_OK);
		assert_string_equal(text.id, cases[i].seen);
		assert_memory_equal(text.before, "########", 8);
		assert_memory_equal(text.after, "########", 8);
	}
	expect_sent(rig, 8, 0, 20);
	blk_close(&rig->blk);
}

/* One prepared request used again and again, alone and between others that are not. */
static void prepared_requests(void **state)
{
	static const struct {
		uint64_t lba;
		enum blk_status status;
	} uses[] = {
		{0, BLK_OK},
		{32760, BLK_OK},
		{8, BLK_OK},
		{32761, BLK_UNALIGNED},
		{32768, BLK_OUT_OF_RANGE},
		{4, BLK_UNALIGNED},
		{UINT64_MAX - 7, BLK_OUT_OF_RANGE},
		{1ull << 55, BLK_OUT_OF_RANGE},
		{16, BLK_OK},
	};
	struct rig *rig = *state;
	struct blk_queue *queue;
	struct blk_request *list[3], *done[3], reqs[3];
	unsigned i, k;

	rig->disk.blk_size = 4096;
	queue = rig_start(rig);
	for (k = 0; k < 3; k++) {
		reqs[k] = rig_request(BLK_READ, 64, rig_memory(4096), 4096);
		list[k] = &reqs[k];
	}
	blk_prepare(queue, &reqs[1]);
	for (i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		reqs[1].lba_512 = uses[i].lba;
		assert_int_equal(blk_submit(queue, list, 3), 3);
		assert_int_equal(rig_drain(queue, done, 3), 3);
		assert_int_equal(reqs[0].progress.status, BLK_OK);
		assert_int_equal(reqs[1].progress.status, uses[i].status);
		assert_int_equal(reqs[2].progress.status, BLK_OK);
		if (uses[i].status == BLK_OK)
			assert_true(fake_stamp_ok((void *)(uintptr_t)reqs[1].sgl.inline_sg[0].addr,
						  uses[i].lba, 8));
	}
	reqs[1].op = BLK_WRITE;
	fake_stamp((void *)(uintptr_t)reqs[1].sgl.inline_sg[0].addr, 1000, 8);
	blk_prepare(queue, &reqs[1]);
	assert_int_equal(rig_run(queue, &reqs[1], 1), 1);
	expect_sent(rig, 1, 16, 4096);
	blk_close(&rig->blk);
}

/* A batch that a full ring cuts: all are prepared as before, taken or not. */
static void prepared_and_no_room(void **state)
{
	struct rig *rig = *state;
	struct blk_request *list[8], *done[8], reqs[8];
	struct blk_queue *queue;
	unsigned i, taken;

	rig->disk.queue_size[0] = 8;
	queue = rig_start(rig);
	for (i = 0; i < 8; i++) {
		reqs[i] = rig_request(BLK_READ, i, rig_memory(512), 512);
		blk_prepare(queue, &reqs[i]);
		list[i] = &reqs[i];
	}
	taken = blk_submit(queue, list, 8);
	assert_int_equal(taken, 2);
	for (i = 0; i < 8; i++)
		assert_ptr_equal(reqs[i].prepared.queue, queue);
	assert_int_equal(rig_drain(queue, done, taken), taken);
	blk_close(&rig->blk);
}

#define LOT 8

/* Submits and collects all; those of @mask are prepared, and no others, whenever the caller looks. */
static void some_prepared(struct blk_queue *queue, struct blk_request *reqs, unsigned mask)
{
	struct blk_request *list[LOT], *done[LOT];
	unsigned sent = 0, came = 0;

	for (unsigned i = 0; i < LOT; i++)
		list[i] = &reqs[i];
	while (sent < LOT) {
		sent += blk_submit(queue, list + sent, LOT - sent);
		for (unsigned i = 0; i < LOT; i++)
			assert_ptr_equal(reqs[i].prepared.queue, mask >> i & 1 ? queue : NULL);
		came += rig_drain(queue, done, sent - came);
		assert_int_equal(came, sent);
	}
}

/*
 * Requests that are not prepared, among some that are, in batches that end in a full ring and have one
 * refused anywhere: each may be changed from one use to the next without a word.
 */
static void not_prepared_for_good(void **state)
{
	struct rig *rig = *state;
	uint8_t *data = rig_memory(LOT * 1024);
	struct blk_request reqs[LOT];
	struct blk_queue *queue;

	rig->disk.queue_size[0] = 8; /* two at a time */
	rig->disk.finish = FAKE_ON_STEP;
	queue = rig_start(rig);
	for (unsigned way = 0; way < (LOT + 1) << LOT; way++) {
		unsigned mask = way % (1 << LOT), refused = way >> LOT;

		for (unsigned i = 0; i < LOT; i++) {
			void *p = data + i * 1024 + way % 2 * 512;

			memset(p, 0, 512);
			reqs[i] =
				rig_request(BLK_READ, i == refused ? FAKE_STORE : way + i, p, 512);
			if (mask >> i & 1)
				blk_prepare(queue, &reqs[i]);
		}
		some_prepared(queue, reqs, mask);
		for (unsigned i = 0; i < LOT; i++) {
			assert_int_equal(reqs[i].progress.status,
					 i == refused ? BLK_OUT_OF_RANGE : BLK_OK);
			assert_true(i == refused ||
				    fake_stamp_ok(data + i * 1024 + way % 2 * 512, way + i, 1));
		}
	}
	assert_int_equal(rig->disk.nr_requests, (LOT * (LOT + 1) - LOT) << LOT);
	blk_close(&rig->blk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(reads_and_writes),
		rig_test(refused),
		rig_test(large_blocks),
		rig_test(hopeless_block_sizes),
		rig_test(beyond_2_tib),
		rig_test(odd_capacities),
		rig_test(read_only_disk),
		rig_test(flush),
		rig_test(cache_mode),
		rig_test(serial_number),
		rig_test(prepared_requests),
		rig_test(prepared_and_no_room),
		rig_test(not_prepared_for_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
