/* SPDX-License-Identifier: BSD-2-Clause */
/* Where does a virtio device on PCI keep its registers? (virtio 1.3, 4.1.4) */
#include "drivers/virtio/pci_caps.h"

#include "drivers/virtio/transport.h"
#include "lib/log.h"

#define PCI_CAP_ID_VENDOR 0x09
#define PCI_CAP_ID_MSIX	  0x11

enum { CFG_COMMON = 1, CFG_NOTIFY = 2, CFG_ISR = 3, CFG_DEVICE = 4 };

/* struct virtio_pci_cap */
#define CAP_LEN	       2
#define CAP_TYPE       3
#define CAP_BAR	       4
#define CAP_OFFSET     8
#define CAP_LENGTH     12
#define CAP_MULTIPLIER 16
#define CAP_BYTES      16
#define NOTIFY_BYTES   20

#define COMMON_BYTES_MIN 56   /* up to queue_notif_config_data, which needs a feature */
#define MAP_MAX		 4096 /* more of a structure than this is never used (4.1.4) */

struct cap {
	unsigned at; /* offset in configuration space */
	uint8_t len, type, bar;
	uint32_t offset, length;
};

static bool read_cap(const struct pci_function *fn, unsigned at, struct cap *cap)
{
	*cap = (struct cap){.at = at};
	cap->len = pci_read8(fn, at + CAP_LEN);
	if (cap->len < CAP_BYTES || at + cap->len > 256)
		return false;
	cap->type = pci_read8(fn, at + CAP_TYPE);
	cap->bar = pci_read8(fn, at + CAP_BAR);
	cap->offset = pci_read32(fn, at + CAP_OFFSET);
	cap->length = pci_read32(fn, at + CAP_LENGTH);
	return cap->bar < PCI_BARS; /* others are reserved and to be skipped */
}

/*
 * The part of a BAR that @cap describes, cut at the BAR's end: a length may be larger than expected
 * (4.1.4.1). False, and *@window as it was, if it is not aligned, or holds less than @min_bytes.
 */
static bool find_window(const struct cap *cap, const struct pci_bar bars[PCI_BARS], uint32_t align,
			uint32_t min_bytes, struct bar_window *window)
{
	const struct pci_bar *bar = &bars[cap->bar];
	uint64_t bytes;

	if (!bar->base || cap->offset % align || cap->offset >= bar->bytes)
		return false;
	bytes = bar->bytes - cap->offset;
	if (bytes > cap->length)
		bytes = cap->length;
	if (bytes < min_bytes)
		return false;
	*window = (struct bar_window){bar->base + cap->offset, bytes, bar->io};
	return true;
}

static void map_cap(const struct cap *cap, const struct pci_bar bars[PCI_BARS], uint32_t align,
		    uint32_t min_bytes, struct region *region)
{
	struct bar_window window;

	if (find_window(cap, bars, align, min_bytes, &window))
		region_map(region, &window, 0,
			   window.bytes < MAP_MAX ? (uint32_t)window.bytes : MAP_MAX);
}

static void find_notify(struct virtio_device *dev, const struct cap *cap,
			const struct pci_bar bars[PCI_BARS])
{
	struct region probe;

	if (cap->len < NOTIFY_BYTES || !find_window(cap, bars, 2, 2, &dev->notify))
		return;
	if (region_map(&probe, &dev->notify, 0, 2))
		dev->notify_multiplier = pci_read32(&dev->pci, cap->at + CAP_MULTIPLIER);
	else
		dev->notify.bytes = 0;
}

/* 4.1.4.1: of each type the first instance that can be used; unknown types are skipped. */
static void use_cap(struct virtio_device *dev, const struct cap *cap,
		    const struct pci_bar bars[PCI_BARS])
{
	if (cap->type == CFG_COMMON && !dev->common.bytes)
		map_cap(cap, bars, 4, COMMON_BYTES_MIN, &dev->common);
	else if (cap->type == CFG_NOTIFY && !dev->notify.bytes)
		find_notify(dev, cap, bars);
	else if (cap->type == CFG_DEVICE && !dev->config.bytes)
		map_cap(cap, bars, 4, 1, &dev->config);
	else if (cap->type == CFG_ISR && !dev->isr.bytes)
		map_cap(cap, bars, 1, 1, &dev->isr);
}

static const char *missing(const struct virtio_device *dev)
{
	if (!dev->common.bytes)
		return "common configuration";
	if (!dev->notify.bytes)
		return "notification";
	return dev->config.bytes ? NULL : "device configuration";
}

/* How many capabilities are virtio's; -1, with a word why, if the list makes no sense. */
static int read_caps(struct virtio_device *dev, const struct pci_bar bars[PCI_BARS])
{
	struct pci_cap_walk walk = pci_cap_begin(&dev->pci);
	int vendor_caps = 0;
	unsigned at;
	struct cap cap;

	while ((at = pci_cap_next(&walk)) != 0) {
		uint8_t id = pci_read8(&dev->pci, at);

		if (id == PCI_CAP_ID_MSIX && !dev->msix_cap)
			dev->msix_cap = (uint8_t)at;
		if (id != PCI_CAP_ID_VENDOR)
			continue;
		vendor_caps++;
		if (read_cap(&dev->pci, at, &cap))
			use_cap(dev, &cap, bars);
	}
	if (!walk.broken)
		return vendor_caps;
	log_error("%s: capability list loops or leaves its area after %u steps; device skipped",
		  dev->name, walk.steps);
	return -1;
}

/* 4.1.5.1.1.1: the capabilities first; without them, it is a legacy device. */
static bool choose(struct virtio_device *dev, int vendor_caps)
{
	const char *lacks = missing(dev);

	if (!lacks && !(dev->prefers == VIRTIO_LEGACY && dev->has_legacy)) {
		dev->transport = &virtio_modern;
		return true;
	}
	if (lacks && vendor_caps > 0)
		log_line(dev->has_legacy ? LOG_WARN : LOG_ERROR,
			 "%s: no usable %s capability (absent, too short, outside its BAR, or BAR "
			 "unassigned)%s",
			 dev->name, lacks, dev->has_legacy ? "; using the legacy interface" : "");
	else if (!dev->has_legacy)
		log_error("%s: no virtio capabilities, so a legacy device, but BAR0 is not a "
			  "usable I/O BAR",
			  dev->name);
	if (dev->has_legacy)
		virtio_use_legacy(dev);
	return dev->has_legacy;
}

bool virtio_pci_find(struct virtio_device *dev)
{
	struct pci_bar bars[PCI_BARS];
	int vendor_caps;

	pci_read_bars(&dev->pci, bars);
	pci_enable(&dev->pci, bars);
	dev->has_legacy = virtio_pci_find_legacy(dev, bars);
	dev->legacy_bar = (struct bar_window){bars[0].base, bars[0].bytes, bars[0].io};
	vendor_caps = read_caps(dev, bars);
	return vendor_caps >= 0 && choose(dev, vendor_caps);
}
