/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a fake disk come onto the bus, and what happens when a rule is broken? */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/host/fake_inside.h"

/* Where QEMU puts them; both BARs use the same places. */
#define COMMON_OFFSET	0x0000u
#define ISR_OFFSET	0x1000u
#define DEVICE_OFFSET	0x2000u
#define NOTIFY_OFFSET	0x3000u
#define MODERN_ID	0x1042
#define TRANSITIONAL_ID 0x1001
#define IO_BASE		0x8000u
#define IO_BYTES	0x4000u
enum { STRUCTURE_MSIX = 99, STRUCTURE_LEGACY }; /* beside the numbers of cfg_type */
#define LEGACY_NOTIFY 16
#define LEGACY_BYTES  0x100u /* from the start of BAR0 */

static struct fake_disk *disks;
static char violation[256];
static int violated;
static void (*violation_hook)(const char *text);
static pthread_t driver_thread;

void fake_violate(const char *fmt, ...)
{
	char text[sizeof(violation)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (fake_hostile_excuses(text))
		return;

	if (__atomic_load_n(&violated, __ATOMIC_ACQUIRE) == 0) {
		memcpy(violation, text, sizeof(text));
		__atomic_store_n(&violated, 1, __ATOMIC_RELEASE);
	}
	if (violation_hook && pthread_equal(pthread_self(), driver_thread))
		violation_hook(text);
}

const char *fake_violation(void)
{
	return __atomic_load_n(&violated, __ATOMIC_ACQUIRE) ? violation : NULL;
}

void fake_on_violation(void (*hook)(const char *text))
{
	violation_hook = hook;
	driver_thread = pthread_self();
}

void fake_reset(void)
{
	fake_disk_unplug_all();
	fake_pci_reset();
	host_reset();
	violated = 0;
}

struct fake_disk *fake_disks(void)
{
	return disks;
}

unsigned fake_nr_queues(const struct fake_disk *disk)
{
	return disk->num_queues < FAKE_QUEUES ? disk->num_queues : FAKE_QUEUES;
}

uint32_t fake_random(struct fake_disk *disk)
{
	disk->random ^= disk->random << 13;
	disk->random ^= disk->random >> 17;
	disk->random ^= disk->random << 5;
	return disk->random;
}

void fake_disk_init(struct fake_disk *disk)
{
	unsigned i;

	memset(disk, 0, sizeof(*disk));
	disk->device_id = MODERN_ID;
	disk->bar_base = 0xfe000000;
	disk->notify_multiplier = 4;
	disk->device_bytes = 60;
	disk->msix_place.entries = 2;
	disk->msix_place.bar = disk->msix_place.pba_bar = 1;
	disk->msix_place.pba_offset = 0x8000;
	disk->line = 11;
	disk->default_vector = 0xffff;
	disk->features = FAKE_BIT(FAKE_SEG_MAX) | FAKE_BIT(FAKE_GEOMETRY) |
			 FAKE_BIT(FAKE_BLK_SIZE) | FAKE_BIT(FAKE_FLUSH) | FAKE_BIT(FAKE_TOPOLOGY) |
			 FAKE_BIT(FAKE_CONFIG_WCE) | FAKE_BIT(FAKE_INDIRECT_DESC) |
			 FAKE_BIT(FAKE_EVENT_IDX) | FAKE_BIT(FAKE_VERSION_1);
	disk->num_queues = 1;
	disk->config_queues = -1;
	for (i = 0; i < FAKE_QUEUES; i++) {
		disk->queue_size[i] = 16;
		disk->notify_off[i] = (uint16_t)i;
	}
	disk->capacity = FAKE_STORE;
	disk->size_max = 1u << 20;
	disk->seg_max = 14;
	disk->blk_size = 512;
	disk->writeback = 1;
	memcpy(disk->id, "fake-disk", 9);
	disk->lie_count = UINT64_MAX;
	disk->random = 2463534242u;
}

static uint32_t notify_bytes(const struct fake_disk *disk)
{
	uint32_t most = 0, i;

	for (i = 0; i < fake_nr_queues(disk); i++)
		if (disk->notify_off[i] > most)
			most = disk->notify_off[i];
	return most * disk->notify_multiplier + 4;
}

static void place(struct fake_disk *disk, unsigned type, uint64_t offset, uint32_t bytes)
{
	disk->region[type].bar = disk->io_mask >> type & 1 ? 0 : 4;
	disk->region[type].offset = offset;
	disk->region[type].bytes = bytes;
}

static uint32_t bar_read(struct fake_function *fn, unsigned bar, uint64_t offset, unsigned width);
static void bar_write(struct fake_function *fn, unsigned bar, uint64_t offset, uint32_t value,
		      unsigned width);

void fake_disk_plug(struct fake_disk *disk, unsigned bus, unsigned device, unsigned number)
{
	bool old = disk->face != FAKE_MODERN; /* 4.1.2 */
	struct fake_function *fn = fake_pci_add(
		bus, device, number, 0x1af4,
		old && disk->device_id == MODERN_ID ? TRANSITIONAL_ID : disk->device_id);
	uint64_t bytes = IO_BYTES;

	while (bytes < NOTIFY_OFFSET + (uint64_t)notify_bytes(disk))
		bytes *= 2;
	fn->config[0x08] = !old;

	fn->config[0x0b] = 1; /* mass storage */
	fake_pci_put(fn, 0x2c, 0x1af4, 2);
	fake_pci_put(fn, 0x2e, old ? 2 : 0x1100, 2);
	fake_pci_bar(fn, 0, FAKE_BAR_IO, IO_BASE + (uint64_t)device * IO_BYTES % 0x6000, IO_BYTES);
	fake_pci_bar(fn, 4, disk->bar32 ? FAKE_BAR_MEM32 : FAKE_BAR_MEM64,
		     (disk->bar_base + (uint64_t)device * bytes + bytes - 1) & ~(bytes - 1), bytes);
	fn->read = bar_read;
	fn->write = bar_write;
	fn->owner = disk;
	disk->fn = fn;
	fake_msix_plug(disk);
	if (disk->common_bytes == 0) /* 4.1.4.3: the last two fields exist with their features */
		disk->common_bytes = disk->features >> FAKE_RING_RESET & 1	    ? 60
				     : disk->features >> FAKE_NOTIF_CONFIG_DATA & 1 ? 58
										    : 56;
	place(disk, FAKE_COMMON, COMMON_OFFSET, disk->common_bytes);
	place(disk, FAKE_ISR, ISR_OFFSET, 1);
	place(disk, FAKE_DEVICE, DEVICE_OFFSET, disk->device_bytes);
	place(disk, FAKE_NOTIFY, NOTIFY_OFFSET, notify_bytes(disk));
	for (number = 0; number < FAKE_QUEUES; number++)
		fake_queue_init(&disk->queue[number]);
	pthread_mutex_init(&disk->lock, NULL);
	sem_init(&disk->bell, 0, 0);
	fake_disk_reset(disk);
	disk->status = 0x0f; /* firmware has driven it, and left it so (F-045) */
	disk->next = disks;
	disks = disk;
	disk->plugged = true;
}

static void unplug(struct fake_disk *disk)
{
	unsigned i;

	if (disk->threaded)
		fake_thread_stop(disk);
	for (i = 0; i < FAKE_QUEUES; i++)
		fake_queue_free(&disk->queue[i]);
	free(disk->store);
	free(disk->stored);
	fake_msix_free(disk);
	disk->store = disk->stored = NULL;
	sem_destroy(&disk->bell);
	pthread_mutex_destroy(&disk->lock);
	disk->plugged = false;
}

void fake_disk_unplug_all(void)
{
	for (; disks; disks = disks->next)
		unplug(disks);
}

uint8_t fake_disk_cap(struct fake_disk *disk, uint8_t cfg_type, uint8_t bar, uint32_t offset,
		      uint32_t length)
{
	unsigned bytes = cfg_type == FAKE_NOTIFY || cfg_type == FAKE_PCI_CFG ? 20 : 16;
	uint8_t cap[256];

	memset(cap, 0xa5, sizeof(cap)); /* so that what is read past the documented part shows */
	memset(cap, 0, bytes);
	cap[0] = 0x09;
	cap[2] = (uint8_t)(bytes + disk->cap_extra);
	cap[3] = cfg_type;
	cap[4] = bar;
	memcpy(cap + 8, &offset, 4);
	memcpy(cap + 12, &length, 4);
	if (cfg_type == FAKE_NOTIFY)
		memcpy(cap + 16, &disk->notify_multiplier, 4);
	return fake_pci_cap(disk->fn, cap, bytes + disk->cap_extra);
}

void fake_disk_caps(struct fake_disk *disk)
{
	static const uint8_t order[] = {FAKE_NOTIFY, FAKE_DEVICE, FAKE_ISR, FAKE_COMMON};
	unsigned i;

	if (disk->face == FAKE_LEGACY)
		return;
	fake_disk_cap(disk, FAKE_PCI_CFG, 0, 0, 0);

	for (i = 0; i < sizeof(order); i++) {
		const struct fake_region *at = &disk->region[order[i]];

		fake_disk_cap(disk, order[i], at->bar, (uint32_t)at->offset, at->bytes);
	}
}

void fake_disk_usual(struct fake_disk *disk)
{
	fake_disk_init(disk);
	fake_disk_plug(disk, 0, 3, 0);
	fake_disk_caps(disk);
}

/* ---- Which structure does an access hit? ---- */

static bool hits_legacy(const struct fake_disk *disk, unsigned bar, uint64_t offset)
{
	return disk->face != FAKE_MODERN && bar == 0 && offset < LEGACY_BYTES;
}

static unsigned structure(const struct fake_disk *disk, unsigned bar, uint64_t *offset,
			  unsigned width)
{
	unsigned type;

	if (fake_msix_hit(disk, bar, *offset))
		return STRUCTURE_MSIX;
	if (hits_legacy(disk, bar, *offset))
		return STRUCTURE_LEGACY;
	for (type = FAKE_COMMON; type <= FAKE_DEVICE; type++) {
		const struct fake_region *at = &disk->region[type];

		if (at->bar == bar && *offset - at->offset < at->bytes) {
			*offset -= at->offset;
			if (*offset + width > at->bytes)
				break;
			return type;
		}
	}
	fake_violate("CFG-05: access to BAR %u offset %#llx outside of every structure", bar,
		     (unsigned long long)*offset);
	return 0;
}

uint8_t fake_isr_read(struct fake_disk *disk)
{
	uint8_t isr = disk->isr;

	disk->isr_reads++;
	if (fake_msix_on(disk))
		fake_violate("PCI-ISR-01: the ISR status was read while MSI-X is on");
	disk->isr = 0;
	return isr;
}

static uint32_t bar_read(struct fake_function *fn, unsigned bar, uint64_t offset, unsigned width)
{
	struct fake_disk *disk = fn->owner;
	uint32_t value = UINT32_MAX;

	pthread_mutex_lock(&disk->lock);
	switch (structure(disk, bar, &offset, width)) {
	case STRUCTURE_MSIX:
		value = fake_msix_access(disk, bar, offset, 0, width, false);
		break;
	case STRUCTURE_LEGACY:
		value = fake_legacy_read(disk, offset, width);
		break;
	case FAKE_COMMON:
		value = fake_common_read(disk, offset, width);
		break;
	case FAKE_DEVICE:
		value = fake_config_read(disk, offset, width);
		break;
	case FAKE_ISR:
		value = fake_isr_read(disk);
		break;
	case FAKE_NOTIFY:
		fake_violate("NOTIF-01: the notification structure was read");
		break;
	}
	pthread_mutex_unlock(&disk->lock);
	if (fn->gone)
		return UINT32_MAX;
	return disk->hostile ? fake_hostile_read(disk, value, width) : value;
}

static void bar_write(struct fake_function *fn, unsigned bar, uint64_t offset, uint32_t value,
		      unsigned width)
{
	struct fake_disk *disk = fn->owner;
	unsigned type;

	type = structure(disk, bar, &offset, width);
	if (type == STRUCTURE_LEGACY && offset == LEGACY_NOTIFY) {
		fake_legacy_notify(disk, value, width);
		return;
	}
	if (type == FAKE_NOTIFY) {
		fake_notify(disk, offset, value, width);
		return;
	}
	pthread_mutex_lock(&disk->lock);
	if (type == STRUCTURE_MSIX)
		fake_msix_access(disk, bar, offset, value, width, true);
	else if (type == STRUCTURE_LEGACY)
		fake_legacy_write(disk, offset, value, width);

	else if (type == FAKE_COMMON)
		fake_common_write(disk, offset, value, width);
	else if (type == FAKE_DEVICE)
		fake_config_write(disk, offset, value, width);
	else if (type == FAKE_ISR)
		fake_violate("PCI-ISR-02: the ISR status was written");
	pthread_mutex_unlock(&disk->lock);
}
