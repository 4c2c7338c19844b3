/* SPDX-License-Identifier: BSD-2-Clause */
/* Which device does the input describe, and which driver options? */
#include "tests/fuzz/hostile_rig.h"

static unsigned take(uint64_t *word, unsigned n)
{
	unsigned value = (unsigned)(*word & ((1u << n) - 1));

	*word >>= n;
	return value;
}

void hostile_shape_take(struct hostile_shape *s, struct fuzz_input *in)
{
	uint64_t word = fuzz_take(in, 8);

	s->lies = take(&word, 1);
	s->early = take(&word, 1);
	s->size = take(&word, 2);
	s->odd_queue = take(&word, 2);
	s->qsize = take(&word, 2);
	s->order = take(&word, 2);
	s->indirect = take(&word, 3);
	s->mode = take(&word, 2);
	s->no_event_idx = take(&word, 1);
	s->recover_queue = take(&word, 1);
	s->in_order = take(&word, 1);
	s->notification_data = take(&word, 1);
	s->notif_config_data = take(&word, 1);
	s->ring_reset = take(&word, 1);
	s->no_indirect = take(&word, 1);
	s->device_no_event_idx = take(&word, 1);
	s->large_blocks = take(&word, 1);
	s->queues = take(&word, 2);
	s->ports = take(&word, 2);
	s->poll_queue = take(&word, 1);
	s->used_batch = take(&word, 3);
	s->seg_max = take(&word, 2);
	s->face = take(&word, 2);
	s->vectors = take(&word, 3);
	s->irq = take(&word, 2);
	s->coalesce = take(&word, 2);
	s->refuse_mapping = take(&word, 2);
	s->no_ioapic = take(&word, 1);
	s->junk = take(&word, 1);
	s->polling = take(&word, 1);
	s->event_fixed = take(&word, 1);
	s->no_multiplier = take(&word, 1);
	s->reset_never = take(&word, 2) == 3; /* seldom: it takes long */
	s->queue_reset_never = take(&word, 2) == 3;
	s->slow_reset = take(&word, 1);
	s->abandon = take(&word, 1);
	s->helps = take(&word, 1);
	s->high_memory = take(&word, 1);
	s->fail_alloc = take(&word, 4);
	s->fail_alloc *= take(&word, 2) == 3;
}

static uint64_t features(const struct hostile_shape *s, uint64_t features)
{
	features |= s->in_order ? FAKE_BIT(FAKE_IN_ORDER) : 0;
	features |= s->notification_data ? FAKE_BIT(FAKE_NOTIFICATION_DATA) : 0;
	features |= s->notif_config_data ? FAKE_BIT(FAKE_NOTIF_CONFIG_DATA) : 0;
	features |= s->ring_reset ? FAKE_BIT(FAKE_RING_RESET) : 0;
	features |= s->queues ? FAKE_BIT(FAKE_MQ) : 0;
	features &= s->no_indirect ? ~FAKE_BIT(FAKE_INDIRECT_DESC) : UINT64_MAX;
	features &= s->device_no_event_idx ? ~FAKE_BIT(FAKE_EVENT_IDX) : UINT64_MAX;
	return features;
}

static void sizes(struct fake_disk *disk, const struct hostile_shape *s, bool packed)
{
	static const uint16_t right[2][4] = {{4, 8, 16, 32}, {3, 5, 16, 33}};
	static const uint16_t odd[2][4] = {{0, 3, 33, 1}, {0, 1, 2, 1000}};
	unsigned i;

	for (i = 0; i < HOSTILE_PORTS; i++)
		disk->queue_size[i] = right[packed][(s->size + i) % 4];
	if (s->odd_queue)
		disk->queue_size[s->odd_queue - 1] = odd[packed][s->size];
}

/* A disk of the kind that has legacy registers: old, transitional, or one that should be modern. */
static void legacy_face(struct fake_disk *disk, unsigned face)
{
	disk->face = face == 1 || face == 2 ? FAKE_TRANSITIONAL : FAKE_LEGACY;
	if (face == 2)
		disk->features &= ~FAKE_BIT(FAKE_VERSION_1);
	if (face == 3)
		disk->features |= FAKE_BIT(FAKE_ANY_LAYOUT) | FAKE_BIT(FAKE_NOTIFY_ON_EMPTY);
}

static void modern_face(struct fake_disk *disk, unsigned face)
{
	disk->face = face == 1 ? FAKE_TRANSITIONAL : FAKE_MODERN;
	disk->io_mask = face == 2 ? 0x1e : 0;
	disk->bar32 = face == 3;
}

static void answers(struct fake_disk *disk, const struct hostile_shape *s)
{
	disk->finish = FAKE_HELD;
	disk->order = (enum fake_order)(s->order % 3);
	disk->used_batch = s->used_batch;
	disk->junk = s->junk;
	disk->service = s->polling ? FAKE_POLLING : FAKE_NOTIFIED;
	disk->event = s->event_fixed ? FAKE_EVENT_FIXED : FAKE_EVENT_NEXT;
	disk->reset_never = s->reset_never;
	disk->queue_reset_never = s->queue_reset_never;
	disk->reset_reads = disk->queue_reset_reads = s->slow_reset ? 3 : 0;
	disk->refuse_mapping = s->refuse_mapping;
}

void hostile_shape_device(const struct hostile_shape *s, const struct hostile_kind *kind)
{
	static const uint32_t seg_max[] = {14, 1, 3, 126};
	struct fake_disk *disk = &rig.disk;
	unsigned i;

	fake_disk_init(disk);
	disk->features = features(s, disk->features | kind->features);
	disk->capacity = HOSTILE_SECTORS;
	disk->seg_max = seg_max[s->seg_max];
	disk->blk_size = s->large_blocks ? 4096 : 512;
	disk->num_queues = (uint16_t)(s->queues ? s->queues : 1);
	disk->msix_place.entries = s->vectors;
	for (i = 0; s->no_multiplier && i < HOSTILE_PORTS; i++)
		disk->notify_off[i] = 0;
	disk->notify_multiplier = s->no_multiplier ? 0 : 4;
	sizes(disk, s, kind->features & FAKE_BIT(FAKE_RING_PACKED));
	answers(disk, s);
	if (kind->face == FAKE_LEGACY)
		legacy_face(disk, s->face);
	else
		modern_face(disk, s->face);
}

struct blk_config hostile_shape_driver(const struct hostile_shape *s,
				       const struct hostile_kind *kind)
{
	static const uint32_t qsize[] = {0, 0, 8, 5};
	struct blk_config config = BLK_CONFIG_DEFAULT;

	if (kind->face == FAKE_LEGACY && s->face == 1)
		config.transport = VIRTIO_LEGACY;
	config.indirect = (enum blk_indirect)(s->indirect < 5 ? s->indirect : s->indirect - 3);
	config.indirect_below = 3 * s->coalesce;
	config.event_idx = s->no_event_idx ? BLK_EVENT_IDX_OFF : BLK_EVENT_IDX_AUTO;
	config.mode = (enum blk_mode)(s->mode % 3);
	config.irq = (enum blk_irq)s->irq;
	config.irq_coalesce = 1 + s->coalesce;
	config.recover = s->recover_queue ? BLK_RECOVER_QUEUE : BLK_RECOVER_DEVICE;
	config.qsize = qsize[s->qsize];
	config.timeout_ns = HOSTILE_TIMEOUT_NS;
	config.queues = s->queues;
	config.poll_queues = s->poll_queue;
	config.nr_cpus = HOSTILE_PORTS;
	return config;
}
