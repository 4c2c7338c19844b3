/* SPDX-License-Identifier: BSD-2-Clause */
/* Does each queue get the best interrupt that there is, and is each failure said and survived? */
#include <string.h>

#include "tests/host/fake_inside.h"
#include "tests/host/irq_rig.h"

static struct irq_rig r;

static bool silent(const struct rig *rig)
{
	return !strstr(rig->log, "warning: ");
}

static bool intx_barred(const struct rig *rig)
{
	return fake_pci_command(rig->disk.fn) & PCI_COMMAND_INTX_DISABLE;
}

static void every_queue_completes(unsigned rounds)
{
	while (rounds-- > 0)
		for (unsigned q = 0; q < r.n; q++)
			irq_round(&r, q);
}

/* MSIX-01, PCI-ISR-01, PCI-COM-04: queue i has entry i + 1 and its own CPU; the order of the writes
 * is the fake's to judge. */
static void own_vectors(void **state)
{
	struct rig *rig = *state;

	irq_plug(rig, 4, 5);
	for (unsigned event_idx = 0; event_idx < 2; event_idx++) {
		irq_bring_up(&r, &rig->pci, 4, 0xf, event_idx);
		assert_true(r.opened);
		for (unsigned q = 0; q < 4; q++) {
			assert_int_equal(r.queue[q].got, VIRTIO_IRQ_OWN);
			assert_int_equal(rig->disk.queue[q].vector, q + 1);
		}
		assert_int_equal(rig->disk.config_vector, 0);
		assert_true(intx_barred(rig));
		every_queue_completes(20);
		for (unsigned q = 0; q < 4; q++)
			assert_int_equal(r.told[q], 20);
		fake_config_change(&rig->disk);
		host.cpu = 0;
		interrupt_wait(host.clock_ns + IRQ_WAIT_NS);
		assert_int_equal(r.told_config, 1);
		irq_end(&r);
	}
	assert_int_equal(rig->disk.isr_reads, 0);
	assert_int_equal(rig->disk.messages, 2 * (4 * 20 + 1));
	assert_true(silent(rig));
}

/* F-118, MSIX-01, MSIX-03, MSIX-04, PCI-ISR-04 */
static void too_few_vectors(void **state)
{
	static const struct {
		unsigned entries;
		enum virtio_irq got;
		uint16_t vector;
		const char *said;
	} cases[] = {
		{0, VIRTIO_IRQ_INTX, VIRTIO_NO_VECTOR, "no MSI-X: no such capability"},
		{1, VIRTIO_IRQ_SHARED, 0, "the queues share: 2 needed, the device has 1"},
		{2, VIRTIO_IRQ_SHARED, 1, "for each queue: 5 needed, the device has 2"},
		{3, VIRTIO_IRQ_SHARED, 1, "for each queue: 5 needed, the device has 3"},
		{4, VIRTIO_IRQ_SHARED, 1, "for each queue: 5 needed, the device has 4"},
		{5, VIRTIO_IRQ_OWN, 0, NULL},
		{2048, VIRTIO_IRQ_OWN, 0, NULL},
	};
	struct rig *rig = *state;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_reset();
		fake_disk_init(&rig->disk);
		memset(rig->log, 0, rig->log_bytes);
		rig->log_bytes = 0;
		irq_plug(rig, 4, cases[i].entries);
		irq_bring_up(&r, &rig->pci, 4, 0xf, true);
		assert_true(r.opened);
		for (unsigned q = 0; q < 4; q++) {
			assert_int_equal(r.queue[q].got, cases[i].got);
			if (cases[i].got != VIRTIO_IRQ_OWN)
				assert_int_equal(rig->disk.queue[q].vector, cases[i].vector);
		}
		assert_true(cases[i].said ? rig_logged(rig, cases[i].said) : silent(rig));
		assert_int_equal(intx_barred(rig), cases[i].got != VIRTIO_IRQ_INTX);
		every_queue_completes(10);
		assert_true(cases[i].got == VIRTIO_IRQ_OWN || r.told[3] == 40);
		fake_config_change(&rig->disk);
		host.cpu = 0;
		r.told_config = 0;
		interrupt_wait(host.clock_ns + IRQ_WAIT_NS);
		assert_int_equal(r.told_config, 1);
		irq_end(&r);
	}
}

/* F-119, MSIX-05, MSIX-06: one refusal, and the queue shares; it works as the others do. */
static void refused_once(void **state)
{
	struct rig *rig = *state;

	rig->disk.refuse_mapping = 4; /* configuration, queues 0 and 1 before it */
	irq_plug(rig, 3, 4);
	irq_bring_up(&r, &rig->pci, 3, 7, true);
	assert_true(r.opened);
	assert_int_equal(r.queue[1].got, VIRTIO_IRQ_OWN);
	assert_int_equal(r.queue[2].got, VIRTIO_IRQ_SHARED);
	assert_int_equal(rig->disk.queue[2].vector, 0);
	assert_true(rig_logged(rig, "queue 2: device refused MSI-X vector 3 (read back 0xffff); "
				    "using vector 0, shared"));
	assert_int_equal(host.interrupts_live, 3);
	every_queue_completes(5);
	irq_end(&r);
}

