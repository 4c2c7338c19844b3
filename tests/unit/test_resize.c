/* SPDX-License-Identifier: BSD-2-Clause */
/* Does the driver notice that a disk grew or shrank, and only that? */
#include <string.h>

#include "tests/host/rig.h"

#define WAIT_NS 1000000

static void again(struct rig *rig, enum fake_face face)
{
	fake_reset();
	host_low_memory();
	fake_disk_init(&rig->disk);
	rig->disk.face = face;
	rig->disk.features |= FAKE_BIT(FAKE_MQ);
	rig->disk.num_queues = 3;
	rig->config = BLK_CONFIG_DEFAULT;
	rig->config.nr_cpus = 3;
	memset(rig->log, 0, sizeof(rig->log));
	rig->log_bytes = 0;
}

static void resize(struct rig *rig, uint64_t sectors)
{
	rig->disk.capacity = sectors;
	fake_config_change(&rig->disk);
}

/* On each queue, the sector before @end is the last that can be read. */
static void ends_at(struct rig *rig, uint64_t end)
{
	void *p = rig_memory(512);

	assert_int_equal(rig->blk.capacity_512, end);
	for (unsigned i = 0; i < rig->blk.nr_queues; i++) {
		struct blk_queue *queue = rig->blk.queues[i];
		uint64_t before = rig->disk.nr_requests;

		assert_int_equal(blk_do(queue, BLK_READ, end - 1, p, 512), BLK_OK);
		assert_true(fake_stamp_ok(p, end - 1, 1));
		assert_int_equal(blk_do(queue, BLK_READ, end, p, 512), BLK_OUT_OF_RANGE);
		assert_int_equal(rig->disk.nr_requests, before + 1);
	}
	dma_free(p, 512);
}

static void stop(struct rig *rig)
{
	blk_close(&rig->blk);
	assert_int_equal(host.live, 0);
}

/* F-059, BLK-OP-01, CFG-07, BLK-OP-02: a change counts from the look on, for all queues. */
static void grows_and_shrinks(void **state)
{
	static const enum fake_face faces[] = {FAKE_MODERN, FAKE_TRANSITIONAL, FAKE_LEGACY};
	struct rig *rig = *state;

	for (unsigned i = 0; i < 3; i++) {
		again(rig, faces[i]);
		rig_start(rig);
		assert_int_equal(rig->blk.nr_queues, 3);
		assert_false(blk_refresh(&rig->blk));
		resize(rig, (1ull << 33) + 3);
		ends_at(rig, FAKE_STORE);
		assert_true(blk_refresh(&rig->blk));
		assert_true(rig_logged(rig, "warning: vda 00:03.0: capacity changed from 32768 to "
					    "8589934595 sectors\n"));
		ends_at(rig, (1ull << 33) + 3);
		resize(rig, 999);
		assert_true(blk_refresh(&rig->blk));
		assert_true(rig_logged(rig, "from 8589934595 to 999 sectors\n"));
		ends_at(rig, 999);
		assert_false(blk_refresh(&rig->blk));
		stop(rig);
	}
}

/* F-059: of a request that was prepared before, only the place was checked: prepared again, it is
 * refused. */
static void prepared_again(void **state)
{
	struct rig *rig = *state;
	struct blk_queue *queue = rig_start(rig);
	struct blk_request req = rig_request(BLK_READ, 2000, rig_memory(512), 512);

	blk_prepare(queue, &req);
	assert_int_equal(rig_run(queue, &req, 1), 1);
	assert_int_equal(req.progress.status, BLK_OK);
	resize(rig, 1000);
	assert_true(blk_refresh(&rig->blk));
	blk_prepare(queue, &req);
	assert_int_equal(rig_run(queue, &req, 1), 1);
	assert_int_equal(req.progress.status, BLK_OUT_OF_RANGE);
	assert_int_equal(rig->disk.nr_requests, 1);
	blk_close(&rig->blk);
}

