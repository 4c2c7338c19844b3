/* SPDX-License-Identifier: BSD-2-Clause */
/* What can a hostile device do between two steps of the driver, and what must hold whatever it does? */
#include "tests/fuzz/hostile.h"

#include <string.h>

#include "drivers/block/blk.h"
#include "drivers/pci/pci.h"
#include "tests/host/fake_hostile.h"

#define REQUESTS    24u
#define DATA_BYTES  4096u
#define STEPS	    256u
#define TIMEOUT_NS  20000000ull
#define DRAIN_TURNS 20000u

static struct {
	struct fake_disk disk;
	struct fake_hostile hostile;
	struct blk_device blk;
	struct blk_request req[REQUESTS];
	bool out[REQUESTS];
	unsigned nr_out;
	uint8_t *data;
} rig;

/* What the first bytes choose: of the device, and of the driver. */
static void shape_device(const struct hostile_kind *kind, unsigned shape)
{
	static const uint16_t packed_sizes[] = {3, 5, 16, 33};

	fake_disk_init(&rig.disk);
	rig.disk.face = kind->face;
	rig.disk.features |= kind->features;
	rig.disk.features |= shape & 0x800 ? FAKE_BIT(FAKE_RING_RESET) : 0;
	rig.disk.queue_size[0] = kind->features & FAKE_BIT(FAKE_RING_PACKED)
					 ? packed_sizes[shape & 3]
					 : (uint16_t)(4u << (shape & 3));
	rig.disk.finish = FAKE_HELD;
	rig.disk.order = (enum fake_order)((shape >> 2) % 3);
}

static struct blk_config shape_driver(unsigned shape)
{
	struct blk_config config = BLK_CONFIG_DEFAULT;

	config.indirect = (enum blk_indirect)(shape >> 8 & 3);
	config.event_idx = shape & 0x20 ? BLK_EVENT_IDX_OFF : BLK_EVENT_IDX_AUTO;
	config.mode = shape & 0x40 ? BLK_IRQ : BLK_POLL;
	config.recover = shape & 0x800 ? BLK_RECOVER_QUEUE : BLK_RECOVER_DEVICE;
	config.timeout_ns = TIMEOUT_NS;
	return config;
}

/* Splits @in: a length, so many bytes of steps, which stay in @in, and what the device lies by. */
static void give_to_device(struct fuzz_input *in)
{
	size_t steps = (size_t)fuzz_take(in, 1);

	if (steps > in->left)
		steps = in->left;
	rig.hostile = (struct fake_hostile){.data = in->data + steps, .n = in->left - steps};
	in->left = steps;
}

/* With bit 7 of the shape the device lies, with bit 12 even while it is set up. */
static bool open_disk(struct fuzz_input *in, const struct hostile_kind *kind)
{
	unsigned shape = (unsigned)fuzz_take(in, 2);
	struct blk_config config = shape_driver(shape);
	struct pci_function pci;
	bool opened;

	fuzz_machine(4000000);
	if (kind->face == FAKE_LEGACY)
		host_low_memory();
	shape_device(kind, shape);
	if (shape & 0x80)
		give_to_device(in);
	if ((shape & 0x1080) == 0x1080)
		rig.disk.hostile = &rig.hostile;
	fake_disk_plug(&rig.disk, 0, 3, 0);
	fake_disk_caps(&rig.disk);
	pci_init();
	rig.nr_out = 0;
	memset(rig.out, 0, sizeof(rig.out));
	opened = pci_scan(&pci, 1, blk_is_disk) == 1 && blk_open(&rig.blk, &pci, 0, &config);
	if (shape & 0x80)
		rig.disk.hostile = &rig.hostile;
	return opened;
}

/* ---- The driver's side ---- */

static void submit(unsigned word)
{
	struct blk_request *list[REQUESTS];
	unsigned i, n = 0, wanted = 1 + word % 8, taken;
	uint32_t bytes = word & 8 ? 512 : DATA_BYTES;

	for (i = 0; i < REQUESTS && n < wanted; i++) {
		if (rig.out[i])
			continue;
		rig.req[i] = (struct blk_request){.op = word & 16 ? BLK_WRITE : BLK_READ,
						  .lba_512 = (word >> 5) * 8u};
		if (sgl_add(&rig.req[i].sgl, NULL, dma_map(rig.data + i * DATA_BYTES, bytes),
			    bytes))
			list[n++] = &rig.req[i];
	}
	taken = blk_submit(rig.blk.queues[0], list, n);
	fuzz_check(taken <= n, "more was taken than was given");
	for (i = 0; i < taken; i++)
		rig.out[list[i] - rig.req] = true;
	rig.nr_out += taken;
}

