/* SPDX-License-Identifier: BSD-2-Clause */
/* Are as many queues used as there are and are wanted, each with its own interrupt, or none? */
#include "tests/host/fake_inside.h"
#include "tests/host/rig.h"

static void *data;

/* A disk that says it has @queues queues, and one MSI-X entry more than that. */
static void has(struct rig *rig, unsigned queues)
{
	fake_reset();
	fake_disk_init(&rig->disk);
	rig->log_bytes = 0;
	rig->disk.features |= FAKE_BIT(FAKE_MQ);
	rig->disk.num_queues = (uint16_t)queues;
	rig->disk.msix_place.entries = queues + 1;
	rig->config = BLK_CONFIG_DEFAULT;
	rig->config.nr_cpus = 4;
}

static void start(struct rig *rig, unsigned expected)
{
	rig_start(rig);
	assert_int_equal(rig->blk.nr_queues, expected);
	data = rig_memory(512);
}

/* A read by each queue, which the device gets from that queue and no other. */
static void each_queue_works(struct rig *rig)
{
	for (unsigned i = 0; i < rig->blk.nr_queues; i++) {
		uint64_t before = rig->disk.queue[i].notifications;

		assert_int_equal(blk_do(rig->blk.queues[i], BLK_READ, i, data, 512), BLK_OK);
		assert_true(fake_stamp_ok(data, i, 1));
		assert_int_equal(rig->disk.queue[i].notifications, before + 1);
		assert_int_equal(blk_counters(rig->blk.queues[i])->requests, 1);
	}
}

static void stop(struct rig *rig)
{
	blk_close(&rig->blk);
	dma_free(data, 512);
	assert_int_equal(host.live, 0);
	assert_int_equal(host.interrupts_live, 0);
}

static struct blk_queue_info info_of(const struct rig *rig, unsigned i)
{
	struct blk_queue_info info;

	blk_queue_info(rig->blk.queues[i], &info);
	return info;
}

/* F-129, F-132: as many as were asked for, or one for each CPU; the others are left alone. */
static void how_many(void **state)
{
	static const struct {
		unsigned has, asked, cpus, uses;
	} cases[] = {{1, 0, 4, 1}, {4, 0, 4, 4}, {8, 0, 3, 3}, {2, 0, 8, 2},
		     {8, 1, 4, 1}, {8, 8, 1, 8}, {3, 8, 4, 3}, {5, 0, 0, 1}};
	struct rig *rig = *state;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		has(rig, cases[i].has);
		rig->config.queues = cases[i].asked;
		rig->config.nr_cpus = cases[i].cpus;
		start(rig, cases[i].uses);
		assert_int_equal(rig->blk.max_queues, cases[i].has);
		each_queue_works(rig);
		for (unsigned q = 0; q < cases[i].has; q++) {
			assert_int_equal(rig->disk.queue[q].enabled, q < cases[i].uses);
			assert_int_equal(rig->disk.queue[q].notifications, q < cases[i].uses);
		}
		stop(rig);
	}
}

/* BLK-INIT-06, CFG-03, CFG-05: num_queues counts only with MQ, and if the configuration reaches that far. */
static void num_queues_is_read(void **state)
{
	struct rig *rig = *state;

	has(rig, 1);
	rig->disk.features &= ~FAKE_BIT(FAKE_MQ);
	rig->config.queues = 4;
	start(rig, 1); /* the fake sees a read of the field */
	assert_int_equal(rig->blk.max_queues, 1);
	stop(rig);
	has(rig, 4);
	rig->disk.device_bytes = 34;
	start(rig, 1);
	stop(rig);
	has(rig, 4);
	rig->disk.device_bytes = 36;
	start(rig, 4);
	assert_true(rig->disk.accepted & FAKE_BIT(FAKE_MQ));
	stop(rig);
	has(rig, 4);
	rig->disk.config_queues = 0;
	start(rig, 1);
	each_queue_works(rig);
	stop(rig);
}

/* F-130: 8 advertised, 5 usable. The list ends, with one line, at the first that cannot be used. */
static void list_ends(void **state)
{
	static const struct {
		uint16_t size;
		const char *said;
	} bad[] = {{0, "queue 5 does not exist: using 5 queues of the 8 that the device counts"},
		   {2, "queue 5 size 2: a read needs 3 descriptors: using 5 queues"},
		   {100, "queue 5 size 100 is not a power of two"},
		   {40000, "queue 5 size 40000: a ring has at most 32768 descriptors"}};
	struct rig *rig = *state;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		has(rig, 8);
		rig->disk.queue_size[5] = bad[i].size;
		rig->config.queues = 8;
		start(rig, 5);
		assert_int_equal(rig->blk.max_queues, 5);
		assert_true(rig_logged(rig, bad[i].said));
		each_queue_works(rig);
		stop(rig);
	}
}

