/* SPDX-License-Identifier: BSD-2-Clause */
/* How is data checked against what the host computes? CRC-32C (Castagnoli), as iSCSI and ext4. */
#ifndef LIB_CRC32C_H
#define LIB_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Start with 0; crc32c(crc32c(0, a), b) is the CRC of a then b. crc32c(0, "123456789", 9) = 0xe3069283. */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);

#endif
