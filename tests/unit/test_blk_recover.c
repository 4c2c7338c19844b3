/* SPDX-License-Identifier: BSD-2-Clause */
/* Does each request end, once and with the right reason, when the device is given up? */
#include "drivers/block/blk_queue.h"
#include "lib/log.h"
#include "tests/host/rig.h"

static struct blk_request reqs[8], *list[8], *done[8];

enum odd_kind { LONG_CHAIN, BAD_STATUS, ODD_KINDS };

static void start_two_queues(struct rig *rig)
{
	fake_reset();
	fake_disk_init(&rig->disk);
	rig->disk.features |= FAKE_BIT(FAKE_MQ);
	rig->disk.num_queues = 2;
	rig->disk.finish = FAKE_HELD;
	rig->config = BLK_CONFIG_DEFAULT;
	rig->config.queues = 2;
	rig_start(rig);
}

static void lie(struct rig *rig, enum fake_lie what, uint32_t value)
{
	rig->disk.lie = what;
	rig->disk.lie_value = value;
	rig->disk.lie_at = 0;
	rig->disk.lie_count = 100;
}

static void send(struct blk_queue *q, struct blk_request *req)
{
	list[0] = req;
	assert_int_equal(blk_submit(q, list, 1), 1);
}

/* On queue 1 a completion that is not a frame with status OK is in the ring, not drained yet. */
static void complete_odd(struct rig *rig, enum odd_kind kind)
{
	uint8_t *p = rig_memory(8192);

	reqs[0] = rig_request(BLK_READ, 0, p, 512);
	if (kind == LONG_CHAIN)
		assert_true(sgl_add(&reqs[0].sgl, NULL, dma_map(p + 4096, 512), 512));
	else
		lie(rig, FAKE_STATUS, VIRTIO_BLK_S_IOERR);
	send(rig->blk.queues[1], &reqs[0]);
	assert_int_equal(fake_complete_on(&rig->disk, 1, 1), 1);
}

static void break_by_queue_0(struct rig *rig)
{
	lie(rig, FAKE_BAD_ID, 9999);
	reqs[1] = rig_request(BLK_READ, 0, rig_memory(512), 512);
	send(rig->blk.queues[0], &reqs[1]);
	fake_complete_on(&rig->disk, 0, 1);
	assert_int_equal(blk_poll(rig->blk.queues[0], done, 8), 0);
	assert_int_equal(blk_poll(rig->blk.queues[0], done, 8), 1);
}

/* Another queue breaks the device between completion and drain. */
static void odd_completion_as_another_queue_breaks(void **state)
{
	struct rig *rig = *state;

	for (enum odd_kind kind = 0; kind < ODD_KINDS; kind++) {
		unsigned got = 0;

		start_two_queues(rig);
		complete_odd(rig, kind);
		break_by_queue_0(rig);
		for (unsigned i = 0; i < 4; i++)
			got += blk_poll(rig->blk.queues[1], done, 8);
		assert_int_equal(got, 1);
		assert_ptr_equal(done[0], &reqs[0]);
		assert_int_equal(reqs[0].progress.status,
				 kind == LONG_CHAIN ? BLK_OK : BLK_IO_ERROR);
		blk_close(&rig->blk);
	}
}

static void pass_time(struct blk_queue *q)
{
	host.clock_ns += 100000001;
	blk_check_progress(q);
}

/* Only what is out for too long has timed out, a half-sent request like any other. */
static void half_sent_and_not_late(void **state)
{
	struct rig *rig = *state;
	struct blk_queue *q;
	unsigned got = 0;

	rig->disk.finish = FAKE_HELD;
	rig->disk.features |= FAKE_BIT(FAKE_SIZE_MAX);
	rig->disk.size_max = 512;
	rig->disk.seg_max = 1;
	rig->config.timeout_ns = 1600000000;
	q = rig_start(rig);
	reqs[0] = rig_request(BLK_READ, 0, rig_memory(512), 512);
	send(q, &reqs[0]);
	for (unsigned i = 0; i < 15; i++)
		pass_time(q);
	reqs[1] = rig_request(BLK_READ, 0, rig_memory(65536), 65536);
	send(q, &reqs[1]);
	assert_non_null(q->partial);
	for (unsigned i = 0; i < 100 && got < 2; i++) {
		pass_time(q);
		got += blk_poll(q, done + got, 8 - got);
	}
	assert_int_equal(got, 2);
	assert_int_equal(reqs[0].progress.status, BLK_TIMED_OUT);
	assert_int_equal(reqs[1].progress.status, BLK_DEVICE_GONE);
}

