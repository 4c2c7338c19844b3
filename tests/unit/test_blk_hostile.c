/* SPDX-License-Identifier: BSD-2-Clause */
/* A device that lies, stalls or goes: does each request end once, named, with no harm to memory? */
#include <stdlib.h>

#include "tests/host/rig.h"

#define N 5 /* requests at once: what a ring of 16 holds */

static struct blk_request reqs[N], *list[N], *done[N];

static void send(struct rig *rig, enum blk_op op)
{
	unsigned i;

	for (i = 0; i < N; i++) {
		reqs[i] = rig_request(op, 8 * i, rig_memory(1024), 1024);
		list[i] = &reqs[i];
	}
	assert_int_equal(blk_submit(rig->blk.queues[0], list, N), N);
}

/* As a caller that waits would: a millisecond a turn, up to @seconds. Returns how many ended. */
static unsigned wait_for(struct rig *rig, unsigned n, unsigned seconds)
{
	uint64_t end = host.clock_ns + seconds * 1000000000ull;
	unsigned got = 0, i, k;

	while (got < n && host.clock_ns < end) {
		got += blk_poll(rig->blk.queues[0], done + got, n - got);
		blk_check_progress(rig->blk.queues[0]);
		host.clock_ns += 1000000;
		fake_step();
		fake_complete(&rig->disk, 1); /* where the test holds them, the driver sees each */
	}
	for (i = 0; i < got; i++)
		for (k = 0; k < i; k++)
			assert_ptr_not_equal(done[i], done[k]);
	return got;
}

static unsigned count(enum blk_status status)
{
	unsigned i, n = 0;

	for (i = 0; i < N; i++)
		n += reqs[i].progress.status == status;
	return n;
}

static void lie(struct rig *rig, enum fake_lie what, uint32_t value, uint64_t at, uint64_t times)
{
	rig->disk.lie = what;
	rig->disk.lie_value = value;
	rig->disk.lie_at = rig->disk.nr_done + at;
	rig->disk.lie_count = times;
}

static void fresh(struct rig *rig, bool event_idx, bool indirect)
{
	fake_reset();
	fake_disk_init(&rig->disk);
	rig->config.event_idx = event_idx;
	rig->config.indirect = indirect ? BLK_INDIRECT_ALWAYS : BLK_INDIRECT_NEVER;
	rig_start(rig);
}

/* BLK-OP-25, RING-SPLIT-19/20, F-113: request 2 of 5 goes wrong, the others do not notice. */
static void one_bad_answer(void **state)
{
	static const struct {
		enum fake_lie what;
		uint32_t value;
		enum blk_status read, write;
	} cases[] = {
		{FAKE_STATUS, 0, BLK_OK, BLK_OK},
		{FAKE_STATUS, 1, BLK_IO_ERROR, BLK_IO_ERROR},
		{FAKE_STATUS, 2, BLK_UNSUPPORTED, BLK_UNSUPPORTED},
		{FAKE_STATUS, 3, BLK_IO_ERROR, BLK_IO_ERROR},
		{FAKE_STATUS, 0x80, BLK_IO_ERROR, BLK_IO_ERROR},
		{FAKE_STATUS, 0xff, BLK_IO_ERROR, BLK_IO_ERROR},
		{FAKE_NO_STATUS, 0, BLK_IO_ERROR, BLK_IO_ERROR},
		{FAKE_SHORT, 0, BLK_IO_ERROR, BLK_IO_ERROR},
		{FAKE_SHORT, 512, BLK_IO_ERROR, BLK_IO_ERROR},
		{FAKE_BAD_LEN, 0, BLK_SHORT, BLK_OK},
		{FAKE_BAD_LEN, 1, BLK_SHORT, BLK_OK},
	};
	struct rig *rig = *state;
	unsigned i, k;

	for (i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		enum blk_status expected = i & 1 ? cases[i / 2].write : cases[i / 2].read;

		fresh(rig, i & 2, i & 4);
		lie(rig, cases[i / 2].what, cases[i / 2].value, 2, 1);
		send(rig, i & 1 ? BLK_WRITE : BLK_READ);
		assert_int_equal(wait_for(rig, N, 1), N);
		for (k = 0; k < N; k++)
			assert_int_equal(reqs[k].progress.status, k == 2 ? expected : BLK_OK);
		send(rig, BLK_READ);
		assert_int_equal(wait_for(rig, N, 1), N);
		assert_int_equal(count(BLK_OK), N);
		blk_close(&rig->blk);
	}
}

/* A write's used length is only its status byte; 1024 would be bytes that cannot be written. */
static void lengths_that_break(void **state)
{
	static const uint32_t lengths[] = {1026, 4096, UINT32_MAX, 1u << 31};
	struct rig *rig = *state;
	unsigned i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		fresh(rig, true, false);
		lie(rig, FAKE_BAD_LEN, lengths[i], 0, 1);
		send(rig, BLK_READ);
		assert_int_equal(wait_for(rig, N, 1), N);
		assert_int_equal(count(BLK_DEVICE_GONE), N);
		blk_close(&rig->blk);
	}
}

