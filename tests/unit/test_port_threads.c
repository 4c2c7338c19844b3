/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Do several CPUs share a queue without a race, a request that goes astray or a lost wake-up? Each
 * is a thread, the device another. No clock moves and nothing is notified again, so that what is
 * lost stays lost. Also built under ThreadSanitizer.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "drivers/block/blk_port.h"
#include "drivers/block/blk_queue.h"
#include "tests/host/rig.h"

#define WORKERS	  3
#define DEPTH	  8
#define EACH	  1500
#define STALL_SEC 20

static struct worker {
	pthread_t thread;
	sem_t finished;
	struct blk_port port;
	unsigned cpu, depth, wish;
	bool halts;
	struct blk_request reqs[DEPTH];
	struct blk_request *ready[DEPTH];
	unsigned nr_ready, sent;
	uint64_t got; /* atomic: the watchdog looks */
} workers[WORKERS];

static unsigned nr_workers, nr_working;

static void send(struct worker *w)
{
	unsigned n = w->nr_ready < EACH - w->sent ? w->nr_ready : EACH - w->sent, taken;

	for (unsigned i = 0; i < n; i++)
		w->ready[i]->lba_512 = ((w->sent + i) * WORKERS + w->cpu) % FAKE_STORE;
	taken = n ? blk_port_submit(&w->port, w->ready, n) : 0;
	for (unsigned i = taken; i < w->nr_ready; i++)
		w->ready[i - taken] = w->ready[i];
	w->nr_ready -= taken;
	w->sent += taken;
}

/* Its own, once, and with the data of its sector. */
static void take(struct worker *w, struct blk_request *req)
{
	const uint64_t *data = (const uint64_t *)(uintptr_t)req->sgl.inline_sg[0].addr;

	if (req < w->reqs || req >= w->reqs + DEPTH || w->nr_ready == w->depth)
		fake_violate("CPU %u was given a request that is not out by its port", w->cpu);
	else if (req->progress.status != BLK_OK || data[0] != req->lba_512 ||
		 data[63] != (req->lba_512 ^ 63ull << 56))
		fake_violate("stale data of sector %llu", (unsigned long long)req->lba_512);
	else
		w->ready[w->nr_ready++] = req;
}

static void wait(struct worker *w)
{
	if (!w->halts) {
		sched_yield();
		return;
	}
	if (blk_port_arm(&w->port, w->wish))
		interrupt_wait(UINT64_MAX);
	blk_port_disarm(&w->port);
}

/* Once done, as an idle CPU does: lets interrupts in. */
static void idle(void)
{
	__atomic_sub_fetch(&nr_working, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(&nr_working, __ATOMIC_RELAXED) && !fake_violation()) {
		interrupt_wait(0);
		sched_yield();
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct blk_request *done[4];

	host_thread_is(w->cpu);
	while (w->got < EACH && !fake_violation()) {
		unsigned n;

		send(w);
		n = blk_port_poll(&w->port, done, 4);
		for (unsigned i = 0; i < n; i++)
			take(w, done[i]);
		__atomic_store_n(&w->got, w->got + n, __ATOMIC_RELAXED);
		if (n == 0)
			wait(w);
	}
	idle();
	sem_post(&w->finished);
	return NULL;
}

static uint64_t total(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < nr_workers; i++)
		n += __atomic_load_n(&workers[i].got, __ATOMIC_RELAXED);
	return n;
}

/* Waits for the worker; a test in which nothing moves any more is a violation, which ends all waits. */
static void join(struct worker *w)
{
	for (;;) {
		uint64_t before = total();
		struct timespec limit;

		clock_gettime(CLOCK_REALTIME, &limit);
		limit.tv_sec += STALL_SEC;
		if (sem_timedwait(&w->finished, &limit) == 0)
			break;
		if (errno == ETIMEDOUT && total() == before)
			fake_violate("F-080: a stall: CPU %u still waits", w->cpu);
	}
	pthread_join(w->thread, NULL);
	sem_destroy(&w->finished);
}

