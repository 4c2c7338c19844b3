/* SPDX-License-Identifier: BSD-2-Clause */
/* Is a legacy device found, chosen and driven as the notes on legacy interfaces say? */
#include <string.h>

#include "drivers/virtio/split.h"
#include "drivers/virtio/virtio.h"
#include "tests/host/fake_inside.h"
#include "tests/host/rig.h"

static void again(struct rig *rig, enum fake_face face)
{
	fake_reset();
	host_low_memory();
	fake_disk_init(&rig->disk);
	rig->disk.face = face;
}

/*
 * All operations, short and long, then a good end. LEG-06, LEG-16/17/26/27: capacity, rings and headers in the
 * byte order of x86, or else nothing would work. LEG-29, LEG-32: a flush is type 4, and no type has a
 * barrier bit.
 */
static void must_work(struct rig *rig, const char *transport)
{
	static const uint32_t types[] = {0, 1, 4, 8};
	char id[BLK_ID_BYTES + 1];
	struct blk_request req;
	uint8_t *p;

	if (!rig_open(rig))
		fail_msg("blk_open: %s", rig->log);
	assert_string_equal(rig->blk.transport, transport);
	assert_int_equal(rig->blk.capacity_512, rig->disk.capacity);
	p = rig_memory(4096);
	assert_int_equal(rig_do(rig, BLK_READ, 9, p, 1024), BLK_OK);
	assert_true(fake_stamp_ok(p, 9, 2));
	assert_int_equal(rig_do(rig, BLK_WRITE, 99, p, 1024), BLK_OK);
	assert_int_equal(rig_do(rig, BLK_FLUSH, 0, NULL, 0), BLK_OK);
	assert_int_equal(blk_get_id(&rig->blk, id), BLK_OK);
	req = rig_request(BLK_READ, 50, p, 512);
	assert_true(sgl_add(&req.sgl, NULL, dma_map(p + 2048, 512), 512));
	assert_int_equal(rig_run(rig->blk.queues[0], &req, 1), 1);
	assert_int_equal(req.progress.status, BLK_OK);
	assert_true(fake_stamp_ok(p, 50, 1) && fake_stamp_ok(p + 2048, 51, 1));
	assert_true(rig->disk.nr_requests > 4);
	for (unsigned i = 0; i < rig->disk.nr_requests; i++)
		assert_int_equal(rig->disk.log[i].type, i < 4 ? types[i] : 0);
	dma_free(p, 4096);
	blk_close(&rig->blk);
	assert_int_equal(rig->disk.status, 0);
	assert_int_equal(host.live, 0);
}

/* LEG-02/04/05/10/11/12/13/15/20/21/22, F-052, F-055, F-065: each size, framing and feature. */
static void sizes_and_features(void **state)
{
	static const uint16_t sizes[] = {4, 8, 128, 256, 1024, 32768};
	struct rig *rig = *state;

	for (unsigned i = 0; i < 8 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		again(rig, FAKE_LEGACY);
		rig->disk.queue_size[0] = sizes[i / 8];
		rig->disk.features &= ~(i & 1 ? FAKE_BIT(FAKE_ANY_LAYOUT) : 0);
		rig->disk.features &= ~(i & 2 ? FAKE_BIT(FAKE_EVENT_IDX) : 0);
		rig->config.indirect = i & 4 ? BLK_INDIRECT_ALWAYS : BLK_INDIRECT_NEVER;
		rig_plug(rig);
		must_work(rig, "legacy");
		assert_int_equal(rig->blk.queue_size, sizes[i / 8]);
	}
}

/* LEG-10, F-052 */
static void status_sequence(void **state)
{
	static const uint8_t right[] = {0, 1, 3, 7};
	struct rig *rig = *state;

	again(rig, FAKE_LEGACY);
	rig_start(rig);
	assert_int_equal(rig->disk.nr_status, sizeof(right));
	assert_memory_equal(rig->disk.status_log, right, sizeof(right));
	blk_close(&rig->blk);
}

/* LEG-01/03, PCI-DET-01: capabilities come first, unless the other is asked for and there. */
static void choice(void **state)
{
	static const struct {
		enum fake_face face;
		enum virtio_interface asked;
		const char *got;
	} cases[] = {
		{FAKE_MODERN, VIRTIO_AUTO, "modern"},
		{FAKE_MODERN, VIRTIO_LEGACY, "modern"},
		{FAKE_TRANSITIONAL, VIRTIO_AUTO, "modern"},
		{FAKE_TRANSITIONAL, VIRTIO_MODERN, "modern"},
		{FAKE_TRANSITIONAL, VIRTIO_LEGACY, "legacy"},
		{FAKE_LEGACY, VIRTIO_AUTO, "legacy"},
		{FAKE_LEGACY, VIRTIO_MODERN, "legacy"},
	};
	struct rig *rig = *state;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		again(rig, cases[i].face);
		rig->config.transport = cases[i].asked;
		rig_plug(rig);
		must_work(rig, cases[i].got);
	}
}

/* LEG-01, 2.2.3: modern registers that do not offer VERSION_1; and capabilities that lead nowhere (F-044). */
static void modern_registers_fail(void **state)
{
	struct rig *rig = *state;

	again(rig, FAKE_TRANSITIONAL);
	rig->disk.features &= ~FAKE_BIT(FAKE_VERSION_1);
	rig_plug(rig);
	must_work(rig, "legacy");
	assert_true(rig_logged(rig, "VERSION_1 is not offered; using the legacy interface"));
	again(rig, FAKE_TRANSITIONAL);
	fake_disk_plug(&rig->disk, 0, 3, 0);
	fake_disk_cap(&rig->disk, FAKE_COMMON, 4, 0, 0x1000);
	must_work(rig, "legacy");
	assert_true(rig_logged(rig, "no usable notification capability"));
}

