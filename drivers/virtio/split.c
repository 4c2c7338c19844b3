/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In which state does a split virtqueue start, and how do slots become single descriptors and back?
 *
 * A slot is three descriptors of which the first is the head; direct chains take one. A chain in a
 * table needs one descriptor, a single: where tables are always used there are no slots, else slots
 * are broken up as more singles are needed, and made whole as slots are, of which no part is in use.
 */
#include "drivers/virtio/split.h"

#include "drivers/virtio/adapt.h"
#include "lib/mem.h"

#define LEGACY_PAGE 4096u

static void push(struct vq_stack *stack, struct vq_head *head)
{
	stack->item[stack->n++] = head;
}

void split_write_single(struct virtqueue *vq, struct vq_head *head)
{
	head->descriptors = 1;
	head->stamp = VQ_NO_STAMP;
	vq->split.desc[head->id] = (struct vring_desc){
		virtqueue_frame_dma(vq, head->id), VQ_FRAME_DESCRIPTORS * sizeof(struct vring_desc),
		VRING_DESC_F_INDIRECT, 0};
}

/* A frame at @entry, which is number @first of its table or of the ring. */
static void write_frame(const struct virtqueue *vq, struct vring_desc *entry, uint16_t first,
			const struct vq_head *head)
{
	entry[0] = (struct vring_desc){virtqueue_header_dma(vq, head->id), VQ_HEADER_BYTES,
				       VRING_DESC_F_NEXT, (uint16_t)(first + 1)};
	entry[1] = (struct vring_desc){.flags = VRING_DESC_F_NEXT, .next = (uint16_t)(first + 2)};
	entry[2] = (struct vring_desc){head->status_dma, 1, VRING_DESC_F_WRITE, 0};
}

void split_write_slot(struct virtqueue *vq, struct vq_head *head)
{
	head->descriptors = VQ_FRAME_DESCRIPTORS;
	head->stamp = VQ_NO_STAMP;
	head->split_data = &vq->split.desc[head->id + 1];
	write_frame(vq, &vq->split.desc[head->id], head->id, head);
}

static size_t whole_pages(size_t bytes)
{
	return (bytes + LEGACY_PAGE - 1) & ~(size_t)(LEGACY_PAGE - 1);
}

/* 2.7.2: one block of whole pages, the used ring at the first page behind the rest. */
static bool place_contiguous(struct virtqueue *vq)
{
	size_t first = whole_pages(vq->desc_bytes + vq->avail_bytes);
	char *block = virtqueue_take_memory(vq, first + whole_pages(vq->used_bytes), LEGACY_PAGE);

	if (!block)
		return false;
	vq->split.desc = (void *)block;
	vq->split.avail = (void *)(block + vq->desc_bytes);
	vq->split.used = (void *)(block + first);
	return true;
}

static bool place_parts(struct virtqueue *vq)
{
	vq->split.desc = virtqueue_take_memory(vq, vq->desc_bytes, VQ_PART_ALIGN);
	vq->split.avail = virtqueue_take_memory(vq, vq->avail_bytes, VQ_PART_ALIGN);
	vq->split.used = virtqueue_take_memory(vq, vq->used_bytes, VQ_PART_ALIGN);
	return vq->split.desc && vq->split.avail && vq->split.used;
}

bool split_create(struct virtqueue *vq, bool contiguous)
{
	size_t size = vq->size;

	vq->split.mask = (uint16_t)(size - 1);
	vq->desc_bytes = sizeof(struct vring_desc) * size;
	vq->avail_bytes = 6 + 2 * size;
	vq->used_bytes = 6 + 8 * size;
	if (contiguous ? !place_contiguous(vq) : !place_parts(vq))
		return false;
	vq->split.singles.item =
		virtqueue_take_memory(vq, sizeof(*vq->split.singles.item) * size, VQ_PART_ALIGN);
	if (!vq->split.singles.item)
		return false;
	vq->desc_dma = dma_map(vq->split.desc, vq->desc_bytes);
	vq->avail_dma = dma_map(vq->split.avail, vq->avail_bytes);
	vq->used_dma = dma_map(vq->split.used, vq->used_bytes);
	return true;
}

/* Each descriptor refers to the table of its head, each entry to the descriptor of its number, for
 * good but for what long chains do to the former. */