/* How old a read is when it times out. CPU 1, whose clock is 2 s behind, looks after it on the steps of
 * 10 ms of which the bit in @steps, from 0 to 63, is set; CPU 0 on the others. */
static unsigned times_out_at(struct rig *rig, uint64_t steps)
{
	struct blk_queue *q;
	unsigned got = 0, ms;

	fake_reset();
	fake_disk_init(&rig->disk);
	rig->log_bytes = 0;
	rig->disk.finish = FAKE_HELD;
	rig->config.timeout_ns = 1600000000;
	host.clock_ns = 5000000000;
	q = rig_start(rig);
	reqs[0] = rig_request(BLK_READ, 0, rig_memory(512), 512);
	send(q, &reqs[0]);
	for (ms = 0; ms < 5000 && got == 0; ms += 10) {
		uint64_t ahead;

		host.cpu = ms < 640 ? steps >> ms / 10 & 1 : steps >> 63;
		ahead = host.cpu ? 2000000000 : 0;
		host.clock_ns += 10000000 - ahead;
		blk_check_progress(q);
		got = blk_poll(q, done, 8);
		host.clock_ns += ahead;
	}
	assert_int_equal(got, 1);
	host.cpu = 0;
	assert_int_equal(reqs[0].progress.status, BLK_TIMED_OUT);
	assert_int_equal(blk_counters(q)->rekicks, 0);
	blk_close(&rig->blk);
	return ms;
}

/* Two CPUs use a queue: that their clocks differ is no age of a request. One may leave. */
static void clocks_that_differ(void **state)
{
	assert_in_range(times_out_at(*state, 0), 1600, 2000);
	assert_in_range(times_out_at(*state, 0xaaaaaaaaaaaaaaaa), 1600, 2400);
	assert_in_range(times_out_at(*state, 0x5555555555555555), 1600, 2000);
	assert_in_range(times_out_at(*state, UINT64_MAX), 1600, 2400);
}

/* The second queue's size is fixed and not the one wanted: queue 0 is enabled by then. */
static bool open_half(struct rig *rig)
{
	fake_reset();
	fake_disk_init(&rig->disk);
	rig->disk.features |= FAKE_BIT(FAKE_MQ);
	rig->disk.num_queues = 2;
	rig->disk.queue_size[0] = 8;
	rig->disk.queue_size[1] = 16;
	rig->disk.size_fixed = true;
	rig->config = BLK_CONFIG_DEFAULT;
	rig->config.qsize = 8;
	rig->config.queues = 2;
	rig_plug(rig);
	return rig_open(rig);
}

/* CLEAN-02: rings go back only from a device that is reset. */
static void opening_fails_half_way(void **state)
{
	struct rig *rig = *state;
	uint64_t live = host.live;

	assert_false(open_half(rig));
	assert_true(rig_logged(rig, "device refused the size 8"));
	assert_false(rig->disk.queue[0].enabled);
	assert_int_equal(rig->disk.status, VIRTIO_STATUS_FAILED);
	assert_null(rig->blk.driver);
	assert_null(rig->blk.queues);
	assert_int_equal(host.live, live);
}

static struct fake_disk *stubborn;

/* From the line on that says why the opening fails, no reset is confirmed. */
static void no_more_resets(struct sink *sink, const char *text, size_t len)
{
	(void)sink;
	(void)text;
	(void)len;
	if (stubborn->queue[0].enabled)
		stubborn->reset_never = true;
}

/* CLEAN-02: and otherwise they are kept, and the device may not write any more. */
static void opening_fails_and_no_reset(void **state)
{
	static struct sink sink = {.write = no_more_resets};
	struct rig *rig = *state;

	stubborn = &rig->disk;
	log_set_sink(&sink);
	assert_false(open_half(rig));
	assert_true(rig->disk.reset_never);
	assert_false(fake_pci_command(rig->disk.fn) & 4);
	assert_true(host.live > 0);
	assert_null(rig->blk.driver);
	assert_null(rig->blk.queues);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(odd_completion_as_another_queue_breaks),
		rig_test(half_sent_and_not_late),
		rig_test(clocks_that_differ),
		rig_test(opening_fails_half_way),
		rig_test(opening_fails_and_no_reset),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
