/* SPDX-License-Identifier: BSD-2-Clause */
/* What does a hostile disk do at each step, as its bytes decide? */
#include "tests/host/fake_hostile.h"

#include <string.h>

#include "tests/host/fake_inside.h"

static uint8_t next(struct fake_hostile *h)
{
	return h->at < h->n ? h->data[h->at++] : 0;
}

static uint32_t next32(struct fake_hostile *h)
{
	uint32_t value = next(h);

	value |= (uint32_t)next(h) << 8;
	value |= (uint32_t)next(h) << 16;
	return value | (uint32_t)next(h) << 24;
}

/* One decision: 0 to be honest, else the lie's number + 1. */
static unsigned lie(struct fake_disk *disk)
{
	struct fake_hostile *h = disk->hostile;
	uint8_t byte = h ? next(h) : 0;

	if (byte < 0x80)
		return 0;
	h->lies++;
	return (byte & 0x7fu) + 1;
}

bool fake_hostile_excuses(const char *text)
{
	static const char *const never[] = {"F-154", "PCI-CAP-05", "dma_", "mmio_map",
					    "interrupt_"};
	const struct fake_disk *disk;
	bool hostile = false;
	unsigned i;

	for (disk = fake_disks(); disk; disk = disk->next)
		hostile |= disk->hostile && disk->hostile->lies > 0;
	for (i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		if (strncmp(text, never[i], strlen(never[i])) == 0)
			return false;
	return hostile;
}

/* ---- What registers, configuration space and the MSI-X table read as ---- */

uint32_t fake_hostile_read(struct fake_disk *disk, uint32_t value, unsigned width)
{
	uint32_t mask = width == 4 ? UINT32_MAX : (1u << 8 * width) - 1;
	unsigned what = lie(disk);

	if (what == 0)
		return value;
	switch (what % 4) {
	case 0:
		return value ^ (1u << next(disk->hostile) % (8 * width));
	case 1:
		return 0;
	case 2:
		return mask;
	}
	return next32(disk->hostile) & mask;
}

/* ---- A used entry, or descriptor: false if it is not written at all ---- */

bool fake_hostile_use(struct fake_disk *disk, struct fake_use *use, unsigned size)
{
	struct fake_hostile *h = disk->hostile;

	switch (lie(disk) % 16) {
	case 1:
		use->id = next32(h);
		break;
	case 2:
		use->id ^= 1u << next(h) % 16;
		break;
	case 3:
		use->len = next32(h);
		break;
	case 4:
		use->jump = next(h);
		break;
	case 5:
		use->flip = (uint16_t)next32(h);
		break;
	case 6:
		use->slots += next(h) % 8;
		break;
	case 7:
		return false;
	case 8: /* one that comes later, or came before: a span of what is not done, or of all */
		use->id = (use->id + next(h)) % size;
		break;
	case 9: /* the same, and the used index goes along */
		use->jump = next(h) % 8;
		use->id = (use->id + use->jump) % size;
		break;
	case 10: /* the index stays behind the ID */
		use->buffers = next(h) % 2;
		break;
	}
	return true;
}

enum fake_lie fake_hostile_lie(struct fake_disk *disk)
{
	static const enum fake_lie lies[] = {FAKE_HONEST,    FAKE_DROP,	 FAKE_TWICE, FAKE_STATUS,
					     FAKE_NO_STATUS, FAKE_SHORT, FAKE_TWICE, FAKE_DROP};
	unsigned what = lie(disk);

	if (what)
		disk->lie_value = next(disk->hostile);
	return lies[what % 8];
}

/* ---- Beside all requests ---- */

/* Two bytes of what the device may write: device area, or the packed ring. */
static void scribble(struct fake_disk *disk, struct fake_queue *queue)
{
	bool packed = queue->format == &fake_packed;
	uint32_t at = next32(disk->hostile);
	uint64_t bytes = packed ? 16ull * queue->size : 6 + 8ull * queue->size, base;

	base = packed && (at & 1) ? queue->ring[0] : queue->ring[2];
	if (packed && !(at & 1))
		bytes = 4;
	*(volatile uint16_t *)(uintptr_t)(base + (at >> 1) % bytes / 2 * 2) = (uint16_t)(at >> 16);
}

/* The last byte of a buffer in flight: its status, before it is used. */
static void early_status(struct fake_disk *disk, struct fake_queue *queue)
{
	const struct fake_chain *chain;
	const struct fake_seg *last;

	if (queue->nr_pending == 0)
		return;
	chain = &queue->chain[queue->pending[next(disk->hostile) % queue->nr_pending]];
	if (chain->nr_segs == 0)
		return;
	last = &chain->seg[chain->nr_segs - 1];
	if (last->write && host_dma_ok(last->addr, last->len))
		*(volatile uint8_t *)(uintptr_t)(last->addr + last->len - 1) = next(disk->hostile);
}

static void act(struct fake_disk *disk, struct fake_queue *queue, unsigned what)
{
	struct fake_hostile *h = disk->hostile;
	int index = (int)(queue - disk->queue);

	if (what < 4 && fake_queue_alive(disk, queue))
		what < 3 ? scribble(disk, queue) : early_status(disk, queue);
	else if (what == 4)
		fake_spurious(disk, index);
	else if (what == 5)
		fake_spurious(disk, -1);
	else if (what == 6)
		fake_needs_reset(disk);
	else if (what == 7 && next(h) >= 0xc0)
		fake_vanish(disk);
	else if (what == 8)
		disk->isr ^= next(h);
	else if (what == 9)
		h->stall = next(h);
	else if (what == 10)
		disk->capacity = (uint64_t)next32(h) << next(h) % 33;
	else if (what == 11)
		fake_config_change(disk);
	else if (what == 12)
		disk->lose_irqs = next(h) % 4;
	else if (what == 13)
		disk->twice_irqs = next(h) % 4;
	else if (what == 14)
		disk->event_value = (uint16_t)next32(h);
	else if (what == 15)
		disk->event = next(h) & 1 ? FAKE_EVENT_FIXED : FAKE_EVENT_NEXT;
	else if (what == 16)
		disk->used_batch = next(h) % 16;
	else if (what == 17)
		disk->order = (enum fake_order)(next(h) % 3);
	else if (what == 18)
		disk->reset_never = next(h) & 1;
	else if (what == 19)
		disk->lose = next(h) % 8;
}

bool fake_hostile_step(struct fake_disk *disk)
{
	struct fake_hostile *h = disk->hostile;
	unsigned what, n = fake_nr_queues(disk);

	if (!h)
		return true;
	if (h->stall > 0) {
		h->stall--;
		return false;
	}
	what = lie(disk);
	if (what && n > 0)
		act(disk, &disk->queue[next(h) % n], (what - 1) % 20);
	return true;
}
