/* SPDX-License-Identifier: BSD-2-Clause */
/* Is a modern virtio device found, reset, negotiated and configured as chapters 3 and 4 say? */
#include <string.h>

#include "tests/host/rig.h"

/*
 * It came up, its queue works, and it gives all its memory back. CFG-07: without a notice, what was
 * read of the configuration is good enough.
 */
static void must_work(struct rig *rig)
{
	uint64_t reads;
	uint8_t *p;

	if (!rig_open(rig))
		fail_msg("blk_open: %s", rig->log);
	reads = rig->disk.config_reads;
	p = rig_memory(1024);
	assert_int_equal(rig_do(rig, BLK_READ, 9, p, 1024), BLK_OK);
	assert_true(fake_stamp_ok(p, 9, 2));
	assert_int_equal(rig->disk.config_reads, reads);
	dma_free(p, 1024);
	blk_close(&rig->blk);
	assert_int_equal(rig->disk.status, 0);
	assert_int_equal(host.live, 0);
}

static void must_fail(struct rig *rig, const char *why, bool failed_status)
{
	rig->disk.nr_requests = 0;
	assert_false(rig_open(rig));
	assert_true(rig_logged(rig, why));
	assert_true(rig_logged(rig, "vda 00:03.0: "));
	assert_int_equal(rig->disk.failed, failed_status);
	assert_int_equal(rig->disk.nr_requests, 0);
	assert_int_equal(host.live, 0);
}

/* INIT-01, STAT-01, F-045, F-047: the first write is 0, then one bit at a time. */
static void status_sequence(void **state)
{
	static const uint8_t right[] = {0, 1, 3, 11, 15};
	struct rig *rig = *state;

	rig_start(rig);
	assert_int_equal(rig->disk.nr_status, sizeof(right));
	assert_memory_equal(rig->disk.status_log, right, sizeof(right));
	blk_close(&rig->blk);
	assert_int_equal(rig->disk.status_log[5], 0);
}

/* STAT-06, PCI-COM-05 */
static void slow_reset(void **state)
{
	struct rig *rig = *state;

	rig->disk.reset_reads = 1000;
	rig_plug(rig);
	must_work(rig);
}

static void endless_reset(void **state)
{
	struct rig *rig = *state;

	rig->disk.reset_never = true;
	rig_plug(rig);
	must_fail(rig, "reset not done", true);
	/* CLEAN-02: it may not write to memory that others get now. */
	assert_false(fake_pci_command(rig->disk.fn) & 4);
	assert_true(host.clock_ns > 500000000 && host.clock_ns < 5000000000);
}

/* FEAT-01/03/04/05/08, RSVD-06/10/16, F-050: all 64 bits offered, few accepted. */
static void every_feature_offered(void **state)
{
	uint64_t known = FAKE_BIT(FAKE_SIZE_MAX) | FAKE_BIT(FAKE_SEG_MAX) | FAKE_BIT(FAKE_RO) |
			 FAKE_BIT(FAKE_BLK_SIZE) | FAKE_BIT(FAKE_FLUSH) |
			 FAKE_BIT(FAKE_CONFIG_WCE) | FAKE_BIT(FAKE_MQ) |
			 FAKE_BIT(FAKE_INDIRECT_DESC) | FAKE_BIT(FAKE_EVENT_IDX) |
			 FAKE_BIT(FAKE_RING_PACKED) | FAKE_BIT(FAKE_VERSION_1) |
			 FAKE_BIT(FAKE_ACCESS_PLATFORM) | FAKE_BIT(FAKE_IN_ORDER) |
			 FAKE_BIT(36) | /* ORDER_PLATFORM */
			 FAKE_BIT(FAKE_NOTIFICATION_DATA) | FAKE_BIT(FAKE_NOTIF_CONFIG_DATA) |
			 FAKE_BIT(FAKE_RING_RESET);
	struct rig *rig = *state;

	rig->disk.features = UINT64_MAX;
	rig->config.indirect = BLK_INDIRECT_ALWAYS;
	rig_start(rig);
	assert_int_equal(rig->disk.accepted & ~known, 0);
	assert_true(rig->disk.accepted & FAKE_BIT(FAKE_VERSION_1));	  /* F-048 */
	assert_true(rig->disk.accepted & FAKE_BIT(FAKE_ACCESS_PLATFORM)); /* RSVD-03 */
	assert_true(rig->disk.accepted & FAKE_BIT(36));			  /* RSVD-07 */
	assert_string_equal(rig->blk.ring, "packed");			  /* RSVD-06 */
	assert_true(rig->disk.accepted & FAKE_BIT(FAKE_RO));		  /* BLK-OP-03 */
	assert_true(rig->blk.event_idx && rig->blk.indirect_desc && rig->blk.read_only);
	blk_close(&rig->blk);
}

/* FEAT-06, FEAT-09: with nothing but VERSION_1 it still works; each known bit alone as well,
 * after another reset. */
