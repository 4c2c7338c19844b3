/* SPDX-License-Identifier: BSD-2-Clause */
/* Which features does this driver know, and which does it want? */
#ifndef DRIVERS_BLOCK_BLK_FEATURES_H
#define DRIVERS_BLOCK_BLK_FEATURES_H

#include "drivers/block/blk.h"

/* All that this driver understands; nothing else is ever accepted (2.2.1). */
uint64_t blk_features_known(void);
/* Of these, what @config leaves on. */
uint64_t blk_features_wanted(const struct blk_config *config);

#endif