/* F-119, PCI-ISR-04: of two vectors that are shared, each tells the queues mapped to it. */
static void refused_the_shared_one(void **state)
{
	struct rig *rig = *state;

	rig->disk.refuse_mapping = 3; /* configuration and queue 0 before it */
	irq_plug(rig, 3, 3);
	irq_bring_up(&r, &rig->pci, 3, 7, true);
	assert_int_equal(rig->disk.queue[0].vector, 1);
	assert_int_equal(rig->disk.queue[1].vector, 0);
	assert_int_equal(rig->disk.queue[2].vector, 1);
	irq_round(&r, 0);
	assert_int_equal(r.told[1], 0);
	irq_round(&r, 1);
	assert_int_equal(r.told[2], 1); /* with queue 0 */
	irq_end(&r);
}

/* One queue's own vector and a shared one are the same: it is tried, and reported, once. */
static void no_step_twice(void **state)
{
	struct rig *rig = *state;

	irq_plug(rig, 1, 1);
	irq_bring_up(&r, &rig->pci, 1, 1, true);
	assert_true(rig_logged(rig,
			       "vda 00:03.0: not an MSI-X vector for each queue: 2 needed, the "
			       "device has 1\n"));
	assert_null(strstr(rig->log, "the queues share"));
	assert_int_equal(r.queue[0].got, VIRTIO_IRQ_SHARED);
	every_queue_completes(2);
	irq_end(&r);
}

/* F-119: all that a queue is offered is refused. */
static void refused_always(void **state)
{
	struct rig *rig = *state;

	rig->disk.refuse_queues = 1 << 2;
	irq_plug(rig, 3, 4);
	irq_bring_up(&r, &rig->pci, 3, 7, true);
	assert_true(r.opened);
	assert_int_equal(r.queue[2].got, VIRTIO_IRQ_NONE);
	assert_int_equal(rig->disk.queue[2].vector, VIRTIO_NO_VECTOR);
	assert_true(rig_logged(rig, "queue 2: device refused MSI-X vector 3 (read back 0xffff); "
				    "using polled completion"));
	irq_round(&r, 0);
	irq_round(&r, 1);
	irq_submit(&r, 2);
	interrupt_wait(host.clock_ns + IRQ_WAIT_NS);
	assert_int_equal(r.told[2], 0);
	assert_int_equal(irq_collect(&r, 2), 1);
	irq_end(&r);
}

/* F-119, MSIX-06: no queue gets one, so MSI-X is off again and INTx takes over. */
static void refused_for_all(void **state)
{
	struct rig *rig = *state;

	rig->disk.refuse_queues = 7;
	irq_plug(rig, 3, 4);
	irq_bring_up(&r, &rig->pci, 3, 7, false);
	assert_true(r.opened);
	assert_int_equal(r.queue[2].got, VIRTIO_IRQ_INTX);
	assert_int_equal(rig->disk.config_vector, VIRTIO_NO_VECTOR);
	assert_false(fake_msix_on(&rig->disk));
	assert_true(rig_logged(rig, "not one MSI-X vector for all: the device refused it"));
	assert_int_equal(host.interrupts_live, 1);
	every_queue_completes(5);
	irq_end(&r);
}

/* MSIX-05: what was taken before is refused as the queue is enabled. */
static void refused_late(void **state)
{
	struct rig *rig = *state;

	rig->disk.refuse_mapping = 1 + 2 + 2;
	irq_plug(rig, 2, 3);
	irq_bring_up(&r, &rig->pci, 2, 3, true);
	assert_int_equal(r.vq[0].vector, 1);
	assert_int_equal(r.vq[1].vector, VIRTIO_NO_VECTOR);
	assert_int_equal(rig->disk.queue[1].vector, VIRTIO_NO_VECTOR);
	assert_true(rig_logged(rig, "queue 1: device refused MSI-X vector 2 (read back 0xffff); "
				    "using polled completion"));
	irq_round(&r, 0);
	irq_end(&r);
}

static void refused_for_configuration(void **state)
{
	struct rig *rig = *state;

	rig->disk.refuse_config = 1;
	irq_plug(rig, 1, 2);
	irq_bring_up(&r, &rig->pci, 1, 1, true);
	assert_true(r.opened);
	assert_true(rig_logged(rig, "configuration changes: device refused MSI-X vector 0"));
	fake_config_change(&rig->disk);
	every_queue_completes(5);
	assert_int_equal(r.told_config, 0);
	irq_end(&r);
}

static bool masked(const struct rig *rig, unsigned entry)
{
	return rig->disk.msix.table[4 * entry + 3] & 1;
}

/*
 * F-123: a queue that wants none has, beside others that do, an entry that is masked; MSIX-07: if no
 * queue does, 'none' is written though the device's default is entry 0.
 */
