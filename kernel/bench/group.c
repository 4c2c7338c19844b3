/* SPDX-License-Identifier: BSD-2-Clause */
/* How do jobs run at the same time? Lanes meet at a barrier, go, and are waited for. */
#include "kernel/bench/group.h"

#define ARRIVE_NS  5000000000ull /* for a CPU that only has to be woken */
#define LOOK_NS	   1000000000ull
#define SILENT_MAX 30 /* looks; a lane gives a sign of life every 10 ms */

static void lane_main(void *context)
{
	struct lane_seat *seat = context;
	struct group *g = seat->group;
	unsigned home = g->home;

	__atomic_store_n(&seat->arrived, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&g->go, __ATOMIC_ACQUIRE))
		cpu_relax(); /* whoever opens the barrier waits for a bounded time */
	lane_start(seat->lane);
	lane_run(seat->lane, UINT64_MAX);
	/* The group may be gone after this. */
	__atomic_store_n(&seat->finished, true, __ATOMIC_RELEASE);
	cpu_wake(home);
}

static void wait_until_arrived(struct group *g)
{
	uint64_t deadline = cycles() + ns_to_cycles(ARRIVE_NS);

	for (unsigned i = 0; i < g->nr_lanes; i++) {
		if (g->lane[i].cpu == g->home)
			continue;
		while (!__atomic_load_n(&g->seat[i].arrived, __ATOMIC_ACQUIRE)) {
			if (cycles() >= deadline)
				g->cpus->give_up("CPU %u: did not come to the start of its jobs "
						 "within %llu s",
						 g->lane[i].cpu, ARRIVE_NS / 1000000000);
			cpu_relax();
		}
	}
}

static bool all_finished(const struct group *g)
{
	for (unsigned i = 0; i < g->nr_lanes; i++)
		if (g->lane[i].cpu != g->home &&
		    !__atomic_load_n(&g->seat[i].finished, __ATOMIC_ACQUIRE))
			return false;
	return true;
}

/* How long jobs run is their own affair; but each lane has its events. */
static void look_for_life(struct group *g)
{
	for (unsigned i = 0; i < g->nr_lanes; i++) {
		struct lane_seat *seat = &g->seat[i];
		unsigned beat = __atomic_load_n(&seat->lane->beat, __ATOMIC_RELAXED);

		if (seat->lane->cpu == g->home ||
		    __atomic_load_n(&seat->finished, __ATOMIC_ACQUIRE))
			continue;
		seat->silent = beat == seat->seen_beat ? seat->silent + 1 : 0;
		seat->seen_beat = beat;
		if (seat->silent > SILENT_MAX)
			g->cpus->give_up("CPU %u: its jobs gave no sign of life for %u s",
					 seat->lane->cpu, SILENT_MAX);
	}
}

/* Halting with interrupts let in: they may be those of queues that others use. */
static void wait_until_finished(struct group *g)
{
	uint64_t now = cycles(), next_look = now + ns_to_cycles(LOOK_NS);

	while (!all_finished(g)) {
		interrupt_wait(g->meter.next < next_look ? g->meter.next : next_look);
		now = cycles();
		if (now >= g->meter.next)
			progress_show(&g->meter, now);
		if (now >= next_look) {
			look_for_life(g);
			next_look = now + ns_to_cycles(LOOK_NS);
		}
	}
}

static void run(struct group *g)
{
	struct lane_seat *own = NULL;

	for (unsigned i = 0; i < g->nr_lanes; i++) {
		if (g->lane[i].cpu == g->home)
			own = &g->seat[i];
		else
			g->cpus->run_on(g->lane[i].cpu, lane_main, &g->seat[i]);
	}
	wait_until_arrived(g);
	progress_start(&g->meter, cycles());
	__atomic_store_n(&g->go, true, __ATOMIC_RELEASE);
	if (own) {
		own->lane->meter = &g->meter;
		lane_main(own);
	}
	wait_until_finished(g);
}

bool group_run(struct job_result *results, unsigned n, const struct group_cpus *cpus,
	       const struct progress_hook *hook, char *error, size_t error_size)
{
	struct group g;

	if (!group_create(&g, results, n, error, error_size))
		return false;
	g.cpus = cpus;
	g.meter = (struct progress_meter){.hook = hook, .jobs = g.job, .nr_jobs = n};
	run(&g);
	group_destroy(&g);
	return true;
}
