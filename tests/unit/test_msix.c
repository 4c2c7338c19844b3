/* SPDX-License-Identifier: BSD-2-Clause */
/* Is the MSI-X table found wherever it lies, and is no entry ever half written or half open? */
#include <string.h>

#include "drivers/pci/msix.h"
#include "tests/host/fake_inside.h"
#include "tests/host/rig.h"

#define ENABLE	     0x8000u
#define MASK_ALL     0x4000u
#define INTX_DISABLE 0x400u

static unsigned hits[4];

static void on_hit(void *context)
{
	++*(unsigned *)context;
}

static uint16_t control(const struct rig *rig)
{
	uint16_t value;

	memcpy(&value, rig->disk.fn->config + rig->disk.msix.cap + 2, 2);
	return value;
}

static void plug(struct rig *rig, unsigned entries, uint8_t bar, uint32_t offset, uint8_t pba_bar,
		 uint32_t pba_offset)
{
	fake_reset();
	fake_disk_init(&rig->disk);
	rig->disk.msix_place.entries = entries;
	rig->disk.msix_place.bar = bar;
	rig->disk.msix_place.offset = offset;
	rig->disk.msix_place.pba_bar = pba_bar;
	rig->disk.msix_place.pba_offset = pba_offset;
	rig_plug(rig);
	fake_pci_put(rig->disk.fn, PCI_COMMAND, 7, 2);
	assert_true(rig_find(rig));
	memset(hits, 0, sizeof(hits));
}

static struct interrupt set(struct msix *m, unsigned i, unsigned *hit)
{
	struct interrupt irq;
	struct msi_message message;

	assert_true(interrupt_allocate(&irq, 0, on_hit, hit));
	message = interrupt_message(&irq);
	assert_true(msix_set(m, i, &message));
	return irq;
}

/* As a device would, by the event of queue 0. */
static void raise_entry(struct rig *rig, uint16_t i)
{
	fake_msix_raise(&rig->disk, i, 1);
	interrupt_wait(host.clock_ns + 50000);
}

/* F-121, MSIX-01: any place and any size; only what was written is open, and it is written there. */
static void table_places(void **state)
{
	static const struct {
		unsigned entries;
		uint8_t bar, pba_bar;
		uint32_t offset, pba_offset;
	} cases[] = {
		{1, 1, 1, 0, 0x800},	    {2, 2, 1, 0x2000, 0},    {5, 2, 1, 0x2000, 8},
		{64, 1, 2, 0x7f8, 0x10},    {65, 1, 1, 0x8, 0x8000}, {2048, 2, 1, 0x2000, 0x100},
		{2048, 2, 2, 0x8000, 0x10}, {3, 4, 4, 0x800, 0xc00}, {2, 4, 1, 0x1800, 0},
		{2048, 1, 1, 0, 0x8000},
	};
	struct rig *rig = *state;
	struct interrupt irq, last;
	struct msix m;
	unsigned i, e;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		e = cases[i].entries;
		plug(rig, e, cases[i].bar, cases[i].offset, cases[i].pba_bar, cases[i].pba_offset);
		assert_true(msix_open(&m, &rig->pci));
		assert_int_equal(m.n, e);
		assert_int_equal(control(rig) & ENABLE, 0);
		msix_enable(&m, true);
		last = irq = set(&m, 0, &hits[0]);
		if (e > 1)
			last = set(&m, e - 1, &hits[1]);
		assert_int_equal(rig->disk.msix.table[2], irq.vector);
		assert_int_equal(rig->disk.msix.table[4 * (e - 1)], 0xfee00000);
		assert_int_equal(rig->disk.msix.table[4 * (e - 1) + 2], last.vector);
		for (unsigned n = 1; n + 1 < e; n++)
			assert_int_equal(rig->disk.msix.table[4 * n + 3] & 1, 1);
		raise_entry(rig, (uint16_t)(e - 1));
		assert_int_equal(hits[e > 1], 1);
		assert_int_equal(host.interrupts, 1);
	}
}

/* F-121: what cannot be a table is refused, and nothing is written. */
static void bad_places(void **state)
{
	static const struct {
		uint32_t place;
		unsigned entries;
		bool io, unassigned, unmappable;
	} cases[] = {
		{0x10000 | 1, 1, false, false, false},
		{0xfff8 | 1, 1, false, false, false},
		{0x8008 | 1, 2048, false, false, false},
		{0xfffffff8u | 1, 2048, false, false, false},
		{6, 1, false, false, false},
		{7, 1, false, false, false},
		{3, 1, false, false, false},
		{0, 1, true, false, false},
		{1, 1, false, true, false},
		{1, 1, false, false, true},
	};
	struct rig *rig = *state;
	struct msix m;
	unsigned i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		plug(rig, cases[i].entries, 1, 0, 2, 0);
		fake_pci_put(rig->disk.fn, rig->disk.msix.cap + 4u, cases[i].place, 4);
		if (cases[i].unassigned)
			fake_pci_bar(rig->disk.fn, 1, FAKE_BAR_MEM32, 0, 0x10000);
		host.mmio_limit = cases[i].unmappable ? 0x1000 : 0;
		assert_false(msix_open(&m, &rig->pci));
		assert_int_equal(m.cap, rig->disk.msix.cap);
		assert_int_equal(m.n, 0);
		assert_int_equal(control(rig) & ENABLE, 0);
	}
	plug(rig, 0, 1, 0, 1, 0);
	assert_false(msix_open(&m, &rig->pci));
	assert_int_equal(m.cap, 0);
}

