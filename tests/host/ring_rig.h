/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a test drive a virtqueue without the block driver above it? */
#ifndef TESTS_HOST_RING_RIG_H
#define TESTS_HOST_RING_RIG_H

#include "drivers/virtio/split_long.h"
#include "drivers/virtio/virtio.h"
#include "tests/host/rig.h"

#define RING_CELLS 256

struct ring_header {
	uint32_t type, reserved;
	uint64_t sector;
};

/* What a request is known by. */
struct ring_cell {
	uint8_t data[512];
	uint64_t sector;
	bool busy;
};

extern struct ring_rig {
	struct virtio_device dev;
	struct virtqueue vq;
	struct ring_header *headers; /* by head, as the ring's frames want them */
	uint8_t *statuses;	     /* likewise */
	struct ring_cell *cells;     /* RING_CELLS of them, in memory for devices */
} ring;

/* A device that is live, with a queue of @size; @table_entries as for virtqueue_create(). */
void ring_bring_up(struct rig *rig, uint16_t size, bool event_idx, uint16_t table_entries);
/* Resets it, and sees that all memory comes back. */
void ring_tear_down(void);
/* A read of one sector, in one slot, which must be free. */
void ring_add(struct ring_cell *cell, uint64_t sector);
/* Publishes, and notifies if the device asks for it. */
void ring_publish(void);
/* Takes one used entry, and checks length, status and data; false if the ring rejects it. */
bool ring_take(void);
/* Takes all that is used, and checks length, status and data of each; returns how many. */
unsigned ring_collect(void);

#endif
