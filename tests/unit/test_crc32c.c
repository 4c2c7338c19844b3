/* SPDX-License-Identifier: BSD-2-Clause */
/* Is it the CRC that iSCSI means, from any address and in any pieces? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/crc32c.h"
#include "lib/random.h"

#define DATA_MAX 4096

static unsigned char data[DATA_MAX];

static int fill(void **state)
{
	struct random r;

	(void)state;
	random_seed(&r, 11);
	for (size_t i = 0; i < DATA_MAX; i++)
		data[i] = (unsigned char)random_next(&r);
	return 0;
}

/* One bit at a time, from the definition. */
static uint32_t model(uint32_t crc, const unsigned char *p, size_t len)
{
	crc = ~crc;
	for (; len; len--, p++) {
		crc ^= *p;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
	}
	return ~crc;
}

/* RFC 3720, B.4 */
static void standard_vectors(void **state)
{
	unsigned char v[32];

	(void)state;
	assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(crc32c(0, "", 0), 0);
	assert_int_equal(crc32c(0, "a", 1), 0xc1d04330);
	memset(v, 0, sizeof(v));
	assert_int_equal(crc32c(0, v, 32), 0x8a9136aa);
	memset(v, 0xff, sizeof(v));
	assert_int_equal(crc32c(0, v, 32), 0x62a8ab43);
	for (unsigned i = 0; i < 32; i++)
		v[i] = (unsigned char)i;
	assert_int_equal(crc32c(0, v, 32), 0x46dd794e);
	for (unsigned i = 0; i < 32; i++)
		v[i] = (unsigned char)(31 - i);
	assert_int_equal(crc32c(0, v, 32), 0x113fdb5c);
}

/* In a block of exactly that size, so that one byte read too far is seen. */
static void every_alignment_and_length(void **state)
{
	(void)state;
	for (size_t offset = 0; offset < 16; offset++) {
		for (size_t len = 0; len < 80; len++) {
			unsigned char *exact = malloc(offset + len + 1);

			assert_non_null(exact);
			exact = realloc(exact, offset + len ? offset + len : 1);
			assert_non_null(exact);
			memcpy(exact + offset, data, len);
			assert_int_equal(crc32c(0, exact + offset, len), model(0, data, len));
			free(exact);
		}
	}
	assert_int_equal(crc32c(0, data, DATA_MAX), model(0, data, DATA_MAX));
}

static void any_split(void **state)
{
	uint32_t whole = crc32c(0, data, DATA_MAX);
	struct random r;

	(void)state;
	for (size_t cut = 0; cut <= DATA_MAX; cut += cut < 64 ? 1 : 61)
		assert_int_equal(crc32c(crc32c(0, data, cut), data + cut, DATA_MAX - cut), whole);
	random_seed(&r, 12);
	for (int i = 0; i < 100; i++) {
		uint32_t crc = 0;
		size_t at = 0, len;

		for (; at < DATA_MAX; at += len) {
			len = 1 + random_below(&r, 200);
			len = len < DATA_MAX - at ? len : DATA_MAX - at;
			crc = crc32c(crc, data + at, len);
		}
		assert_int_equal(crc, whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(standard_vectors),
		cmocka_unit_test(every_alignment_and_length),
		cmocka_unit_test(any_split),
	};

	return cmocka_run_group_tests(tests, fill, NULL);
}
