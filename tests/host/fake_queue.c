/* SPDX-License-Identifier: BSD-2-Clause */
/* When does the device look at a queue, what does it complete, and where does it lie? */
#include <stdlib.h>
#include <string.h>

#include "tests/host/fake_inside.h"

bool fake_accepted(const struct fake_disk *disk, unsigned feature)
{
	return disk->accepted >> feature & 1;
}

bool fake_live(const struct fake_disk *disk)
{
	return (disk->status & FAKE_S_DRIVER_OK) && !(disk->status & FAKE_S_NEEDS_RESET) &&
	       !disk->fn->gone && !fake_violation();
}

bool fake_queue_alive(const struct fake_disk *disk, const struct fake_queue *queue)
{
	bool packed = queue->format == &fake_packed;

	if (!queue->enabled || !disk->hostile)
		return queue->enabled;
	return host_dma_ok(queue->ring[0], 16ull * queue->size) &&
	       host_dma_ok(queue->ring[1], packed ? 4 : 6 + 2ull * queue->size) &&
	       host_dma_ok(queue->ring[2], packed ? 4 : 6 + 8ull * queue->size);
}

static bool serving(const struct fake_disk *disk, const struct fake_queue *queue)
{
	return fake_live(disk) && fake_queue_alive(disk, queue) && !queue->resetting;
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
	free(queue->packed.shadow);
	free(queue->packed.in_flight);
	queue->chain = NULL;
	queue->owner = queue->pending = NULL;
	memset(&queue->packed, 0, sizeof(queue->packed));
	queue->enabled = false;
}

bool fake_ring_memory(const char *rule, const char *name, uint64_t addr, uint64_t bytes,
		      uint64_t align)
{
	if (addr % align)
		fake_violate("%s: %s at %#llx", rule, name, (unsigned long long)addr);
	if (!host_dma_ok(addr, bytes))
		fake_violate("RSVD-05: %s of %llu bytes at %#llx is not memory for devices", name,
			     (unsigned long long)bytes, (unsigned long long)addr);
	return addr % align == 0 && host_dma_ok(addr, bytes);
}

void fake_queue_enable(struct fake_disk *disk, struct fake_queue *queue)
{
	queue->format = fake_accepted(disk, FAKE_RING_PACKED) ? &fake_packed : &fake_split;
	if (queue->enabled || queue->size == 0 || !queue->format->enable(disk, queue) ||
	    fake_violation())
		return;
	queue->chain = calloc(queue->size, sizeof(*queue->chain));
	queue->pending = calloc(queue->size, sizeof(*queue->pending));
	if (!queue->chain || !queue->pending)
		abort();
	queue->enabled = true;
	queue->format->suppress(disk, queue);
}

/* ---- RING_RESET (4.1.4.3.1): the register is 1 as long as the reset goes on ---- */

uint32_t fake_queue_reset_read(struct fake_disk *disk, struct fake_queue *queue)
{
	uint16_t size = queue->max_size, resets = queue->resets;
	unsigned i;

	if (!queue->resetting)
		return 0;
	if (disk->queue_reset_never || queue->reset_left > 0) {
		queue->reset_left -= !disk->queue_reset_never;
		return 1;
	}
	for (i = 0; i < queue->size; i++)
		disk->writes_out -= queue->chain[i].busy && queue->chain[i].write;
	fake_queue_free(queue);
	fake_queue_init(queue);
	queue->size = queue->max_size = size;
	queue->vector = disk->default_vector;
	queue->was_reset = true;
	queue->resets = (uint16_t)(resets + 1);
	return 0;
}

void fake_queue_reset_write(struct fake_disk *disk, struct fake_queue *queue, uint32_t value)
{
	if (value != 1 || !queue->enabled || queue->resetting) {
		fake_violate("QRST-01: %u written to queue_reset of queue %u, which is %s", value,
			     (unsigned)(queue - disk->queue),
			     queue->resetting ? "being reset"
			     : queue->enabled ? "enabled"
					      : "not enabled");
		return;
	}
	queue->resetting = true;
	queue->reset_left = disk->queue_reset_reads;
}

void fake_queue_look(struct fake_disk *disk, struct fake_queue *queue)
{
	unsigned taken = 0;

	if (!serving(disk, queue))
		return;
	queue->format->check(disk, queue);
	while (queue->format->take(disk, queue) > 0 && fake_live(disk)) {
		queue->batches += taken++ == 0;
		queue->format->suppress(disk, queue); /* and look once more: 2.7.10, 2.8.10 */
	}
}

