/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When there is nothing to do but wait: spin on, or halt until the interrupt?
 *
 * Polled: spin. Interrupt-driven: halt. Hybrid: spin for a few times as long as waits have usually
 * taken lately. How long they take is learned while spinning only, since a wait that was slept
 * through holds the time of waking up as well. Where spinning has not been enough, halt at once, and
 * spin in full for one wait out of a few, to notice if the device became faster.
 */
#include "kernel/bench/waiter.h"

#define SPIN_MAX_NS  100000ull	/* about what a halt and a wake-up cost */
#define LATE_NS	     1000000ull /* for an interrupt that is on its way */
#define PROBE_EVERY  8
#define AVERAGE_OVER 8
#define PATIENCE     4 /* times the usual wait, but half of the most at the least */

void waiter_init(struct waiter *w, const struct blk_device *device)
{
	uint64_t spin_max = ns_to_cycles(SPIN_MAX_NS);

	*w = (struct waiter){.queue = device->queues[0],
			     .mode = device->mode,
			     .coalesce = device->irq_coalesce,
			     .spin_max_cycles = spin_max,
			     .usual_cycles = spin_max / PATIENCE};
}

static bool worth_spinning(const struct waiter *w)
{
	return w->usual_cycles <= w->spin_max_cycles;
}

static uint64_t spin_for(const struct waiter *w)
{
	uint64_t spin = PATIENCE * w->usual_cycles;

	if (w->mode == BLK_IRQ)
		return 0;
	if (!worth_spinning(w))
		return w->waits % PROBE_EVERY == 0 ? w->spin_max_cycles : 0;
	if (spin < w->spin_max_cycles / 2)
		return w->spin_max_cycles / 2;
	return spin < w->spin_max_cycles ? spin : w->spin_max_cycles;
}

/*
 * The halt ended by time alone, and what it waited for is there: an interrupt that does not come in
 * a moment was lost. A healthy run counts none.
 */
static void count_missed(struct waiter *w, struct job_result *result, uint64_t irqs_before)
{
	if (blk_counters(w->queue)->interrupts != irqs_before || blk_arm(w->queue, w->coalesce))
		return;
	interrupt_wait(cycles() + ns_to_cycles(LATE_NS));
	result->wakeups_missed += blk_counters(w->queue)->interrupts == irqs_before;
}

/* Interrupts are off outside of interrupt_wait(): nothing comes between the look of blk_arm() and
 * the halt. */
static uint64_t sleep(struct waiter *w, struct window *window, uint64_t now)
{
	uint64_t irqs_before = blk_counters(w->queue)->interrupts, woken = now;

	if (blk_arm(w->queue, w->coalesce)) {
		interrupt_wait(window->next_event);
		woken = cycles();
		w->slept = true;
		window_halted(window, now, woken);
		if (woken >= window->next_event)
			count_missed(w, window->result, irqs_before);
	}
	blk_disarm(w->queue);
	return woken;
}

uint64_t waiter_wait(struct waiter *w, struct window *window, uint64_t now)
{
	if (!w->waiting) {
		w->waiting = true;
		w->slept = false;
		w->since = now;
		w->spin_cycles = spin_for(w);
		w->waits++;
	}
	if (now - w->since < w->spin_cycles)
		return now;
	return sleep(w, window, now);
}

/* Spinning was enough, and says how long waits are; or it was not, and they are longer. */
static void learn(struct waiter *w, uint64_t waited)
{
	if (w->slept && w->spin_cycles)
		w->usual_cycles *= 2;
	else if (!w->slept && worth_spinning(w))
		w->usual_cycles += waited / AVERAGE_OVER - w->usual_cycles / AVERAGE_OVER;
	else if (!w->slept)
		w->usual_cycles = waited;
	if (w->usual_cycles > 2 * w->spin_max_cycles)
		w->usual_cycles = 2 * w->spin_max_cycles;
}

void waiter_found(struct waiter *w, struct job_result *result, uint64_t now, unsigned n)
{
	if (!w->waiting)
		return;
	w->waiting = false;
	learn(w, now - w->since);
	if (w->slept)
		result->caught_halted += n;
	else
		result->caught_awake += n;
}