/* After the queue broke: no register but a reset, nothing sent, each request ends at once. */
static void check_broken(struct rig *rig)
{
	uint64_t sent = rig->disk.nr_requests, writes = rig->disk.nr_status;

	assert_true(rig_logged(rig, "error: vda 00:03.0: queue 0: "));
	assert_false(blk_check_progress(rig->blk.queues[0]));
	assert_true(rig->disk.fn->gone || rig->disk.status == 0); /* CLEAN-02 */
	assert_int_equal(blk_poll(rig->blk.queues[0], done, N), 0);
	send(rig, BLK_WRITE);
	assert_int_equal(wait_for(rig, N, 1), N);
	assert_int_equal(count(BLK_DEVICE_GONE), N);
	assert_int_equal(rig->disk.nr_requests, sent);
	assert_int_equal(rig->disk.nr_status, writes);
	blk_close(&rig->blk);
}

/* RING-SPLIT-21, F-114, F-117 */
static void ids_and_indexes(void **state)
{
	static const struct {
		enum fake_lie what;
		uint32_t value;
	} cases[] = {
		{FAKE_BAD_ID, 16},	 {FAKE_BAD_ID, UINT32_MAX}, {FAKE_BAD_ID, 65536},
		{FAKE_BAD_ID, 1u << 31}, {FAKE_BAD_ID, 15},	    {FAKE_TWICE, 0},
		{FAKE_IDX_JUMP, 1000},	 {FAKE_IDX_JUMP, 0xfffe},   {FAKE_IDX_JUMP, 16},
		{FAKE_IDX_JUMP, 0x8000},
	};
	struct rig *rig = *state;
	unsigned i, at;

	for (i = 0; i < 4 * sizeof(cases) / sizeof(cases[0]); i++) {
		at = i & 1 ? N - 1 : 0;
		fresh(rig, i & 2, false);
		rig->disk.finish = FAKE_HELD;
		lie(rig, cases[i / 4].what, cases[i / 4].value, at, 1);
		send(rig, BLK_READ);
		assert_int_equal(wait_for(rig, N, 1), N);
		/* The last one, completed twice: seen when something is in flight again. */
		if (count(BLK_OK) == N) {
			send(rig, BLK_READ);
			assert_int_equal(wait_for(rig, N, 1), N);
		}
		assert_true(count(BLK_DEVICE_GONE) > 0);
		assert_int_equal(count(BLK_DEVICE_GONE) + count(BLK_OK), N);
		check_broken(rig);
	}
}

/* F-154: one answer never comes. It is named, and the rest of the ring ends with it. */
static void dropped_request(void **state)
{
	struct rig *rig = *state;
	unsigned i;

	for (i = 0; i < 4; i++) {
		uint64_t start;

		rig->config.timeout_ns = 2000000000;
		fresh(rig, i & 1, i & 2);
		start = host.clock_ns;
		lie(rig, FAKE_DROP, 0, 1, 1);
		send(rig, BLK_READ);
		assert_int_equal(wait_for(rig, N - 1, 1), N - 1);
		assert_int_equal(wait_for(rig, 1, 1), 0);
		assert_int_equal(wait_for(rig, 1, 10), 1);
		assert_true(host.clock_ns - start >= 2000000000);
		assert_true(host.clock_ns - start < 4000000000);
		assert_int_equal(reqs[1].progress.status, BLK_TIMED_OUT);
		assert_true(rig_logged(rig, "read of 1024 bytes at sector 8 not answered"));
		assert_int_equal(blk_counters(rig->blk.queues[0])->timeouts, 1);
		check_broken(rig);
	}
}

/* STAT-04, STAT-05: in flight and not late, so gone and not timed out. */
static void device_needs_reset(void **state)
{
	struct rig *rig = *state;

	fresh(rig, true, false);
	lie(rig, FAKE_NEEDS_RESET, 0, 2, 1);
	send(rig, BLK_READ);
	assert_int_equal(wait_for(rig, N, 20), N);
	assert_int_equal(count(BLK_OK), 2);
	assert_int_equal(count(BLK_DEVICE_GONE), 3);
	assert_true(rig_logged(rig, "DEVICE_NEEDS_RESET"));
	check_broken(rig);
}

/* F-156: noticed, in flight failed, and another disk goes on. */
static void device_vanishes(void **state)
{
	struct rig *rig = *state;
	struct fake_disk *other = calloc(1, sizeof(*other));
	struct pci_function found[2];
	struct blk_device second;
	struct blk_request req;
	unsigned i;

	assert_non_null(other);
	fake_disk_init(other);
	fake_disk_plug(other, 0, 4, 0);
	fake_disk_caps(other);
	rig_start(rig);
	found[0] = rig->pci;
	found[0].device = 4;
	assert_true(blk_open(&second, &found[0], 1, &rig->config));
	lie(rig, FAKE_VANISH, 0, 1000, 1);
	for (i = 0; i < 1000; i += N) {
		send(rig, BLK_READ);
		assert_int_equal(wait_for(rig, N, 1), N);
		assert_int_equal(count(BLK_OK), N);
	}
	send(rig, BLK_READ);
	assert_int_equal(wait_for(rig, N, 20), N);
	assert_int_equal(count(BLK_DEVICE_GONE), N);
	assert_true(rig_logged(rig, "vanished"));
	req = rig_request(BLK_READ, 77, rig_memory(512), 512);
	assert_int_equal(rig_run(second.queues[0], &req, 1), 1);
	assert_int_equal(req.progress.status, BLK_OK);
	check_broken(rig);
	blk_close(&second);
	fake_reset();
	free(other);
}