/* F-121: what firmware left open is masked first, and the function is off until it is all. */
static void left_by_firmware(void **state)
{
	struct rig *rig = *state;
	struct msix m;
	unsigned i;

	plug(rig, 70, 2, 0x2000, 1, 0);
	fake_pci_put(rig->disk.fn, rig->disk.msix.cap + 2u, 69 | ENABLE | MASK_ALL, 2);
	for (i = 0; i < 70; i++) {
		rig->disk.msix.table[4 * i] = 0xfee0f000;
		rig->disk.msix.table[4 * i + 3] &= ~1u;
	}
	assert_true(msix_open(&m, &rig->pci));
	assert_int_equal(control(rig), 69);
	for (i = 0; i < 70; i++)
		assert_int_equal(rig->disk.msix.table[4 * i + 3] & 1, 1);
	set(&m, 69, &hits[0]);
}

/* INTx is barred exactly while messages are on. */
static void enabling(void **state)
{
	struct rig *rig = *state;
	struct msix m;

	plug(rig, 2, 1, 0, 1, 0x800);
	assert_true(msix_open(&m, &rig->pci));
	assert_int_equal(fake_pci_command(rig->disk.fn), 7);
	msix_enable(&m, true);
	assert_int_equal(control(rig), ENABLE | 1);
	assert_int_equal(fake_pci_command(rig->disk.fn), 7 | INTX_DISABLE);
	msix_enable(&m, false);
	assert_int_equal(control(rig), 1);
	assert_int_equal(fake_pci_command(rig->disk.fn), 7);
}

/* F-121: an entry that is open is masked before it is written again; what was raised meanwhile comes
 * when it opens, by the new words. */
static void masking(void **state)
{
	struct rig *rig = *state;
	struct interrupt irq;
	struct msix m;

	plug(rig, 2, 1, 0, 1, 0x800);
	assert_true(msix_open(&m, &rig->pci));
	msix_enable(&m, true);
	irq = set(&m, 1, &hits[0]);
	raise_entry(rig, 1);
	assert_int_equal(hits[0], 1);
	msix_mask(&m, 1);
	raise_entry(rig, 1);
	assert_int_equal(hits[0], 1);
	interrupt_free(&irq);
	set(&m, 1, &hits[1]);
	interrupt_wait(host.clock_ns + 50000);
	assert_int_equal(hits[0], 1);
	assert_int_equal(hits[1], 1);
	set(&m, 1, &hits[2]); /* without a mask of the test's own */
	raise_entry(rig, 1);
	assert_int_equal(hits[1], 1);
	assert_int_equal(hits[2], 1);
}

/* MSIX-04, and an entry that does not keep what is written. */
static void bad_entries(void **state)
{
	struct msi_message message = {0x7fee00000, 64};
	struct rig *rig = *state;
	struct msix m;

	plug(rig, 3, 1, 0, 1, 0x800);
	assert_true(msix_open(&m, &rig->pci));
	assert_false(msix_set(&m, 3, &message));
	for (unsigned word = 4; word < 7; word++) {
		rig->disk.bad_word = word + 1;
		memset(&rig->disk.msix.table[4], 0, 12);
		assert_false(msix_set(&m, 1, &message));
		assert_int_equal(rig->disk.msix.table[7] & 1, 1);
		assert_true(msix_set(&m, 2, &message));
	}
	rig->disk.bad_word = 7 + 1; /* it cannot be opened */
	assert_false(msix_set(&m, 1, &message));
}

/* The fake's own checks, each seen failing. */
static void broken_rules_are_seen(void **state)
{
	static const struct {
		uint32_t at, value;
		unsigned width;
		const char *id;
	} cases[] = {
		{16, 1, 4, "F-121: word 0"},	     {24, 1, 4, "F-121: word 2"},
		{28, 0, 4, "F-121: vector control"}, {12, 0x00a50000, 4, "F-121: MSI-X entry 0"},
		{16, 1, 2, "F-121: 2 bytes"},	     {32, 0, 4, "MSIX-04"},
		{0x800, 0, 4, "F-121: the pending"},
	};
	struct rig *rig = *state;
	volatile uint8_t *reg;
	struct msix m;
	unsigned i;

	rig_tolerate();
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		plug(rig, 2, 1, 0, 1, 0x800);
		assert_true(msix_open(&m, &rig->pci));
		set(&m, 1, &hits[0]);
		assert_null(fake_violation());
		reg = mmio_map(rig->disk.fn->bar[1].base, 4096);
		if (cases[i].width == 4)
			mmio_write32(reg + cases[i].at, cases[i].value);
		else
			mmio_write16(reg + cases[i].at, (uint16_t)cases[i].value);
		assert_non_null(fake_violation());
		assert_non_null(strstr(fake_violation(), cases[i].id));
	}
	plug(rig, 2, 1, 0, 1, 0x800);
	pci_write32(&rig->pci, rig->disk.msix.cap, 0);
	assert_non_null(strstr(fake_violation(), "F-121: 4 bytes"));
	plug(rig, 2, 1, 0, 1, 0x800);
	fake_apic_message(0xfee00000, 0);
	assert_non_null(strstr(fake_violation(), "F-123"));
	fake_reset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(table_places),
		rig_test(bad_places),
		rig_test(left_by_firmware),
		rig_test(enabling),
		rig_test(masking),
		rig_test(bad_entries),
		rig_test(broken_rules_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
