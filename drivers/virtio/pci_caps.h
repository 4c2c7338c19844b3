/* SPDX-License-Identifier: BSD-2-Clause */
/* Where does a virtio device on PCI keep its registers? */
#ifndef DRIVERS_VIRTIO_PCI_CAPS_H
#define DRIVERS_VIRTIO_PCI_CAPS_H

#include "drivers/virtio/virtio.h"

/*
 * Enables the function and fills in dev->common, notify, notify_multiplier, config and isr from its
 * capabilities (4.1.4); without an ISR status there is no INTx. On failure logs what is missing and returns false.
 */
bool virtio_pci_find(struct virtio_device *dev);

#endif
