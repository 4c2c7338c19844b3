/* SPDX-License-Identifier: BSD-2-Clause */
/* What is a feature bit called, and what is it for? */
#ifndef DRIVERS_VIRTIO_FEATURES_H
#define DRIVERS_VIRTIO_FEATURES_H

#include <stdint.h>

struct virtio_feature {
	uint8_t bit;
	const char *name; /* the specification's, without its prefix, in lower case: "event_idx" */
	const char *what;
};

/* In order of bits: those of any device, and those of a block device (virtio 1.3, 6 and 5.2.3). */
extern const struct virtio_feature virtio_features[];
extern const unsigned virtio_nr_features;

/* NULL if there is none. */
const struct virtio_feature *virtio_feature_of(unsigned bit);
const struct virtio_feature *virtio_feature_named(const char *name);

#endif
