/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far are the TSCs of two CPUs apart? A message goes there and back. The other CPU reads its TSC
 * in between, so what it reads lies between what this one reads before and after, if they are the
 * same: each round bounds the difference from both sides, and the shortest rounds bound it best.
 */
#include "arch/x86_64/skew.h"

#include <arch/machine.h>
#include <arch/system.h>

#include "arch/x86_64/percpu.h"
#include "lib/log.h"

#define ROUNDS	    200
#define ROUNDS_MIN  16	       /* one alone may have been interrupted */
#define PATIENCE_NS 10000000   /* for these: on a busy host each takes milliseconds */
#define BUDGET_NS   100000     /* when it has taken that long, the rounds that were made do */
#define STALLED_NS  1000000000 /* for one round; on a busy host a CPU gets no time for long */
#define ENOUGH	    UINT64_MAX

#define APART_NS 1000 /* that matters */

static uint64_t least_apart, most_ahead, most_behind; /* of all CPUs: of CPU 0's TSC */

/* No load of before or after counts as one of the other side (SDM vol. 2, RDTSC). */
static uint64_t cycles_between(void)
{
	uint64_t now;

	__asm__ volatile("lfence" ::: "memory");
	now = cycles();
	__asm__ volatile("lfence" ::: "memory");
	return now;
}

void skew_answer(struct cpu *cpu)
{
	struct skew_line *line = &cpu->skew;
	uint64_t asked, last = 0;

	while ((asked = __atomic_load_n(&line->asked, __ATOMIC_ACQUIRE)) != ENOUGH) {
		if (asked == last) {
			cpu_relax();
			continue;
		}
		line->at = cycles_between();
		__atomic_store_n(&line->answered, asked, __ATOMIC_RELEASE);
		last = asked;
	}
}

static bool wait_answer(const struct skew_line *line, uint64_t number)
{
	uint64_t start = cycles(), wait = ns_to_cycles(STALLED_NS);

	while (__atomic_load_n(&line->answered, __ATOMIC_ACQUIRE) != number) {
		if (cycles() - start > wait)
			return false;
		cpu_relax();
	}
	return true;
}

/* How far the other TSC is ahead of this one: at least, and at most. */
struct ahead {
	int64_t least, most;
};

static bool round_trip(struct skew_line *line, uint64_t number, struct ahead *ahead)
{
	uint64_t before, after;

	before = cycles_between();
	__atomic_store_n(&line->asked, number, __ATOMIC_RELEASE);
	if (!wait_answer(line, number))
		return false;
	after = cycles_between();
	if ((int64_t)(line->at - after) > ahead->least)
		ahead->least = (int64_t)(line->at - after);
	if ((int64_t)(line->at - before) < ahead->most)
		ahead->most = (int64_t)(line->at - before);
	return true;
}

static void raise(uint64_t *most, uint64_t value)
{
	if (value > *most)
		*most = value;
}

static void judge(unsigned cpu, const struct ahead *ahead)
{
	uint64_t behind = ahead->least < 0 ? -(uint64_t)ahead->least : 0;
	uint64_t before = ahead->most > 0 ? (uint64_t)ahead->most : 0;
	uint64_t apart = 0; /* for sure: 0 is not among what the difference can be */

	if (ahead->least > 0)
		apart = (uint64_t)ahead->least;
	else if (ahead->most < 0)
		apart = -(uint64_t)ahead->most;
	if (apart > ns_to_cycles(APART_NS))
		log_warn("CPU %u: its TSC is %lld to %lld cycles ahead of CPU 0's: times taken on "
			 "both do not compare",
			 cpu, (long long)ahead->least, (long long)ahead->most);
	raise(&least_apart, apart);
	raise(&most_behind, behind);
	raise(&most_ahead, before);
}

void skew_release(struct cpu *cpu)
{
	__atomic_store_n(&cpu->skew.asked, ENOUGH, __ATOMIC_RELEASE);
}

bool skew_measure(struct cpu *cpu)
{
	struct ahead ahead = {INT64_MIN, INT64_MAX};
	uint64_t budget = ns_to_cycles(BUDGET_NS), patience = ns_to_cycles(PATIENCE_NS);
	uint64_t start = cycles(), number = 0;
	bool alive = true;

	do
		alive = round_trip(&cpu->skew, ++number, &ahead);
	while (alive && number < ROUNDS &&
	       cycles() - start < (number < ROUNDS_MIN ? patience : budget));
	skew_release(cpu);
	if (alive)
		judge(cpu->index, &ahead);
	return alive;
}

void cpus_skew(struct cpus_skew *out)
{
	*out = (struct cpus_skew){.least_cycles = least_apart,
				  .most_cycles = most_ahead + most_behind};
}