static void set_up(struct worker *w, struct blk_queue *queue, unsigned cpu)
{
	*w = (struct worker){.cpu = cpu, .depth = cpu == 1 ? 1 : DEPTH, .wish = cpu == 2 ? 3 : 1};
	sem_init(&w->finished, 0, 0);
	for (unsigned i = 0; i < w->depth; i++) {
		w->reqs[i] = rig_request(BLK_READ, 0, rig_memory(512), 512);
		if (i % 2)
			blk_prepare(queue, &w->reqs[i]);
		w->ready[w->nr_ready++] = &w->reqs[i];
	}
	blk_port_open(&w->port, queue, cpu);
}

/* Bit i of @halts: CPU i waits by halting, else by polling. */
static void run(struct rig *rig, unsigned cpus, unsigned halts, bool event_idx)
{
	struct blk_queue *queue;

	fake_reset();
	fake_disk_init(&rig->disk);
	rig->disk.order = FAKE_RANDOM;
	rig->config.mode = BLK_IRQ;
	rig->config.event_idx = event_idx;
	queue = rig_start(rig);
	host.step_ns = host.relax_ns = host.access_ns = 0;
	host.budget = UINT64_MAX / 2;
	nr_workers = nr_working = cpus;
	for (unsigned i = 0; i < cpus; i++) {
		set_up(&workers[i], queue, i);
		workers[i].halts = halts >> i & 1;
	}
	rig_tolerate(); /* the threads end first */
	fake_thread_start(&rig->disk, 1 + cpus + halts);
	for (unsigned i = 0; i < cpus; i++)
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	for (unsigned i = 0; i < cpus; i++)
		join(&workers[i]);
	fake_thread_stop(&rig->disk);
	assert_null(fake_violation());
	assert_int_equal(total(), cpus * EACH);
	assert_int_equal(rig->disk.nr_done, cpus * EACH);
	assert_int_equal(blk_port_counters(&workers[0].port).requests, cpus * EACH);
	assert_int_equal(blk_port_counters(&workers[0].port).rekicks, 0);
	for (unsigned i = 0; i < cpus; i++)
		blk_port_close(&workers[i].port);
	blk_close(&rig->blk);
}

/* F-129 */
static void polled(void **state)
{
	for (unsigned event_idx = 0; event_idx < 2; event_idx++) {
		run(*state, 2, 0, event_idx);
		run(*state, 3, 0, event_idx);
	}
}

/* F-080, F-084 */
static void halted(void **state)
{
	for (unsigned event_idx = 0; event_idx < 2; event_idx++) {
		run(*state, 2, 3, event_idx);
		run(*state, 3, 7, event_idx);
	}
}

/* The CPU of the interrupt polls and others halt, and the other way round. */
static void mixed(void **state)
{
	for (unsigned event_idx = 0; event_idx < 2; event_idx++) {
		run(*state, 2, 2, event_idx);
		run(*state, 3, 4, event_idx);
		run(*state, 3, 1, event_idx);
	}
}

#define INTERRUPTS 20000

static void *interrupt(void *arg)
{
	host_thread_is(1);
	for (unsigned i = 0; i < INTERRUPTS; i++)
		blk_ports_interrupted(arg);
	return NULL;
}

/* An interrupt that is late, or nobody's, finds the ports of one group or of the next. */
static void opened_while_interrupted(void **state)
{
	struct rig *rig = *state;
	struct blk_queue *queue;
	pthread_t thread;

	fake_reset();
	fake_disk_init(&rig->disk);
	rig->config.mode = BLK_IRQ;
	queue = rig_start(rig);
	assert_int_equal(pthread_create(&thread, NULL, interrupt, queue), 0);
	while (blk_interrupts(queue) < INTERRUPTS) {
		struct blk_port *ports = aligned_alloc(128, 2 * sizeof(*ports));

		blk_port_open(&ports[0], queue, 1);
		blk_port_open(&ports[1], queue, 0);
		blk_port_close(&ports[0]);
		blk_port_close(&ports[1]);
		free(ports);
	}
	pthread_join(thread, NULL);
	blk_close(&rig->blk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {rig_test(polled), rig_test(halted), rig_test(mixed),
					   rig_test(opened_while_interrupted)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
