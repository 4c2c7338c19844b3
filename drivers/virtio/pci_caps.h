/* SPDX-License-Identifier: BSD-2-Clause */
/* Where does a virtio device on PCI keep its registers? */
#ifndef DRIVERS_VIRTIO_PCI_CAPS_H
#define DRIVERS_VIRTIO_PCI_CAPS_H

#include "drivers/virtio/virtio.h"

/*
 * Enables the function, finds its registers and chooses between them: fills in dev->transport, and
 * common, notify, notify_multiplier, config and isr from its capabilities (4.1.4), or from BAR0 for
 * a legacy device (4.1.4.10). Without an ISR status there is no INTx. On failure logs what is
 * missing and returns false.
 */
bool virtio_pci_find(struct virtio_device *dev);

/* pci_legacy.c: whether there are legacy registers. */
bool virtio_pci_find_legacy(struct virtio_device *dev, const struct pci_bar bars[PCI_BARS]);
/* From now on they are used; dev->has_legacy says that they are there. */
void virtio_use_legacy(struct virtio_device *dev);

#endif
