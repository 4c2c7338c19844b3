/* SPDX-License-Identifier: BSD-2-Clause */
/* Is what the driver posted a well-formed buffer? A walk that follows each rule of 2.7.4 to 2.7.6. */
#include <stdlib.h>
#include <string.h>

#include "tests/host/fake.h"

#define DESC_NEXT     1u
#define DESC_WRITE    2u
#define DESC_INDIRECT 4u

struct desc {
	uint64_t addr;
	uint32_t len;
	uint16_t flags, next;
};

static void *grow(void *p, unsigned n, size_t bytes)
{
	p = realloc(p, n * bytes);
	if (!p)
		abort();
	return p;
}

static void make_room(struct fake_chain *chain)
{
	if (chain->nr_raw < chain->max_segs)
		return;
	chain->max_segs = chain->max_segs ? 2 * chain->max_segs : 8;
	chain->seg = grow(chain->seg, chain->max_segs, sizeof(*chain->seg));
	chain->raw = grow(chain->raw, chain->max_segs, sizeof(*chain->raw));
}

/* Each descriptor is read once, as two words that the driver may have stored as such. */
static struct desc fetch(struct fake_chain *chain, uint64_t where)
{
	struct desc desc = {0};
	struct fake_raw *raw;

	make_room(chain);
	raw = &chain->raw[chain->nr_raw++];
	raw->where = where;
	memcpy(raw->bytes, (const void *)(uintptr_t)where, sizeof(raw->bytes));
	memcpy(&desc, raw->bytes, sizeof(desc));
	return desc;
}

static void add_seg(struct fake_chain *chain, const struct desc *desc)
{
	bool write = desc->flags & DESC_WRITE;

	if (desc->flags & ~(DESC_NEXT | DESC_WRITE | DESC_INDIRECT))
		fake_violate("RING-SPLIT: descriptor flags %#x", desc->flags);
	if (desc->len == 0)
		fake_violate("F-111: descriptor of length 0 in the buffer at head %u", chain->head);
	else if (!host_dma_ok(desc->addr, desc->len))
		fake_violate("RSVD-05: %u bytes at %#llx are not memory for devices", desc->len,
			     (unsigned long long)desc->addr);
	if (!write && chain->nr_segs > 0 && chain->seg[chain->nr_segs - 1].write)
		fake_violate("RING-SPLIT-02: readable descriptor after a writable one");
	chain->seg[chain->nr_segs++] = (struct fake_seg){desc->addr, desc->len, write};
}

static void walk_table(struct fake_queue *queue, struct fake_chain *chain, const struct desc *table)
{
	unsigned entries = table->len / 16, at = 0, n;
	struct desc desc;

	if (table->len % 16 || entries == 0 || !host_dma_ok(table->addr, table->len)) {
		fake_violate("RING-SPLIT-12: indirect table of %u bytes at %#llx", table->len,
			     (unsigned long long)table->addr);
		return;
	}
	if (entries > queue->size)
		fake_violate("RING-SPLIT-09: indirect table of %u entries, queue size %u", entries,
			     queue->size);
	for (n = 0; n < entries; n++, at = desc.next) {
		desc = fetch(chain, table->addr + 16ull * at);
		if (desc.flags & DESC_INDIRECT)
			fake_violate("RING-SPLIT-08: INDIRECT inside an indirect table");
		add_seg(chain, &desc);
		if (!(desc.flags & DESC_NEXT)) {
			if (n + 1 != entries)
				fake_violate("RING-SPLIT-12: table ends at entry %u of %u", n + 1,
					     entries);
			return;
		}
		if (desc.next >= entries)
			break;
	}
	fake_violate("RING-SPLIT-12: indirect table of %u entries does not end", entries);
}

/* The descriptor becomes part of the buffer at @head, and must not be part of another. */
static void own(struct fake_queue *queue, uint16_t head, uint16_t index)
{
	if (queue->owner[index] == head + 1)
		fake_violate("RING-SPLIT-09: the buffer at head %u is a loop", head);
	else if (queue->owner[index])
		fake_violate("CLEAN-01: descriptor %u posted again; head %u has it", index,
			     queue->owner[index] - 1u);
	queue->owner[index] = (uint16_t)(head + 1);
}

static void walk(struct fake_disk *disk, struct fake_queue *queue, struct fake_chain *chain)
{
	uint16_t at = chain->head;
	unsigned n;
	struct desc desc;

	for (n = 0; n < queue->size; n++, at = desc.next) {
		if (at >= queue->size) {
			fake_violate("RING-SPLIT-21: descriptor index %u, queue size %u", at,
				     queue->size);
			return;
		}
		own(queue, chain->head, at);
		desc = fetch(chain, queue->ring[0] + 16ull * at);
		if (!(desc.flags & DESC_INDIRECT)) {
			add_seg(chain, &desc);
		} else {
			chain->indirect = true;
			if (!(disk->accepted >> FAKE_INDIRECT_DESC & 1))
				fake_violate("RING-SPLIT-07: INDIRECT was not negotiated");
			if (desc.flags & DESC_NEXT)
				fake_violate("RING-SPLIT-10: INDIRECT and NEXT in one descriptor");
			walk_table(queue, chain, &desc);
		}
		if (!(desc.flags & DESC_NEXT))
			return;
	}
	fake_violate("RING-SPLIT-09: buffer at head %u is longer than the queue, or a loop",
		     chain->head);
}

void fake_chain_walk(struct fake_disk *disk, struct fake_queue *queue, uint16_t head)
{
	struct fake_chain *chain;
	uint64_t sum = 0;
	unsigned i;

	if (head >= queue->size) {
		fake_violate("RING-SPLIT-21: head %u made available, queue size %u", head,
			     queue->size);
		return;
	}
	chain = &queue->chain[head];
	if (chain->busy) {
		fake_violate("CLEAN-01: head %u made available while in flight", head);
		return;
	}
	chain->busy = true;
	chain->head = head;
	chain->queue = (uint16_t)(queue - disk->queue);
	chain->nr_segs = chain->nr_raw = 0;
	chain->indirect = false;
	walk(disk, queue, chain);
	for (i = 0; i < chain->nr_segs; i++)
		sum += chain->seg[i].len;
	if (sum > UINT32_MAX)
		fake_violate("RING-SPLIT-04: a buffer of %llu bytes", (unsigned long long)sum);
	queue->pending[queue->nr_pending++] = head;
	fake_blk_take(disk, chain);
}

/* When a buffer is used, its descriptors must be as they were when it was posted. */
void fake_chain_check(struct fake_queue *queue, const struct fake_chain *chain)
{
	unsigned i;

	for (i = 0; i < chain->nr_raw; i++)
		if (memcmp((const void *)(uintptr_t)chain->raw[i].where, chain->raw[i].bytes, 16))
			fake_violate("CLEAN-01: a descriptor of head %u changed while in flight",
				     chain->head);
	for (i = 0; i < queue->size; i++)
		if (queue->owner[i] == chain->head + 1u)
			queue->owner[i] = 0;
}
