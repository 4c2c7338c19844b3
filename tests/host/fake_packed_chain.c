/* SPDX-License-Identifier: BSD-2-Clause */
/* Is a list of the packed ring well-formed? A walk that follows each rule of 2.8.5 to 2.8.7. */
#include <string.h>

#include "tests/host/fake_inside.h"

#define ID    0 /* in fake_desc.word[] */
#define FLAGS 1
#define KNOWN (FAKE_D_NEXT | FAKE_D_WRITE | FAKE_D_INDIRECT | FAKE_D_AVAIL | FAKE_D_USED)

bool fake_packed_available(uint16_t flags, bool wrap)
{
	return !(flags & FAKE_D_AVAIL) != wrap && !(flags & FAKE_D_USED) == wrap;
}

/* Slot @index is the device's from here until it, or what lies there, is used. */
static struct fake_desc fetch(struct fake_queue *queue, unsigned index)
{
	struct fake_desc *shadow = &queue->packed.shadow[index];

	memcpy(shadow, (const struct fake_desc *)(uintptr_t)queue->ring[0] + index,
	       sizeof(*shadow));
	return *shadow;
}

static void add(struct fake_chain *chain, const struct fake_desc *desc)
{
	fake_chain_add(chain,
		       (struct fake_seg){desc->addr, desc->len, desc->word[FLAGS] & FAKE_D_WRITE},
		       "RING-PACKED-06");
}

/* 2.8.7: entries follow each other; id and all flags but WRITE are reserved there. */
static void walk_table(const struct fake_queue *queue, struct fake_chain *chain,
		       const struct fake_desc *table)
{
	unsigned entries = table->len / 16, n;

	chain->indirect = true;
	if (table->word[FLAGS] & FAKE_D_WRITE)
		fake_violate("RING-PACKED-24: WRITE on a descriptor that refers to a table");
	if (table->len % 16 || entries == 0 || !host_dma_ok(table->addr, table->len)) {
		fake_violate("RING-PACKED-12: indirect table of %u bytes at %#llx", table->len,
			     (unsigned long long)table->addr);
		return;
	}
	if (entries > queue->size)
		fake_violate("RING-PACKED-12: indirect table of %u entries, queue size %u", entries,
			     queue->size);
	for (n = 0; n < entries; n++) {
		struct fake_desc desc = fake_chain_fetch(chain, table->addr + 16ull * n);

		if (desc.word[FLAGS] & ~FAKE_D_WRITE)
			fake_violate("RING-PACKED-11: flags %#x inside an indirect table",
				     desc.word[FLAGS]);
		add(chain, &desc);
	}
}

/* The head was available, and so must each other one be that its list has (2.8.6). */
static void check_flags(const struct fake_chain *chain, unsigned index, uint16_t flags, bool wrap)
{
	if (flags & ~KNOWN)
		fake_violate("RING-PACKED-18: flags %#x in slot %u", flags, index);
	if (index < chain->head && !fake_packed_available(flags, wrap))
		fake_violate("RING-PACKED-19: flags %#x in slot %u, behind the ring's end, wrap "
			     "counter %u",
			     flags, index, wrap);
	else if (!fake_packed_available(flags, wrap))
		fake_violate("RING-PACKED-09: list at slot %u exposed before slot %u, flags %#x",
			     chain->head, index, flags);
}

/* Returns how many slots the list takes. */
static unsigned walk(struct fake_disk *disk, struct fake_queue *queue, struct fake_chain *chain,
		     bool wrap)
{
	unsigned index = chain->head, n;

	for (n = 1; n <= queue->size; n++) {
		struct fake_desc desc = fetch(queue, index);
		uint16_t flags = desc.word[FLAGS];

		check_flags(chain, index, flags, wrap);
		if (queue->packed.taken + n > queue->packed.used + queue->size)
			fake_violate("RING-PACKED-08: list at slot %u overruns the ring",
				     chain->head);
		if (!(flags & FAKE_D_INDIRECT)) {
			add(chain, &desc);
		} else {
			if (!fake_accepted(disk, FAKE_INDIRECT_DESC))
				fake_violate("RING-PACKED-10: INDIRECT was not negotiated");
			if (n > 1 || (flags & FAKE_D_NEXT))
				fake_violate("RING-PACKED-13: INDIRECT in a list, slot %u", index);
			walk_table(queue, chain, &desc);
		}
		chain->id = desc.word[ID];
		if (!(flags & FAKE_D_NEXT))
			return n;
		if (fake_violation())
			break;
		if (++index == queue->size) {
			index = 0;
			wrap = !wrap;
		}
	}
	fake_violate("RING-PACKED-05: list at slot %u is longer than the queue", chain->head);
	return n;
}

static struct fake_chain *unused_chain(struct fake_queue *queue)
{
	unsigned i = queue->packed.next_chain, n;

	for (n = 0; n < queue->size && queue->chain[i].busy; n++)
		i = i + 1u == queue->size ? 0 : i + 1;
	queue->packed.next_chain = i;
	return queue->chain[i].busy ? NULL : &queue->chain[i];
}

unsigned fake_packed_walk(struct fake_disk *disk, struct fake_queue *queue, bool wrap)
{
	struct fake_chain *chain = unused_chain(queue);

	if (!chain) {
		fake_violate("RING-PACKED-08: more lists in flight than the ring has slots");
		return 1;
	}
	chain->busy = true;
	chain->queue = (uint16_t)(queue - disk->queue);
	chain->head = (uint16_t)(queue->packed.taken % queue->size);
	chain->nr_segs = chain->nr_raw = 0;
	chain->indirect = chain->write = chain->bad = false;
	chain->slots = walk(disk, queue, chain, wrap);
	if (queue->packed.in_flight[chain->id])
		fake_violate("RING-PACKED-20: buffer id %u is in flight already", chain->id);
	queue->packed.in_flight[chain->id] = 1;
	if (fake_accepted(disk, FAKE_SEG_MAX) && chain->nr_segs > disk->seg_max + 2ull)
		fake_violate("RING-PACKED-04: list of %u elements, seg_max %u", chain->nr_segs,
			     disk->seg_max);
	queue->pending[queue->nr_pending++] = (uint16_t)(chain - queue->chain);
	fake_blk_take(disk, chain);
	return chain->slots;
}