/* LEG-09, LEG-22, FEAT-05, FEAT-02: none that takes VERSION_1; all 32 bits and more offered. */
static void every_feature_offered(void **state)
{
	struct rig *rig = *state;

	again(rig, FAKE_LEGACY);
	rig->disk.features = UINT64_MAX;
	rig->config.indirect = BLK_INDIRECT_ALWAYS;
	rig_start(rig);
	assert_int_equal(rig->disk.accepted >> 30, 0);
	/* BARRIER, GEOMETRY, SCSI, TOPOLOGY, NOTIFY_ON_EMPTY */
	assert_int_equal(rig->disk.accepted & (1u << 0 | 1u << 4 | 1u << 7 | 1u << 10 | 1u << 24),
			 0);
	assert_int_equal(rig->blk.features.offered, UINT32_MAX);
	assert_int_equal(rig->blk.features.known >> 32, 0);
	blk_close(&rig->blk);
}

/* LEG-07, LEG-08, F-058: whoever switches MSI-X on moves the configuration. */
static void config_moves(void **state)
{
	struct virtio_device dev = {.prefers = VIRTIO_LEGACY};
	struct rig *rig = *state;
	uint16_t control;

	again(rig, FAKE_LEGACY);
	rig->disk.capacity = 0x123456789;
	rig_plug(rig);
	assert_true(rig_find(rig));
	dev.pci = rig->pci;
	assert_true(virtio_pci_open(&dev));
	assert_true(virtio_negotiate(&dev, 0));
	assert_non_null(dev.transport);
	assert_int_not_equal(dev.msix_cap, 0);
	control = pci_read16(&dev.pci, dev.msix_cap + 2u);
	for (unsigned i = 0; i < 4; i++) {
		pci_write16(&dev.pci, dev.msix_cap + 2u, i & 1 ? control | 0x8000 : control);
		assert_int_equal(virtio_config_read32(&dev, 0), 0x23456789);
		assert_int_equal(virtio_config_read32(&dev, 4), 1);
		/* 4.1.5.1.2: where there are no registers for it, none is written. */
		assert_int_equal(virtio_map_config(&dev, 0), i & 1 ? 0 : VIRTIO_NO_VECTOR);
	}
	pci_write16(&dev.pci, dev.msix_cap + 2u, control);
	assert_true(virtio_reset(&dev));
}

/* LEG-18, F-056: no generation; a change while it is read, and another, are not mixed up. A device that
 * changes at each access can deceive any reader. */
static void torn_capacity(void **state)
{
	struct rig *rig = *state;

	for (uint64_t flips = 1; flips < 3; flips++) {
		again(rig, FAKE_LEGACY);
		rig->disk.capacity = 0x100000000;
		rig->disk.other_capacity = 0xffffffff;
		rig->disk.capacity_flips = flips;
		rig_start(rig);
		assert_int_equal(rig->blk.capacity_512, flips % 2 ? 0xffffffff : 0x100000000);
		blk_close(&rig->blk);
	}
}

static void never_stable(void **state)
{
	struct rig *rig = *state;

	again(rig, FAKE_LEGACY);
	rig->disk.other_capacity = 1000;
	rig->disk.capacity_flips = UINT64_MAX;
	rig_plug(rig);
	if (rig_open(rig))
		blk_close(&rig->blk);
	assert_true(rig->disk.config_reads < 5000);
	assert_int_equal(host.live, 0);
}

/* LEG-14: a smaller size cannot be had. */
static void queue_size_option(void **state)
{
	struct rig *rig = *state;

	again(rig, FAKE_LEGACY);
	rig->disk.queue_size[0] = 256;
	rig->config.qsize = 64;
	rig_plug(rig);
	must_work(rig, "legacy");
	assert_int_equal(rig->blk.queue_size, 256);
}

/* LEG-24, LEG-25: these devices report any length; the status byte counts. */
static void lengths_are_ignored(void **state)
{
	static const uint32_t lengths[] = {0, 1, 511, 514, 0xffffffff};
	struct rig *rig = *state;
	uint8_t *p;

	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		again(rig, FAKE_LEGACY);
		rig->disk.lie = FAKE_BAD_LEN;
		rig->disk.lie_value = lengths[i];
		rig->disk.lie_count = 1;
		rig_start(rig);
		p = rig_memory(512);
		assert_int_equal(rig_do(rig, BLK_READ, 9, p, 512), BLK_OK);
		assert_true(fake_stamp_ok(p, 9, 1));
		blk_close(&rig->blk);
	}
}

/* LEG-15: the number of a page has 32 bits; memory beyond them is refused, not cut. */
static void ring_out_of_reach(void **state)
{
	struct rig *rig = *state;

	fake_reset();
	fake_disk_init(&rig->disk);
	rig->disk.face = FAKE_LEGACY;
	rig_plug(rig);
	assert_false(rig_open(rig)); /* the host's own memory lies near 2^47 */
	assert_true(rig_logged(rig, "a legacy ring at 0x"));
	assert_true(rig->disk.failed);
	assert_int_equal(host.live, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(sizes_and_features),
		rig_test(status_sequence),
		rig_test(choice),
		rig_test(modern_registers_fail),
		rig_test(every_feature_offered),
		rig_test(config_moves),
		rig_test(torn_capacity),
		rig_test(never_stable),
		rig_test(queue_size_option),
		rig_test(lengths_are_ignored),
		rig_test(ring_out_of_reach),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