/* Each queue has its own size, and the disk's is the smallest: what suits one suits all. */
static void sizes_differ(void **state)
{
	struct rig *rig = *state;

	has(rig, 3);
	rig->disk.queue_size[0] = 64;
	rig->disk.queue_size[1] = 4;
	rig->disk.queue_size[2] = 256;
	rig->config.qsize = 128;
	start(rig, 3);
	assert_int_equal(rig->blk.queue_size, 4);
	assert_int_equal(info_of(rig, 0).size, 64);
	assert_int_equal(info_of(rig, 1).size, 4);
	assert_int_equal(info_of(rig, 2).size, 128);
	assert_int_equal(rig->blk.seg_max, 2);
	each_queue_works(rig);
	stop(rig);
}

/* Halts until the interrupt of the queue comes to @cpu. */
static void interrupt_comes(struct rig *rig, unsigned i, unsigned cpu)
{
	struct blk_request req = rig_request(BLK_READ, i, data, 512), *one = &req;
	uint64_t before = blk_interrupts(rig->blk.queues[i]), in_vain = host.waits_in_vain;

	assert_int_equal(blk_submit(rig->blk.queues[i], &one, 1), 1);
	assert_true(blk_arm(rig->blk.queues[i], 1));
	fake_queue_finish(&rig->disk, &rig->disk.queue[i], 1);
	host.cpu = cpu;
	interrupt_wait(host.clock_ns + 1000000);
	host.cpu = 0;
	blk_disarm(rig->blk.queues[i]);
	assert_int_equal(blk_interrupts(rig->blk.queues[i]), before + 1);
	assert_int_equal(host.waits_in_vain, in_vain);
	assert_int_equal(blk_poll(rig->blk.queues[i], &one, 1), 1);
}

/* F-134: queue i interrupts CPU i, and where there are more queues than CPUs, CPU i modulo those. */
static void own_cpu(void **state)
{
	static const unsigned cpus[] = {6, 3};
	struct rig *rig = *state;

	for (unsigned i = 0; i < 2; i++) {
		has(rig, 6);
		rig->disk.finish = FAKE_HELD;
		rig->config.mode = BLK_IRQ;
		rig->config.queues = 6;
		rig->config.nr_cpus = cpus[i];
		start(rig, 6);
		assert_string_equal(rig->blk.interrupt, "msix");
		for (unsigned q = 0; q < 6; q++) {
			struct blk_queue_info info = info_of(rig, q);

			assert_int_equal(info.index, q);
			assert_int_equal(info.mode, BLK_IRQ);
			assert_int_equal(info.vector, q + 1);
			assert_int_equal(info.cpu, q % cpus[i]);
			interrupt_comes(rig, q, q % cpus[i]);
		}
		stop(rig);
	}
}

/* Of @queues that are used, by an MSI-X table of @entries. */
static const char *best(unsigned queues, unsigned entries)
{
	if (entries > queues)
		return "msix";
	return entries ? "msix-shared" : "intx";
}

/* F-118, F-129, F-134: vectors, queues and CPUs in any ratio; each queue is told of its own. */
static void any_ratio(void **state)
{
	static const unsigned entries[] = {0, 1, 2, 3, 5};
	static const unsigned queues[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33, 64};
	struct rig *rig = *state;

	for (unsigned i = 0; i < 5 * 12 * 8; i++) {
		unsigned has_entries = entries[i % 5], has_queues = queues[i / 5 % 12];
		unsigned cpus = i / 60 + 1, used = has_queues < cpus ? has_queues : cpus;

		has(rig, has_queues);
		rig->disk.msix_place.entries = has_entries;
		rig->disk.finish = FAKE_HELD;
		rig->config.mode = BLK_IRQ;
		rig->config.nr_cpus = cpus;
		start(rig, used);
		for (unsigned q = 0; q < used; q++) {
			assert_string_equal(info_of(rig, q).interrupt, best(used, has_entries));
			assert_int_equal(info_of(rig, q).mode, BLK_IRQ);
			interrupt_comes(rig, q, info_of(rig, q).cpu);
		}
		for (unsigned cpu = 0; cpu < cpus; cpu++)
			assert_ptr_equal(blk_queue_of(&rig->blk, cpu, BLK_QUEUE_ANY),
					 rig->blk.queues[cpu % used]);
		stop(rig);
	}
}

