/* SPDX-License-Identifier: BSD-2-Clause */
/* Are the structures found wherever a device puts them, and is a device without them refused? */
#include <string.h>

#include "tests/host/rig.h"

static void must_work(struct rig *rig)
{
	uint8_t *p;

	if (!rig_open(rig))
		fail_msg("blk_open: %s", rig->log);
	p = rig_memory(1024);
	assert_int_equal(rig_do(rig, BLK_READ, 9, p, 1024), BLK_OK);
	assert_true(fake_stamp_ok(p, 9, 2));
	assert_true(rig->disk.queue[0].notifications > 0);
	blk_close(&rig->blk);
}

static void must_be_refused(struct rig *rig, const char *why)
{
	assert_false(rig_open(rig));
	assert_true(rig_logged(rig, "vda 00:03.0: "));
	assert_true(rig_logged(rig, why));
	assert_int_equal(host.live, 0);
}

static void again(struct rig *rig)
{
	fake_reset();
	fake_disk_init(&rig->disk);
}

static void plug_bare(struct rig *rig)
{
	fake_disk_plug(&rig->disk, 0, 3, 0);
}

static void add(struct rig *rig, uint8_t type)
{
	const struct fake_region *at = &rig->disk.region[type];

	fake_disk_cap(&rig->disk, type, at->bar, (uint32_t)at->offset, at->bytes);
}

static void add_all_but(struct rig *rig, unsigned mask)
{
	for (uint8_t type = FAKE_COMMON; type <= FAKE_DEVICE; type++)
		if (!(mask >> type & 1))
			add(rig, type);
}

/* PCI-CAP-01, PCI-CAP-04, F-041: reserved types and BARs come first and are skipped. */
static void reserved_values(void **state)
{
	static const uint8_t types[] = {0, 6, 7, 8, 9, 10, 0xff};
	struct rig *rig = *state;
	unsigned i;

	for (i = 0; i < sizeof(types); i++) {
		again(rig);
		plug_bare(rig);
		fake_disk_cap(&rig->disk, types[i], 4, 0, 0x1000);
		fake_disk_cap(&rig->disk, FAKE_COMMON, 6, 0, 0x1000);
		fake_disk_cap(&rig->disk, FAKE_NOTIFY, 7, 0, 0x1000);
		fake_disk_cap(&rig->disk, FAKE_DEVICE, 0xff, 0, 0x1000);
		add_all_but(rig, 0);
		must_work(rig);
	}
}

/* PCI-VND-01: vendor data, whosever it is and whatever it says, makes no difference. */
static void vendor_data(void **state)
{
	static const uint8_t data[][16] = {
		{9, 0, 16, 9, 0x86, 0x80, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		{9, 0, 16, 9, 0xf4, 0x1a, 4, 0, 0, 0x10, 0, 0, 0, 0x10, 0, 0},
	};
	struct rig *rig = *state;
	unsigned reads[2];

	for (unsigned i = 0; i < 2; i++) {
		again(rig);
		plug_bare(rig);
		fake_pci_cap(rig->disk.fn, data[i], data[i][2]);
		add_all_but(rig, 0);
		must_work(rig);
		reads[i] = rig->disk.fn->config_reads;
	}
	assert_int_equal(reads[0], reads[1]);
}

/* PCI-CAP-03, F-042: longer capabilities, with the multiplier still at offset 16. */
static void longer_capabilities(void **state)
{
	static const unsigned extra[] = {4, 8, 12};
	struct rig *rig = *state;
	unsigned i;

	for (i = 0; i < sizeof(extra) / sizeof(extra[0]); i++) {
		again(rig);
		rig->disk.cap_extra = extra[i];
		rig->disk.notify_off[0] = 3; /* or a wrong multiplier would not show */
		rig_plug(rig);
		must_work(rig);
	}
}

/* PCI-NTF-01, F-042: offset times multiplier, whatever these are; the fake checks the address. */
static void notify_multipliers(void **state)
{
	static const struct {
		uint32_t multiplier;
		uint16_t off;
	} cases[] = {{0, 0}, {0, 5},	{2, 0},	      {2, 3},
		     {4, 7}, {4096, 0}, {4096, 1000}, {1u << 20, 1000}};
	struct rig *rig = *state;
	unsigned i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		again(rig);
		rig->disk.notify_multiplier = cases[i].multiplier;
		rig->disk.notify_off[0] = cases[i].off;
		rig->disk.bar_base = 0x4000000000;
		rig_plug(rig);
		must_work(rig);
	}
}

/* The doorbell would lie outside the structure: refused, not written. */
static void notify_out_of_bounds(void **state)
{
	struct rig *rig = *state;

	rig_plug(rig);
	rig->disk.notify_off[0] = 1;
	must_be_refused(rig, "notification");
}

