/* SPDX-License-Identifier: BSD-2-Clause */
/* Does each port of a shared queue get back what it sent, and is nobody left asleep? */
#include "drivers/block/blk_port.h"
#include "tests/host/rig.h"

static struct blk_request reqs[32], *list[32], *done[32];
static struct blk_port a, b;
static void *data;

/* Queue 0 is at home on CPU 0; port a is CPU 0's, port b CPU 1's. The device holds what it gets. */
static void open_two(struct rig *rig, bool event_idx)
{
	fake_reset();
	fake_disk_init(&rig->disk);
	rig->disk.finish = FAKE_HELD;
	rig->disk.queue_size[0] = 64;
	rig->config.mode = BLK_IRQ;
	rig->config.event_idx = event_idx;
	rig->config.nr_cpus = 2;
	rig_start(rig);
	assert_int_equal(rig->blk.nr_queues, 1);
	blk_port_open(&a, rig->blk.queues[0], 0);
	assert_false(a.shared);
	blk_port_open(&b, rig->blk.queues[0], 1);
	assert_true(a.shared && b.shared);
	data = rig_memory(512);
}

static void close_two(struct rig *rig)
{
	blk_port_close(&a);
	assert_false(b.shared);
	blk_port_close(&b);
	blk_close(&rig->blk);
	dma_free(data, 512);
	assert_int_equal(host.live, 0);
}

/* Requests number @first to @first + @n - 1, for the sector of their number. */
static void submit(struct blk_port *port, unsigned first, unsigned n)
{
	for (unsigned i = first; i < first + n; i++) {
		reqs[i] = rig_request(BLK_READ, i, data, 512);
		list[i] = &reqs[i];
	}
	assert_int_equal(blk_port_submit(port, list + first, n), n);
}

static void complete(struct rig *rig, unsigned n)
{
	assert_int_equal(fake_complete(&rig->disk, n), n);
}

static void expect(struct blk_port *port, unsigned first, unsigned n)
{
	assert_int_equal(blk_port_poll(port, done, 32), n);
	for (unsigned i = 0; i < n; i++) {
		assert_ptr_equal(done[i], &reqs[first + i]);
		assert_int_equal(done[i]->progress.status, BLK_OK);
	}
}

/* What @cpu is woken by, if it is: an interrupt_wait() that does not last until its deadline. */
static bool wakes(unsigned cpu)
{
	uint64_t in_vain = host.waits_in_vain;

	host.cpu = cpu;
	interrupt_wait(host.clock_ns + 1000000);
	host.cpu = 0;
	return host.waits_in_vain == in_vain;
}

static void both(void **state, void (*test)(struct rig *rig))
{
	struct rig *rig = *state;

	for (unsigned event_idx = 0; event_idx < 2; event_idx++) {
		open_two(rig, event_idx);
		test(rig);
		close_two(rig);
	}
}

/* F-129: whoever polls, each request comes back through the port that it was sent by, once. */
static void mail(struct rig *rig)
{
	submit(&a, 0, 3);
	submit(&b, 3, 2);
	submit(&a, 5, 1);
	complete(rig, 6);
	expect(&b, 3, 2); /* found all, and kept a's for it */
	expect(&b, 0, 0);
	assert_int_equal(blk_port_poll(&a, done, 3), 3);
	assert_int_equal(blk_port_poll(&a, done, 3), 1);
	assert_ptr_equal(done[0], &reqs[5]);
	expect(&a, 0, 0);
	assert_int_equal(blk_port_counters(&a).requests, 6);
	submit(&a, 0, 1);
	complete(rig, 1);
	expect(&b, 0, 0);
	submit(&a, 1, 2);
	complete(rig, 2);
	expect(&b, 0, 0); /* more mail after some was taken */
	expect(&a, 0, 3);
}

static void requests_come_back(void **state)
{
	both(state, mail);
}