/* The queue breaks while a request has parts that are done, out, and perhaps not yet sent. */
static void broken_amid_a_long_request(void **state)
{
	static const enum fake_lie lies[] = {FAKE_DROP, FAKE_BAD_ID, FAKE_NEEDS_RESET, FAKE_VANISH};
	struct rig *rig = *state;
	unsigned i;

	rig->config.timeout_ns = 1000000000;
	for (i = 0; i < 8; i++) {
		uint32_t sectors = i < 4 ? 64 : 4; /* one command each; the ring holds 5 */

		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.features |= FAKE_BIT(FAKE_SIZE_MAX);
		rig->disk.size_max = 512;
		rig->disk.seg_max = 1;
		rig_start(rig);
		lie(rig, lies[i % 4], UINT32_MAX, sectors / 4, UINT64_MAX);
		reqs[0] = rig_request(BLK_READ, 0, rig_memory(512 * sectors), 512 * sectors);
		list[0] = &reqs[0];
		assert_int_equal(blk_submit(rig->blk.queues[0], list, 1), 1);
		assert_int_equal(wait_for(rig, N, 20), 1);
		assert_ptr_equal(done[0], &reqs[0]);
		assert_int_equal(reqs[0].progress.status, i % 4 ? BLK_DEVICE_GONE : BLK_TIMED_OUT);
		check_broken(rig);
	}
}

/* CLEAN-02, F-157: closed with requests in flight; the fake sees memory freed too early. */
static void closed_in_flight(void **state)
{
	struct rig *rig = *state;

	rig->disk.finish = FAKE_HELD;
	rig->disk.reset_reads = 50;
	rig_start(rig);
	send(rig, BLK_READ);
	blk_close(&rig->blk);
	assert_int_equal(count(BLK_DEVICE_GONE), N);
	assert_int_equal(rig->disk.status, 0);
}

/* CLEAN-02: a device that cannot be stopped may still write: its rings are not given back. */
static void reset_that_never_ends(void **state)
{
	struct rig *rig = *state;

	rig->disk.finish = FAKE_HELD;
	rig_start(rig);
	send(rig, BLK_READ);
	rig->disk.reset_never = true;
	blk_close(&rig->blk);
	assert_int_equal(count(BLK_DEVICE_GONE), N);
	assert_true(rig_logged(rig, "reset not done"));
}

/* Any lie at any time, and junk in the used ring: every request ends once, within bounds. */
static void random_lies(void **state)
{
	struct rig *rig = *state;
	unsigned round, batch;

	rig->config.timeout_ns = 100000000;
	for (round = 1; round <= 300; round++) {
		fake_reset();
		fake_disk_init(&rig->disk);
		if (round & 4)
			rig->disk.features |= FAKE_BIT(FAKE_RING_PACKED);
		rig->config.event_idx = round % 2 ? BLK_EVENT_IDX_AUTO : BLK_EVENT_IDX_OFF;
		rig->config.indirect = (enum blk_indirect)(round / 2 % 4);
		rig_start(rig);
		rig->disk.random = round * 2654435761u;
		rig->disk.order = FAKE_RANDOM;
		lie(rig, FAKE_DROP + fake_random(&rig->disk) % (FAKE_VANISH - FAKE_DROP + 1),
		    fake_random(&rig->disk) >> fake_random(&rig->disk) % 32,
		    fake_random(&rig->disk) % 20, 1 + fake_random(&rig->disk) % 3);
		for (batch = 0; batch < 6; batch++) {
			send(rig, fake_random(&rig->disk) % 2 ? BLK_READ : BLK_WRITE);
			if (batch == 4 && rig->disk.queue[0].enabled) {
				bool packed = rig->disk.accepted & FAKE_BIT(FAKE_RING_PACKED);
				uint64_t ring = rig->disk.queue[0].ring[packed ? 0 : 2];
				uint32_t *used = (uint32_t *)(uintptr_t)ring;

				used[fake_random(&rig->disk) % 33] = fake_random(&rig->disk);
			}
			assert_int_equal(wait_for(rig, N, 30), N);
		}
		blk_close(&rig->blk);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(one_bad_answer),
		rig_test(lengths_that_break),
		rig_test(ids_and_indexes),
		rig_test(dropped_request),
		rig_test(device_needs_reset),
		rig_test(device_vanishes),
		rig_test(broken_amid_a_long_request),
		rig_test(closed_in_flight),
		rig_test(reset_that_never_ends),
		rig_test(random_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
