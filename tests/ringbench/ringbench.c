/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What does the ring itself cost per buffer? The driver's real ring code against the least device,
 * in one thread by turns, or in two on CPUs of their own. For tools/ringbench.
 *
 *     ringbench split|packed direct|indirect|in-order THREADS BATCH BUFFERS
 *
 * prints nanoseconds per buffer. A buffer is a chain of header, data and status, as a disk has it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/host/fake.h"
#include "tests/ringbench/device.h"

#define RING_SIZE  256
#define DATA_BYTES 512
#define WRITABLE   (DATA_BYTES + 1) /* and the status */
#define LIMIT_S	   100

static struct {
	struct virtqueue vq;
	struct device device;
	unsigned threads, batch, buffers;
	uint8_t *data;
	int stop;
} bench;

/* ---- The driver ---- */

/* Not inlined: callgrind counts what happens inside of these two. */
unsigned driver_add(struct virtqueue *vq, enum vq_kind kind, unsigned n);
unsigned driver_take(struct virtqueue *vq, enum vq_kind kind);

__attribute__((always_inline)) static inline unsigned add(struct virtqueue *vq, enum vq_kind kind,
							  unsigned n)
{
	struct vq_batch batch = virtqueue_batch_begin(vq, kind, n);
	uint64_t word = virtqueue_data_word(vq, DATA_BYTES, VRING_DESC_F_WRITE);
	unsigned i;

	if (n > batch.room)
		n = batch.room;
	for (i = 0; i < n; i++) {
		struct vq_head *head = virtqueue_batch_head(&batch, i, kind);

		virtqueue_batch_place(head, kind, &bench, (uintptr_t)bench.data, word);
		virtqueue_batch_add(&batch, i, head, kind, (uintptr_t)bench.data, word, WRITABLE);
	}
	virtqueue_batch_end(vq, &batch, n, kind);
	if (n > 0) {
		virtqueue_publish(vq);
		virtqueue_kick(vq);
	}
	return n;
}

__attribute__((always_inline)) static inline unsigned take(struct virtqueue *vq, enum vq_kind kind)
{
	struct vq_drain drain = virtqueue_drain_begin(vq, kind);
	struct vq_head *head;
	unsigned n;

	for (n = 0; (head = virtqueue_drain_frame(&drain, n, kind)) != NULL; n++)
		virtqueue_drain_free(&drain, head, kind);
	virtqueue_drain_end(vq, &drain, n, kind);
	if (drain.odd || vq->broken)
		abort();
	return n;
}

/* One copy for each kind, as in the block driver. */
#define FOR_EACH_KIND(kind, call)                \
	switch (kind) {                          \
	case VQ_SPLIT_DIRECT:                    \
		return call(VQ_SPLIT_DIRECT);    \
	case VQ_SPLIT_TABLES:                    \
		return call(VQ_SPLIT_TABLES);    \
	case VQ_SPLIT_IN_ORDER:                  \
		return call(VQ_SPLIT_IN_ORDER);  \
	case VQ_PACKED_DIRECT:                   \
		return call(VQ_PACKED_DIRECT);   \
	case VQ_PACKED_IN_ORDER:                 \
		return call(VQ_PACKED_IN_ORDER); \
	default:                                 \
		return call(VQ_PACKED_TABLES);   \
	}

__attribute__((noinline)) unsigned driver_add(struct virtqueue *vq, enum vq_kind kind, unsigned n)
{
#define ADD(k) add(vq, k, n)
	FOR_EACH_KIND(kind, ADD)
}

__attribute__((noinline)) unsigned driver_take(struct virtqueue *vq, enum vq_kind kind)
{
#define TAKE(k) take(vq, k)
	FOR_EACH_KIND(kind, TAKE)
}

/* Whole batches as long as the ring has room; the device runs by itself, or here by turns. */
static void drive(void)
{
	unsigned added = 0, taken = 0, most = virtqueue_free_descriptors(&bench.vq), n;
	enum vq_kind kind = bench.vq.kind;

	if (kind == VQ_SPLIT_DIRECT || kind == VQ_PACKED_DIRECT)
		most /= VQ_FRAME_DESCRIPTORS;
	if (bench.batch < most)
		most -= most % bench.batch; /* what is in flight at most: whole batches */
	while (taken < bench.buffers) {
		n = bench.buffers - added < bench.batch ? bench.buffers - added : bench.batch;
		if (n > 0 && added - taken + n <= most)
			added += driver_add(&bench.vq, kind, n);
		if (bench.threads == 1)
			device_turn(&bench.device, bench.batch);
		taken += driver_take(&bench.vq, kind);
	}
}

/* ---- Threads ---- */

static void pin(unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		perror("ringbench: not pinned");
}

static void *device_main(void *unused)
{
	pin(1);
	while (!__atomic_load_n(&bench.stop, __ATOMIC_RELAXED))
		if (device_turn(&bench.device, bench.batch) == 0)
			__builtin_ia32_pause();
	return unused;
}

static double run(void)
{
	struct timespec from, to;
	pthread_t thread;

	pin(0);
	if (bench.threads == 2 && pthread_create(&thread, NULL, device_main, NULL) != 0)
		abort();
	clock_gettime(CLOCK_MONOTONIC, &from);
	drive();
	clock_gettime(CLOCK_MONOTONIC, &to);
	__atomic_store_n(&bench.stop, 1, __ATOMIC_RELAXED);
	if (bench.threads == 2)
		pthread_join(thread, NULL);
	return (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
}

static bool set_up(int argc, char **argv)
{
	struct vq_config config = {.size = RING_SIZE};

	if (argc != 6)
		return false;
	config.packed = strcmp(argv[1], "packed") == 0;
	config.in_order = strcmp(argv[2], "in-order") == 0;
	if (config.in_order || strcmp(argv[2], "indirect") == 0) {
		config.table_entries = VQ_FRAME_DESCRIPTORS;
		config.indirect_below = UINT32_MAX;
	}
	bench.threads = (unsigned)atoi(argv[3]);
	bench.batch = (unsigned)atoi(argv[4]);
	bench.buffers = (unsigned)atoi(argv[5]);
	if (bench.threads < 1 || bench.threads > 2 || bench.batch < 1 || bench.buffers < 1 ||
	    bench.batch > RING_SIZE / VQ_FRAME_DESCRIPTORS)
		return false;
	fake_reset();
	bench.data = dma_alloc(DATA_BYTES, 64);
	config.status_dma = dma_map(dma_alloc(RING_SIZE, 64), RING_SIZE);
	if (!bench.data || !virtqueue_create(&bench.vq, &config))
		return false;
	device_init(&bench.device, &bench.vq);
	device_polls(&bench.device);
	return true;
}

int main(int argc, char **argv)
{
	if (!set_up(argc, argv)) {
		fprintf(stderr,
			"usage: ringbench split|packed direct|indirect|in-order THREADS BATCH "
			"BUFFERS\n"
			"THREADS 1 or 2, BATCH 1 to %u\n",
			RING_SIZE / VQ_FRAME_DESCRIPTORS);
		return 2;
	}
	alarm(LIMIT_S);
	printf("%.2f\n", run() / bench.buffers);
	return 0;
}