/* Each port has the time of its own last batch, also when it is the queue's only one again. */
static void times(struct rig *rig)
{
	uint64_t sent_a, sent_b;

	submit(&a, 0, 1);
	sent_a = *a.published_cycles;
	submit(&b, 1, 1);
	sent_b = *b.published_cycles;
	assert_true(sent_b > sent_a);
	assert_true(*a.published_cycles == sent_a);
	complete(rig, 2);
	expect(&a, 0, 1);
	expect(&b, 1, 1);
	blk_port_close(&b);
	submit(&a, 0, 1);
	assert_true(*a.published_cycles > sent_b);
	complete(rig, 1);
	expect(&a, 0, 1);
	blk_port_open(&b, rig->blk.queues[0], 1);
}

static void time_of_a_batch(void **state)
{
	both(state, times);
}

/* One poll takes all, however few its port wants: nothing is left in the ring for the next lock. */
static void all_at_once(struct rig *rig)
{
	submit(&a, 0, 3);
	submit(&b, 3, 3);
	complete(rig, 6);
	assert_int_equal(blk_port_poll(&b, done, 1), 1);
	assert_ptr_equal(done[0], &reqs[3]);
	assert_int_equal(a.nr_mail, 3);
	assert_int_equal(b.nr_mail, 2);
	assert_false(blk_port_arm(&b, 1)); /* its own mail is a reason not to halt */
	blk_port_disarm(&b);
	expect(&a, 0, 3);
	assert_int_equal(blk_port_poll(&b, done, 1), 1);
	assert_ptr_equal(done[0], &reqs[4]);
	expect(&b, 5, 1);
	assert_int_equal(blk_port_counters(&a).polls_empty, 0);
}

static void poll_takes_all(void **state)
{
	both(state, all_at_once);
}

/* Nobody halts on mail that is there, or with nothing to wait for. */
static void arming(struct rig *rig)
{
	assert_false(blk_port_arm(&b, 1));
	blk_port_disarm(&b);
	submit(&a, 0, 1);
	assert_false(blk_port_arm(&b, 1)); /* what is in flight is a's */
	blk_port_disarm(&b);
	submit(&b, 1, 1);
	complete(rig, 2);
	expect(&a, 0, 1);
	assert_false(blk_port_arm(&b, 1));
	blk_port_disarm(&b);
	expect(&b, 1, 1);
	submit(&b, 2, 1);
	complete(rig, 1);
	assert_false(blk_port_arm(&b, 1)); /* not seen by a poll yet */
	blk_port_disarm(&b);
	expect(&b, 2, 1);
	submit(&b, 3, 2);
	complete(rig, 1);
	expect(&a, 0, 0);
	assert_false(blk_port_arm(&b, 2)); /* less than it wishes for, but there */
	blk_port_disarm(&b);
	complete(rig, 1);
	expect(&b, 3, 1);
	expect(&b, 4, 1);
}

static void arming_sees_all(void **state)
{
	both(state, arming);
}

/* A poll that finds what another waits for wakes it, and only when its wish is fulfilled. */
static void delivery(struct rig *rig)
{
	submit(&a, 0, 1);
	submit(&b, 1, 3);
	assert_true(blk_port_arm(&b, 2));
	complete(rig, 2); /* a's, and one of b's */
	expect(&a, 0, 1);
	assert_true(b.halted);
	host.wakes = 0;
	complete(rig, 1);
	expect(&a, 0, 0);
	assert_false(b.halted);
	assert_int_equal(host.wakes, 1);
	assert_true(wakes(1));
	blk_port_disarm(&b);
	expect(&b, 1, 2);
	complete(rig, 1);
	expect(&b, 3, 1);
}

static void delivery_wakes(void **state)
{
	both(state, delivery);
}

/*
 * F-080: a poll and a disarm of one port leave the wish of the other: the interrupt comes, to CPU 0,
 * and wakes CPU 1.
 */
