/* SPDX-License-Identifier: BSD-2-Clause */
/* Which features does this driver know, which does it want, and what became of them? */
#include "drivers/block/blk_features.h"

#include "drivers/block/blk_config.h"
#include "drivers/virtio/features.h"
#include "lib/log.h"

uint64_t blk_features_known(void)
{
	return VIRTIO_BLK_F_SIZE_MAX | VIRTIO_BLK_F_SEG_MAX | VIRTIO_BLK_F_RO |
	       VIRTIO_BLK_F_BLK_SIZE | VIRTIO_BLK_F_FLUSH | VIRTIO_BLK_F_CONFIG_WCE |
	       VIRTIO_BLK_F_MQ | VIRTIO_F_ANY_LAYOUT | VIRTIO_F_INDIRECT_DESC | VIRTIO_F_EVENT_IDX |
	       VIRTIO_F_VERSION_1 | VIRTIO_F_RING_PACKED | VIRTIO_F_ACCESS_PLATFORM |
	       VIRTIO_F_IN_ORDER | VIRTIO_F_ORDER_PLATFORM | VIRTIO_F_NOTIFICATION_DATA |
	       VIRTIO_F_NOTIF_CONFIG_DATA | VIRTIO_F_RING_RESET;
}

uint64_t blk_features_wanted(const struct blk_config *config)
{
	uint64_t wanted = blk_features_known() & ~config->features_off;

	if (config->event_idx == BLK_EVENT_IDX_OFF)
		wanted &= ~VIRTIO_F_EVENT_IDX;
	if (config->ring == BLK_RING_SPLIT)
		wanted &= ~VIRTIO_F_RING_PACKED;
	if (config->indirect != BLK_INDIRECT_AUTO && config->indirect != BLK_INDIRECT_ALWAYS)
		wanted &= ~VIRTIO_F_IN_ORDER;
	return wanted;
}

const char *blk_feature_state(const struct blk_device *dev, unsigned bit)
{
	uint64_t mask = VIRTIO_F(bit);

	if (!(dev->features.offered & mask))
		return "not offered";
	if (!(dev->features.known & mask))
		return "unknown";
	return dev->features.accepted & mask ? "accepted" : "declined";
}

void blk_log_features(const struct blk_device *dev)
{
	log_info("%s %s: feature            offered  known  accepted", dev->name, dev->address);
	for (unsigned bit = 0; bit < 64; bit++) {
		const struct virtio_feature *f = virtio_feature_of(bit);
		uint64_t mask = VIRTIO_F(bit);

		if (!((dev->features.offered | dev->features.known) & mask))
			continue;
		log_info("%s %s: %2u %-17s %-8s %-6s %-9s %s", dev->name, dev->address, bit,
			 f ? f->name : "-", dev->features.offered & mask ? "yes" : "-",
			 dev->features.known & mask ? "yes" : "-",
			 dev->features.accepted & mask ? "yes" : "-", f ? f->what : "reserved");
	}
}
