/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a test drive a virtqueue without the block driver above it? */
#ifndef TESTS_HOST_RING_RIG_H
#define TESTS_HOST_RING_RIG_H

#include "drivers/virtio/long.h"
#include "drivers/virtio/virtio.h"
#include "tests/host/rig.h"

#define RING_CELLS 256

/* What a request is known by. */
struct ring_cell {
	uint8_t data[512];
	uint64_t sector;
	bool busy;
};

extern struct ring_rig {
	struct virtio_device dev;
	struct virtqueue vq;
	uint8_t *statuses;	 /* by head */
	struct ring_cell *cells; /* RING_CELLS of them, in memory for devices */
} ring;

/* A device that is live, with a queue of its own size; the status bytes are the rig's. */
void ring_bring_up_as(struct rig *rig, struct vq_config *config);
/* The same, with a split ring, in which all chains are indirect if there are to be tables. */
void ring_bring_up(struct rig *rig, uint16_t size, bool event_idx, uint16_t table_entries);
/* Resets it, and sees that all memory comes back. */
void ring_tear_down(void);
/* A read of one sector, in one slot, which must be free. */
void ring_add(struct ring_cell *cell, uint64_t sector);
/* A write of the same sector some times over, as a chain of @entries; false: no room for it. */
bool ring_add_long(struct ring_cell *cell, unsigned entries);
/* How many more frames there is room for at least, if all are direct, or all in tables. */
unsigned ring_room(void);
/* Publishes, and notifies if the device asks for it. */
void ring_publish(void);
/* Takes one used entry, and checks length, status and data; false if the ring rejects it. */
bool ring_take(void);
/* Takes all that is used, and checks length, status and data of each; returns how many. */
unsigned ring_collect(void);

#endif
