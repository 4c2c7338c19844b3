/* SPDX-License-Identifier: BSD-2-Clause */
/* How does the device side of a split queue run, and how does it lie? */
#include <stdlib.h>
#include <string.h>

#include "tests/host/fake.h"

/* Each field that both sides touch is one atomic access; offsets in units of the field (2.7.6). */
static uint16_t *avail_field(const struct fake_queue *queue, unsigned index)
{
	return (uint16_t *)(uintptr_t)queue->ring[1] + index;
}

static uint16_t *used_flags(const struct fake_queue *queue)
{
	return (uint16_t *)(uintptr_t)queue->ring[2];
}

static uint32_t *used_elem(const struct fake_queue *queue, uint16_t index)
{
	return (uint32_t *)(uintptr_t)queue->ring[2] + 1 + 2 * (index % queue->size);
}

static uint16_t *avail_event(const struct fake_queue *queue)
{
	return used_flags(queue) + 2 + 4 * queue->size;
}

static uint16_t avail_idx(const struct fake_queue *queue)
{
	return __atomic_load_n(avail_field(queue, 1), __ATOMIC_ACQUIRE);
}

void fake_queue_init(struct fake_queue *queue)
{
	memset(queue, 0, sizeof(*queue));
	queue->vector = 0xffff;
}

void fake_queue_free(struct fake_queue *queue)
{
	unsigned i;

	for (i = 0; queue->chain && i < queue->size; i++) {
		free(queue->chain[i].seg);
		free(queue->chain[i].raw);
	}
	free(queue->chain);
	free(queue->owner);
	free(queue->pending);
	queue->chain = NULL;
	queue->owner = queue->pending = NULL;
	queue->enabled = false;
}

static bool event_idx(const struct fake_disk *disk)
{
	return disk->accepted >> FAKE_EVENT_IDX & 1;
}

static void set_suppression(struct fake_disk *disk, struct fake_queue *queue)
{
	bool polling = disk->service == FAKE_POLLING;
	uint16_t event = disk->event == FAKE_EVENT_FIXED ? disk->event_value
			 : polling			 ? (uint16_t)(queue->last_avail + 0x8000)
							 : queue->last_avail;
	uint16_t flags = polling;

	if (event_idx(disk))
		flags = disk->junk; /* RING-SPLIT-29 */
	else
		event = disk->junk ? (uint16_t)fake_random(disk) : 0; /* RING-SPLIT-26 */
	__atomic_store_n(used_flags(queue), flags, __ATOMIC_RELAXED);
	if (event_idx(disk) || disk->junk)
		__atomic_store_n(avail_event(queue), event, __ATOMIC_RELAXED);
	host_fence();
}

static void check_ring(const char *id, uint64_t addr, uint64_t bytes, uint64_t align)
{
	if (addr % align)
		fake_violate("RING-SPLIT-01: %s at %#llx", id, (unsigned long long)addr);
	if (!host_dma_ok(addr, bytes))
		fake_violate("RSVD-05: %s of %llu bytes at %#llx is not memory for devices", id,
			     (unsigned long long)bytes, (unsigned long long)addr);
}

void fake_queue_enable(struct fake_disk *disk, struct fake_queue *queue)
{
	uint64_t used_bytes = 6 + 8ull * queue->size, i;

	check_ring("queue_desc", queue->ring[0], 16ull * queue->size, 16);
	check_ring("queue_driver", queue->ring[1], 6 + 2ull * queue->size, 2);
	check_ring("queue_device", queue->ring[2], used_bytes, 4);
	if (fake_violation())
		return;
	for (i = 0; i < used_bytes; i++)
		if (((const uint8_t *)(uintptr_t)queue->ring[2])[i])
			fake_violate("RING-SPLIT-25: the used ring is not zero at byte %u",
				     (unsigned)i);
	if (avail_idx(queue) != 0)
		fake_violate("PCI-COM-12: the available index starts at %u", avail_idx(queue));
	queue->chain = calloc(queue->size, sizeof(*queue->chain));
	queue->owner = calloc(queue->size, sizeof(*queue->owner));
	queue->pending = calloc(queue->size, sizeof(*queue->pending));
	if (!queue->chain || !queue->owner || !queue->pending)
		abort();
	queue->enabled = true;
	set_suppression(disk, queue);
}

/* ---- Taking ---- */