/* One that was prepared when the disk was smaller is not turned away as if the ring were full. */
static void prepared_before_it_grew(void **state)
{
	struct rig *rig = *state;
	struct blk_queue *queue = rig_start(rig);
	struct blk_request req = rig_request(BLK_READ, FAKE_STORE, rig_memory(512), 512);

	blk_prepare(queue, &req);
	resize(rig, FAKE_STORE + 1);
	assert_true(blk_refresh(&rig->blk));
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rig_run(queue, &req, 1), 1);
		assert_int_equal(req.progress.status, BLK_OK);
	}
	assert_int_equal(blk_counters(queue)->ring_full, 0);
	blk_close(&rig->blk);
}

/* F-056, CFG-01, CFG-02: the same care as at the start; what cannot be believed changes nothing. */
static void no_torn_or_absurd_capacity(void **state)
{
	struct rig *rig = *state;

	rig_start(rig);
	rig->disk.capacity = 0x100000000;
	rig->disk.other_capacity = 0xffffffff;
	rig->disk.capacity_flips = 1;
	assert_true(blk_refresh(&rig->blk));
	assert_int_equal(rig->blk.capacity_512, 0xffffffff);
	rig->disk.capacity_flips = UINT64_MAX;
	assert_false(blk_refresh(&rig->blk));
	assert_true(rig_logged(rig, "configuration changed during each of"));
	rig->disk.capacity_flips = 0;
	rig->disk.capacity = 1ull << 55;
	assert_false(blk_refresh(&rig->blk));
	assert_true(rig_logged(rig, "is more than 2^64 bytes"));
	assert_int_equal(rig->blk.capacity_512, 0xffffffff);
	blk_close(&rig->blk);
}

/* A device that is gone has no capacity: who uses it learns that from its status. */
static void gone(void **state)
{
	struct rig *rig = *state;
	struct blk_queue *queue = rig_start(rig);
	void *p = rig_memory(512);
	size_t said;

	rig->disk.lie = FAKE_BAD_ID;
	rig->disk.lie_value = 77;
	rig->disk.lie_count = 1;
	assert_int_equal(blk_do(queue, BLK_READ, 0, p, 512), BLK_DEVICE_GONE);
	said = rig->log_bytes;
	resize(rig, 5);
	assert_false(blk_refresh(&rig->blk));
	fake_vanish(&rig->disk);
	assert_false(blk_refresh(&rig->blk));
	assert_int_equal(rig->blk.capacity_512, FAKE_STORE);
	assert_int_equal(rig->log_bytes, said);
	blk_close(&rig->blk);
	again(rig, FAKE_MODERN);
	rig_start(rig);
	said = rig->log_bytes;
	fake_vanish(&rig->disk);
	assert_false(blk_refresh(&rig->blk));
	assert_int_equal(rig->blk.capacity_512, FAKE_STORE);
	assert_int_equal(rig->log_bytes, said);
	blk_close(&rig->blk);
}

/* F-061: by MSI-X, by its last vector, and by INTx: an interrupt right after DRIVER_OK. */
static void no_change(void **state)
{
	static const struct {
		unsigned entries;
		const char *interrupt;
	} cases[] = {{4, "msix"}, {1, "msix-shared"}, {0, "intx"}};
	struct rig *rig = *state;

	for (unsigned i = 0; i < 3; i++) {
		size_t said;
		uint64_t taken;

		again(rig, FAKE_MODERN);
		rig->disk.msix_place.entries = cases[i].entries;
		rig->config.mode = BLK_IRQ;
		rig_start(rig);
		assert_string_equal(rig->blk.interrupt, cases[i].interrupt);
		said = rig->log_bytes;
		taken = host.interrupts + host.intx_interrupts;
		fake_spurious(&rig->disk, -1);
		interrupt_wait(host.clock_ns + WAIT_NS);
		assert_int_equal(host.interrupts + host.intx_interrupts, taken + 1);
		for (unsigned q = 0; q < 3; q++)
			assert_true(blk_check_progress(rig->blk.queues[q]));
		assert_false(blk_refresh(&rig->blk));
		assert_int_equal(rig->log_bytes, said);
		ends_at(rig, FAKE_STORE);
		stop(rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(grows_and_shrinks),
		rig_test(prepared_again),
		rig_test(prepared_before_it_grew),
		rig_test(no_torn_or_absurd_capacity),
		rig_test(gone),
		rig_test(no_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
