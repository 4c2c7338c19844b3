/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a long chain lie in a split ring? In units, slots and single descriptors, one after
 * another; or in a table, to which a single descriptor refers, or the first of a slot. */
#include "drivers/virtio/long.h"

#define LAST_UNIT UINT16_MAX /* no head: they are below 32768 */

/* A slot of 3 descriptors or a single one, as its descriptors tell. */
static struct vq_head *take_unit(struct virtqueue *vq, bool indirect)
{
	struct vq_stack *singles = &vq->split.singles;
	bool single = singles->n > 0 && (indirect || vq->free.n == 0);

	return single ? singles->item[--singles->n] : vq->free.item[--vq->free.n];
}

void split_long_begin(struct vq_chain *chain)
{
	struct virtqueue *vq = chain->vq;

	chain->head = chain->unit = vq->kind == VQ_SPLIT_IN_ORDER
					    ? &vq->head[vq->avail_idx & vq->split.mask]
					    : take_unit(vq, chain->indirect);
	chain->head->next_unit = LAST_UNIT;
	if (!chain->indirect) {
		chain->table = vq->split.desc;
		chain->at = chain->head->id;
	}
}

/* The entry after the current one; at the end of a unit, the first of a further one. */
static uint16_t next_entry(struct vq_chain *chain)
{
	struct virtqueue *vq = chain->vq;
	struct vq_head *unit;

	if (chain->indirect || ++chain->in_unit < chain->unit->descriptors)
		return (uint16_t)(chain->at + 1);
	unit = take_unit(vq, false);
	chain->unit->next_unit = unit->id;
	unit->next_unit = LAST_UNIT;
	chain->unit = unit;
	chain->in_unit = 0;
	return unit->id;
}

void split_long_put(struct vq_chain *chain, dma_addr_t addr, uint32_t len, uint16_t flags)
{
	struct vring_desc *desc = (struct vring_desc *)chain->table + chain->at;
	uint16_t next = flags & VRING_DESC_F_NEXT ? next_entry(chain) : 0;

	*desc = (struct vring_desc){addr, len, flags, next};
	chain->at = next;
}

void split_long_end(struct vq_chain *chain)
{
	struct virtqueue *vq = chain->vq;
	uint32_t bytes = chain->n * (uint32_t)sizeof(struct vring_desc);

	if (chain->indirect)
		vq->split.desc[chain->head->id] = (struct vring_desc){
			virtqueue_table_dma(vq, chain->table), bytes, VRING_DESC_F_INDIRECT, 0};
	__atomic_store_n(&vq->split.avail->ring[vq->avail_idx & vq->split.mask], chain->head->id,
			 __ATOMIC_RELAXED);
}

/* What never changes is written again. */
static void free_unit(struct virtqueue *vq, struct vq_head *unit)
{
	bool single = unit->descriptors == 1;
	struct vq_stack *stack = single ? &vq->split.singles : &vq->free;

	if (single)
		split_write_single(vq, unit);
	else
		split_write_slot(vq, unit);
	stack->item[stack->n++] = unit;
}

void split_release(struct virtqueue *vq, struct vq_head *head)
{
	uint16_t next = virtqueue_head_is_long(head) ? head->next_unit : LAST_UNIT;

	free_unit(vq, head);
	while (next != LAST_UNIT) {
		struct vq_head *unit = &vq->head[next];

		next = unit->next_unit;
		free_unit(vq, unit);
	}
	head->expected = VQ_IDLE;
	__atomic_store_n(&vq->used_idx, (uint16_t)(vq->used_idx + 1), __ATOMIC_RELAXED);
}
