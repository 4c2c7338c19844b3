/* SPDX-License-Identifier: BSD-2-Clause */
/* Do our memory and string functions do what the C library's do? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The C library has these names: ours are taken in under others, without changing a line. */
#define memcpy	our_memcpy
#define memmove our_memmove
#define memset	our_memset
#define memcmp	our_memcmp
#define strlen	our_strlen
#define strcmp	our_strcmp
#define strncmp our_strncmp
#define strchr	our_strchr
#include "lib/mem.c"
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef strlen
#undef strcmp
#undef strncmp
#undef strchr

#include "lib/random.h"

#define BYTES 128

static struct random rnd;
static unsigned char ours[BYTES], libc[BYTES];

static int fill(void **state)
{
	(void)state;
	random_seed(&rnd, 15);
	for (int i = 0; i < BYTES; i++)
		ours[i] = libc[i] = (unsigned char)random_next(&rnd);
	return 0;
}

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

static void copy(void **state)
{
	unsigned char from[BYTES];

	(void)state;
	for (int i = 0; i < BYTES; i++)
		from[i] = (unsigned char)random_next(&rnd);
	for (size_t to = 0; to < 9; to++) {
		for (size_t at = 0; at < 9; at++) {
			for (size_t n = 0; n < 40; n++) {
				assert_ptr_equal(our_memcpy(ours + to, from + at, n), ours + to);
				memcpy(libc + to, from + at, n);
				assert_memory_equal(ours, libc, BYTES);
			}
		}
	}
}

static void move_with_overlap(void **state)
{
	(void)state;
	for (int i = 0; i < 20000; i++) {
		size_t to = random_below(&rnd, BYTES), at = random_below(&rnd, BYTES);
		size_t n = random_below(&rnd, BYTES - (to > at ? to : at) + 1);

		assert_ptr_equal(our_memmove(ours + to, ours + at, n), ours + to);
		memmove(libc + to, libc + at, n);
		assert_memory_equal(ours, libc, BYTES);
	}
}

static void set(void **state)
{
	(void)state;
	for (size_t at = 0; at < 9; at++) {
		for (size_t n = 0; n < 40; n++) {
			int byte = (int)random_next(&rnd);

			assert_ptr_equal(our_memset(ours + at, byte, n), ours + at);
			memset(libc + at, byte, n);
			assert_memory_equal(ours, libc, BYTES);
		}
	}
}

static void compare(void **state)
{
	(void)state;
	for (size_t n = 0; n < 40; n++) {
		assert_int_equal(our_memcmp(ours, libc, n), 0);
		for (size_t at = 0; at < n; at++) {
			ours[at] ^= 0x80;
			assert_int_equal(sign(our_memcmp(ours, libc, n)),
					 sign(memcmp(ours, libc, n)));
			assert_int_not_equal(our_memcmp(ours, libc, n), 0);
			assert_int_equal(our_memcmp(ours, libc, at), 0);
			ours[at] ^= 0x80;
		}
	}
}

static void strings(void **state)
{
	static const char *const texts[] = {"",	 "a",	 "b",	  "ab",	       "abc",	    "abd",
					    "A", "\xff", "a\x80", "virtqueue", "virtqueues"};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(our_strlen(texts[i]), strlen(texts[i]));
		for (unsigned k = 0; k < ARRAY_SIZE(texts); k++) {
			assert_int_equal(sign(our_strcmp(texts[i], texts[k])),
					 sign(strcmp(texts[i], texts[k])));
			for (size_t n = 0; n < 12; n++)
				assert_int_equal(sign(our_strncmp(texts[i], texts[k], n)),
						 sign(strncmp(texts[i], texts[k], n)));
		}
	}
}

static void find(void **state)
{
	static const char text[] = "a=b=\xff";

	(void)state;
	assert_ptr_equal(our_strchr(text, '='), text + 1);
	assert_ptr_equal(our_strchr(text, 0xff), text + 4);
	assert_ptr_equal(our_strchr(text, '\0'), text + 5);
	assert_null(our_strchr(text, 'x'));
	assert_null(our_strchr("", 'x'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(copy, fill),
		cmocka_unit_test_setup(move_with_overlap, fill),
		cmocka_unit_test_setup(set, fill),
		cmocka_unit_test_setup(compare, fill),
		cmocka_unit_test_setup(strings, fill),
		cmocka_unit_test_setup(find, fill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