/* PCI-CAP-05, PCI-CAP-06, PCI-CAP-09: lengths far beyond what is used, of which a fraction is mapped. */
static void huge_length(void **state)
{
	struct rig *rig = *state;

	rig->disk.notify_multiplier = 1u << 20;
	rig->disk.notify_off[0] = 2047;
	rig->disk.bar_base = 0x4000000000;
	plug_bare(rig);
	rig->disk.notify_off[0] = 0;
	fake_disk_cap(&rig->disk, FAKE_COMMON, 4, (uint32_t)rig->disk.region[FAKE_COMMON].offset,
		      1u << 30);
	fake_disk_cap(&rig->disk, FAKE_DEVICE, 4, (uint32_t)rig->disk.region[FAKE_DEVICE].offset,
		      1u << 30);
	add_all_but(rig, 1u << FAKE_COMMON | 1u << FAKE_DEVICE);
	must_work(rig);
	assert_true(rig->disk.region[FAKE_NOTIFY].bytes > 1u << 30);
	assert_true(host.mapped <= 4 * 4096);
}

/* PCI-CAP-10, PCI-CAP-02: each structure in the I/O BAR, alone and all together. */
static void structures_in_io_space(void **state)
{
	struct rig *rig = *state;
	unsigned mask;

	for (mask = 0; mask < 16; mask++) {
		again(rig);
		rig->disk.io_mask = mask << 1;
		rig_plug(rig);
		must_work(rig);
	}
}

/* F-035: BARs of 32 bits, of 64 below 4 GiB, and far above it. */
static void bar_places(void **state)
{
	static const uint64_t bases[] = {0xfe000000, 0x200000000, 0xe000000000, 0xffffff00000000};
	struct rig *rig = *state;
	unsigned i;

	for (i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		again(rig);
		rig->disk.bar_base = bases[i];
		rig->disk.bar32 = i == 0;
		rig_plug(rig);
		must_work(rig);
	}
}

/* F-044, PCI-CAP-02: of two notification structures the first that can be reached. */
static void unreachable_first(void **state)
{
	struct rig *rig = *state;

	rig->disk.bar_base = 0x8000000000;
	plug_bare(rig);
	add(rig, FAKE_NOTIFY); /* in BAR4, which cannot be mapped */
	rig->disk.region[FAKE_COMMON].bar = rig->disk.region[FAKE_DEVICE].bar = 0;
	rig->disk.region[FAKE_NOTIFY].bar = rig->disk.region[FAKE_ISR].bar = 0;
	add_all_but(rig, 0);
	host.mmio_limit = 0x1000000000;
	must_work(rig);
}

/* PCI-CAP-02, PCI-CAP-07: of two structures of a type the first that is long enough. */
static void too_short_first(void **state)
{
	struct rig *rig = *state;

	for (uint8_t type = FAKE_COMMON; type <= FAKE_DEVICE; type++) {
		const struct fake_region *at = &rig->disk.region[type];

		again(rig);
		plug_bare(rig);
		fake_disk_cap(&rig->disk, type, at->bar, (uint32_t)at->offset,
			      type == FAKE_ISR || type == FAKE_DEVICE ? 0 : 1);
		add_all_but(rig, 0);
		must_work(rig);
	}
}

static void nothing_reachable(void **state)
{
	struct rig *rig = *state;

	rig->disk.bar_base = 0x8000000000;
	rig_plug(rig);
	host.mmio_limit = 0x1000000000;
	must_be_refused(rig, "no usable common configuration");
}

/* F-030: no firmware gave the BAR an address. */
static void unassigned_bar(void **state)
{
	struct rig *rig = *state;

	rig_plug(rig);
	fake_pci_bar(rig->disk.fn, 4, FAKE_BAR_MEM64, 0, 0x4000);
	must_be_refused(rig, "no usable common configuration");
}

/* PCI-CAP-02: the first of two good ones is used. The second would be a violation. */
static void first_of_two(void **state)
{
	struct rig *rig = *state;

	plug_bare(rig);
	add_all_but(rig, 0);
	fake_disk_cap(&rig->disk, FAKE_COMMON, 4, 0x3800, 0x100);
	fake_disk_cap(&rig->disk, FAKE_DEVICE, 4, 0x3900, 0x100);
	fake_disk_cap(&rig->disk, FAKE_NOTIFY, 4, 0x3a00, 0x100);
	must_work(rig);
}

/* PCI-CAP-07, PCI-COM-11: a structure of 56 bytes will do, one of fewer will not. */
static void common_lengths(void **state)
{
	static const uint32_t lengths[] = {56, 58, 60, 64, 4096};
	struct rig *rig = *state;
	unsigned i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		again(rig);
		rig->disk.common_bytes = lengths[i];
		rig->disk.features = UINT64_MAX & ~FAKE_BIT(FAKE_RO);
		rig_plug(rig);
		must_work(rig);
	}
	again(rig);
	rig->disk.common_bytes = 52;
	rig_plug(rig);
	must_be_refused(rig, "no usable common configuration");
}