/* Each request comes back once, and with a status that exists. */
static unsigned poll(void)
{
	struct blk_request *done[REQUESTS];
	unsigned i, at, n = blk_poll(rig.blk.queues[0], done, REQUESTS);

	fuzz_check(n <= rig.nr_out, "more came back than was sent");
	for (i = 0; i < n; i++) {
		at = (unsigned)(done[i] - rig.req);
		fuzz_check(at < REQUESTS && rig.out[at], "a request came back that was not out");
		fuzz_check(done[i]->progress.status < BLK_STATUS_COUNT, "a status that is none");
		rig.out[at] = false;
	}
	rig.nr_out -= n;
	return n;
}

static void wait_by_interrupt(unsigned n)
{
	if (blk_arm(rig.blk.queues[0], 1 + n % 4))
		interrupt_wait(cycles() + ns_to_cycles(1000000));
	blk_disarm(rig.blk.queues[0]);
}

/* ---- The device's side ---- */

/* How much of the memory of @part of the ring is the ring's: beyond it may lie what only the driver has. */
static unsigned part_bytes(const struct fake_queue *queue, unsigned part)
{
	bool packed = rig.disk.accepted & FAKE_BIT(FAKE_RING_PACKED);

	if (part == 0)
		return 16u * queue->size;
	return packed ? 4 : part == 1 ? 6 + 2u * queue->size : 6 + 8u * queue->size;
}

/* Writes somewhere in what the driver gave to it: any part of the rings, or the data of a request. */
static void scribble(struct fuzz_input *in)
{
	const struct fake_queue *queue = &rig.disk.queue[0];
	unsigned where = (unsigned)fuzz_take(in, 1), offset = (unsigned)fuzz_take(in, 1);
	uint16_t value = (uint16_t)fuzz_take(in, 2);
	uint64_t at = (uintptr_t)rig.data + 2 * offset;

	fuzz_distrust_rings();
	if (!(where & 4))
		at = queue->ring[where % 4 % 3] + 2 * offset % part_bytes(queue, where % 4 % 3);
	if (queue->enabled && host_dma_ok(at, 2))
		__atomic_store_n((uint16_t *)(uintptr_t)at, value, __ATOMIC_RELEASE);
}

static void step(struct fuzz_input *in)
{
	unsigned word = (unsigned)fuzz_take(in, 1), more = (unsigned)fuzz_take(in, 1);

	switch (word % 8) {
	case 0:
	case 1:
		submit(more);
		break;
	case 2:
		poll();
		break;
	case 3:
		fake_complete(&rig.disk, 1 + more % 8);
		break;
	case 4:
		scribble(in);
		break;
	case 5:
		blk_check_progress(rig.blk.queues[0]);
		host.clock_ns += (uint64_t)more * TIMEOUT_NS / 64;
		break;
	case 6:
		wait_by_interrupt(more);
		break;
	default:
		fake_step();
		break;
	}
}

/* From here on nobody helps: time passes, and each request has to end. */
static void drain(void)
{
	unsigned turns = 0;

	while (rig.nr_out > 0) {
		fuzz_check(++turns < DRAIN_TURNS, "a request never ends");
		if (poll() == 0) {
			blk_check_progress(rig.blk.queues[0]);
			host.clock_ns += TIMEOUT_NS / 256;
			cpu_relax();
		}
	}
}

int hostile_run(const uint8_t *data, size_t size, const struct hostile_kind *kind)
{
	struct fuzz_input in = {data, size};
	unsigned n;

	if (open_disk(&in, kind)) {
		rig.data = dma_alloc((size_t)REQUESTS * DATA_BYTES, 4096);
		fuzz_check(rig.data != NULL, "no memory");
		for (n = 0; in.left > 0 && n < STEPS; n++)
			step(&in);
		drain();
		blk_close(&rig.blk);
	}
	rig.disk.hostile = NULL;
	fake_on_violation(NULL);
	fake_reset();
	return 0;
}