static void wish(struct rig *rig)
{
	submit(&a, 0, 2);
	submit(&b, 2, 1);
	assert_true(blk_port_arm(&b, 1));
	complete(rig, 1);
	expect(&a, 0, 1); /* moves used_event */
	assert_true(blk_port_arm(&a, 1));
	blk_port_disarm(&a); /* switches the interrupt off */
	assert_true(b.halted);
	assert_false(wakes(1));
	complete(rig, 2);
	assert_false(wakes(1));
	assert_true(wakes(0));
	assert_true(wakes(1));
	blk_port_disarm(&b);
	expect(&b, 2, 1);
	expect(&a, 1, 1);
}

static void wish_stands(void **state)
{
	both(state, wish);
}

/* The least of the wishes counts, whoever is first, and what is no wish any more does not. */
static void least(struct rig *rig)
{
	struct fake_queue *queue = &rig->disk.queue[0];

	submit(&a, 0, 8);
	submit(&b, 8, 8);
	assert_true(blk_port_arm(&b, 2));
	assert_true(blk_port_arm(&a, 6));
	complete(rig, 1);
	assert_int_equal(queue->interrupts, 0);
	complete(rig, 1);
	assert_int_equal(queue->interrupts, 1);
	assert_true(wakes(0) && wakes(1));
	blk_port_disarm(&b);
	blk_port_disarm(&a);
	expect(&a, 0, 2);
	assert_true(blk_port_arm(&b, 2));
	assert_true(blk_port_arm(&a, 6));
	blk_port_disarm(&b);
	complete(rig, 5);
	assert_int_equal(queue->interrupts, 1);
	complete(rig, 1);
	assert_int_equal(queue->interrupts, 2);
	blk_port_disarm(&a);
	complete(rig, 8);
	assert_int_equal(queue->interrupts, 2);
	expect(&a, 2, 6);
	expect(&b, 8, 8);
}

static void least_wish_counts(void **state)
{
	struct rig *rig = *state;

	open_two(rig, true);
	least(rig);
	close_two(rig);
}

/* The one port of a queue whose interrupt leads elsewhere is woken by the handler there. */
static void only_port_elsewhere(void **state)
{
	struct rig *rig = *state;

	open_two(rig, true);
	blk_port_close(&a);
	assert_false(b.shared);
	submit(&b, 0, 1);
	assert_true(blk_port_arm(&b, 1));
	complete(rig, 1);
	assert_true(wakes(0));
	assert_true(wakes(1));
	blk_port_disarm(&b);
	expect(&b, 0, 1);
	close_two(rig);
}

/* What is refused, too, comes back through its own port, and wakes it. */
static void refused(struct rig *rig)
{
	submit(&a, 0, 1);
	assert_true(blk_port_arm(&a, 1));
	submit(&b, 1, 2);
	reqs[3] = rig_request(BLK_READ, rig->disk.capacity, data, 512);
	list[3] = &reqs[3];
	assert_int_equal(blk_port_submit(&b, &list[3], 1), 1);
	assert_false(blk_port_arm(&b, 1));
	blk_port_disarm(&b);
	assert_int_equal(blk_port_poll(&a, done, 32), 0);
	assert_int_equal(blk_port_poll(&b, done, 32), 1);
	assert_int_equal(done[0]->progress.status, BLK_OUT_OF_RANGE);
	complete(rig, 3);
	expect(&a, 0, 1);
	expect(&b, 1, 2);
}

static void refused_come_back(void **state)
{
	both(state, refused);
}

/* A queue that breaks ends the requests of all its ports, and wakes who waits for them. */
static void broken(struct rig *rig)
{
	submit(&a, 0, 2);
	submit(&b, 2, 2);
	assert_true(blk_port_arm(&b, 1));
	fake_needs_reset(&rig->disk);
	fake_config_change(&rig->disk);
	assert_true(wakes(0));
	assert_false(blk_port_check_progress(&a));
	assert_true(wakes(1));
	blk_port_disarm(&b);
	assert_int_equal(blk_port_poll(&a, done, 32), 2);
	assert_int_equal(done[1]->progress.status, BLK_DEVICE_GONE);
	assert_false(blk_port_arm(&b, 1));
	blk_port_disarm(&b);
	assert_int_equal(blk_port_poll(&b, done, 32), 2);
	assert_true(done[0] == &reqs[2] || done[1] == &reqs[2]);
	assert_true(done[0] == &reqs[3] || done[1] == &reqs[3]);
	assert_int_equal(blk_port_submit(&b, list, 1), 1);
	assert_int_equal(blk_port_poll(&b, done, 32), 1);
	assert_int_equal(done[0]->progress.status, BLK_DEVICE_GONE);
}

