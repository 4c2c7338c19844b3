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

#define PIT_HZ		1193182u
#define PIT_COUNTER_2	0x42
#define PIT_CONTROL	0x43
#define PIT_2_ONE_SHOT	0xb0	   /* counter 2, low then high byte, mode 0, binary */
#define PIT_COUNT	3580	   /* 3 ms */
#define PIT_TRIES	16	   /* on a busy host */
#define PIT_GOOD	500	   /* known to 1 of so many: not worth another try */
#define PIT_POLLS_MIN	40000u	   /* slow ones take 1 us each */
#define PIT_WAIT_CYCLES (1u << 25) /* 4 ms at 8 GHz */
#define SPEAKER_PORT	0x61
#define SPEAKER_GATE	1u
#define SPEAKER_SOUND	2u
#define SPEAKER_OUT	(1u << 5)

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

/* How many cycles the count took: between the least and the most that it can be. */
struct pit_span {
	uint64_t least, most;
};

static void pit_choose(struct pit_span *best, struct pit_span span)
{
	if (span.most - span.least < best->most - best->least)
		*best = span;
}

/*
 * Mode 0: the output is low from the second byte of the count on, until so many ticks have gone. Each
 * end lies between two reads of the TSC: on a busy host they are far apart, which shows. False if the
 * output does not rise, for enough reads and enough cycles: where a cycle is an instruction, reads
 * take next to no time, and on a slow bus cycles are not what it takes.
 */
static bool pit_count(struct pit_span *best)
{
	uint64_t before, after, low, now;

	port_write8(PIT_CONTROL, PIT_2_ONE_SHOT);
	port_write8(PIT_COUNTER_2, PIT_COUNT & 0xff);
	before = cycles();
	port_write8(PIT_COUNTER_2, PIT_COUNT >> 8);
	after = low = now = cycles();
	for (unsigned polls = 0; polls < PIT_POLLS_MIN || now - after < PIT_WAIT_CYCLES; polls++) {
		if (port_read8(SPEAKER_PORT) & SPEAKER_OUT) {
			if (polls) /* else it was not seen to be low */
				pit_choose(best, (struct pit_span){low - after, cycles() - before});
			return true;
		}
		low = now;
		now = cycles();
	}
	return false;
}

static struct pit_span pit_measure(void)
{
	struct pit_span best = {0, UINT64_MAX};

	for (unsigned tries = 0; tries < PIT_TRIES; tries++)
		if (!pit_count(&best) || best.most - best.least < best.least / PIT_GOOD)
			break;
	return best;
}

uint64_t pit_measure_hz(void)
{
	uint8_t saved = port_read8(SPEAKER_PORT);
	struct pit_span span;

	port_write8(SPEAKER_PORT, (uint8_t)((saved & ~SPEAKER_SOUND) | SPEAKER_GATE));
	span = pit_measure();
	port_write8(SPEAKER_PORT, saved);
	if (span.most == UINT64_MAX)
		return 0;
	return wide_mul_div(span.least + (span.most - span.least) / 2, PIT_HZ, PIT_COUNT);
}