static void missing_structures(void **state)
{
	static const struct {
		uint8_t type;
		const char *why;
	} cases[] = {{FAKE_COMMON, "no usable common configuration"},
		     {FAKE_NOTIFY, "no usable notification"},
		     {FAKE_DEVICE, "no usable device configuration"}};
	struct rig *rig = *state;
	unsigned i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		again(rig);
		plug_bare(rig);
		add_all_but(rig, 1u << cases[i].type);
		must_be_refused(rig, cases[i].why);
	}
}

/* PCI-CAP-06: a length beyond the BAR is cut, and what is there is used. */
static void length_beyond_bar(void **state)
{
	static const uint32_t lengths[] = {0x10000, 0x80000000, 0xffffffff};
	struct rig *rig = *state;

	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		again(rig);
		plug_bare(rig);
		fake_disk_cap(&rig->disk, FAKE_COMMON, 4, 0, lengths[i]);
		add_all_but(rig, 1u << FAKE_COMMON);
		must_work(rig);
	}
}

/* Offsets outside the BAR, beyond 32 bits, or not aligned, lead nowhere. */
static void bad_places(void **state)
{
	static const struct {
		uint32_t offset, length;
	} cases[] = {{0x4000, 64}, {0x3fff, 64}, {0xffffffff, 64}, {0xfffffff0, 64},
		     {0, 55},	   {2, 64},	 {1, 64},	   {0, 0}};
	struct rig *rig = *state;
	unsigned i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		again(rig);
		plug_bare(rig);
		add_all_but(rig, 1u << FAKE_COMMON);
		fake_disk_cap(&rig->disk, FAKE_COMMON, 4, cases[i].offset, cases[i].length);
		must_be_refused(rig, "no usable common configuration");
		assert_int_equal(rig->disk.nr_status, 0);
	}
}

/* LEG-04, LEG-05, PCI-DET-02: no virtio capability means a legacy device; without its BAR it is refused. */
static void legacy_device(void **state)
{
	static const struct {
		uint16_t device_id;
		enum fake_bar_type type;
		uint64_t base, bytes;
	} cases[] = {{0x1001, FAKE_BAR_NONE, 0, 0},
		     {0x1001, FAKE_BAR_IO, 0, 64}, /* unassigned */
		     {0x1001, FAKE_BAR_IO, 0xc000, 16},
		     {0x1001, FAKE_BAR_MEM32, 0xfd000000, 4096},
		     {0x1042, FAKE_BAR_IO, 0xc000, 64}};
	struct rig *rig = *state;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		again(rig);
		rig->disk.device_id = cases[i].device_id;
		plug_bare(rig);
		fake_pci_bar(rig->disk.fn, 0, cases[i].type, cases[i].base, cases[i].bytes);
		must_be_refused(rig, "so a legacy device, but BAR0 is not a usable I/O BAR");
		assert_int_equal(rig->disk.nr_status, 0);
	}
}

/* F-039: a list that loops is skipped with a message, even if all structures are on it. */
static void looping_list(void **state)
{
	struct rig *rig = *state;
	struct fake_function *fn;

	rig_plug(rig);
	fn = rig->disk.fn;
	fn->config[fn->cap[fn->nr_caps - 1].offset + 1] = fn->cap[0].offset;
	must_be_refused(rig, "capability list");
	assert_true(fn->config_reads < 1000);
}

/* A capability that ends beyond configuration space, or is too short for its type. */
static void odd_cap_lengths(void **state)
{
	static const uint8_t lengths[] = {0, 3, 15, 0xff};
	struct rig *rig = *state;
	unsigned i;

	for (i = 0; i < sizeof(lengths); i++) {
		again(rig);
		rig_plug(rig);
		rig->disk.fn->config[rig->disk.fn->cap[rig->disk.fn->nr_caps - 1].offset + 2] =
			lengths[i]; /* the common configuration's */
		must_be_refused(rig, "no usable common configuration");
	}
	again(rig);
	rig_plug(rig);
	rig->disk.fn->config[rig->disk.fn->cap[2].offset + 2] = 16; /* no room for a multiplier */
	must_be_refused(rig, "no usable notification");
}

/* F-156: a device that is gone before it was opened. */
static void vanished_before_open(void **state)
{
	struct rig *rig = *state;

	rig_plug(rig);
	assert_true(rig_find(rig));
	fake_vanish(&rig->disk);
	assert_false(blk_open(&rig->blk, &rig->pci, 0, &rig->config));
	assert_true(rig_logged(rig, "vda 00:03.0: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(reserved_values),	  rig_test(vendor_data),
		rig_test(longer_capabilities),	  rig_test(notify_multipliers),
		rig_test(notify_out_of_bounds),	  rig_test(huge_length),
		rig_test(structures_in_io_space), rig_test(bar_places),
		rig_test(unreachable_first),	  rig_test(too_short_first),
		rig_test(nothing_reachable),	  rig_test(unassigned_bar),
		rig_test(first_of_two),		  rig_test(common_lengths),
		rig_test(missing_structures),	  rig_test(bad_places),
		rig_test(length_beyond_bar),	  rig_test(legacy_device),
		rig_test(looping_list),		  rig_test(odd_cap_lengths),
		rig_test(vanished_before_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