/* Queues set aside for polling have no interrupt: a masked entry, or that of the configuration. */
static void poll_queues(void **state)
{
	struct rig *rig = *state;

	for (unsigned entries = 3; entries <= 4; entries++) {
		has(rig, 4);
		rig->disk.msix_place.entries = entries;
		rig->disk.finish = FAKE_HELD;
		rig->config.mode = BLK_IRQ;
		rig->config.irq = BLK_IRQ_MSIX;
		rig->config.poll_queues = 2;
		start(rig, 4);
		assert_int_equal(rig->blk.nr_poll_queues, 2);
		assert_null(rig->blk.irq_refused);
		assert_int_equal(info_of(rig, 1).mode, BLK_IRQ);
		for (unsigned q = 2; q < 4; q++) {
			assert_int_equal(info_of(rig, q).mode, BLK_POLL);
			assert_string_equal(info_of(rig, q).interrupt, "none");
			assert_int_equal(info_of(rig, q).vector, 0xffff);
			assert_int_equal(rig->disk.queue[q].vector, entries == 4 ? 3 : 0);
		}
		rig->disk.finish = FAKE_AT_ONCE;
		each_queue_works(rig);
		assert_int_equal(rig->disk.messages, 0);
		rig->disk.finish = FAKE_HELD;
		interrupt_comes(rig, 0, 0);
		interrupt_comes(rig, 1, 1);
		assert_ptr_equal(blk_queue_of(&rig->blk, 3, BLK_QUEUE_POLL), rig->blk.queues[3]);
		assert_ptr_equal(blk_queue_of(&rig->blk, 3, BLK_QUEUE_NOT_POLL),
				 rig->blk.queues[1]);
		stop(rig);
	}
	has(rig, 4);
	rig->config.poll_queues = 4;
	start(rig, 4);
	assert_int_equal(rig->blk.nr_poll_queues, 3); /* one is always left */
	stop(rig);
}

/* F-118, F-119: blk.irq says where the chain begins; "msix" that it must not go on. */
static void irq_wish(void **state)
{
	static const struct {
		enum blk_irq irq;
		unsigned entries, refuse;
		const char *got, *refused;
	} cases[] = {
		{BLK_IRQ_AUTO, 5, 0, "msix", NULL},
		{BLK_IRQ_AUTO, 2, 0, "msix-shared", NULL},
		{BLK_IRQ_MSIX, 5, 0, "msix", NULL},
		{BLK_IRQ_MSIX, 2, 0, "msix-shared", "5 needed, the device has 2"},
		{BLK_IRQ_MSIX, 0, 0, "intx", "no MSI-X"},
		{BLK_IRQ_MSIX, 5, 4, "msix", "the device refused vector 3 of queue 2"},
		{BLK_IRQ_MSIX_SHARED, 5, 0, "msix-shared", NULL},
		{BLK_IRQ_MSIX_SHARED, 0, 0, "intx", NULL},
		{BLK_IRQ_INTX, 5, 0, "intx", NULL},
	};
	struct rig *rig = *state;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		has(rig, 4);
		rig->disk.finish = FAKE_HELD;
		rig->disk.msix_place.entries = cases[i].entries;
		rig->disk.refuse_queues = cases[i].refuse;
		rig->config.mode = BLK_IRQ;
		rig->config.irq = cases[i].irq;
		start(rig, 4);
		assert_string_equal(rig->blk.interrupt, cases[i].got);
		if (cases[i].refused)
			assert_string_equal(rig->blk.irq_refused, cases[i].refused);
		else
			assert_null(rig->blk.irq_refused);
		for (unsigned q = 0; q < 4; q++)
			if (info_of(rig, q).mode == BLK_IRQ)
				interrupt_comes(rig, q, info_of(rig, q).cpu);
		assert_int_equal(info_of(rig, 2).mode, cases[i].refuse ? BLK_POLL : BLK_IRQ);
		stop(rig);
	}
}

/* Wherever memory runs out, all is given back. */
static void no_memory(void **state)
{
	struct rig *rig = *state;
	unsigned i, failed = 0;

	for (i = 1; i < 200; i++) {
		has(rig, 3);
		rig->config.mode = BLK_IRQ;
		rig_plug(rig);
		host.fail_alloc = i;
		if (rig_open(rig))
			break;
		failed++;
		assert_true(rig_logged(rig, "no memory"));
		assert_int_equal(host.live, 0);
	}
	assert_true(failed > 3 && i < 200);
	blk_close(&rig->blk);
}

/* F-157: one device, one reset: closed with requests in flight in several queues, each ends. */
static void closed_in_flight(void **state)
{
	struct rig *rig = *state;
	struct blk_request req[3], *one;

	has(rig, 3);
	rig->disk.finish = FAKE_HELD;
	start(rig, 3);
	for (unsigned q = 0; q < 3; q++) {
		req[q] = rig_request(BLK_READ, q, data, 512);
		one = &req[q];
		assert_int_equal(blk_submit(rig->blk.queues[q], &one, 1), 1);
	}
	stop(rig);
	for (unsigned q = 0; q < 3; q++)
		assert_int_equal(req[q].progress.status, BLK_DEVICE_GONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(how_many),	    rig_test(num_queues_is_read),
		rig_test(list_ends),	    rig_test(sizes_differ),
		rig_test(own_cpu),	    rig_test(poll_queues),
		rig_test(irq_wish),	    rig_test(no_memory),
		rig_test(closed_in_flight), rig_test(any_ratio),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