static void broken_ends_all(void **state)
{
	both(state, broken);
}

/* A queue that is reset by itself works on; who waited for what it held is woken. */
static void queue_reset(void **state)
{
	struct rig *rig = *state;
	bool working = true;

	rig->disk.features |= FAKE_BIT(FAKE_RING_RESET);
	rig->config.recover = BLK_RECOVER_QUEUE;
	rig->disk.finish = FAKE_HELD;
	rig->config.mode = BLK_IRQ;
	data = rig_memory(512);
	rig_start(rig);
	blk_port_open(&a, rig->blk.queues[0], 0);
	blk_port_open(&b, rig->blk.queues[0], 1);
	submit(&a, 0, 1);
	submit(&b, 1, 2);
	assert_true(blk_port_arm(&b, 1));
	for (unsigned i = 0; b.halted && i < 100; i++) {
		host.clock_ns += 1000000000;
		working &= blk_port_check_progress(&a);
	}
	assert_true(working);
	assert_false(b.halted);
	assert_true(wakes(1));
	blk_port_disarm(&b);
	assert_int_equal(blk_port_poll(&b, done, 32), 2);
	assert_int_equal(done[0]->progress.status, BLK_TIMED_OUT);
	assert_int_equal(blk_port_poll(&a, done, 32), 1);
	submit(&b, 1, 2);
	assert_true(blk_port_arm(&b, 1));
	complete(rig, 2);
	assert_true(wakes(0) && wakes(1));
	blk_port_disarm(&b);
	expect(&b, 1, 2);
	close_two(rig);
}

/* F-129, F-130: a queue that breaks takes the others of its disk with it; each ends its own. */
static void other_queues_end(void **state)
{
	struct rig *rig = *state;
	struct blk_queue *first, *second;

	rig->disk.features |= FAKE_BIT(FAKE_MQ);
	rig->disk.num_queues = 2;
	rig->disk.finish = FAKE_HELD;
	rig->config.queues = 2;
	first = rig_start(rig);
	second = rig->blk.queues[1];
	data = rig_memory(512);
	blk_port_open(&a, first, 0);
	blk_port_open(&b, second, 1);
	submit(&a, 0, 2);
	submit(&b, 2, 3);
	fake_needs_reset(&rig->disk);
	host.clock_ns += 100000000;
	assert_true(blk_port_check_progress(&a)); /* sees that all stands still, */
	host.clock_ns += 100000000;
	assert_false(blk_port_check_progress(&a)); /* and looks why */
	assert_true(rig_logged(rig, "queue 0: device asks for a reset (DEVICE_NEEDS_RESET); 2 "
				    "commands in flight fail"));
	assert_true(wakes(1));
	assert_int_equal(blk_port_poll(&a, done, 32), 2);
	assert_false(blk_port_arm(&b, 1));
	blk_port_disarm(&b);
	assert_false(blk_port_check_progress(&b));
	assert_int_equal(blk_port_poll(&b, done, 32), 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(done[i]->progress.status, BLK_DEVICE_GONE);
	assert_true(rig_logged(rig, "queue 1: the device was reset; 3 commands in flight fail"));
	close_two(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(requests_come_back),  rig_test(poll_takes_all),
		rig_test(arming_sees_all),     rig_test(delivery_wakes),
		rig_test(wish_stands),	       rig_test(least_wish_counts),
		rig_test(only_port_elsewhere), rig_test(refused_come_back),
		rig_test(broken_ends_all),     rig_test(other_queues_end),
		rig_test(queue_reset),	       rig_test(time_of_a_batch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
