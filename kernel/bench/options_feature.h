/* SPDX-License-Identifier: BSD-2-Clause */
/* Which feature bits does a command line switch off, or insist on? */
#ifndef KERNEL_BENCH_OPTIONS_FEATURE_H
#define KERNEL_BENCH_OPTIONS_FEATURE_H

#include <stdbool.h>
#include <stddef.h>

#include "drivers/block/blk.h"

/* The NAME in a key blk.feature.NAME; NULL if @key is another. */
const char *feature_key(const char *key);
/* Notes that feature @name is to be off (@value 0) or must be accepted (1). False: see @error. */
bool feature_option(const char *name, const char *value, struct blk_config *config, char *error,
		    size_t error_size);
/* Whether @dev was opened as @config says of its features; if not, @error says why. */
bool features_honoured(const struct blk_config *config, const struct blk_device *dev, char *error,
		       size_t error_size);

#endif
