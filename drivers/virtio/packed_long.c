/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a long chain lie in a packed ring? In a row, and round its end; or in a table. */
#include "drivers/virtio/long.h"

void packed_long_begin(struct vq_chain *chain)
{
	struct virtqueue *vq = chain->vq;

	chain->head = vq->kind == VQ_PACKED_IN_ORDER ? &vq->head[vq->packed.avail_pos]
						     : vq->free.item[--vq->free.n];
	chain->flags = vq->packed.avail_flags;
	if (chain->indirect)
		return;
	chain->table = vq->packed.desc;
	chain->at = vq->packed.avail_pos;
}

/* The buffer ID belongs into the last descriptor; all may bear it (2.8.6). */
void packed_long_put(struct vq_chain *chain, dma_addr_t addr, uint32_t len, uint16_t flags)
{
	struct vring_packed_desc *desc = (struct vring_packed_desc *)chain->table + chain->at++;

	desc->addr = addr;
	if (chain->indirect) {
		*vring_word_of(desc) = packed_word(len, 0, flags & VRING_DESC_F_WRITE);
		return;
	}
	__atomic_store_n(chain->n ? vring_word_of(desc) : packed_first_word(chain->vq),
			 packed_word(len, chain->head->id, flags | chain->flags), __ATOMIC_RELAXED);
	if (chain->at == chain->vq->size) {
		chain->at = 0;
		chain->flags ^= VRING_PACKED_DESC_F_BOTH;
	}
}

void packed_long_end(struct vq_chain *chain)
{
	struct virtqueue *vq = chain->vq;
	uint32_t bytes = chain->n * (uint32_t)sizeof(struct vring_packed_desc);

	if (chain->indirect) {
		vq->packed.desc[vq->packed.avail_pos].addr = virtqueue_table_dma(vq, chain->table);
		__atomic_store_n(
			packed_first_word(vq),
			packed_word(bytes, chain->head->id, VRING_DESC_F_INDIRECT | chain->flags),
			__ATOMIC_RELAXED);
	}
	chain->head->descriptors = chain->indirect ? 1 : chain->n;
	packed_advance(vq, chain->head->descriptors);
	vq->packed.n_long++;
}

void packed_release(struct virtqueue *vq, struct vq_head *head)
{
	struct vq_drain drain = packed_drain_begin(vq);

	vq->packed.n_long = (uint16_t)(vq->packed.n_long - virtqueue_head_is_long(head));
	packed_drain_free(&drain, head, head->descriptors);
	packed_drain_end(vq, &drain, 1);
}