static bool live(const struct fake_disk *disk)
{
	return (disk->status & FAKE_S_DRIVER_OK) && !(disk->status & FAKE_S_NEEDS_RESET) &&
	       !disk->fn->gone && !fake_violation();
}

static void check_avail_flags(const struct fake_disk *disk, const struct fake_queue *queue)
{
	uint16_t flags = __atomic_load_n(avail_field(queue, 0), __ATOMIC_RELAXED);

	if (event_idx(disk) && flags)
		fake_violate("RING-SPLIT-16: available flags are %#x with EVENT_IDX", flags);
	if (flags > 1)
		fake_violate("RING-SPLIT-14: available flags are %#x", flags);
}

void fake_queue_look(struct fake_disk *disk, struct fake_queue *queue)
{
	uint16_t idx;

	if (!live(disk) || !queue->enabled)
		return;
	check_avail_flags(disk, queue);
	queue->batches += avail_idx(queue) != queue->last_avail;
	while ((idx = avail_idx(queue)) != queue->last_avail) {
		if ((uint16_t)(idx - queue->last_avail) > queue->size - queue->nr_pending) {
			fake_violate("RING-SPLIT-13: available index %u after %u, queue size %u",
				     idx, queue->last_avail, queue->size);
			return;
		}
		while (queue->last_avail != idx && live(disk)) {
			unsigned slot = queue->last_avail++ % queue->size;

			fake_chain_walk(
				disk, queue,
				__atomic_load_n(avail_field(queue, 2 + slot), __ATOMIC_RELAXED));
		}
		if (!live(disk))
			return;
		queue->seen = idx;
		set_suppression(disk, queue); /* and look once more: 2.7.10 */
	}
}

/* Did the device ask to be told of what came since it last looked? (2.7.10) */
static bool wanted(const struct fake_disk *disk, const struct fake_queue *queue, uint16_t idx)
{
	uint16_t event = __atomic_load_n(avail_event(queue), __ATOMIC_RELAXED);

	if (!event_idx(disk))
		return !__atomic_load_n(used_flags(queue), __ATOMIC_RELAXED);
	return (uint16_t)(idx - event - 1) < (uint16_t)(idx - queue->seen);
}

void fake_queue_notified(struct fake_disk *disk, struct fake_queue *queue)
{
	uint16_t idx = avail_idx(queue);

	__atomic_add_fetch(&queue->notifications, 1, __ATOMIC_RELAXED);
	if (disk->threaded) {
		sem_post(&disk->bell);
		return;
	}
	queue->repeated += idx == queue->seen;
	queue->unneeded += idx != queue->seen && !wanted(disk, queue, idx);
	queue->seen = idx;
	queue->notified = true;
	if (disk->lose > 0) {
		disk->lose--;
		return;
	}
	fake_queue_look(disk, queue);
	if (disk->finish == FAKE_AT_ONCE)
		fake_queue_finish(disk, queue, UINT32_MAX);
}

/* ---- Completing ---- */

static void count_interrupt(struct fake_disk *disk, struct fake_queue *queue, uint16_t old)
{
	uint16_t event;

	host_fence();
	event = __atomic_load_n(avail_field(queue, 2u + queue->size), __ATOMIC_RELAXED);
	if (event_idx(disk) ? (uint16_t)(queue->used - event - 1) < (uint16_t)(queue->used - old)
			    : !(__atomic_load_n(avail_field(queue, 0), __ATOMIC_RELAXED) & 1)) {
		queue->interrupts++;
		fake_msix_raise(disk, queue->vector, 1);
	}
}

static void push_used(struct fake_disk *disk, struct fake_queue *queue, uint32_t id, uint32_t len,
		      uint16_t jump)
{
	uint32_t *elem = used_elem(queue, queue->used);
	uint16_t old = queue->used;

	__atomic_store_n(&elem[0], id, __ATOMIC_RELAXED);
	__atomic_store_n(&elem[1], len, __ATOMIC_RELAXED);
	queue->used = (uint16_t)(queue->used + 1 + jump);
	__atomic_store_n(used_flags(queue) + 1, queue->used, __ATOMIC_RELEASE);
	count_interrupt(disk, queue, old);
}

static bool lies(const struct fake_disk *disk)
{
	return disk->lie != FAKE_HONEST && disk->nr_done >= disk->lie_at &&
	       disk->nr_done - disk->lie_at < disk->lie_count;
}