void fake_queue_notified(struct fake_disk *disk, struct fake_queue *queue)
{
	uint64_t published;

	__atomic_add_fetch(&queue->notifications, 1, __ATOMIC_RELAXED);
	if (disk->threaded) {
		sem_post(&disk->bell);
		return;
	}
	if (!fake_queue_alive(disk, queue))
		return;
	published = queue->format->published(queue);
	if (published == queue->seen)
		queue->repeated++;
	else
		queue->unneeded += !queue->format->wanted(disk, queue, published);
	queue->seen = published;
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

static enum fake_lie next_lie(struct fake_disk *disk)
{
	uint64_t n = disk->nr_done++;

	if (disk->hostile)
		return fake_hostile_lie(disk);

	if (n < disk->lie_at || n - disk->lie_at >= disk->lie_count)
		return FAKE_HONEST;
	return disk->lie;
}

static void push(struct fake_disk *disk, struct fake_queue *queue, const struct fake_use *use)
{
	bool asked = queue->format->use(disk, queue, use);
	bool empty = queue->nr_pending == 0 && queue->format->published(queue) == queue->seen;

	if (asked || (empty && fake_accepted(disk, FAKE_NOTIFY_ON_EMPTY))) { /* 6.3 */
		queue->interrupts++;
		fake_msix_raise(disk, queue->vector, 1);
	}
}

/* Carries the request out, and adds it to what the next used entry stands for. */
static enum fake_lie complete(struct fake_disk *disk, struct fake_queue *queue,
			      struct fake_chain *chain, struct fake_use *use)
{
	enum fake_lie lie = next_lie(disk);

	if (lie == FAKE_NEEDS_RESET)
		fake_needs_reset(disk);
	if (lie == FAKE_VANISH)
		fake_vanish(disk);
	if (lie == FAKE_DROP || lie == FAKE_NEEDS_RESET || lie == FAKE_VANISH)
		return FAKE_DROP;
	use->len = fake_blk_run(disk, chain, lie);
	use->id = chain->id;
	use->buffers++;
	use->slots += chain->slots;
	fake_chain_check(queue, chain);
	chain->busy = false;
	if (lie == FAKE_BAD_ID)
		use->id = disk->lie_value;
	if (lie == FAKE_BAD_LEN)
		use->len = disk->lie_value;
	if (lie == FAKE_IDX_JUMP)
		use->jump = (uint16_t)disk->lie_value;
	if (lie == FAKE_FLAGS)
		use->flip = (uint16_t)disk->lie_value;
	return lie;
}

/* 2.7.9, 2.8.8: with IN_ORDER the order is that in which they came. */
static struct fake_chain *choose(struct fake_disk *disk, struct fake_queue *queue)
{
	unsigned last = queue->nr_pending - 1;
	bool fifo = disk->order == FAKE_FIFO || fake_accepted(disk, FAKE_IN_ORDER);
	unsigned i = fifo ? 0 : disk->order == FAKE_REVERSE ? last : fake_random(disk) % (last + 1);
	uint16_t chain = queue->pending[i];

	memmove(&queue->pending[i], &queue->pending[i + 1], (last - i) * sizeof(queue->pending[0]));
	queue->nr_pending--;
	return &queue->chain[chain];
}

/* Completes up to @n buffers by one used entry; returns how many. */
static unsigned finish_some(struct fake_disk *disk, struct fake_queue *queue, unsigned n)
{
	struct fake_use use = {0};
	enum fake_lie lie = FAKE_HONEST;
	unsigned done;

	for (done = 0; done < n && queue->nr_pending > 0 && fake_live(disk); done++)
		lie = complete(disk, queue, choose(disk, queue), &use);
	if (disk->hostile && use.buffers > 0 && !fake_hostile_use(disk, &use, queue->size))
		return done;
	if (use.buffers > 0 && fake_live(disk))
		push(disk, queue, &use);
	if (lie == FAKE_TWICE && fake_live(disk))
		push(disk, queue, &use);
	return done;
}

void fake_queue_finish(struct fake_disk *disk, struct fake_queue *queue, unsigned n)
{
	bool in_order = fake_accepted(disk, FAKE_IN_ORDER);
	unsigned batch = in_order && disk->used_batch ? disk->used_batch : 1;

	while (n > 0 && queue->nr_pending > 0 && serving(disk, queue))

		n -= finish_some(disk, queue, n < batch ? n : batch);
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

/* ---- Stepwise ---- */

/* What was published and asked to be notified of, and was not, is a kick that the driver lost. */
static void check_missed(const struct fake_disk *disk, struct fake_queue *queue)
{
	uint64_t published = queue->format->published(queue);

	if (published != queue->seen && queue->format->wanted(disk, queue, published))
		fake_violate("%s: what is available up to position %llu was not notified",
			     queue->format == &fake_split && !fake_accepted(disk, FAKE_EVENT_IDX)
				     ? "RING-SPLIT-28"
				     : queue->format->missed,
			     (unsigned long long)published);
}

static void step(struct fake_disk *disk, struct fake_queue *queue)
{
	if (!serving(disk, queue))
		return;
	queue->format->check(disk, queue);
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
		if (!fake_hostile_step(disk))
			continue;
		for (i = 0; i < fake_nr_queues(disk) && !disk->threaded; i++)
			step(disk, &disk->queue[i]);
		fake_msix_step(disk);
	}
}

/* ---- Memory that the driver takes back ---- */

static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
	return a < b + b_bytes && b < a + a_bytes;
}

static void freed(const struct fake_queue *queue, uint64_t addr, uint64_t bytes)
{
	unsigned n, i;

	for (i = 0; i < 3; i++)
		if (overlap(addr, bytes, queue->ring[i], 1))
			fake_violate("CLEAN-02: ring memory freed while the queue is live");
	for (n = 0; n < queue->size; n++)
		for (i = 0; queue->chain[n].busy && i < queue->chain[n].nr_segs; i++)
			if (overlap(addr, bytes, queue->chain[n].seg[i].addr,
				    queue->chain[n].seg[i].len))
				fake_violate("CLEAN-02: memory of head %u freed while in flight",
					     queue->chain[n].head);
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
