/* SPDX-License-Identifier: BSD-2-Clause */
/* Are all functions found, BARs sized without moving them, and capability lists that lie survived? */
#include "tests/host/rig.h"

#include <string.h>

static bool all(const struct pci_function *fn)
{
	(void)fn;
	return true;
}

static bool virtio(const struct pci_function *fn)
{
	return fn->vendor_id == 0x1af4;
}

static unsigned scan(struct pci_function *out, unsigned max,
		     bool (*wanted)(const struct pci_function *))
{
	pci_init();
	return pci_scan(out, max, wanted);
}

/* F-032: functions beyond gaps, and a single-function device that answers eight times. */
static void multifunction_devices(void **state)
{
	struct pci_function found[16];

	(void)state;
	fake_pci_add(0, 0, 0, 0x8086, 0x29c0);
	fake_pci_add(0, 5, 0, 0x1af4, 0x1005)->config[0x0e] = 0x80;
	fake_pci_add(0, 5, 3, 0x1af4, 0x1001);
	fake_pci_add(0, 6, 0, 0x1af4, 0x1042)->ghost = true;
	fake_pci_add(0, 31, 7, 0x1af4, 0x1042); /* no function 0: not there */
	assert_int_equal(scan(found, 16, virtio), 3);
	assert_string_equal(found[0].address, "00:05.0");
	assert_string_equal(found[1].address, "00:05.3");
	assert_string_equal(found[2].address, "00:06.0");
	assert_int_equal(found[1].device_id, 0x1001);
}

/* F-027: three levels of bridges, found in order of address whatever the order of the walk. */
static void devices_behind_bridges(void **state)
{
	struct pci_function found[16];
	unsigned i;

	(void)state;
	fake_pci_bridge(0, 1, 0, 3, 5);
	fake_pci_bridge(3, 0, 0, 4, 5);
	fake_pci_bridge(4, 2, 0, 5, 5);
	fake_pci_bridge(0, 2, 0, 1, 1);
	fake_pci_add(5, 7, 0, 0x1af4, 0x1042);
	fake_pci_add(1, 0, 0, 0x1af4, 0x1042);
	fake_pci_add(0, 9, 0, 0x1af4, 0x1001);
	assert_int_equal(scan(found, 16, virtio), 3);
	assert_string_equal(found[0].address, "00:09.0");
	assert_string_equal(found[1].address, "01:00.0");
	assert_string_equal(found[2].address, "05:07.0");
	for (i = 0; i < 16; i++)
		assert_true(scan(found, i, virtio) == (i < 3 ? i : 3));
}

/* F-027: bridges that lead back, to themselves or nowhere, end the walk. */
static void bridge_loops(void **state)
{
	struct pci_function found[16];

	(void)state;
	fake_pci_bridge(0, 1, 0, 0, 0);
	fake_pci_bridge(0, 2, 0, 1, 2);
	fake_pci_bridge(1, 0, 0, 2, 2);
	fake_pci_bridge(2, 0, 0, 1, 1);
	fake_pci_bridge(2, 1, 0, 2, 2);
	fake_pci_add(2, 3, 0, 0x1af4, 0x1042);
	host.budget = 100000;
	assert_int_equal(scan(found, 16, virtio), 1);
	assert_string_equal(found[0].address, "02:03.0");
}

static void second_root_bus(void **state)
{
	struct pci_function found[4];

	(void)state;
	fake_pci_add(0, 0, 0, 0x8086, 0x29c0);
	fake_pci_bridge(128, 0, 0, 129, 129);
	fake_pci_add(129, 0, 0, 0x1af4, 0x1042);
	assert_int_equal(scan(found, 4, virtio), 1);
	assert_string_equal(found[0].address, "81:00.0");
}

/* F-030: no ports; buses beyond the ECAM region are not there. */
static void ecam(void **state)
{
	struct pci_function found[4];

	(void)state;
	fake_pci_ports(false);
	fake_pci_bridge(0, 1, 0, 2, 2);
	fake_pci_add(2, 31, 0, 0x1af4, 0x1042);
	assert_int_equal(scan(found, 4, virtio), 0);
	fake_pci_ecam(0xb0000000, 0, 3);
	assert_int_equal(scan(found, 4, virtio), 1);
	assert_true(pci_uses_ecam());
	assert_int_equal(pci_read32(&found[0], PCI_VENDOR_ID), 0x10421af4);
	assert_int_equal(pci_read8(&found[0], PCI_DEVICE_ID), 0x42);
	fake_pci_ecam(0xb0000000, 0, 0);
	assert_int_equal(scan(found, 4, virtio), 0);
}

static void empty_machine(void **state)
{
	struct pci_function found[1], host_bridge;

	(void)state;
	assert_int_equal(scan(found, 1, all), 0);
	pci_host_bridge(&host_bridge);
	assert_int_equal(host_bridge.vendor_id, 0xffff);
	fake_pci_add(0, 0, 0, 0x8086, 0x1237);
	pci_host_bridge(&host_bridge);
	assert_int_equal(host_bridge.device_id, 0x1237);
}

static const struct pci_function at_3 = {.device = 3};

static void check_bar(const struct pci_bar *bar, uint64_t base, uint64_t bytes, bool io)
{
	assert_int_equal(bar->base, base);
	assert_int_equal(bar->bytes, bytes);
	assert_int_equal(bar->io, io);
}