static void complete(struct fake_disk *disk, struct fake_queue *queue, struct fake_chain *chain)
{
	enum fake_lie lie = lies(disk) ? disk->lie : FAKE_HONEST;
	uint32_t value = disk->lie_value, len;

	disk->nr_done++;
	if (lie == FAKE_DROP)
		return;
	if (lie == FAKE_NEEDS_RESET) {
		fake_needs_reset(disk);
		return;
	}
	if (lie == FAKE_VANISH) {
		fake_vanish(disk);
		return;
	}
	len = fake_blk_run(disk, chain, lie);
	fake_chain_check(queue, chain);
	chain->busy = false;
	push_used(disk, queue, lie == FAKE_BAD_ID ? value : chain->head,
		  lie == FAKE_BAD_LEN ? value : len, lie == FAKE_IDX_JUMP ? (uint16_t)value : 0);
	if (lie == FAKE_TWICE)
		push_used(disk, queue, chain->head, len, 0);
}

void fake_queue_finish(struct fake_disk *disk, struct fake_queue *queue, unsigned n)
{
	for (; n > 0 && queue->nr_pending > 0 && live(disk); n--) {
		unsigned last = queue->nr_pending - 1;
		unsigned i = disk->order == FAKE_FIFO	   ? 0
			     : disk->order == FAKE_REVERSE ? last
							   : fake_random(disk) % (last + 1);
		uint16_t head = queue->pending[i];

		memmove(&queue->pending[i], &queue->pending[i + 1],
			(last - i) * sizeof(queue->pending[0]));
		queue->nr_pending--;
		complete(disk, queue, &queue->chain[head]);
	}
}

/* What was published and asked to be notified of, and was not, is a kick that the driver lost. */
static void check_missed(const struct fake_disk *disk, struct fake_queue *queue)
{
	uint16_t idx = avail_idx(queue);

	if (idx != queue->seen && wanted(disk, queue, idx))
		fake_violate("%s: available index %u was published and not notified",
			     event_idx(disk) ? "RING-SPLIT-30" : "RING-SPLIT-28", idx);
}

static void step(struct fake_disk *disk, struct fake_queue *queue)
{
	if (!live(disk) || !queue->enabled)
		return;
	check_avail_flags(disk, queue);
	check_missed(disk, queue);
	if (disk->service == FAKE_POLLING || disk->event == FAKE_EVENT_FIXED)
		fake_queue_look(disk, queue);
	if (disk->finish != FAKE_HELD)
		fake_queue_finish(disk, queue, UINT32_MAX);
}

void fake_step(void)
{
	struct fake_disk *disk;
	unsigned i;

	for (disk = fake_disks(); disk; disk = disk->next) {
		for (i = 0; i < fake_nr_queues(disk) && !disk->threaded; i++)
			step(disk, &disk->queue[i]);
		fake_msix_step(disk);
	}
}

unsigned fake_complete_on(struct fake_disk *disk, unsigned index, unsigned n)
{
	uint64_t before = disk->nr_done;

	fake_queue_finish(disk, &disk->queue[index], n);
	return (unsigned)(disk->nr_done - before);
}

unsigned fake_complete(struct fake_disk *disk, unsigned n)
{
	return fake_complete_on(disk, 0, n);
}

/* ---- Memory that the driver takes back ---- */

static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
	return a < b + b_bytes && b < a + a_bytes;
}

static void freed(const struct fake_queue *queue, uint64_t addr, uint64_t bytes)
{
	unsigned head, i;

	for (i = 0; i < 3; i++)
		if (overlap(addr, bytes, queue->ring[i], 1))
			fake_violate("CLEAN-02: ring memory freed while the queue is live");
	for (head = 0; head < queue->size; head++)
		for (i = 0; queue->chain[head].busy && i < queue->chain[head].nr_segs; i++)
			if (overlap(addr, bytes, queue->chain[head].seg[i].addr,
				    queue->chain[head].seg[i].len))
				fake_violate("CLEAN-02: memory of head %u freed while in flight",
					     head);
}

void fake_freed(uint64_t addr, uint64_t bytes)
{
	struct fake_disk *disk;
	unsigned i;

	for (disk = fake_disks(); disk; disk = disk->next)
		for (i = 0; i < FAKE_QUEUES; i++)
			if (disk->queue[i].enabled && (disk->status & FAKE_S_DRIVER_OK) &&
			    !disk->fn->gone)
				freed(&disk->queue[i], addr, bytes);
}
