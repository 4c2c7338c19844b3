/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When there is nothing to do but wait: spin on, or halt until the interrupt?
 *
 * Polled: spin. Interrupt-driven: halt. Hybrid: spin for twice as long as waits have usually taken
 * lately; where they usually take longer than spinning is worth, halt at once. Now and then a wait
 * spins in full all the same, or a device that became fast would not be noticed behind the time
 * that waking up takes.
 */
#include "kernel/bench/waiter.h"

#define SPIN_MAX_NS  100000ull	 /* about what a halt and a wake-up cost */
#define SLEEP_MAX_NS 50000000ull /* then the device is looked at for signs of life */
#define PROBE_EVERY  32
#define AVERAGE_OVER 8

void waiter_init(struct waiter *w, const struct blk_device *device)
{
	*w = (struct waiter){.queue = device->queue,
			     .mode = device->mode,
			     .coalesce = device->irq_coalesce,
			     .spin_max_cycles = ns_to_cycles(SPIN_MAX_NS)};
}

static uint64_t spin_for(const struct waiter *w)
{
	if (w->mode == BLK_IRQ)
		return 0;
	if (w->waits % PROBE_EVERY == 0)
		return w->spin_max_cycles;
	return w->usual_cycles <= w->spin_max_cycles ? 2 * w->usual_cycles : 0;
}

/* Interrupts are off outside of interrupt_wait(): nothing comes between the look of blk_arm() and
 * the halt. */
static uint64_t sleep(struct waiter *w, struct window *window, uint64_t now)
{
	uint64_t deadline = now + ns_to_cycles(SLEEP_MAX_NS), woken;

	if (deadline > window->next_event)
		deadline = window->next_event;
	if (!blk_arm(w->queue, w->coalesce)) {
		blk_disarm(w->queue);
		return now;
	}
	interrupt_wait(deadline);
	blk_disarm(w->queue);
	woken = cycles();
	w->slept = true;
	window_halted(window, now, woken);
	if (woken >= deadline)
		blk_check_progress(w->queue);
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

void waiter_found(struct waiter *w, struct job_result *result, uint64_t now, unsigned n)
{
	uint64_t waited = now - w->since;

	if (!w->waiting)
		return;
	w->waiting = false;
	w->usual_cycles = w->usual_cycles - w->usual_cycles / AVERAGE_OVER + waited / AVERAGE_OVER;
	if (w->slept)
		result->caught_halted += n;
	else
		result->caught_spinning += n;
}
