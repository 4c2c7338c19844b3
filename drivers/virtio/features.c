/* SPDX-License-Identifier: BSD-2-Clause */
/* What is a feature bit called, and what is it for? (virtio 1.3, 6 and 5.2.3) */
#include "drivers/virtio/features.h"

#include <stddef.h>

#include "lib/mem.h"

const struct virtio_feature virtio_features[] = {
	{0, "barrier", "requests that others may not pass; legacy"},
	{1, "size_max", "a limit to the bytes of a segment"},
	{2, "seg_max", "a limit to the segments of a request"},
	{4, "geometry", "cylinders, heads, sectors"},
	{5, "ro", "the disk cannot be written"},
	{6, "blk_size", "says its logical block size"},
	{7, "scsi", "SCSI commands; legacy"},
	{9, "flush", "a command that empties the volatile cache"},
	{10, "topology", "says which sizes and alignments suit it"},
	{11, "config_wce", "the cache mode can be read and set"},
	{12, "mq", "several queues"},
	{13, "discard", "a command for blocks that nobody needs"},
	{14, "write_zeroes", "a command that writes zeroes"},
	{15, "lifetime", "says how worn it is"},
	{16, "secure_erase", "a command that erases for good"},
	{17, "zoned", "zones that are written in order"},
	{24, "notify_on_empty", "an interrupt when it runs out of buffers; legacy"},
	{27, "any_layout", "a request may be cut into descriptors anyhow; legacy"},
	{28, "indirect_desc", "a descriptor may point to a table of them"},
	{29, "event_idx", "each side says of which entry it wants to be told"},
	{32, "version_1", "virtio 1.0 or later"},
	{33, "access_platform", "addresses go through the platform's IOMMU"},
	{34, "ring_packed", "one ring for both directions"},
	{35, "in_order", "buffers are used in the order in which they became available"},
	{36, "order_platform", "memory is ordered as for hardware, not as between CPUs"},
	{37, "sr_iov", "virtual functions"},
	{38, "notification_data", "a notification says how far the ring is filled"},
	{39, "notif_config_data", "the device chooses what a notification names the queue by"},
	{40, "ring_reset", "one queue can be reset by itself"},
	{41, "admin_vq", "administration queues"},
	{43, "suspend", "it can be suspended"},
};

const unsigned virtio_nr_features = sizeof(virtio_features) / sizeof(virtio_features[0]);

const struct virtio_feature *virtio_feature_of(unsigned bit)
{
	for (unsigned i = 0; i < virtio_nr_features; i++)
		if (virtio_features[i].bit == bit)
			return &virtio_features[i];
	return NULL;
}

const struct virtio_feature *virtio_feature_named(const char *name)
{
	for (unsigned i = 0; i < virtio_nr_features; i++)
		if (str_eq(virtio_features[i].name, name))
			return &virtio_features[i];
	return NULL;
}
