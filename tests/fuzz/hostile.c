/* SPDX-License-Identifier: BSD-2-Clause */
/* What can a hostile device do between two steps of the driver, and what must hold whatever it does? */
#include "tests/fuzz/hostile.h"

#include <string.h>

#include "drivers/pci/pci.h"
#include "tests/fuzz/hostile_rig.h"

#define STEPS	    256u
#define DRAIN_TURNS 20000u
#define POOL_CHUNKS (2 * HOSTILE_REQUESTS)
#define WAIT_NS	    1000000u
#define RELAX_NS    100000u /* by which the clock moves where the driver waits */

struct hostile_rig rig;

/* Splits @in: a length, so many bytes of steps, which stay in @in, and what the device lies by. */
static void give_to_device(struct fuzz_input *in)
{
	size_t steps = (size_t)fuzz_take(in, 2);

	if (steps > in->left)
		steps = in->left;
	rig.hostile = (struct fake_hostile){.data = in->data + steps, .n = in->left - steps};
	in->left = steps;
}

static bool open_disk(struct fuzz_input *in, const struct hostile_kind *kind)
{
	struct blk_config config;
	struct pci_function pci;
	bool opened;

	fuzz_machine(400000);
	host.relax_ns = RELAX_NS;
	memset(rig.request, 0, sizeof(rig.request));
	rig.nr_out = 0;
	rig.pool = (struct sgl_pool){0};
	rig.hostile = (struct fake_hostile){0};
	rig.scribbled = false;
	hostile_shape_take(&rig.shape, in);
	if (kind->face == FAKE_LEGACY && !rig.shape.high_memory)
		host_low_memory();
	hostile_shape_device(&rig.shape, kind);
	config = hostile_shape_driver(&rig.shape, kind);
	if (rig.shape.lies)
		give_to_device(in);
	if (rig.shape.lies && rig.shape.early)
		rig.disk.hostile = &rig.hostile;
	fake_disk_plug(&rig.disk, 0, 3, 0);
	fake_disk_caps(&rig.disk);
	pci_init();
	host.no_ioapic = rig.shape.no_ioapic;
	host.fail_alloc = rig.shape.fail_alloc;
	opened = pci_scan(&pci, 1, blk_is_disk) == 1 && blk_open(&rig.blk, &pci, 0, &config);
	host.fail_alloc = 0;
	if (rig.shape.lies)
		rig.disk.hostile = &rig.hostile;
	return opened;
}

static void open_ports(void)
{
	unsigned i;

	rig.nr_ports = 1 + rig.shape.ports % HOSTILE_PORTS;
	for (i = 0; i < rig.nr_ports; i++) {
		rig.halted[i] = false;
		blk_port_open(&rig.port[i], blk_queue_of(&rig.blk, i, BLK_QUEUE_ANY), i);
	}
	rig.data = dma_alloc((size_t)HOSTILE_REQUESTS * HOSTILE_DATA_BYTES, 4096);
	fuzz_check(rig.data && sgl_pool_grow(&rig.pool, POOL_CHUNKS), "no memory");
}

/* ---- The driver's side ---- */

/* @more: after how many, and bit 7: so many are completed once it is armed. Then it must wake up. */
static void wait_by_interrupt(struct blk_port *port, unsigned more)
{
	unsigned n = 1 + more % 4, done = 0;
	uint64_t in_vain = host.waits_in_vain;
	struct blk_queue_info info;
	bool sure;

	blk_queue_info(port->queue, &info);
	sure = !port->shared && info.mode != BLK_POLL && info.cpu == port->cpu &&
	       rig.disk.lose_irqs == 0;
	host.cpu = port->cpu;
	if (blk_port_arm(port, n)) {
		if (more & 0x80)
			done = fake_complete_on(&rig.disk, info.index, n);
		interrupt_wait(cycles() + ns_to_cycles(WAIT_NS));
		fuzz_check(!sure || done < n || host.waits_in_vain == in_vain || !hostile_honest(),
			   "what was waited for came, and no interrupt");
	}
	blk_port_disarm(port);
	host.cpu = 0;
}

/* It sleeps, and others go on; before it does anything else it wakes up. */
static void halt(struct blk_port *port, unsigned more)
{
	host.cpu = port->cpu;
	rig.halted[port - rig.port] = blk_port_arm(port, 1 + more % 8);
	if (!rig.halted[port - rig.port])
		blk_port_disarm(port);
	host.cpu = 0;
}

static void wake_up(struct blk_port *port)
{
	if (!rig.halted[port - rig.port])
		return;
	host.cpu = port->cpu;
	interrupt_wait(0);
	blk_port_disarm(port);
	rig.halted[port - rig.port] = false;
	host.cpu = 0;
}

static void let_time_pass(unsigned more)
{
	unsigned i;

	host.clock_ns += (uint64_t)more * HOSTILE_TIMEOUT_NS / 64;
	for (i = 0; i < rig.nr_ports; i++)
		if (!rig.halted[i])
			blk_port_check_progress(&rig.port[i]);
}

/* The device says that it changed; while the queues are idle it did, and the driver looks. */
static void resize(unsigned more)
{
	if (rig.nr_out > 0) {
		fake_config_change(&rig.disk);
		return;
	}
	rig.disk.capacity = HOSTILE_SECTORS + more;
	fake_config_change(&rig.disk);
	blk_refresh(&rig.blk);
	if (hostile_honest() && hostile_in_time())
		fuzz_check(rig.blk.capacity_512 == rig.disk.capacity, "the capacity is not seen");
	memset(rig.request, 0, sizeof(rig.request)); /* what was prepared is so no more */
}

