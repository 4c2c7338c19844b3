/* SPDX-License-Identifier: BSD-2-Clause */
/* How does the least device use up buffers, on either ring? It trusts its driver and never waits. */
#ifndef TESTS_RINGBENCH_DEVICE_H
#define TESTS_RINGBENCH_DEVICE_H

#include "drivers/virtio/virtqueue.h"

struct device {
	const struct virtqueue *vq; /* only for where the rings are, and their size */
	bool packed;
	uint16_t avail_idx, used_idx; /* split; free-running */
	uint16_t pos, wrap;	      /* packed; wrap is 0 or 1 */
};

void device_init(struct device *device, const struct virtqueue *vq);
/* Asks for no notifications; before the driver begins. */
void device_polls(const struct device *device);
/*
 * Looks once. Reads every descriptor of what is available, at most @max buffers, says that all that
 * may be written was, and gives them back at once. Returns how many.
 */
unsigned device_turn(struct device *device, unsigned max);

#endif