static void few_features_offered(void **state)
{
	static const unsigned bits[] = {FAKE_SIZE_MAX,	FAKE_SEG_MAX,	 FAKE_BLK_SIZE,
					FAKE_FLUSH,	FAKE_CONFIG_WCE, FAKE_INDIRECT_DESC,
					FAKE_EVENT_IDX, FAKE_VERSION_1};
	struct rig *rig = *state;
	unsigned i;

	rig->config.indirect = BLK_INDIRECT_ALWAYS;
	rig_plug(rig);
	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		rig->disk.features = FAKE_BIT(FAKE_VERSION_1) | FAKE_BIT(bits[i]);
		must_work(rig);
	}
}

static void options_decline_features(void **state)
{
	struct rig *rig = *state;

	rig->config.event_idx = false;
	rig->config.ring = BLK_RING_SPLIT;
	rig->disk.features |= FAKE_BIT(FAKE_RING_PACKED);
	rig_start(rig);
	assert_false(rig->disk.accepted & FAKE_BIT(FAKE_EVENT_IDX));
	assert_false(rig->disk.accepted & FAKE_BIT(FAKE_RING_PACKED));
	assert_false(rig->blk.event_idx);
	assert_string_equal(rig->blk.ring, "split");
	blk_close(&rig->blk);
}

/* RSVD-02, FEAT-02, FEAT-07, INIT-07, INIT-08: all bits but the one that those above it build on. */
static void version_1_missing(void **state)
{
	struct rig *rig = *state;

	rig->disk.features = UINT64_MAX & ~FAKE_BIT(FAKE_VERSION_1);
	rig_plug(rig);
	must_fail(rig, "VERSION_1", true);
	for (unsigned i = 0; i < rig->disk.nr_status; i++)
		assert_false(rig->disk.status_log[i] & FAKE_S_FEATURES_OK);
}

/* INIT-05, and STAT-03: a second try starts with a reset. */
static void features_ok_refused(void **state)
{
	struct rig *rig = *state;

	rig->disk.refuse_features_ok = true;
	rig_plug(rig);
	must_fail(rig, "FEATURES_OK", true);
	assert_int_equal(rig->disk.status_log[4], 0x83);
	rig->disk.refuse_features_ok = false;
	must_work(rig);
	assert_int_equal(rig->disk.status_log[5], 0);
}

/* PCI-DISC-01/02/03/04 */
static void identities(void **state)
{
	static const struct {
		uint16_t device_id;
		uint8_t revision;
	} ids[] = {{0x1042, 0}, {0x1042, 1}, {0x1042, 0xff}, {0x1001, 0}, {0x1001, 0xff}};
	struct rig *rig = *state;
	unsigned i;

	rig_plug(rig);
	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		fake_pci_put(rig->disk.fn, PCI_DEVICE_ID, ids[i].device_id, 2);
		rig->disk.fn->config[PCI_REVISION] = ids[i].revision;
		fake_pci_put(rig->disk.fn, 0x2c, 0x12345678 + i, 4);
		must_work(rig);
	}
}

/* CFG-04, CFG-05, F-041: any length that holds the capacity will do. */
static void config_lengths(void **state)
{
	static const uint32_t lengths[] = {4096, 96, 60, 36, 24, 12, 8};
	struct rig *rig = *state;
	unsigned i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.device_bytes = lengths[i];
		rig_plug(rig);
		must_work(rig);
	}
}

static void config_too_short(void **state)
{
	static const uint32_t lengths[] = {0, 4, 7};
	struct rig *rig = *state;
	unsigned i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.device_bytes = lengths[i];
		rig_plug(rig);
		must_fail(rig, "device configuration", lengths[i] > 0);
	}
}

/* CFG-01/02/06, PCI-ACC-02, F-056: the capacity is always one of the two, never a mixture. */
static void torn_capacity(void **state)
{
	struct rig *rig = *state;
	uint64_t flips;

	for (flips = 1; flips < 20; flips++) {
		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.capacity = 0x100000000;
		rig->disk.other_capacity = 0xffffffff;
		rig->disk.capacity_flips = flips;
		rig_start(rig);
		assert_int_equal(rig->blk.capacity_512, flips % 2 ? 0xffffffff : 0x100000000);
		blk_close(&rig->blk);
	}
}

/* F-056: and if it never stands still, the loop ends all the same. */
static void generation_never_stable(void **state)
{
	struct rig *rig = *state;

	rig->disk.other_capacity = 1000;
	rig->disk.capacity_flips = UINT64_MAX;
	rig_plug(rig);
	must_fail(rig, "changed", true);
	assert_true(rig->disk.config_reads < 2000);
}

