/* SPDX-License-Identifier: BSD-2-Clause */
/* Does format() write what the C library's snprintf writes? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/format.h"
#include "lib/mem.h"
#include "lib/random.h"
#include "lib/sink.h"

/* The formats are put together at run time, and some are wrong on purpose. */
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

#define check_same(...)                                                               \
	do {                                                                          \
		char ours[512], libc[512];                                            \
		int our_len = format(ours, sizeof(ours), __VA_ARGS__);                \
                                                                                      \
		assert_int_equal(our_len, snprintf(libc, sizeof(libc), __VA_ARGS__)); \
		assert_string_equal(ours, libc);                                      \
	} while (0)

static const uint64_t values[] = {0,	      1,	 7,	     9,		  10,
				  127,	      128,	 255,	     256,	  32767,
				  32768,      65535,	 INT32_MAX,  0x80000000u, UINT32_MAX,
				  1ull << 32, INT64_MAX, 1ull << 63, UINT64_MAX};

static uint64_t random_value(struct random *r)
{
	if (random_below(r, 2))
		return values[random_below(r, ARRAY_SIZE(values))];
	return random_next(r) >> random_below(r, 64);
}

/* '%', any flags, a width, a precision: what the letters are put after. */
static void random_spec(struct random *r, char *spec)
{
	char *p = spec;

	*p++ = '%';
	for (uint64_t n = random_below(r, 4); n; n--)
		*p++ = "-0+ #"[random_below(r, 5)];
	if (random_below(r, 2))
		p += sprintf(p, "%d", (int)random_below(r, 30));
	if (random_below(r, 2))
		p += sprintf(p, ".%d", (int)random_below(r, 30));
	*p = '\0';
}

static void check_integer(const char *spec, uint64_t v, char conversion)
{
	char fmt[32];

#define with_length(length, arg)                                                \
	do {                                                                    \
		snprintf(fmt, sizeof(fmt), "%s" length "%c", spec, conversion); \
		check_same(fmt, arg);                                           \
	} while (0)
	with_length("hh", (int)v);
	with_length("h", (int)v);
	with_length("", (int)v);
	with_length("l", (long)v);
	with_length("ll", (long long)v);
	with_length("z", (size_t)v);
	with_length("j", (uintmax_t)v);
#undef with_length
}

static void integers_as_libc(void **state)
{
	struct random r;
	char spec[32];

	(void)state;
	random_seed(&r, 1);
	for (int i = 0; i < 20000; i++) {
		random_spec(&r, spec);
		check_integer(spec, random_value(&r), "diuxX"[random_below(&r, 5)]);
	}
}

static void strings_as_libc(void **state)
{
	static const char *const texts[] = {"", "a", "virtqueue", "a much longer text than that"};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
		check_same("[%s]", texts[i]);
		check_same("[%12s|%-12s]", texts[i], texts[i]);
		check_same("[%.3s|%.0s|%.s]", texts[i], texts[i], texts[i]);
		check_same("[%*.*s]", 7, 2, texts[i]);
		check_same("[%*.*s]", -7, -1, texts[i]);
	}
	check_same("%c|%3c|%-3c|", 'x', 'y', 'z');
	check_same("100%% of %s at %p", "it", (const void *)texts);
	check_same("%*d|%*d|%-*d|%0*d", 5, 1, -5, 2, 5, 3, 5, 4);
	check_same("%.*d|%.*x", 4, 5, -4, 6);
}

static void strings_of_ours(void **state)
{
	char buf[32], unterminated[3] = {'a', 'b', 'c'};
	const char *volatile none = NULL;

	(void)state;
	assert_int_equal(format(buf, sizeof(buf), "%s", none), 6);
	assert_string_equal(buf, "(null)");
	assert_int_equal(format(buf, sizeof(buf), "%p", NULL), 3);
	assert_string_equal(buf, "0x0");
	format(buf, sizeof(buf), "%.3s", unterminated);
	assert_string_equal(buf, "abc");
}

static void check_copied(const char *fmt)
{
	char buf[64];

	assert_int_equal(format(buf, sizeof(buf), fmt, 1, 2, 3), strlen(fmt));
	assert_string_equal(buf, fmt);
}

static void unknown_is_copied(void **state)
{
	(void)state;
	check_copied("%q");
	check_copied("%-5.3q|");
	check_copied("a%");
	check_copied("a%5");
	check_copied("a%-08.2ll");
	check_copied("%f");
}

static void cut_and_terminated(void **state)
{
	char buf[16];

	(void)state;
	for (size_t size = 1; size <= sizeof(buf); size++) {
		memset(buf, '~', sizeof(buf));
		assert_int_equal(format(buf, size, "%s-%d", "queue", 1234), 10);
		assert_int_equal(strlen(buf), size <= 10 ? size - 1 : 10);
		assert_memory_equal(buf, "queue-1234", strlen(buf));
		for (size_t i = size; i < sizeof(buf); i++)
			assert_int_equal(buf[i], '~');
	}
	assert_int_equal(format(NULL, 0, "%d", 12345), 5);
}

static void check_milli(uint64_t value, unsigned decimals, const char *expected)
{
	char buf[FORMAT_MILLI_MAX];

	assert_ptr_equal(format_milli(buf, sizeof(buf), value, decimals), buf);
	assert_string_equal(buf, expected);
}

static void milli(void **state)
{
	(void)state;
	check_milli(12345, 2, "12.35");
	check_milli(12344, 2, "12.34");
	check_milli(12345, 3, "12.345");
	check_milli(12345, 1, "12.3");
	check_milli(12345, 0, "12");
	check_milli(12500, 0, "13");
	check_milli(499, 0, "0");
	check_milli(0, 2, "0.00");
	check_milli(5, 3, "0.005");
	check_milli(5, 2, "0.01");
	check_milli(999999, 2, "1000.00");
	check_milli(UINT64_MAX, 3, "18446744073709551.615");
	check_milli(UINT64_MAX, 0, "18446744073709552");
	check_milli(UINT64_MAX, 2, "18446744073709551.62");
}

struct capture {
	struct sink sink;
	unsigned writes;
	size_t len;
	char text[2048];
};

static void capture_write(struct sink *sink, const char *text, size_t len)
{
	struct capture *c = (struct capture *)sink;

	assert_in_range(c->len + len, 0, sizeof(c->text));
	memcpy(c->text + c->len, text, len);
	c->len += len;
	c->writes++;
}

static void sink_cuts_at_512(void **state)
{
	struct capture c = {.sink.write = capture_write};

	(void)state;
	sink_puts(&c.sink, "ring ");
	sink_printf(&c.sink, "%u of %s", 3u, "four");
	assert_int_equal(c.len, 14);
	assert_memory_equal(c.text, "ring 3 of four", 14);
	for (int width = 510; width < 515; width++) {
		c.len = 0;
		sink_printf(&c.sink, "%*d", width, 7);
		assert_int_equal(c.len, width < 512 ? width : 512);
		assert_int_equal(c.text[c.len - 1], width <= 512 ? '7' : ' ');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_as_libc),   cmocka_unit_test(strings_as_libc),
		cmocka_unit_test(strings_of_ours),    cmocka_unit_test(unknown_is_copied),
		cmocka_unit_test(cut_and_terminated), cmocka_unit_test(milli),
		cmocka_unit_test(sink_cuts_at_512),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
