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

#define SPIN_NS	     100000ull /* the longest usual wait that is worth it */
#define PROBE_EVERY  8
#define AVERAGE_OVER 8
#define PATIENCE     4 /* times the usual wait, but SPIN_NS at the least, and twice that at the most */

void waiter_init(struct waiter *w)
{
	uint64_t worth = ns_to_cycles(SPIN_NS);

	*w = (struct waiter){.worth_cycles = worth, .usual_cycles = worth / PATIENCE};
}

static bool worth_spinning(const struct waiter *w)
{
	return w->usual_cycles <= w->worth_cycles;
}

/* One wait of a fast device that is long all of a sudden ends soon, as a rule: it is not halted at once. */
static uint64_t spin_for(const struct waiter *w)
{
	uint64_t spin = PATIENCE * w->usual_cycles;

	if (!worth_spinning(w))
		return w->waits % PROBE_EVERY == 0 ? w->worth_cycles : 0;
	if (spin < w->worth_cycles)
		return w->worth_cycles;
	return spin < 2 * w->worth_cycles ? spin : 2 * w->worth_cycles;
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
	if (w->usual_cycles > 2 * w->worth_cycles)
		w->usual_cycles = 2 * w->worth_cycles;
}