/* F-053, F-067, PCI-COM-03, PCI-COM-10 */
static void queue_sizes(void **state)
{
	static const uint16_t good[] = {4, 8, 16, 256, 1024, 32768};
	static const struct {
		uint16_t size;
		const char *why;
	} bad[] = {
		{0, "does not exist"}, {1, "size 1"}, {2, "size 2"}, {3, "size 3"}, {100, "100"}};
	struct rig *rig = *state;
	unsigned i;

	rig_plug(rig);
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		rig->disk.queue_size[0] = good[i];
		must_work(rig);
		assert_int_equal(rig->blk.queue_size, good[i]);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		rig->disk.queue_size[0] = bad[i].size;
		must_fail(rig, bad[i].why, true);
	}
}

/* PCI-COM-02/03/10: a driver may only reduce the size, to no 0, in a split ring to a power of two. */
static void queue_size_option(void **state)
{
	static const struct {
		uint32_t asked, got;
	} sizes[] = {{4, 4}, {128, 128}, {256, 256}, {512, 256}, {1u << 16, 256}, {0, 256}};
	struct rig *rig = *state;
	unsigned i;

	rig->disk.queue_size[0] = 256;
	rig_plug(rig);
	for (i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		rig->disk.features |= i & 1 ? FAKE_BIT(FAKE_RING_PACKED) : 0;
		rig->config.ring = i & 1 ? BLK_RING_PACKED : BLK_RING_SPLIT;
		rig->config.qsize = sizes[i / 2].asked;
		must_work(rig);
		assert_int_equal(rig->blk.queue_size, sizes[i / 2].got);
	}
}

/* A device that keeps its own size would index other slots than the driver. */
static void queue_size_refused(void **state)
{
	struct rig *rig = *state;

	rig->disk.queue_size[0] = 256;
	rig->disk.size_fixed = true;
	rig->config.qsize = 64;
	rig_plug(rig);
	must_fail(rig, "queue 0: device refused the size 64 (read back 256)", true);
}

/* Each feature alone can be switched off, and is then not accepted; VERSION_1 cannot. */
static void features_off(void **state)
{
	struct rig *rig = *state;

	rig->config.indirect = BLK_INDIRECT_ALWAYS;
	for (unsigned bit = 0; bit < 64; bit++) {
		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.features = UINT64_MAX & ~FAKE_BIT(FAKE_RO);
		rig->disk.common_bytes = 64;
		rig->config.features_off = FAKE_BIT(bit);
		rig_start(rig);
		assert_int_equal(rig->disk.accepted >> bit & 1, bit == FAKE_VERSION_1);
		assert_int_equal(rig->blk.features.offered, rig->disk.features);
		assert_int_equal(rig->blk.features.accepted, rig->disk.accepted);
		assert_int_equal(rig_do(rig, BLK_READ, 9, rig_memory(512), 512), BLK_OK);
		blk_close(&rig->blk);
	}
}

/* INIT-07, and no memory lost: each allocation fails once. */
static void out_of_memory(void **state)
{
	struct rig *rig = *state;
	unsigned n;

	rig->config.indirect = BLK_INDIRECT_ALWAYS;
	rig_plug(rig);
	assert_true(rig_find(rig));
	for (n = 1; n < 100; n++) {
		host.fail_alloc = n;
		if (blk_open(&rig->blk, &rig->pci, 0, &rig->config))
			break;
		assert_true(rig_logged(rig, "memory"));
		assert_int_equal(host.live, 0);
		rig->log[0] = '\0';
		rig->log_bytes = 0;
	}
	assert_true(n > 5 && n < 100);
	host.fail_alloc = 0;
	blk_close(&rig->blk);
}

static void names(void **state)
{
	struct rig *rig = *state;
	unsigned i;

	rig_start(rig);
	assert_string_equal(rig->blk.name, "vda");
	assert_string_equal(rig->blk.address, "00:03.0");
	assert_string_equal(rig->blk.transport, "modern");
	assert_string_equal(rig->blk.ring, "split");
	blk_close(&rig->blk);
	assert_true(blk_open(&rig->blk, &rig->pci, 25, &rig->config));
	assert_string_equal(rig->blk.name, "vdz");
	blk_close(&rig->blk);
	assert_true(blk_open(&rig->blk, &rig->pci, 1000, &rig->config));
	assert_true(strlen(rig->blk.name) < sizeof(rig->blk.name));
	blk_close(&rig->blk);
	for (i = 0; i <= BLK_STATUS_COUNT; i++)
		assert_true(strlen(blk_status_name((enum blk_status)i)) > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(status_sequence),
		rig_test(slow_reset),
		rig_test(endless_reset),
		rig_test(every_feature_offered),
		rig_test(few_features_offered),
		rig_test(options_decline_features),
		rig_test(version_1_missing),
		rig_test(features_ok_refused),
		rig_test(identities),
		rig_test(config_lengths),
		rig_test(config_too_short),
		rig_test(torn_capacity),
		rig_test(generation_never_stable),
		rig_test(queue_sizes),
		rig_test(queue_size_option),
		rig_test(queue_size_refused),
		rig_test(features_off),
		rig_test(out_of_memory),
		rig_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
