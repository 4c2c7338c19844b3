/* SPDX-License-Identifier: BSD-2-Clause */
/* Which texts are numbers, sizes, times and tokens, and which are refused? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/mem.h"
#include "lib/parse.h"

#define UNTOUCHED 0x5ca1ab1e0ddba11ull

typedef bool (*parser)(const char *s, uint64_t *out);

static void takes(parser parse, const char *s, uint64_t expected)
{
	uint64_t out = UNTOUCHED;

	if (!parse(s, &out))
		fail_msg("'%s' is refused", s);
	assert_int_equal(out, expected);
}

static void refuses(parser parse, const char *s)
{
	uint64_t out = UNTOUCHED;

	if (parse(s, &out))
		fail_msg("'%s' is taken", s);
	assert_int_equal(out, UNTOUCHED);
}

static void refuses_all(parser parse, const char *const *texts, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		refuses(parse, texts[i]);
}

static bool time_of_seconds(const char *s, uint64_t *out)
{
	return parse_time(s, 1000000000, out);
}

static void u64(void **state)
{
	static const char *const bad[] = {"",
					  " ",
					  "-1",
					  "+1",
					  " 1",
					  "1 ",
					  "1k",
					  "0x",
					  "0xg",
					  "12a",
					  "1.0",
					  "x10",
					  "--",
					  "0b1",
					  "18446744073709551616",
					  "0x10000000000000000",
					  "99999999999999999999999"};

	(void)state;
	takes(parse_u64, "0", 0);
	takes(parse_u64, "123", 123);
	takes(parse_u64, "007", 7);
	takes(parse_u64, "0x7b", 123);
	takes(parse_u64, "0XdeadBEEF", 0xdeadbeef);
	takes(parse_u64, "18446744073709551615", UINT64_MAX);
	takes(parse_u64, "0xffffffffffffffff", UINT64_MAX);
	refuses_all(parse_u64, bad, ARRAY_SIZE(bad));
}

static void booleans(void **state)
{
	static const char *const texts[] = {"0", "off", "no", "false", "1", "on", "yes", "true"};
	static const char *const bad[] = {"", "2", "00", "o", "onn", "tru", "1 "};
	bool out;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
		out = i < 4;
		assert_true(parse_bool(texts[i], &out));
		assert_int_equal(out, i >= 4);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		out = i % 2;
		assert_false(parse_bool(bad[i], &out));
		assert_int_equal(out, i % 2);
	}
}

static void sizes(void **state)
{
	static const char *const bad[] = {"",
					  "k",
					  "4kk",
					  "4 k",
					  "4ki",
					  "4kbi",
					  "4x",
					  "1.5k",
					  "-4k",
					  "4k ",
					  "4kib2",
					  "16384p",
					  "18446744073709551615k"};
	static const char *const units[] = {"k", "m", "g", "t", "p"};

	(void)state;
	takes(parse_size, "512", 512);
	takes(parse_size, "0", 0);
	takes(parse_size, "0x1000", 4096);
	takes(parse_size, "0x10k", 16384);
	for (unsigned i = 0; i < ARRAY_SIZE(units); i++) {
		char text[8] = "3";

		strcat(text, units[i]);
		takes(parse_size, text, 3ull << (10 * (i + 1)));
		strcat(text, "b");
		takes(parse_size, text, 3ull << (10 * (i + 1)));
		text[2] = '\0';
		strcat(text, "ib");
		takes(parse_size, text, 3ull << (10 * (i + 1)));
	}
	takes(parse_size, "4K", 4096);
	takes(parse_size, "4KiB", 4096);
	takes(parse_size, "2Gb", 2ull << 30);
	takes(parse_size, "16383p", 16383ull << 50);
	refuses_all(parse_size, bad, ARRAY_SIZE(bad));
}

static void times(void **state)
{
	static const char *const bad[] = {"",	 "s",	"1 s", "1sec",	       "1.5s",
					  "1ks", "-1s", "1n",  "18446744074s", "300000000000000d"};
	uint64_t out;

	(void)state;
	takes(time_of_seconds, "10", 10000000000);
	takes(time_of_seconds, "10s", 10000000000);
	takes(time_of_seconds, "500ms", 500000000);
	takes(time_of_seconds, "20us", 20000);
	takes(time_of_seconds, "5ns", 5);
	takes(time_of_seconds, "2m", 120000000000);
	takes(time_of_seconds, "1h", 3600000000000);
	takes(time_of_seconds, "1d", 86400000000000);
	takes(time_of_seconds, "18446744073s", 18446744073000000000u);
	assert_true(parse_time("250", 1000, &out));
	assert_int_equal(out, 250000);
	refuses_all(time_of_seconds, bad, ARRAY_SIZE(bad));
}

static void micro(void **state)
{
	static const char *const bad[] = {"",
					  ".",
					  ".5",
					  "1.",
					  "1.1234567",
					  "1,5",
					  "0x1",
					  "1.2.3",
					  "-1.0",
					  "1.0 ",
					  "99.9%",
					  "18446744073710",
					  "18446744073709.551616",
					  "1.0000000"};

	(void)state;
	takes(parse_micro, "99.95", 99950000);
	takes(parse_micro, "99.999999", 99999999);
	takes(parse_micro, "0", 0);
	takes(parse_micro, "100", 100000000);
	takes(parse_micro, "1.000001", 1000001);
	takes(parse_micro, "0.5", 500000);
	takes(parse_micro, "18446744073709.551615", UINT64_MAX);
	refuses_all(parse_micro, bad, ARRAY_SIZE(bad));
}

/* @expected ends with NULL. */
static void check_tokens(const char *line, bool expect_unclosed, const char *const *expected)
{
	char buf[128], *cursor = buf, *token;
	bool unclosed = true;

	strcpy(buf, line);
	for (; *expected; expected++) {
		token = parse_token(&cursor, &unclosed);
		assert_non_null(token);
		assert_string_equal(token, *expected);
		assert_false(unclosed);
	}
	assert_null(parse_token(&cursor, &unclosed));
	assert_int_equal(unclosed, expect_unclosed);
	assert_null(parse_token(&cursor, &unclosed));
}

#define tokens(line, unclosed, ...) \
	check_tokens(line, unclosed, (const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

static void token(void **state)
{
	(void)state;
	tokens("", false);
	tokens(" \t\r\n ", false);
	tokens("rw=randread", false, "rw=randread");
	tokens("  bs=4k\t--x \n iodepth=1 ", false, "bs=4k", "--x", "iodepth=1");
}

/* F-010 */
static void quoted_token(void **state)
{
	(void)state;
	tokens("name='a b' x", false, "name=a b", "x");
	tokens("\"a  b\"c'd e'f", false, "a  bcd ef");
	tokens("'\"' \"'\"", false, "\"", "'");
	tokens("'' a=\"\" b", false, "", "a=", "b");
	tokens("a 'b c", true, "a");
	tokens("a b\"", true, "a");
	tokens("a \"b' c", true, "a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(u64),		cmocka_unit_test(booleans), cmocka_unit_test(sizes),
		cmocka_unit_test(times),	cmocka_unit_test(micro),    cmocka_unit_test(token),
		cmocka_unit_test(quoted_token),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
