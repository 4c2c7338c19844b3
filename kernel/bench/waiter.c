/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When there is nothing to do but wait: for how long is it worth spinning?
 *
 * Polled: for ever. Interrupt-driven: not at all. Hybrid: for a few times as long as waits have
 * usually taken lately. How long they take is learned while spinning only, since a wait that was
 * slept through holds the time of waking up as well. Where spinning has not been enough, halt at
 * once, and spin in full for one wait out of a few, to notice if the device became faster.
 */
#include "kernel/bench/waiter.h"

#define SPIN_MAX_NS  100000ull /* about what a halt and a wake-up cost */
#define PROBE_EVERY  8
#define AVERAGE_OVER 8
#define PATIENCE     4 /* times the usual wait, but half of the most at the least */

void waiter_init(struct waiter *w)
{
	uint64_t spin_max = ns_to_cycles(SPIN_MAX_NS);

	*w = (struct waiter){.spin_max_cycles = spin_max, .usual_cycles = spin_max / PATIENCE};
}

static bool worth_spinning(const struct waiter *w)
{
	return w->usual_cycles <= w->spin_max_cycles;
}

static uint64_t spin_for(const struct waiter *w)
{
	uint64_t spin = PATIENCE * w->usual_cycles;

	if (!worth_spinning(w))
		return w->waits % PROBE_EVERY == 0 ? w->spin_max_cycles : 0;
	if (spin < w->spin_max_cycles / 2)
		return w->spin_max_cycles / 2;
	return spin < w->spin_max_cycles ? spin : w->spin_max_cycles;
}

void waiter_begin(struct waiter *w, bool spins, uint64_t now)
{
	w->waiting = true;
	w->slept = false;
	w->since = now;
	w->spin_cycles = spins ? spin_for(w) : 0;
	w->spin_until = now + w->spin_cycles;
	w->waits++;
}

/* Spinning was enough, and says how long waits are; or it was not, and they are longer. */
void waiter_end(struct waiter *w, uint64_t now)
{
	uint64_t waited = now - w->since;

	w->waiting = false;
	if (w->slept && w->spin_cycles)
		w->usual_cycles *= 2;
	else if (!w->slept && worth_spinning(w))
		w->usual_cycles += waited / AVERAGE_OVER - w->usual_cycles / AVERAGE_OVER;
	else if (!w->slept)
		w->usual_cycles = waited;
	if (w->usual_cycles > 2 * w->spin_max_cycles)
		w->usual_cycles = 2 * w->spin_max_cycles;
}
