/* SPDX-License-Identifier: BSD-2-Clause */
/* Does a long chain lie in the ring or in a table, and what is the same for both rings? */
#include "drivers/virtio/long.h"

/* Whether @entries are to be in a table, if one is free: by the policy, or for want of room. */
static bool prefers_table(const struct virtqueue *vq, uint32_t entries)
{
	uint32_t free = virtqueue_free_descriptors(vq);

	if (vq->kind == VQ_SPLIT_TABLES || vq->kind == VQ_PACKED_TABLES || vq_is_in_order(vq->kind))
		return true;
	return free < entries || free < vq->indirect_below;
}

bool virtqueue_long_begin(struct virtqueue *vq, struct vq_chain *chain, uint32_t entries)
{
	uint32_t free = virtqueue_free_descriptors(vq);
	bool indirect = prefers_table(vq, entries) && entries <= vq->tables.entries &&
			vq->tables.n_free > 0;

	if (free < (indirect ? 1 : entries) || (!indirect && vq_is_in_order(vq->kind)))
		return false;
	*chain = (struct vq_chain){.vq = vq, .indirect = indirect};
	if (indirect)
		chain->table = vq->tables.free[--vq->tables.n_free];
	if (vq_is_packed(vq->kind))
		packed_long_begin(chain);
	else
		split_long_begin(chain);
	if (indirect)
		vq->tables.of[chain->head->id] = chain->table;
	return true;
}

void virtqueue_long_put(struct vq_chain *chain, dma_addr_t addr, uint32_t len, uint16_t flags)
{
	if (vq_is_packed(chain->vq->kind))
		packed_long_put(chain, addr, len, flags);
	else
		split_long_put(chain, addr, len, flags);
	chain->n++;
}

void virtqueue_long_end(struct vq_chain *chain, void *token, uint32_t writable_bytes)
{
	struct vq_head *head = chain->head;

	if (vq_is_packed(chain->vq->kind))
		packed_long_end(chain);
	else
		split_long_end(chain);
	head->token = token;
	head->expected = writable_bytes | VQ_LONG;
	chain->vq->avail_idx++;
}

void virtqueue_release(struct virtqueue *vq, struct vq_head *head)
{
	void **table = vq->tables.of ? &vq->tables.of[head->id] : NULL;

	if (table && *table) {
		vq->tables.free[vq->tables.n_free++] = *table;
		*table = NULL;
	}
	if (vq_is_in_order(vq->kind))
		in_order_release(vq, head);
	else if (vq_is_packed(vq->kind))
		packed_release(vq, head);
	else
		split_release(vq, head);
}
