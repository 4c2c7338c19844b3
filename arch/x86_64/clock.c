/* SPDX-License-Identifier: BSD-2-Clause */
/* How long is a cycle? The TSC against every clock there is, briefly at first, then for longer. */
#include <arch/machine.h>
#include <arch/system.h>

#include "arch/x86_64/clock_sources.h"
#include "arch/x86_64/cpu.h"
#include "lib/log.h"
#include "lib/wide.h"

#define REFERENCES_MAX	  2
#define WINDOW_PER_SECOND 500 /* the first window is a second over this: 2 ms */
#define BRACKETS	  8
#define EDGES		  6
#define EDGE_POLLS_MAX	  2000
#define DEAD_POLLS_MAX	  2000 /* in a row without a tick */
#define SPIN		  100  /* empty rounds between two looks at a clock */
#define GUESS_HZ	  1000000000u
#define PLAUSIBLE_HZ_MIN  10000000u
#define PLAUSIBLE_HZ_MAX  100000000000u
#define TRUSTED_PPM_MAX	  5000
#define DRIFT_PPM_MAX	  1000 /* that later figures may differ from the first by */
#define NANOSECONDS	  1000000000u

/* At @cycles of the TSC the clock stood at @ticks. */
struct clock_point {
	uint64_t cycles, ticks;
};

struct reference {
	struct clock_source source;
	struct clock_point first, last;
	uint64_t ticks; /* from first to last */
	uint64_t hz;	/* of the TSC, by this clock */
};

/* Until clock_init(): a fast CPU, so that waits are rather too long than too short. */
struct timebase timebase = {4000000000u, 1ull << 30};

static struct reference references[REFERENCES_MAX];
static unsigned nr_references;
static const char no_clock[] = "none";
static struct clock_status status = {.source = no_clock, .cross_source = no_clock, .hz = GUESS_HZ};
static bool claim_used; /* status.source is a CPUID leaf */

static uint64_t mask_of(const struct clock_source *source)
{
	return source->bits == 64 ? UINT64_MAX : (1ull << source->bits) - 1;
}

/*
 * The narrowest of several looks. A fine clock is read between two reads of the TSC; a coarse one
 * is caught as it ticks, between the read before and the read after. False if it stands still.
 */
static bool sample(const struct clock_source *source, struct clock_point *point)
{
	unsigned wanted = source->coarse ? EDGES : BRACKETS;
	uint64_t narrowest = UINT64_MAX, old_ticks = source->read(), old_cycles = cycles();

	for (unsigned polls = 0; wanted && polls < EDGE_POLLS_MAX; polls++) {
		uint64_t before = source->coarse ? old_cycles : cycles();
		uint64_t ticks = source->read(), after = cycles();

		if (ticks != old_ticks || !source->coarse) {
			wanted--;
			if (after - before < narrowest) {
				narrowest = after - before;
				*point = (struct clock_point){before + narrowest / 2, ticks};
			}
		}
		old_ticks = ticks;
		old_cycles = after;
	}
	if (source->read_whole) {
		uint64_t whole = source->read_whole();

		point->ticks = whole - (uint32_t)((uint32_t)whole - (uint32_t)point->ticks);
	}
	return wanted == 0;
}

/* Waits until @source is @ticks past @start; false if it stops on the way (F-138). */
static bool wait_ticks(const struct clock_source *source, uint64_t start, uint64_t ticks)
{
	uint64_t mask = mask_of(source) & UINT32_MAX, old = source->read();
	unsigned still = 0;

	while (((old - start) & mask) < ticks && still < DEAD_POLLS_MAX) {
		uint64_t now;

		for (unsigned i = 0; i < SPIN; i++)
			__asm__ volatile("");
		now = source->read();
		still = now == old ? still + 1 : 0;
		old = now;
	}
	return still < DEAD_POLLS_MAX;
}

/* Ticks from first to last. Where the counter may have wrapped, @expected tells how often. */
static uint64_t elapsed_ticks(const struct reference *ref, uint64_t expected)
{
	uint64_t ticks = (ref->last.ticks - ref->first.ticks) & mask_of(&ref->source);
	unsigned bits = ref->source.bits;

	if (bits < 64 && expected > ticks)
		ticks += (expected - ticks + (1ull << (bits - 1))) >> bits << bits;
	return ticks;
}

/* False if the clock stands still or gives a rate that no CPU has. */
static bool measure(struct reference *ref, uint64_t expected_ticks)
{
	if (!sample(&ref->source, &ref->last))
		return false;
	ref->ticks = elapsed_ticks(ref, expected_ticks);
	ref->hz = wide_mul_div(ref->last.cycles - ref->first.cycles, ref->source.hz, ref->ticks);
	return ref->hz >= PLAUSIBLE_HZ_MIN && ref->hz <= PLAUSIBLE_HZ_MAX;
}

