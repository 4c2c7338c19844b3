/* SPDX-License-Identifier: BSD-2-Clause */
/* Which feature bits does a command line switch off, or insist on? blk.feature.NAME=0|1 */
#include "kernel/bench/options_feature.h"

#include "drivers/block/blk_features.h"
#include "drivers/virtio/features.h"
#include "drivers/virtio/virtio.h"
#include "kernel/bench/options_table.h"
#include "lib/format.h"
#include "lib/mem.h"
#include "lib/parse.h"

#define PREFIX	     "blk.feature."
#define DISTANCE_MAX 2

const char *feature_key(const char *key)
{
	size_t len = strlen(PREFIX);

	return strncmp(key, PREFIX, len) == 0 ? key + len : NULL;
}

/* What is near @name, else all that can be switched. */
static void unknown_feature(const char *name, char *error, size_t error_size)
{
	int n = format(error, error_size, "%s%s: unknown feature", PREFIX, name);
	const char *separator = "; there is ";

	for (unsigned i = 0; i < virtio_nr_features; i++) {
		const char *near = virtio_features[i].name;

		if (option_distance(name, near) > DISTANCE_MAX || strlen(name) <= DISTANCE_MAX)
			continue;
		format(error + n, error_size - (size_t)n, " (did you mean %s%s?)", PREFIX, near);
		return;
	}
	for (unsigned i = 0; i < virtio_nr_features && (size_t)n < error_size; i++) {
		if (!(blk_features_known() >> virtio_features[i].bit & 1))
			continue;
		n += format(error + n, error_size - (size_t)n, "%s%s", separator,
			    virtio_features[i].name);
		separator = " ";
	}
}

bool feature_option(const char *name, const char *value, struct blk_config *config, char *error,
		    size_t error_size)
{
	const struct virtio_feature *feature = virtio_feature_named(name);
	uint64_t mask;
	bool on;

	if (!feature) {
		unknown_feature(name, error, error_size);
		return false;
	}
	if (!value || !parse_bool(value, &on)) {
		format(error, error_size, "%s%s=%s: expected 0|1", PREFIX, name,
		       value ? value : "");
		return false;
	}
	mask = 1ull << feature->bit;
	config->features_off = on ? config->features_off & ~mask : config->features_off | mask;
	config->features_on = on ? config->features_on | mask : config->features_on & ~mask;
	return true;
}

static bool refuse(const struct blk_device *dev, unsigned bit, const char *value, const char *why,
		   char *error, size_t error_size)
{
	format(error, error_size, "%s%s=%s: %s %s: %s", PREFIX, virtio_feature_of(bit)->name, value,
	       dev->name, dev->address, why);
	return false;
}

bool features_honoured(const struct blk_config *config, const struct blk_device *dev, char *error,
		       size_t error_size)
{
	const struct blk_features *f = &dev->features;

	for (unsigned i = 0; i < virtio_nr_features; i++) {
		unsigned bit = virtio_features[i].bit;
		uint64_t mask = 1ull << bit;

		if (config->features_off & f->accepted & mask)
			return refuse(dev, bit, "0", "the modern interface needs it", error,
				      error_size);
		if (!(config->features_on & ~f->accepted & mask))
			continue;
		return refuse(dev, bit, "1",
			      !(f->offered & mask) ? "the device does not offer it"
			      : !(f->known & mask) ? "this driver has no use for it"
			      : mask == VIRTIO_F_IN_ORDER && !dev->indirect_desc
				      ? "it takes indirect_desc, which is not accepted"
				      : "another option declines it",
			      error, error_size);
	}
	return true;
}