/* ---- The device's side ---- */

static bool is_packed(void)
{
	return rig.disk.accepted & FAKE_BIT(FAKE_RING_PACKED);
}

/* How much of the memory of @part of the ring is the ring's: beyond it may lie what only the driver has. */
static unsigned part_bytes(const struct fake_queue *queue, unsigned part)
{
	if (part == 0)
		return 16u * queue->size;
	return is_packed() ? 4 : part == 1 ? 6 + 2u * queue->size : 6 + 8u * queue->size;
}

/*
 * Writes somewhere in what the driver gave to it: parts of the rings, or the data of a request. Not in
 * a split ring's descriptors: they are where the fake writes to, and without an IOMMU no driver is safe
 * from a device that writes elsewhere.
 */
static void scribble(struct fuzz_input *in, unsigned index)
{
	const struct fake_queue *queue = &rig.disk.queue[index];
	unsigned where = (unsigned)fuzz_take(in, 1), offset = (unsigned)fuzz_take(in, 1);
	unsigned part = is_packed() ? where % 4 % 3 : 1 + where % 2;
	uint16_t value = (uint16_t)fuzz_take(in, 2);
	uint64_t at = (uintptr_t)rig.data + 2 * offset;

	rig.scribbled = true;
	fuzz_distrust_rings();
	if (queue->enabled && !(where & 4))
		at = queue->ring[part] + 2 * offset % part_bytes(queue, part);
	if (queue->enabled && host_dma_ok(at, 2))
		__atomic_store_n((uint16_t *)(uintptr_t)at, value, __ATOMIC_RELEASE);
}

/* What a right device may do all the same: be slow of hearing, or change how it asks and answers. */
static void change_habit(unsigned more)
{
	switch (more % 4) {
	case 0:
		rig.disk.used_batch = more / 4 % 8;
		break;
	case 1:
		rig.disk.lose = more / 4 % 4;
		break;
	case 2:
		rig.disk.lose_irqs = more / 4 % 4;
		rig.disk.twice_irqs = more / 16 % 4;
		break;
	default:
		rig.disk.service = more & 4 ? FAKE_POLLING : FAKE_NOTIFIED;
		break;
	}
}

static void step(struct fuzz_input *in)
{
	unsigned word = (unsigned)fuzz_take(in, 1), more = (unsigned)fuzz_take(in, 1);
	struct blk_port *port = &rig.port[(word >> 4) % 4 % rig.nr_ports];
	struct blk_queue_info info;

	blk_queue_info(port->queue, &info);
	if (word % 16 < 6 || word % 16 == 10)
		wake_up(port);
	switch (word % 16) {
	case 0:
	case 1:
		hostile_submit(port, word, more);
		break;
	case 2:
		hostile_submit_long(port, more);
		break;
	case 3:
		hostile_submit_odd(port, more);
		break;
	case 4:
	case 5:
		hostile_poll(port);
		break;
	case 6:
	case 7:
		fake_complete_on(&rig.disk, info.index, 1 + more % 16);
		break;
	case 8:
		scribble(in, info.index);
		break;
	case 9:
		let_time_pass(more);
		break;
	case 10:
		wait_by_interrupt(port, more);
		break;
	case 11:
		if (!rig.halted[port - rig.port])
			halt(port, more);
		break;
	case 12:
		resize(more);
		break;
	case 13:
		change_habit(more);
		break;
	default:
		fake_step();
		break;
	}
}

/* From here on the device does no more than it must: time passes, and each request has to end. */
static void drain(void)
{
	unsigned turns = 0, i, n;

	if (rig.shape.helps)
		rig.disk.finish = FAKE_ON_STEP;
	for (i = 0; i < rig.nr_ports; i++)
		wake_up(&rig.port[i]);
	while (rig.nr_out > 0) {
		fuzz_check(++turns < DRAIN_TURNS, "a request never ends");
		for (i = n = 0; i < rig.nr_ports; i++)
			n += hostile_poll(&rig.port[i]);
		if (n > 0)
			continue;
		for (i = 0; i < rig.nr_ports; i++)
			blk_port_check_progress(&rig.port[i]);
		host.clock_ns += HOSTILE_TIMEOUT_NS / 256;
		cpu_relax();
	}
}

/* Ports are closed with nothing of theirs in flight; without sharing, so may the disk be. */
static void close_disk(void)
{
	bool abandon = rig.shape.abandon && rig.nr_ports == 1;
	unsigned i;

	if (!abandon)
		drain();
	for (i = 0; i < rig.nr_ports && !abandon; i++)
		blk_port_close(&rig.port[i]);
	blk_close(&rig.blk);
	hostile_closed();
	fuzz_check(rig.nr_out == 0 && rig.pool.n_free == rig.pool.n_total, "a request is lost");
}

int hostile_run(const uint8_t *data, size_t size, const struct hostile_kind *kind)
{
	struct fuzz_input in = {data, size};
	unsigned n, ours = 0;

	if (open_disk(&in, kind)) {
		ours = host.live;
		open_ports();
		ours = host.live - ours;
		for (n = 0; in.left > 0 && n < STEPS; n++)
			step(&in);
		close_disk();
	}
	if (hostile_honest() && !rig.shape.reset_never) {
		fuzz_check(host.live == ours, "memory was not given back");
		fuzz_check(host.interrupts_live == 0, "an interrupt was not given back");
	}
	rig.disk.hostile = NULL;
	fake_on_violation(NULL);
	fake_reset();
	return 0;
}