static void create_in_order(struct virtqueue *vq)
{
	for (unsigned id = 0; id < vq->size; id++) {
		write_frame(vq, vq->head[id].frame->split, 0, &vq->head[id]);
		split_write_single(vq, &vq->head[id]);
		vq->split.avail->ring[id] = (uint16_t)id;
	}
}

/* A batch gets the top of the stack from below: at first, heads in ascending order. */
static void create_slots(struct virtqueue *vq)
{
	uint16_t slots = vq->kind == VQ_SPLIT_TABLES ? 0 : vq->size / VQ_FRAME_DESCRIPTORS;

	for (unsigned id = 0; id < vq->size; id++) {
		struct vq_head *head = &vq->head[id];

		write_frame(vq, head->frame->split, 0, head);
		if (head->id >= slots * VQ_FRAME_DESCRIPTORS) {
			split_write_single(vq, head);
			push(&vq->split.singles, head);
		} else if (head->id % VQ_FRAME_DESCRIPTORS == 0) {
			split_write_slot(vq, head);
			push(&vq->free, head);
		}
	}
}

void split_start(struct virtqueue *vq)
{
	memset(vq->split.desc, 0, vq->desc_bytes);
	memset(vq->split.avail, 0, vq->avail_bytes);
	memset(vq->split.used, 0, vq->used_bytes);
	vq->split.singles.n = 0;
	vq->split.broken_up = 0;
	if (vq->kind == VQ_SPLIT_IN_ORDER)
		create_in_order(vq);
	else
		create_slots(vq);
	split_disarm(vq);
}

static void break_up_slot(struct virtqueue *vq)
{
	struct vq_head *head = vq->free.item[--vq->free.n];

	for (unsigned i = VQ_FRAME_DESCRIPTORS; i > 0; i--) {
		split_write_single(vq, &head[i - 1]);
		push(&vq->split.singles, &head[i - 1]);
	}
	vq->split.broken_up++;
}

static struct vq_head *slot_of(const struct virtqueue *vq, const struct vq_head *single)
{
	return &vq->head[single->id - single->id % VQ_FRAME_DESCRIPTORS];
}

/* While make_whole() counts, the free singles of a slot are in the upper half of its head's
 * descriptors. Those beyond the last slot never come to three. */
#define FREE_SINGLE 0x10000u

/* Takes whole slots out of the singles, and pushes their heads onto the free slots. */
static void sort_singles(struct virtqueue *vq)
{
	struct vq_stack *singles = &vq->split.singles;
	uint16_t n = singles->n;

	singles->n = 0;
	for (uint16_t i = 0; i < n; i++) {
		struct vq_head *head = singles->item[i], *slot = slot_of(vq, head);

		if (slot->descriptors < VQ_FRAME_DESCRIPTORS * FREE_SINGLE)
			push(singles, head);
		else if (head == slot)
			push(&vq->free, head);
	}
}

/* Slots of which all three singles are free become slots again; there is no free slot before. */
static void make_whole(struct virtqueue *vq)
{
	struct vq_stack *singles = &vq->split.singles;

	for (uint16_t i = 0; i < singles->n; i++)
		slot_of(vq, singles->item[i])->descriptors += FREE_SINGLE;
	sort_singles(vq);
	for (uint16_t i = 0; i < singles->n; i++)
		slot_of(vq, singles->item[i])->descriptors = 1;
	for (uint16_t i = 0; i < vq->free.n; i++)
		split_write_slot(vq, vq->free.item[i]);
	vq->split.broken_up = (uint16_t)(vq->split.broken_up - vq->free.n);
}

struct vq_choice split_choose(struct virtqueue *vq, unsigned wanted)
{
	unsigned direct = vq_direct_limit(vq, split_free_descriptors(vq), wanted);

	if (direct > 0 && vq->free.n == 0 && vq->split.broken_up)
		make_whole(vq);
	if (direct > vq->free.n)
		direct = vq->free.n;
	if (direct > 0)
		return (struct vq_choice){VQ_SPLIT_DIRECT, wanted < direct ? wanted : direct};
	while (vq->split.singles.n < wanted && vq->free.n > 0)
		break_up_slot(vq);
	return (struct vq_choice){VQ_SPLIT_TABLES, wanted};
}