static void unused_vectors(void **state)
{
	struct rig *rig = *state;

	rig->disk.default_vector = 0;
	irq_plug(rig, 3, 4);
	irq_bring_up(&r, &rig->pci, 3, 2, true);
	assert_int_equal(rig->disk.queue[0].vector, 2);
	assert_int_equal(rig->disk.queue[1].vector, 1);
	assert_int_equal(rig->disk.queue[2].vector, 2);
	assert_true(masked(rig, 2) && !masked(rig, 1));
	irq_submit(&r, 0);
	irq_submit(&r, 2);
	interrupt_wait(host.clock_ns + IRQ_WAIT_NS);
	assert_int_equal(rig->disk.queue[2].interrupts, 1); /* asked for, and led nowhere */
	assert_int_equal(rig->disk.messages, 0);
	irq_round(&r, 1);
	irq_end(&r);
	irq_bring_up(&r, &rig->pci, 3, 0, true); /* all polled: MSI-X stays off */
	assert_true(r.opened);
	assert_false(fake_msix_on(&rig->disk));
	assert_false(intx_barred(rig));
	assert_int_equal(rig->disk.queue[1].vector, VIRTIO_NO_VECTOR);
	assert_int_equal(rig->disk.config_vector, VIRTIO_NO_VECTOR);
	irq_submit(&r, 0);
	assert_int_equal(irq_collect(&r, 0), 1);
	irq_end(&r);
	assert_true(silent(rig));
}

/* No entry is left over: that of configuration changes, or none if the device refuses it. */
static void no_spare_entry(void **state)
{
	struct rig *rig = *state;

	irq_plug(rig, 3, 3);
	irq_bring_up(&r, &rig->pci, 3, 3, true);
	assert_int_equal(rig->disk.queue[2].vector, 0);
	assert_int_equal(r.queue[2].got, VIRTIO_IRQ_NONE);
	irq_round(&r, 0);
	irq_round(&r, 1);
	assert_int_equal(r.told[2], 0);
	irq_end(&r);
	rig->disk.refuse_queues = 1 << 2;
	irq_bring_up(&r, &rig->pci, 3, 3, true);
	assert_int_equal(rig->disk.queue[2].vector, VIRTIO_NO_VECTOR);
	assert_true(silent(rig));
	irq_end(&r);
}

/* F-123: the block driver polls, and writes 'none' to both kinds of register. */
static void polled_disk(void **state)
{
	struct rig *rig = *state;

	rig->disk.default_vector = 0;
	rig_start(rig);
	assert_int_equal(rig->disk.queue[0].vector, VIRTIO_NO_VECTOR);
	assert_int_equal(rig->disk.config_vector, VIRTIO_NO_VECTOR);
	blk_close(&rig->blk);
}

/* MSIX-08: a reset unmaps all; opened again, all is mapped again. */
static void reset_unmaps(void **state)
{
	struct rig *rig = *state;

	irq_plug(rig, 2, 3);
	for (unsigned i = 0; i < 3; i++) {
		irq_bring_up(&r, &rig->pci, 2, 3, true);
		assert_int_equal(rig->disk.queue[1].vector, 2);
		every_queue_completes(3);
		irq_end(&r);
		assert_int_equal(rig->disk.queue[1].vector, VIRTIO_NO_VECTOR);
		assert_int_equal(rig->disk.config_vector, VIRTIO_NO_VECTOR);
		assert_false(fake_msix_on(&rig->disk));
		for (unsigned e = 0; e < 3; e++)
			assert_int_equal(rig->disk.msix.table[4 * e + 3] & 1, 1);
	}
}

/* Wherever the machine runs out of interrupts, the rest is given back and a lower step serves. */
static void machine_runs_out(void **state)
{
	struct rig *rig = *state;

	irq_plug(rig, 3, 4);
	for (unsigned i = 1; i <= 4; i++) {
		host.fail_interrupt = i;
		irq_bring_up(&r, &rig->pci, 3, 7, true);
		assert_int_equal(r.queue[2].got, VIRTIO_IRQ_SHARED);
		assert_int_equal(host.interrupts_live, 2);
		every_queue_completes(2);
		irq_end(&r);
	}
}

/* F-121: an entry of the table that keeps nothing is not used. */
static void bad_table_entry(void **state)
{
	struct rig *rig = *state;

	rig->disk.bad_word = 4 * 2 + 1;
	irq_plug(rig, 3, 4);
	irq_bring_up(&r, &rig->pci, 3, 7, true);
	assert_true(rig_logged(rig, "entry 2 of the table does not read back as written"));
	assert_int_equal(r.queue[2].got, VIRTIO_IRQ_SHARED);
	every_queue_completes(2);
	irq_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(own_vectors),
		rig_test(too_few_vectors),
		rig_test(refused_once),
		rig_test(refused_the_shared_one),
		rig_test(no_step_twice),
		rig_test(refused_always),
		rig_test(refused_for_all),
		rig_test(refused_late),
		rig_test(refused_for_configuration),
		rig_test(unused_vectors),
		rig_test(no_spare_entry),
		rig_test(polled_disk),
		rig_test(reset_unmaps),
		rig_test(machine_runs_out),
		rig_test(bad_table_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
