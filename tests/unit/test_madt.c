/* SPDX-License-Identifier: BSD-2-Clause */
/* Which CPUs and lines does a MADT list, whatever it says? And which mode does an APIC go to? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/x86_64/acpi.h"
#include "arch/x86_64/lapic_mode.h"
#include "arch/x86_64/madt.h"

#define ENTRIES	 44
#define X2APIC	 APIC_BASE_X2APIC
#define ENABLE	 APIC_BASE_ENABLE
#define ADDRESS	 0xfee00000ull
#define BOOT_CPU 0x100ull

static struct {
	struct acpi_header header;
	uint8_t bytes[512];
} __attribute__((packed)) table;

const struct acpi_header *acpi_find(const char *signature)
{
	assert_string_equal(signature, "APIC");
	return table.header.length ? &table.header : NULL;
}

uint64_t acpi_field(const struct acpi_header *of, uint32_t offset, unsigned bytes)
{
	uint64_t value = 0;

	assert_ptr_equal(of, &table.header);
	assert_in_range(offset + bytes, 0, of->length);
	memcpy(&value, (const char *)of + offset, bytes);
	return value;
}

static int empty(void **state)
{
	(void)state;
	memset(&table, 0, sizeof(table));
	table.header.length = ENTRIES;
	return 0;
}

static void add(const void *entry, size_t bytes)
{
	memcpy((char *)&table + table.header.length, entry, bytes);
	table.header.length += (uint32_t)bytes;
}

#define ADD(...)                                        \
	do {                                            \
		const uint8_t entry_[] = {__VA_ARGS__}; \
		add(entry_, sizeof(entry_));            \
	} while (0)
#define CPU(id, flags)	  ADD(0, 8, 99, id, flags, 0, 0, 0)
#define X2CPU(low, flags) ADD(9, 16, 0, 0, low, 1, 0, 0, flags, 0, 0, 0, 99, 0, 0, 0)

/* The ids of the CPUs that may be started, 0 behind the last. */
static void expect_cpus(unsigned n, const uint32_t *ids)
{
	struct madt_entry entry = {0};
	unsigned found = 0;
	uint32_t id;

	while (madt_next(&entry)) {
		if (!madt_cpu(&entry, &id))
			continue;
		assert_in_range(found, 0, n - 1);
		assert_int_equal(id, ids[found++]);
	}
	assert_int_equal(found, n);
}

/* F-014: ids have holes, CPUs may be disabled, entries of other types stand in between. */
static void f014_sparse_and_disabled(void **state)
{
	(void)state;
	CPU(0, 1);
	CPU(2, 1);
	CPU(4, 0); /* disabled */
	CPU(5, 2); /* online-capable only */
	ADD(1, 12, 0, 0, 0, 0, 0xc0, 0xfe, 0, 0, 0, 0);
	CPU(255, 1); /* nobody's */
	CPU(254, 3);
	X2CPU(7, 1); /* 0x107 */
	X2CPU(8, 0);
	ADD(200, 3, 7);
	expect_cpus(4, (const uint32_t[]){0, 2, 254, 0x107});
}

static void entries_that_lie(void **state)
{
	(void)state;
	CPU(1, 1);
	ADD(0, 4, 99, 2); /* too short to have flags: not enabled */
	ADD(9, 8, 0, 0, 3, 0, 0, 0);
	CPU(4, 1);
	ADD(0, 9, 99, 5, 1, 0, 0, 0); /* reaches beyond the table */
	expect_cpus(2, (const uint32_t[]){1, 4});
	empty(NULL);
	CPU(1, 1);
	ADD(0, 0, 99, 2, 1, 0, 0, 0); /* would be read for ever */
	CPU(3, 1);
	expect_cpus(1, (const uint32_t[]){1});
	empty(NULL);
	CPU(1, 1);
	ADD(0); /* half a header */
	expect_cpus(1, (const uint32_t[]){1});
}

static void no_table(void **state)
{
	struct madt_entry entry = {0};

	(void)state;
	expect_cpus(0, NULL);
	table.header.length = 0;
	assert_false(madt_next(&entry));
	assert_int_equal(madt_pci_line(9).gsi, 9);
}

static void expect_line(uint8_t line, uint32_t gsi, bool active_high, bool edge)
{
	struct madt_line found = madt_pci_line(line);

	assert_int_equal(found.gsi, gsi);
	assert_int_equal(found.active_high, active_high);
	assert_int_equal(found.edge, edge);
}

static void overrides(void **state)
{
	(void)state;
	ADD(2, 10, 0, 0, 2, 0, 0, 0, 0, 0);    /* as the bus has it */
	ADD(2, 10, 0, 5, 21, 0, 0, 0, 0xd, 0); /* active high, level */
	ADD(2, 10, 0, 10, 0, 1, 0, 0, 0xf, 0); /* active low, level */
	ADD(2, 10, 0, 11, 11, 0, 0, 0, 5, 0);  /* active high, edge */
	expect_line(0, 2, false, false);
	expect_line(5, 21, true, false);
	expect_line(10, 256, false, false);
	expect_line(11, 11, true, true);
	expect_line(16, 16, false, false);
}

/* What is written to IA32_APIC_BASE on the way; a step that the SDM forbids is a fault. */
static void expect_mode(uint64_t base, bool x2apic, uint64_t end)
{
	uint64_t next;
	unsigned steps = 0;

	for (; (next = lapic_next_base(base, x2apic)) != base; base = next) {
		assert_in_range(++steps, 1, 2);
		assert_true(next & ENABLE);
		assert_false(!(base & ENABLE) && (next & X2APIC)); /* off to x2APIC */
		assert_false((base & X2APIC) && !(next & X2APIC)); /* x2APIC to xAPIC */
	}
	assert_int_equal(base, end);
}

static void f017_mode_of_each_cpu(void **state)
{
	const uint64_t rest = ADDRESS | BOOT_CPU;

	(void)state;
	expect_mode(rest, false, rest | ENABLE);
	expect_mode(rest | ENABLE, false, rest | ENABLE);
	expect_mode(rest | ENABLE | X2APIC, false, rest | ENABLE | X2APIC);
	expect_mode(rest, true, rest | ENABLE | X2APIC);
	expect_mode(rest | ENABLE, true, rest | ENABLE | X2APIC);
	expect_mode(rest | ENABLE | X2APIC, true, rest | ENABLE | X2APIC);
}

static void f017_who_wants_the_x2apic(void **state)
{
	(void)state;
	assert_false(lapic_wants_x2apic(0, false));
	assert_false(lapic_wants_x2apic(FEATURE_ECX_HYPERVISOR, true));
	assert_false(lapic_wants_x2apic(FEATURE_ECX_X2APIC, false));
	assert_true(lapic_wants_x2apic(FEATURE_ECX_X2APIC, true));
	assert_true(lapic_wants_x2apic(FEATURE_ECX_X2APIC | FEATURE_ECX_HYPERVISOR, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(f014_sparse_and_disabled, empty),
		cmocka_unit_test_setup(entries_that_lie, empty),
		cmocka_unit_test_setup(no_table, empty),
		cmocka_unit_test_setup(overrides, empty),
		cmocka_unit_test(f017_mode_of_each_cpu),
		cmocka_unit_test(f017_who_wants_the_x2apic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
