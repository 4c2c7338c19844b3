/* SPDX-License-Identifier: BSD-2-Clause */
/* Is an interrupt that comes understood: by INTx, for two causes at once, late, twice, or for nothing? */
#include <string.h>

#include "tests/host/irq_rig.h"

static struct irq_rig r, other;

/* PCI-ISR-02, PCI-ISR-03, PCI-ISR-04: one read, both causes, every queue that wants one. */
static void both_causes(void **state)
{
	struct rig *rig = *state;

	irq_plug(rig, 3, 0);
	irq_bring_up(&r, &rig->pci, 3, 3, true);
	irq_submit(&r, 0);
	irq_submit(&r, 1);
	fake_config_change(&rig->disk);
	assert_int_equal(rig->disk.isr, 3);
	interrupt_wait(host.clock_ns + IRQ_WAIT_NS);
	assert_int_equal(rig->disk.isr_reads, 1);
	assert_int_equal(r.told[0] + r.told[1], 2);
	assert_int_equal(r.told[2], 0);
	assert_int_equal(r.told_config, 1);
	irq_collect(&r, 0);
	irq_collect(&r, 1);
	irq_round(&r, 1);
	assert_int_equal(rig->disk.isr_reads, 2);
	assert_int_equal(r.told_config, 1);
	irq_end(&r);
}

/* PCI-ISR-03: one message that means both, where all share one. */
static void both_by_one_message(void **state)
{
	struct rig *rig = *state;

	irq_plug(rig, 2, 1);
	irq_bring_up(&r, &rig->pci, 2, 3, true);
	irq_submit(&r, 1);
	fake_config_change(&rig->disk);
	interrupt_wait(host.clock_ns + IRQ_WAIT_NS);
	assert_int_equal(host.interrupts, 1);
	assert_int_equal(r.told[1], 1);
	assert_int_equal(r.told_config, 1);
	assert_int_equal(irq_collect(&r, 1), 1);
	irq_end(&r);
}

/* F-125: two devices on one level-triggered line. */
static void shared_line(void **state)
{
	static struct fake_disk disk2;
	static struct pci_function pci[2];
	struct rig *rig = *state;

	fake_disk_init(&disk2);
	disk2.msix_place.entries = rig->disk.msix_place.entries = 0;
	disk2.finish = FAKE_ON_STEP;
	rig_plug(rig);
	fake_disk_plug(&disk2, 0, 4, 0);
	fake_disk_caps(&disk2);
	pci_init();
	assert_int_equal(pci_scan(pci, 2, blk_is_disk), 2);
	irq_bring_up(&r, &pci[0], 1, 1, true);
	irq_bring_up(&other, &pci[1], 1, 1, true);
	for (unsigned i = 0; i < 500; i++) {
		irq_submit(&r, 0);
		irq_submit(&other, 0);
		while (r.told[0] <= i || other.told[0] <= i)
			interrupt_wait(host.clock_ns + IRQ_WAIT_NS);
		assert_int_equal(irq_collect(&r, 0), 1);
		assert_int_equal(irq_collect(&other, 0), 1);
	}
	assert_int_equal(r.told[0], 500);
	assert_int_equal(other.told[0], 500);
	assert_true(host.intx_interrupts <= 1000);
	assert_int_equal(host.intx_unclaimed, 0);
	assert_int_equal(host.waits_in_vain, 0);
	irq_tear_down(&other);
	irq_round(&r, 0); /* who stays is not disturbed by who leaves */
	irq_end(&r);
}

/* Firmware left MSI-X on. INTx is barred then, and a polled queue's messages lead nowhere. */
static void left_on(void **state)
{
	static const enum fake_face faces[] = {FAKE_MODERN, FAKE_LEGACY};
	struct rig *rig = *state;
	uint8_t *p;

	for (unsigned i = 0; i < 4; i++) {
		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.face = faces[i & 1];
		host_low_memory();
		rig->config.mode = i & 2 ? BLK_POLL : BLK_IRQ;
		rig->config.irq = BLK_IRQ_INTX;
		rig_plug(rig);
		fake_pci_put(rig->disk.fn, rig->disk.msix.cap + 2u, 0xc000, 2);
		if (!rig_open(rig))
			fail_msg("blk_open: %s", rig->log);
		assert_false(fake_msix_on(&rig->disk));
		assert_string_equal(rig->blk.interrupt, i & 2 ? "none" : "intx");
		p = rig_memory(512);
		assert_int_equal(rig_do(rig, BLK_READ, 3, p, 512), BLK_OK);
		blk_close(&rig->blk);
	}
}

/* All steps fail: the queues are polled, and the log says what was seen. */
static void nothing_works(void **state)
{
	static const char *const said[] = {
		"not INTx: line 11 leads to no interrupt (no local APIC or IOAPIC, or no such pin); using polled completion",
		"not INTx: no line assigned; using polled completion",
		"not INTx: no line assigned; using polled completion",
		"not INTx: no usable ISR status capability; using polled completion",
	};
	struct rig *rig = *state;

	for (unsigned i = 0; i < 4; i++) {
		fake_reset();
		fake_disk_init(&rig->disk);
		rig->disk.line = i == 1 ? 0xff : 11;
		irq_plug(rig, 2, 3);
		host.cpu_vectors = 0;
		host.no_ioapic = i == 0;
		if (i == 2)
			fake_pci_put(rig->disk.fn, 0x3d, 0, 1);
		for (unsigned c = 0; i == 3 && c < rig->disk.fn->nr_caps; c++)
			if (rig->disk.fn->config[rig->disk.fn->cap[c].offset + 3] == FAKE_ISR)
				rig->disk.fn->config[rig->disk.fn->cap[c].offset + 4] = 7;
		irq_bring_up(&r, &rig->pci, 2, 3, true);
		assert_false(r.opened);
		assert_int_equal(r.queue[1].got, VIRTIO_IRQ_NONE);
		assert_true(rig_logged(rig, said[i]));
		assert_true(rig_logged(rig, "for each queue: CPU 0 has no interrupt left"));
		irq_submit(&r, 1);
		assert_int_equal(irq_collect(&r, 1), 1);
		irq_end(&r);
	}
}

