/* SPDX-License-Identifier: BSD-2-Clause */
/* Which disks does the machine have? */
#ifndef KERNEL_DISKS_H
#define KERNEL_DISKS_H

#include "drivers/block/blk.h"

#define DISKS_MAX 16

struct disks {
	unsigned found; /* virtio-blk functions on the bus */
	unsigned n;	/* of these, the usable ones, in disk[] */
	struct blk_device disk[DISKS_MAX];
};

/* Finds and opens every virtio-blk device; one that cannot be used is logged and left out. */
void disks_open(struct disks *disks, const struct blk_config *config);
void disks_close(struct disks *disks);
/* NULL if there is no usable disk of that name. */
struct blk_device *disks_find(struct disks *disks, const char *name);

#endif
