/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What if a CPU resets its queue while another takes the interrupts of all? Whatever was sent comes back
 * once, and nobody waits for ever. Also built under ThreadSanitizer.
 */
#include <sched.h>
#include <unistd.h>

#include "drivers/block/blk_port.h"
#include "drivers/block/blk_queue.h"
#include "tests/host/rig.h"

#define CPUS	2
#define DEPTH	5
#define EACH	2000
#define RESETS	20
#define TIMEOUT 30 /* seconds */

static struct cpu {
	pthread_t thread;
	struct blk_port port;
	struct blk_request reqs[DEPTH];
	struct blk_request *ready[DEPTH];
	unsigned index, nr_ready, got, failed;
	bool resets;
} cpus[CPUS];

static unsigned nr_working;

static void send(struct cpu *c)
{
	unsigned taken;

	for (unsigned i = 0; i < c->nr_ready; i++)
		c->ready[i]->lba_512 = (c->got + i) * CPUS % 1000;
	taken = blk_port_submit(&c->port, c->ready, c->nr_ready);
	for (unsigned i = taken; i < c->nr_ready; i++)
		c->ready[i - taken] = c->ready[i];
	c->nr_ready -= taken;
}

static void take(struct cpu *c, struct blk_request *req)
{
	const void *data = (const void *)(uintptr_t)req->sgl.inline_sg[0].addr;

	if (req < c->reqs || req >= c->reqs + DEPTH || c->nr_ready == DEPTH)
		fake_violate("CPU %u was given a request that is not out", c->index);
	else if (req->progress.status == BLK_OK && !fake_stamp_ok(data, req->lba_512, 1))
		fake_violate("stale data of sector %llu", (unsigned long long)req->lba_512);
	else
		c->ready[c->nr_ready++] = req;
	c->failed += req->progress.status != BLK_OK;
	c->got++;
}

/* In the middle of it, some times. */
static void reset(struct cpu *c)
{
	struct blk_queue *q = c->port.queue;

	if (c->resets && c->got > EACH / 3 && q->counters.queue_resets < RESETS &&
	    virtqueue_in_flight(&q->vq))
		blk_reset_queue(q);
}

/* Halts when nothing comes; at the end it lets interrupts in, as an idle CPU does. */
static void *work(void *arg)
{
	struct cpu *c = arg;
	struct blk_request *done[DEPTH];

	host_thread_is(c->index);
	while (c->got < EACH && !fake_violation()) {
		unsigned n;

		send(c);
		reset(c);
		n = blk_port_poll(&c->port, done, DEPTH);
		for (unsigned i = 0; i < n; i++)
			take(c, done[i]);
		if (n == 0 && blk_port_arm(&c->port, 1))
			interrupt_wait(UINT64_MAX);
		if (n == 0)
			blk_port_disarm(&c->port);
	}
	__atomic_sub_fetch(&nr_working, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(&nr_working, __ATOMIC_RELAXED) && !fake_violation()) {
		interrupt_wait(0);
		sched_yield();
	}
	return NULL;
}

/* One vector for all queues, which leads to CPU 0. */
static void start(struct rig *rig, bool packed, bool event_idx)
{
	fake_reset();
	fake_disk_init(&rig->disk);
	rig->log_bytes = 0;
	rig->disk.features |= FAKE_BIT(FAKE_RING_RESET) | FAKE_BIT(FAKE_MQ) |
			      (packed ? FAKE_BIT(FAKE_RING_PACKED) : 0);
	rig->disk.num_queues = 2;
	rig->disk.order = FAKE_RANDOM;
	rig->config = BLK_CONFIG_DEFAULT;
	rig->config.mode = BLK_IRQ;
	rig->config.irq = BLK_IRQ_MSIX_SHARED;
	rig->config.recover = BLK_RECOVER_QUEUE;
	rig->config.event_idx = event_idx ? BLK_EVENT_IDX_ON : BLK_EVENT_IDX_OFF;
	rig->config.queues = rig->config.nr_cpus = 2;
	rig_start(rig);
	assert_string_equal(rig->blk.interrupt, "msix-shared");
	host.step_ns = host.relax_ns = host.access_ns = 0;
	host.budget = UINT64_MAX / 2;
}

/* Each has a queue; CPU 1 resets its own. */
static void run(struct rig *rig)
{
	nr_working = CPUS;
	for (unsigned i = 0; i < CPUS; i++) {
		struct cpu *c = &cpus[i];

		*c = (struct cpu){.index = i, .resets = i == 1};
		for (; c->nr_ready < DEPTH; c->nr_ready++) {
			c->reqs[c->nr_ready] = rig_request(BLK_READ, 0, rig_memory(512), 512);
			c->ready[c->nr_ready] = &c->reqs[c->nr_ready];
		}
		blk_port_open(&c->port, rig->blk.queues[i], i);
	}
	alarm(TIMEOUT);
	rig_tolerate();
	fake_thread_start(&rig->disk, 7);
	for (unsigned i = 0; i < CPUS; i++)
		assert_int_equal(pthread_create(&cpus[i].thread, NULL, work, &cpus[i]), 0);
	for (unsigned i = 0; i < CPUS; i++)
		pthread_join(cpus[i].thread, NULL);
	fake_thread_stop(&rig->disk);
	assert_null(fake_violation());
}

static void stop(struct rig *rig)
{
	for (unsigned i = 0; i < CPUS; i++)
		blk_port_close(&cpus[i].port);
	blk_close(&rig->blk);
}

/* QRST-08: CPU 0 looks at the queue of CPU 1, whenever it is interrupted, while CPU 1 resets it. */
static void queue_reset_while_interrupted(void **state)
{
	struct rig *rig = *state;

	for (unsigned i = 0; i < 4; i++) {
		start(rig, i & 1, i & 2);
		run(rig);
		assert_int_equal(rig->disk.queue[1].resets, RESETS);
		assert_int_equal(cpus[0].failed, 0);
		assert_true(cpus[1].failed >= RESETS);
		stop(rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {rig_test(queue_reset_while_interrupted)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
