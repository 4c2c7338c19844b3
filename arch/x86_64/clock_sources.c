/* SPDX-License-Identifier: BSD-2-Clause */
/* How are the HPET, the ACPI PM timer and the PIT read? */
#include "arch/x86_64/clock_sources.h"

#include <arch/machine.h>

#include "arch/x86_64/acpi.h"
#include "lib/wide.h"

/* IA-PC HPET 1.0a, 2.3. */
#define HPET_BYTES	   1024
#define HPET_CAPABILITIES  0x00
#define HPET_PERIOD_FS	   0x04
#define HPET_CONFIGURATION 0x10
#define HPET_COUNTER	   0xf0
#define HPET_COUNTER_64	   (1u << 13)
#define HPET_ENABLE	   1u
#define HPET_PERIOD_FS_MAX 100000000u
#define FEMTOSECONDS	   1000000000000000ull
#define ACPI_HPET_ADDRESS  40 /* in the table "HPET" */

/* ACPI 6.4, 4.8.3.3 and 5.2.9. */
#define PM_TIMER_HZ	  3579545u
#define FADT_PM_TIMER	  76
#define FADT_PM_TIMER_LEN 91
#define FADT_FLAGS	  112
#define FADT_X_PM_TIMER	  208
#define PM_TIMER_IS_32	  (1u << 8)

#define PIT_HZ		  1193182u
#define PIT_COUNTER_2	  0x42
#define PIT_CONTROL	  0x43
#define PIT_2_SQUARE_WAVE 0xb6 /* counter 2, low then high byte, mode 3, binary */
#define PIT_RELOAD	  1193 /* one period: 1 ms */
#define PIT_PERIODS	  3
#define PIT_POLLS_MIN	  20000u     /* per edge; slow ones take 1 us each */
#define PIT_WAIT_CYCLES	  (1u << 23) /* half a period at 16 GHz */
#define SPEAKER_PORT	  0x61
#define SPEAKER_GATE	  1u
#define SPEAKER_SOUND	  2u
#define SPEAKER_OUT	  (1u << 5)

static volatile char *hpet;
static uint16_t pm_timer_port;

static uint64_t hpet_read(void)
{
	return mmio_read32(hpet + HPET_COUNTER);
}

/* Two halves, read until the upper one holds still; it moves once in 43 s. */
static uint64_t hpet_read_whole(void)
{
	uint32_t high = mmio_read32(hpet + HPET_COUNTER + 4), low, again;

	for (unsigned tries = 0; tries < 4; tries++, high = again) {
		low = mmio_read32(hpet + HPET_COUNTER);
		again = mmio_read32(hpet + HPET_COUNTER + 4);
		if (again == high)
			break;
	}
	return (uint64_t)high << 32 | low;
}

bool hpet_open(struct clock_source *source)
{
	const struct acpi_header *table = acpi_find("HPET");
	struct acpi_address at;
	uint32_t period_fs, config;

	if (!table)
		return false;
	at = acpi_generic_address(table, ACPI_HPET_ADDRESS);
	if (!at.address || at.space != ACPI_SPACE_MEMORY)
		return false;
	hpet = mmio_map(at.address, HPET_BYTES);
	if (!hpet)
		return false;
	period_fs = mmio_read32(hpet + HPET_PERIOD_FS);
	if (!period_fs || period_fs > HPET_PERIOD_FS_MAX)
		return false;
	config = mmio_read32(hpet + HPET_CONFIGURATION);
	if (!(config & HPET_ENABLE))
		mmio_write32(hpet + HPET_CONFIGURATION, config | HPET_ENABLE);
	*source =
		(struct clock_source){"hpet", FEMTOSECONDS / period_fs, 32, false, hpet_read, NULL};
	if (mmio_read32(hpet + HPET_CAPABILITIES) & HPET_COUNTER_64) {
		source->bits = 64;
		source->read_whole = hpet_read_whole;
	}
	return true;
}

/* Some chips latch badly: a value is taken once it lies between its neighbours in time. */
static uint64_t pm_timer_read(void)
{
	uint32_t before = port_read32(pm_timer_port), value = port_read32(pm_timer_port), after;

	for (unsigned tries = 0; tries < 8; tries++) {
		after = port_read32(pm_timer_port);
		if (before <= value && value <= after)
			break;
		before = value;
		value = after;
	}
	return value;
}

bool pm_timer_open(struct clock_source *source)
{
	const struct acpi_header *fadt = acpi_find("FACP");
	struct acpi_address at;

	if (!fadt || acpi_field(fadt, FADT_PM_TIMER_LEN, 1) != 4)
		return false;
	pm_timer_port = (uint16_t)acpi_field(fadt, FADT_PM_TIMER, 4);
	at = acpi_generic_address(fadt, FADT_X_PM_TIMER);
	if (!pm_timer_port && at.space == ACPI_SPACE_PORT)
		pm_timer_port = (uint16_t)at.address;
	if (!pm_timer_port)
		return false;
	*source = (struct clock_source){"pm-timer", PM_TIMER_HZ, 24, true, pm_timer_read, NULL};
	if (acpi_field(fadt, FADT_FLAGS, 4) & PM_TIMER_IS_32)
		source->bits = 32;
	return true;
}

/*
 * Waits until the output is @level; *@at is the middle of the two reads around its change. Ends
 * when both enough reads and enough cycles have passed: where a cycle is an instruction, reads
 * take next to no time, and on a slow bus cycles are not what it takes.
 */
static bool pit_wait(bool level, uint64_t *at)
{
	uint64_t start = cycles(), before = start, now;

	for (unsigned polls = 0; polls < PIT_POLLS_MIN || before - start < PIT_WAIT_CYCLES;
	     polls++) {
		bool out = port_read8(SPEAKER_PORT) & SPEAKER_OUT;

		now = cycles();
		if (out == level) {
			*at = before + (now - before) / 2;
			return true;
		}
		before = now;
	}
	return false;
}

/* In square wave mode whole periods lie between rising edges, whenever counting began. */
static uint64_t pit_measure_cycles(void)
{
	uint64_t first, last;

	if (!pit_wait(false, &first) || !pit_wait(true, &first))
		return 0;
	for (unsigned i = 0; i < PIT_PERIODS; i++)
		if (!pit_wait(false, &last) || !pit_wait(true, &last))
			return 0;
	return last - first;
}

uint64_t pit_measure_hz(void)
{
	uint8_t saved = port_read8(SPEAKER_PORT);
	uint64_t n;

	port_write8(SPEAKER_PORT, (uint8_t)((saved & ~SPEAKER_SOUND) | SPEAKER_GATE));
	port_write8(PIT_CONTROL, PIT_2_SQUARE_WAVE);
	port_write8(PIT_COUNTER_2, PIT_RELOAD & 0xff);
	port_write8(PIT_COUNTER_2, PIT_RELOAD >> 8);
	n = pit_measure_cycles();
	port_write8(SPEAKER_PORT, saved);
	return wide_mul_div(n, PIT_HZ, PIT_RELOAD * PIT_PERIODS);
}
