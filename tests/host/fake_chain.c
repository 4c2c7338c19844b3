/* SPDX-License-Identifier: BSD-2-Clause */
/* Is what the driver posted a well-formed buffer? A walk that follows each rule of 2.7.4 to 2.7.6. */
#include <stdlib.h>
#include <string.h>

#include "tests/host/fake_inside.h"

#define FLAGS 0 /* in fake_desc.word[] */
#define NEXT  1

static void *grow(void *p, unsigned n, size_t bytes)
{
	p = realloc(p, n * bytes);
	if (!p)
		abort();
	return p;
}

static void make_room(struct fake_chain *chain)
{
	if (chain->nr_raw < chain->max_segs && chain->nr_segs < chain->max_segs)
		return;
	chain->max_segs = chain->max_segs ? 2 * chain->max_segs : 8;
	chain->seg = grow(chain->seg, chain->max_segs, sizeof(*chain->seg));
	chain->raw = grow(chain->raw, chain->max_segs, sizeof(*chain->raw));
}

/* Each descriptor is read once, as two words that the driver may have stored as such. */
struct fake_desc fake_chain_fetch(struct fake_chain *chain, uint64_t where)
{
	struct fake_desc desc = {0};
	struct fake_raw *raw;

	make_room(chain);
	raw = &chain->raw[chain->nr_raw++];
	raw->where = where;
	memcpy(raw->bytes, (const void *)(uintptr_t)where, sizeof(raw->bytes));
	memcpy(&desc, raw->bytes, sizeof(desc));
	return desc;
}

void fake_chain_add(struct fake_chain *chain, struct fake_seg seg, const char *order)
{
	make_room(chain);
	if (seg.len == 0)
		fake_violate("F-111: descriptor of length 0 in the buffer at head %u", chain->head);
	else if (!host_dma_ok(seg.addr, seg.len))
		fake_violate("RSVD-05: %u bytes at %#llx are not memory for devices", seg.len,
			     (unsigned long long)seg.addr);
	if (!seg.write && chain->nr_segs > 0 && chain->seg[chain->nr_segs - 1].write)
		fake_violate("%s: readable descriptor after a writable one", order);
	chain->bad |= seg.len == 0 || !host_dma_ok(seg.addr, seg.len);
	chain->seg[chain->nr_segs++] = seg;
}

static void add_seg(struct fake_chain *chain, const struct fake_desc *desc)
{
	uint16_t flags = desc->word[FLAGS];

	if (flags & ~(FAKE_D_NEXT | FAKE_D_WRITE | FAKE_D_INDIRECT))
		fake_violate("RING-SPLIT: descriptor flags %#x", flags);
	fake_chain_add(chain, (struct fake_seg){desc->addr, desc->len, flags & FAKE_D_WRITE},
		       "RING-SPLIT-02");
}

static void walk_table(struct fake_queue *queue, struct fake_chain *chain,
		       const struct fake_desc *table, bool in_order)
{
	unsigned entries = table->len / 16, at = 0, n;
	struct fake_desc desc;

	if (table->len % 16 || entries == 0 || !host_dma_ok(table->addr, table->len)) {
		fake_violate("RING-SPLIT-12: indirect table of %u bytes at %#llx", table->len,
			     (unsigned long long)table->addr);
		return;
	}
	if (entries > queue->size)
		fake_violate("RING-SPLIT-09: indirect table of %u entries, queue size %u", entries,
			     queue->size);
	for (n = 0; n < entries; n++, at = desc.word[NEXT]) {
		desc = fake_chain_fetch(chain, table->addr + 16ull * at);
		if (desc.word[FLAGS] & FAKE_D_INDIRECT)
			fake_violate("RING-SPLIT-08: INDIRECT inside an indirect table");
		add_seg(chain, &desc);
		if (!(desc.word[FLAGS] & FAKE_D_NEXT)) {
			if (n + 1 != entries)
				fake_violate("RING-SPLIT-12: table ends at entry %u of %u", n + 1,
					     entries);
			return;
		}
		if (desc.word[NEXT] >= entries)
			break;
		if (in_order && desc.word[NEXT] != n + 1)
			fake_violate("RING-SPLIT-11: entry %u of a table leads to %u", n,
				     desc.word[NEXT]);
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
	bool in_order = fake_accepted(disk, FAKE_IN_ORDER);
	uint16_t at = chain->head;
	unsigned n;
	struct fake_desc desc;

	for (n = 0; n < queue->size; n++, at = desc.word[NEXT]) {
		if (at >= queue->size) {
			fake_violate("RING-SPLIT-21: descriptor index %u, queue size %u", at,
				     queue->size);
			return;
		}
		own(queue, chain->head, at);
		desc = fake_chain_fetch(chain, queue->ring[0] + 16ull * at);
		if (!(desc.word[FLAGS] & FAKE_D_INDIRECT)) {
			add_seg(chain, &desc);
		} else {
			chain->indirect = true;
			if (!(disk->accepted >> FAKE_INDIRECT_DESC & 1))
				fake_violate("RING-SPLIT-07: INDIRECT was not negotiated");
			if (desc.word[FLAGS] & FAKE_D_NEXT)
				fake_violate("RING-SPLIT-10: INDIRECT and NEXT in one descriptor");
			walk_table(queue, chain, &desc, in_order);
		}
		queue->in_order = (uint16_t)(at + 1u == queue->size ? 0 : at + 1);
		if (!(desc.word[FLAGS] & FAKE_D_NEXT))
			return;
		if (in_order && desc.word[NEXT] != queue->in_order)
			fake_violate("RING-SPLIT-05: descriptor %u leads to %u", at,
				     desc.word[NEXT]);
	}
	fake_violate("RING-SPLIT-09: buffer at head %u is longer than the queue, or a loop",
		     chain->head);
}

void fake_chain_walk(struct fake_disk *disk, struct fake_queue *queue, uint16_t head)
{
	struct fake_chain *chain;
	uint64_t sum = 0;
	unsigned i;

	if (fake_accepted(disk, FAKE_IN_ORDER) && head != queue->in_order)
		fake_violate("RING-SPLIT-06: head %u made available, slot %u was next", head,
			     queue->in_order);

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
	chain->head = chain->id = head;
	chain->slots = 1;
	chain->queue = (uint16_t)(queue - disk->queue);
	chain->nr_segs = chain->nr_raw = 0;
	chain->indirect = chain->write = chain->bad = false;
	walk(disk, queue, chain);
	for (i = 0; i < chain->nr_segs; i++)
		sum += chain->seg[i].len;
	if (sum > UINT32_MAX)
		fake_violate("RING-SPLIT-04: a buffer of %llu bytes", (unsigned long long)sum);
	queue->pending[queue->nr_pending++] = head;
	fake_blk_take(disk, chain);
}

void fake_chain_check(struct fake_queue *queue, const struct fake_chain *chain)
{
	unsigned i;

	for (i = 0; i < chain->nr_raw; i++)
		if (host_dma_ok(chain->raw[i].where, 16) &&
		    memcmp((const void *)(uintptr_t)chain->raw[i].where, chain->raw[i].bytes, 16))
			fake_violate("CLEAN-01: a descriptor of head %u changed while in flight",
				     chain->head);
	if (!queue->owner) {
		queue->packed.in_flight[chain->id] = 0;
		return;
	}
	for (i = 0; i < queue->size; i++)
		if (queue->owner[i] == chain->head + 1u)
			queue->owner[i] = 0;
}