/* A queue whose interrupt leads to another CPU: its own is woken. */
static void other_cpu_is_woken(void **state)
{
	struct rig *rig = *state;

	irq_plug(rig, 2, 2);
	irq_bring_up(&r, &rig->pci, 2, 2, true);
	assert_int_equal(r.queue[1].got, VIRTIO_IRQ_OWN); /* the only one */
	irq_end(&r);
	irq_bring_up(&r, &rig->pci, 2, 3, true);
	assert_int_equal(r.queue[1].got, VIRTIO_IRQ_SHARED);
	irq_round(&r, 1);
	assert_int_equal(r.told_on[1], 0);
	assert_int_equal(host.wakes, 1);
	host.cpu = 1;
	host.waits_in_vain = 0;
	interrupt_wait(host.clock_ns + IRQ_WAIT_NS);
	assert_int_equal(host.waits_in_vain, 0);
	irq_end(&r);
}

/* The fake's knobs: what is lost, late, doubled or out of nothing; by messages and by INTx. */
static void interrupts_misbehave(void **state)
{
	struct rig *rig = *state;
	uint64_t start;

	for (unsigned entries = 0; entries < 4; entries += 3) {
		fake_reset();
		fake_disk_init(&rig->disk);
		irq_plug(rig, 2, entries);
		irq_bring_up(&r, &rig->pci, 2, 3, true);
		rig->disk.lose_irqs = 1;
		irq_submit(&r, 0);
		interrupt_wait(host.clock_ns + IRQ_WAIT_NS);
		assert_int_equal(r.told[0], 0);
		assert_int_equal(host.waits_in_vain, 1);
		assert_int_equal(irq_collect(&r, 0), 1);
		rig->disk.delay_irq_ns = 300000;
		start = host.clock_ns;
		irq_round(&r, 0);
		assert_in_range(host.clock_ns - start, 300000, 400000);
		rig->disk.delay_irq_ns = 0;
		rig->disk.twice_irqs = 1;
		irq_round(&r, 0);
		interrupt_wait(host.clock_ns + IRQ_WAIT_NS);
		assert_int_equal(r.told[0], 3);
		fake_spurious(&rig->disk, 0);
		interrupt_wait(host.clock_ns + IRQ_WAIT_NS);
		assert_int_equal(r.told[0], 4);
		assert_int_equal(irq_collect(&r, 0), 0);
		irq_round(&r, 0);
		irq_end(&r);
	}
}

static void expect(const char *id)
{
	assert_non_null(fake_violation());
	if (!strstr(fake_violation(), id))
		fail_msg("not %s but %s", id, fake_violation());
}

/* Registers of the common configuration, by their offset. */
enum { CONFIG_VECTOR = 16, STATUS = 20, QUEUE_SELECT = 22, QUEUE_VECTOR = 26, QUEUE_ENABLE = 28 };

/* From a live device to one whose queue 0 is to be set up next. */
static void to_set_up(struct fake_disk *disk)
{
	assert_true(virtio_reset(&r.dev));
	fake_common_write(disk, STATUS, 1, 1);
	fake_common_write(disk, STATUS, 3, 1);
	disk->features_read = 3;
	disk->accepted = FAKE_BIT(FAKE_VERSION_1);
	fake_common_write(disk, STATUS, 11, 1);
	fake_common_read(disk, STATUS, 1);
	fake_common_write(disk, QUEUE_SELECT, 0, 2);
	assert_null(fake_violation());
}

/* The fake's own checks, each seen failing. */
static void broken_rules_are_seen(void **state)
{
	static const char *const id[] = {NULL, "MSIX-05: vector 1 mapped while",
					 "MSIX-04: vector 3", "MSIX-05: the vector of queue 0",
					 "MSIX-05: the vector of the configuration"};
	struct rig *rig = *state;

	rig_tolerate();
	for (unsigned i = 0; i < 5; i++) {
		fake_reset();
		fake_disk_init(&rig->disk);
		irq_plug(rig, 1, 3);
		irq_bring_up(&r, &rig->pci, 1, 1, true);
		assert_null(fake_violation());
		if (i == 0) {
			region_read8(&r.dev.isr, 0);
			expect("PCI-ISR-01");
			continue;
		}
		to_set_up(&rig->disk);
		if (i == 1)
			msix_enable(&r.irqs.msix, false);
		if (i == 4) {
			fake_common_write(&rig->disk, CONFIG_VECTOR, 0, 2);
			rig->disk.queue[0].enabled = true;
			fake_common_write(&rig->disk, STATUS, 15, 1);
			rig->disk.queue[0].enabled = false;
		} else {
			fake_common_write(&rig->disk, QUEUE_VECTOR, i == 2 ? 3 : 1, 2);
			rig->disk.queue[0].written = 0xff;
			if (i == 3)
				fake_common_write(&rig->disk, QUEUE_ENABLE, 1, 2);
		}
		expect(id[i]);
	}
	fake_reset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(both_causes),
		rig_test(both_by_one_message),
		rig_test(shared_line),
		rig_test(nothing_works),
		rig_test(left_on),
		rig_test(other_cpu_is_woken),
		rig_test(interrupts_misbehave),
		rig_test(broken_rules_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
