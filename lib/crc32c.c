/* SPDX-License-Identifier: BSD-2-Clause */
/* How is a CRC taken eight bytes at a time, on a CPU without an instruction for it? */
#include "lib/crc32c.h"

#include <stdbool.h>

#define POLYNOMIAL_REFLECTED 0x82f63b78u

/* table[k][b] is what byte b adds to the CRC when k more bytes follow it. 8 KiB of .bss. */
static uint32_t table[8][256];
static bool table_ready;

/* Two CPUs that come here at once write the same values. */
static void build_table(void)
{
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t crc = b;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL_REFLECTED : 0);
		table[0][b] = crc;
	}
	for (int k = 1; k < 8; k++)
		for (int b = 0; b < 256; b++)
			table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xff];
	__atomic_store_n(&table_ready, true, __ATOMIC_RELEASE);
}

static uint32_t add_8(uint32_t crc, const unsigned char *p)
{
	uint64_t w;

	__builtin_memcpy(&w, p, sizeof(w));
	w ^= crc;
	return table[7][w & 0xff] ^ table[6][w >> 8 & 0xff] ^ table[5][w >> 16 & 0xff] ^
	       table[4][w >> 24 & 0xff] ^ table[3][w >> 32 & 0xff] ^ table[2][w >> 40 & 0xff] ^
	       table[1][w >> 48 & 0xff] ^ table[0][w >> 56];
}

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
	const unsigned char *p = data;

	if (!__atomic_load_n(&table_ready, __ATOMIC_ACQUIRE))
		build_table();
	crc = ~crc;
	for (; len >= 8; len -= 8, p += 8)
		crc = add_8(crc, p);
	while (len--)
		crc = crc >> 8 ^ table[0][(crc ^ *p++) & 0xff];
	return ~crc;
}