static void drop_reference(unsigned index)
{
	log_warn("clock: %s is there but does not run", references[index].source.name);
	nr_references--;
	for (; index < nr_references; index++)
		references[index] = references[index + 1];
}

static void open_references(void)
{
	static bool (*const open[])(struct clock_source *) = {hpet_open, pm_timer_open};

	for (unsigned i = 0; i < REFERENCES_MAX; i++) {
		struct reference *ref = &references[nr_references];

		if (!open[i](&ref->source))
			continue;
		nr_references++;
		if (!sample(&ref->source, &ref->first))
			drop_reference(nr_references - 1);
	}
}

static bool wait_window(const struct reference *ref)
{
	return wait_ticks(&ref->source, ref->first.ticks, ref->source.hz / WINDOW_PER_SECOND);
}

/* All clocks over one window, timed by the first that runs; most of it is over already. */
static void measure_first_window(void)
{
	while (nr_references && !wait_window(&references[0]))
		drop_reference(0);
	for (unsigned i = nr_references; i-- > 0;)
		if (!measure(&references[i], 0))
			drop_reference(i);
}

static uint64_t distance_ppm(uint64_t a, uint64_t b)
{
	return wide_mul_div(a > b ? a - b : b - a, 1000000, a);
}

static void set_cross(const char *source, uint64_t hz)
{
	status.cross_source = source;
	status.cross_hz = hz;
	status.cross_ppm = distance_ppm(status.hz, hz);
	status.trusted = status.cross_ppm <= TRUSTED_PPM_MAX;
}

/* CPUID is exact where it is true: the clock that agrees with it becomes the cross-check. */
static void consider_claim(void)
{
	const char *leaf, *measured_by = status.source;
	uint64_t claimed = cpu_claimed_tsc_hz(&leaf), measured = status.hz;

	if (claimed < PLAUSIBLE_HZ_MIN || claimed > PLAUSIBLE_HZ_MAX)
		return;
	if (measured_by != no_clock && distance_ppm(measured, claimed) > TRUSTED_PPM_MAX) {
		log_warn("clock: %s claims %llu kHz, %s measures %llu kHz: the claim is not used",
			 leaf, (unsigned long long)claimed / 1000, measured_by,
			 (unsigned long long)measured / 1000);
		return;
	}
	claim_used = true;
	status.source = leaf;
	status.hz = claimed;
	if (measured_by != no_clock)
		set_cross(measured_by, measured);
}

static void use_pit(void)
{
	uint64_t hz = pit_measure_hz();

	if (hz < PLAUSIBLE_HZ_MIN || hz > PLAUSIBLE_HZ_MAX)
		return;
	status.source = "pit";
	status.hz = hz;
}

static void use_references(void)
{
	const struct reference *main = &references[0], *second = &references[1];

	if (claim_used) {
		set_cross(main->source.name, main->hz);
		return;
	}
	status.source = main->source.name;
	status.hz = main->hz;
	if (nr_references > 1)
		set_cross(second->source.name, second->hz);
}

static void set_timebase(void)
{
	timebase.hz = status.hz;
	timebase.ns_mult = wide_div((u128)NANOSECONDS << 32, status.hz);
}

void clock_start(void)
{
	open_references();
}

void clock_init(void)
{
	measure_first_window();
	if (nr_references)
		use_references();
	else
		use_pit();
	consider_claim();
	set_timebase();
}

/* How far @ref must have come, by a clock that wraps later or never. */
static uint64_t expected_ticks(unsigned index)
{
	const struct reference *ref = &references[index], *main = &references[0];

	if (index)
		return wide_mul_div(main->ticks, ref->source.hz, main->source.hz);
	return wide_mul_div(cycles() - ref->first.cycles, ref->source.hz, status.hz);
}

/* A lone clock has no other to be checked by; the PIT takes 3 ms, so it is asked only once. */
static void cross_by_pit(void)
{
	uint64_t hz = status.trusted ? 0 : pit_measure_hz();

	if (hz >= PLAUSIBLE_HZ_MIN && hz <= PLAUSIBLE_HZ_MAX)
		set_cross("pit", hz);
}

void clock_refine(void)
{
	for (unsigned i = 0; i < nr_references; i++) {
		if (measure(&references[i], expected_ticks(i)))
			continue;
		log_warn("clock: %s stopped during the run", references[i].source.name);
		status.trusted = false;
		return;
	}
	if (!nr_references)
		return;
	use_references();
	if (nr_references == 1)
		cross_by_pit();
	if (distance_ppm(timebase.hz, status.hz) > DRIFT_PPM_MAX) {
		log_warn("clock: the TSC seems to run at %llu Hz now, and at %llu Hz at start-up: "
			 "the times of this run are off by as much",
			 (unsigned long long)status.hz, (unsigned long long)timebase.hz);
		status.trusted = false;
	}
	set_timebase();
}

void clock_status(struct clock_status *out)
{
	*out = status;
}
