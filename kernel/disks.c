/* SPDX-License-Identifier: BSD-2-Clause */
/* Which disks does the machine have? vda, vdb, … in PCI order, whether usable or not. */
#include "kernel/disks.h"

#include "drivers/pci/pci.h"
#include "lib/log.h"
#include "lib/mem.h"

static void log_disk(struct blk_device *disk)
{
	char id[BLK_ID_BYTES + 1];
	enum blk_status status = blk_get_id(disk, id);

	log_info("%s %s: %llu sectors of 512 bytes, blocks of %u, %s, serial '%s'%s%s", disk->name,
		 disk->address, (unsigned long long)disk->capacity_512, disk->block_bytes,
		 disk->read_only ? "read-only" : "read-write", id,
		 status == BLK_OK ? "" : ": GET_ID: ",
		 status == BLK_OK ? "" : blk_status_name(status));
}

void disks_open(struct disks *disks, const struct blk_config *config)
{
	struct pci_function fn[DISKS_MAX];

	pci_init();
	disks->n = 0;
	disks->found = pci_scan(fn, DISKS_MAX, blk_is_disk);
	for (unsigned i = 0; i < disks->found; i++) {
		struct blk_device *disk = &disks->disk[disks->n];

		if (!blk_open(disk, &fn[i], i, config))
			continue;
		if (log_get_level() >= LOG_INFO) {
			log_disk(disk);
			blk_log_features(disk);
		}
		disks->n++;
	}
}

void disks_close(struct disks *disks)
{
	while (disks->n)
		blk_close(&disks->disk[--disks->n]);
}

struct blk_device *disks_find(struct disks *disks, const char *name)
{
	for (unsigned i = 0; i < disks->n; i++)
		if (str_eq(disks->disk[i].name, name))
			return &disks->disk[i];
	return NULL;
}
