/* SPDX-License-Identifier: BSD-2-Clause */
/* Does a disk of any size, limits, features and queues get a driver that keeps to them, or a refusal? */
#include <string.h>

#include "drivers/block/blk.h"
#include "drivers/pci/pci.h"
#include "tests/fuzz/fuzz.h"

#define REQUESTS   8u
#define DATA_BYTES 65536u

static void fill_limits(struct fake_disk *disk, struct fuzz_input *in)
{
	disk->features ^= fuzz_take(in, 8); /* what a disk has by default, but for some bits */
	disk->capacity = fuzz_take(in, 8);
	disk->other_capacity = fuzz_take(in, 8);
	disk->capacity_flips = fuzz_take(in, 1);
	disk->size_max = (uint32_t)fuzz_take(in, 4);
	disk->seg_max = (uint32_t)fuzz_take(in, 4);
	disk->size_max += disk->size_max == 0; /* the driver takes a limit of 0 for none */
	disk->seg_max += disk->seg_max == 0;
	disk->blk_size = (uint32_t)fuzz_take(in, 4);
	disk->writeback = (uint8_t)fuzz_take(in, 1);
	disk->num_queues = (uint16_t)(1 + fuzz_take(in, 2) % 100);
	disk->config_queues = (int32_t)fuzz_take(in, 2);
}

static void fill_transport(struct fake_disk *disk, struct fuzz_input *in)
{
	unsigned i, bits = (unsigned)fuzz_take(in, 1);

	for (i = 0; i < 4; i++)
		disk->queue_size[i] = (uint16_t)fuzz_take(in, 2) & 0x83ff;
	disk->device_bytes = 8 + (uint32_t)fuzz_take(in, 1) % 90;
	disk->common_bytes = 56 + (uint32_t)fuzz_take(in, 1) % 9;
	disk->notify_multiplier = (uint32_t)(fuzz_take(in, 1) & 0x1e);
	disk->cap_extra = (unsigned)fuzz_take(in, 1) % 5;
	if (disk->device_bytes < 24) /* what cannot be read is no limit */
		disk->features &= ~(FAKE_BIT(FAKE_SIZE_MAX) | FAKE_BIT(FAKE_SEG_MAX) |
				    FAKE_BIT(FAKE_BLK_SIZE));
	disk->io_mask = (unsigned)fuzz_take(in, 1) & 0x1e;
	disk->msix_place.entries = (unsigned)fuzz_take(in, 1) % 9;
	disk->refuse_mapping = (unsigned)fuzz_take(in, 1);
	disk->reset_reads = (unsigned)fuzz_take(in, 1);
	disk->refuse_features_ok = (bits & 3) == 3;
	disk->size_fixed = bits & 4;
	disk->junk = bits & 8;
	disk->event = bits & 16 ? FAKE_EVENT_FIXED : FAKE_EVENT_NEXT;
	disk->event_value = (uint16_t)fuzz_take(in, 2);
	disk->face = bits & 0x40 ? FAKE_LEGACY : bits & 0x20 ? FAKE_TRANSITIONAL : FAKE_MODERN;
	if (disk->face != FAKE_MODERN) {
		host_low_memory();
		disk->io_mask = 0; /* BAR0 has the legacy registers */
		/* 2.5.4: two readings that agree may both be torn if it changes as often as it is
		 * read, which without a generation nobody can see. */
		disk->capacity_flips %= 3;
	}
}

static void fill_config(struct blk_config *config, struct fuzz_input *in)
{
	config->mode = fuzz_take(in, 1) % 3;
	config->indirect = fuzz_take(in, 1) % 5;
	config->event_idx = fuzz_take(in, 1) % 3;
	config->qsize = (uint32_t)fuzz_take(in, 2);
	config->irq_coalesce = 1 + (uint32_t)fuzz_take(in, 1);
	config->nr_cpus = 1 + (uint32_t)fuzz_take(in, 1) % 8;
	config->queues = (uint32_t)fuzz_take(in, 1) % 9;
	config->poll_queues = (uint32_t)fuzz_take(in, 1) % 9;
	config->transport = fuzz_take(in, 1) % 4 == 1 ? VIRTIO_LEGACY : VIRTIO_AUTO;
}

/* The device is honest: whatever is sent comes back, and only what it allows is sent. */
static void run_requests(struct blk_device *blk, struct fuzz_input *in)
{
	struct blk_request reqs[REQUESTS], *list[REQUESTS], *done[REQUESTS];
	uint8_t *data = dma_alloc(DATA_BYTES, 512);
	unsigned i, sent = 0, got = 0, turns = 0;

	if (!data)
		return;
	for (i = 0; i < REQUESTS; i++) {
		uint32_t bytes = (uint32_t)fuzz_take(in, 1) * 512 % (DATA_BYTES + 1);

		reqs[i] = (struct blk_request){.op = fuzz_take(in, 1) % 4,
					       .lba_512 = fuzz_take(in, 8)};
		if (reqs[i].op == BLK_GET_ID)
			bytes = BLK_ID_BYTES;
		if (reqs[i].op == BLK_FLUSH ||
		    !sgl_add(&reqs[i].sgl, NULL, dma_map(data, bytes), bytes))
			reqs[i].op = BLK_FLUSH;
		list[i] = &reqs[i];
	}
	while (got < REQUESTS) {
		fuzz_check(++turns < 10000, "a request of an honest device does not come back");
		sent += blk_submit(blk->queues[0], list + sent, REQUESTS - sent);
		fake_step();
		got += blk_poll(blk->queues[0], done, REQUESTS - got);
	}
	dma_free(data, DATA_BYTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fake_disk disk;
	struct blk_config config = BLK_CONFIG_DEFAULT;
	struct fuzz_input in = {data, size};
	struct pci_function pci;
	struct blk_device blk;
	unsigned live;

	fuzz_machine(400000);
	fake_disk_init(&disk);
	fill_limits(&disk, &in);
	fill_transport(&disk, &in);
	fill_config(&config, &in);
	fake_disk_plug(&disk, 0, 3, 0);
	fake_disk_caps(&disk);
	live = host.live;
	pci_init();
	if (pci_scan(&pci, 1, blk_is_disk) == 1 && blk_open(&blk, &pci, 0, &config)) {
		fuzz_check(blk.nr_queues > blk.nr_poll_queues || config.poll_queues > 0,
			   "no queue");
		run_requests(&blk, &in);
		blk_close(&blk);
	}
	fuzz_check(host.live == live, "memory was not given back");
	fuzz_check(host.interrupts_live == 0, "an interrupt was not given back");
	fake_reset();
	return 0;
}
