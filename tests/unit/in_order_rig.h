/* SPDX-License-Identifier: BSD-2-Clause */
/* What do the tests of VIRTIO_F_IN_ORDER start from? A disk that keeps the order, and requests. */
#ifndef TESTS_UNIT_IN_ORDER_RIG_H
#define TESTS_UNIT_IN_ORDER_RIG_H

#include <string.h>

#include "drivers/block/blk_queue.h"
#include "tests/host/rig.h"

#define N 40 /* requests at once, at most */

static struct blk_request reqs[N], *list[N], *done[N];

/* A disk that keeps the order, before it is plugged. */
static inline void fresh(struct rig *rig, bool packed, uint16_t size, unsigned used_batch)
{
	fake_reset();
	rig->log_bytes = 0;
	rig->config = BLK_CONFIG_DEFAULT;
	fake_disk_init(&rig->disk);
	rig->disk.features |= FAKE_BIT(FAKE_IN_ORDER) | FAKE_BIT(FAKE_INDIRECT_DESC) |
			      (packed ? FAKE_BIT(FAKE_RING_PACKED) : 0);
	rig->disk.queue_size[0] = size;
	rig->disk.seg_max = size < 16 ? 1 : 14;
	rig->disk.used_batch = used_batch;
}

static inline void start(struct rig *rig)
{
	rig_start(rig);
	assert_true(fake_accepted(&rig->disk, FAKE_IN_ORDER));
	assert_string_equal(rig->blk.indirect, "always");
}

static inline void give_memory(uint32_t bytes)
{
	for (unsigned i = 0; i < N; i++) {
		reqs[i] = rig_request(BLK_READ, 2 * i, rig_memory(bytes), bytes);
		list[i] = &reqs[i];
	}
}

static inline void *data_of(const struct blk_request *req)
{
	return (void *)(uintptr_t)req->sgl.inline_sg[0].addr;
}

/* Requests of two pieces, apart in memory; among them frames and flushes. */
static inline void give_scattered(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint8_t *p = rig_memory(2048);

		reqs[i] = i % 5 == 3 ? rig_request(BLK_FLUSH, 0, NULL, 0)
				     : rig_request(BLK_READ, 16 * i, p, 512);
		if (i % 5 != 3 && i % 3)
			assert_true(sgl_add(&reqs[i].sgl, NULL, dma_map(p + 1024, 512), 512));
		list[i] = &reqs[i];
	}
}

#endif