/* F-037, F-038: the fake fails the test if all-ones meet a live BAR, or if one moves. */
static void bars_are_sized_in_place(void **state)
{
	static const uint16_t commands[] = {0, 1, 2, 3, 0x0547};
	struct fake_function *fn = fake_pci_add(0, 3, 0, 0x1af4, 0x1042);
	struct pci_bar bars[PCI_BARS];
	unsigned i;

	(void)state;
	fake_pci_bar(fn, 0, FAKE_BAR_IO, 0xc100, 0x80);
	fake_pci_bar(fn, 1, FAKE_BAR_MEM32, 0xfebf1000, 0x1000);
	fake_pci_bar(fn, 2, FAKE_BAR_MEM64, 0x38000000000, 8ull << 30);
	fn->bar[2].address_bits = 42;
	fake_pci_bar(fn, 4, FAKE_BAR_MEM64, 0xfe000000, 0x4000);
	pci_init();
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		fake_pci_put(fn, PCI_COMMAND, commands[i], 2);
		pci_read_bars(&at_3, bars);
		assert_int_equal(fake_pci_command(fn), commands[i]);
		check_bar(&bars[0], 0xc100, 0x80, true);
		check_bar(&bars[1], 0xfebf1000, 0x1000, false);
		check_bar(&bars[2], 0x38000000000, 8ull << 30, false);
		check_bar(&bars[3], 0, 0, false);
		check_bar(&bars[4], 0xfe000000, 0x4000, false);
		check_bar(&bars[5], 0, 0, false);
	}
}

/* A 64-bit BAR of 4 GiB and more has no size bit in its lower half. */
static void large_and_last_bars(void **state)
{
	struct fake_function *fn = fake_pci_add(0, 3, 0, 0x1af4, 0x1042);
	struct pci_bar bars[PCI_BARS];

	(void)state;
	fake_pci_bar(fn, 0, FAKE_BAR_MEM64, 0xe000000000, 4ull << 30);
	fake_pci_bar(fn, 5, FAKE_BAR_MEM32, 0xfebf1000, 16);
	pci_init();
	pci_read_bars(&at_3, bars);
	check_bar(&bars[0], 0xe000000000, 4ull << 30, false);
	check_bar(&bars[5], 0xfebf1000, 16, false);
}

static void enable_sets_what_the_bars_need(void **state)
{
	struct fake_function *fn = fake_pci_add(0, 3, 0, 0x1af4, 0x1042);
	struct pci_bar bars[PCI_BARS] = {[0] = {0xc000, 64, true}};

	(void)state;
	pci_init();
	fake_pci_put(fn, PCI_COMMAND, 0, 2);
	pci_enable(&at_3, bars);
	assert_int_equal(fake_pci_command(fn) & 7, 5);
	bars[4] = (struct pci_bar){0xfe000000, 0x4000, false};
	pci_enable(&at_3, bars);
	assert_int_equal(fake_pci_command(fn) & 7, 7);
}

/* ---- Capability lists ---- */

static unsigned walk(struct fake_function *fn, bool *broken)
{
	struct pci_cap_walk w;
	unsigned n = 0;

	pci_init();
	fn->config_reads = 0;
	w = pci_cap_begin(&at_3);
	while (pci_cap_next(&w))
		n++;
	*broken = w.broken;
	assert_true(fn->config_reads < 256);
	return n;
}

static void good_lists(void **state)
{
	static const uint8_t cap[16] = {9};
	struct fake_function *fn = fake_pci_add(0, 3, 0, 0x1af4, 0x1042);
	bool broken;

	(void)state;
	assert_int_equal(walk(fn, &broken), 0);
	assert_false(broken);
	for (unsigned i = 1; i <= 12; i++) {
		fake_pci_cap(fn, cap, sizeof(cap));
		assert_int_equal(walk(fn, &broken), i);
		assert_false(broken);
	}
	fn->config[PCI_STATUS] = 0; /* no capability list, whatever the pointer says */
	assert_int_equal(walk(fn, &broken), 0);
}

/* F-039: self-loop, cycle, 0xFF, below 0x40, unaligned. */
static void lists_that_lie(void **state)
{
	static const struct {
		uint8_t start, at, next;
		bool broken;
	} lists[] = {
		{0x40, 0x40, 0x40, true},  {0x40, 0x40, 0x00, false}, {0xff, 0xfd, 0xff, true},
		{0x40, 0x40, 0x10, true},  {0x10, 0x10, 0x00, true},  {0x43, 0x40, 0x42, true},
		{0x03, 0x40, 0x00, false},
	};
	struct fake_function *fn = fake_pci_add(0, 3, 0, 0x1af4, 0x1042);
	bool broken;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		memset(fn->config + 0x40, 0, 192);
		fn->config[PCI_STATUS] = 0x10;
		fn->config[PCI_CAPABILITY_LIST] = lists[i].start;
		fn->config[(lists[i].at & 0xfc) + 1] = lists[i].next;
		assert_true(walk(fn, &broken) <= 48);
		assert_int_equal(broken, lists[i].broken);
	}
	memset(fn->config + 0x40, 0, 192);
	fn->config[PCI_CAPABILITY_LIST] = 0x80; /* a cycle of two */
	fn->config[0x81] = 0x90;
	fn->config[0x91] = 0x80;
	assert_int_equal(walk(fn, &broken), 48);
	assert_true(broken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(multifunction_devices),
		rig_test(devices_behind_bridges),
		rig_test(bridge_loops),
		rig_test(second_root_bus),
		rig_test(ecam),
		rig_test(empty_machine),
		rig_test(bars_are_sized_in_place),
		rig_test(large_and_last_bars),
		rig_test(enable_sets_what_the_bars_need),
		rig_test(good_lists),
		rig_test(lists_that_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
