/* SPDX-License-Identifier: BSD-2-Clause */
/* Is what is written the JSON that was meant, to the last comma? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/json.h"
#include "lib/random.h"

static struct {
	struct sink sink;
	size_t len;
	char text[1 << 16];
} out;

static struct json j;

static void out_write(struct sink *sink, const char *text, size_t len)
{
	assert_ptr_equal(sink, &out.sink);
	assert_in_range(out.len + len, 0, sizeof(out.text) - 1);
	memcpy(out.text + out.len, text, len);
	out.len += len;
	out.text[out.len] = '\0';
}

static int start(void **state)
{
	(void)state;
	memset(&out, 0, sizeof(out));
	memset(&j, 0xff, sizeof(j));
	out.sink.write = out_write;
	json_init(&j, &out.sink);
	return 0;
}

static void whole_document(void **state)
{
	(void)state;
	json_object_begin(&j, NULL);
	json_string(&j, "fio version", "fio-3.33");
	json_array_begin(&j, "jobs");
	json_object_begin(&j, NULL);
	json_u64(&j, "total_ios", UINT64_MAX);
	json_milli(&j, "iops", 1234567);
	json_bool(&j, "error", false);
	json_object_begin(&j, "percentile");
	json_u64(&j, "99.950000", 0);
	json_object_end(&j);
	json_object_end(&j);
	json_object_begin(&j, NULL);
	json_object_end(&j);
	json_u64(&j, NULL, 7);
	json_array_end(&j);
	json_array_begin(&j, "none");
	json_array_end(&j);
	json_bool(&j, "kvm", true);
	json_object_end(&j);
	assert_string_equal(out.text, "{\n"
				      "  \"fio version\": \"fio-3.33\",\n"
				      "  \"jobs\": [\n"
				      "    {\n"
				      "      \"total_ios\": 18446744073709551615,\n"
				      "      \"iops\": 1234.567,\n"
				      "      \"error\": false,\n"
				      "      \"percentile\": {\n"
				      "        \"99.950000\": 0\n"
				      "      }\n"
				      "    },\n"
				      "    {},\n"
				      "    7\n"
				      "  ],\n"
				      "  \"none\": [],\n"
				      "  \"kvm\": true\n"
				      "}\n");
}

/* Readers cut the document out of a console by these two lines. */
static void brace_alone_on_first_and_last_line(void **state)
{
	(void)state;
	json_object_begin(&j, NULL);
	json_u64(&j, "a", 1);
	json_object_end(&j);
	assert_memory_equal(out.text, "{\n", 2);
	assert_string_equal(out.text + out.len - 3, "\n}\n");
}

static void check_string(const char *value, const char *expected)
{
	start(NULL);
	json_string(&j, NULL, value);
	assert_string_equal(out.text, expected);
}

static void escapes(void **state)
{
	(void)state;
	check_string("", "\"\"");
	check_string("plain ~ text/", "\"plain ~ text/\"");
	check_string("\"", "\"\\\"\"");
	check_string("a\\b", "\"a\\\\b\"");
	check_string("\n\r\t", "\"\\n\\r\\t\"");
	check_string("\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\"");
	/* UTF-8 as it is; what is none by its bytes: a lone one, cut short, overlong, a surrogate. */
	check_string("gr\xc3\xb6\xc3\x9f"
		     "e",
		     "\"gr\xc3\xb6\xc3\x9f"
		     "e\"");
	check_string("\xc2\x80\xe0\xa0\x80\xed\x9f\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
		     "\"\xc2\x80\xe0\xa0\x80\xed\x9f\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"");
	check_string("\xc3\xa9\xff", "\"\xc3\xa9\\u00ff\"");
	check_string("\xe2\x82", "\"\\u00e2\\u0082\"");
	check_string("\xc1\xbf\xe0\x9f\xbf", "\"\\u00c1\\u00bf\\u00e0\\u009f\\u00bf\"");
	check_string("\xf0\x8f\xbf\xbf", "\"\\u00f0\\u008f\\u00bf\\u00bf\"");
	check_string("\xed\xa0\x80", "\"\\u00ed\\u00a0\\u0080\"");
	check_string("\xf4\x90\x80\x80", "\"\\u00f4\\u0090\\u0080\\u0080\"");
	start(NULL);
	json_object_begin(&j, NULL);
	json_string(&j, "k\"\n", "v");
	json_object_end(&j);
	assert_string_equal(out.text, "{\n  \"k\\\"\\n\": \"v\"\n}\n");
}

/* A reader for the grammar of RFC 8259, as far as the writer can go; NULL is a syntax error. */
static const char *read_value(const char *p);

static const char *skip_blanks(const char *p)
{
	return p ? p + strspn(p, " \n") : NULL;
}

/* By the value of what it decodes to: to the last byte of a character of several, or NULL. */
static const char *read_utf8(const char *p)
{
	static const uint32_t least[] = {[2] = 0x80, 0x800, 0x10000};
	unsigned lead = (unsigned char)*p, n = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
	uint32_t c = lead & 0x7f >> n;

	if (lead < 0xc0 || lead >= 0xf8)
		return NULL;
	for (unsigned i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return NULL;
		c = c << 6 | (p[i] & 0x3f);
	}
	return c >= least[n] && c <= 0x10ffff && c >> 11 != 0x1b ? p + n - 1 : NULL;
}

static const char *read_string(const char *p)
{
	if (*p != '"')
		return NULL;
	for (p++; *p != '"'; p++) {
		if ((unsigned char)*p >= 0x80 && !(p = read_utf8(p)))
			return NULL;
		if (*p == 0x7f || (unsigned char)*p < 0x20)
			return NULL;
		if (*p != '\\')
			continue;
		p++;
		if (!*p || !strchr("\"\\nrtu", *p))
			return NULL;
		if (*p == 'u' && strspn(p + 1, "0123456789abcdef") < 4)
			return NULL;
	}
	return p + 1;
}

static const char *read_members(const char *p, char close)
{
	p = skip_blanks(p);
	if (*p == close)
		return p + 1;
	for (;;) {
		if (close == '}') {
			p = read_string(p);
			if (!p || *p++ != ':')
				return NULL;
		}
		p = skip_blanks(read_value(skip_blanks(p)));
		if (!p || (*p != ',' && *p != close))
			return NULL;
		if (*p++ == close)
			return p;
		p = skip_blanks(p);
	}
}

static const char *read_value(const char *p)
{
	if (!p)
		return NULL;
	switch (*p) {
	case '{':
		return read_members(p + 1, '}');
	case '[':
		return read_members(p + 1, ']');
	case '"':
		return read_string(p);
	case 't':
		return strncmp(p, "true", 4) ? NULL : p + 4;
	case 'f':
		return strncmp(p, "false", 5) ? NULL : p + 5;
	default:
		return strspn(p, "0123456789.") ? p + strspn(p, "0123456789.") : NULL;
	}
}

static void write_random(struct random *r, bool in_object);

static void write_random_members(struct random *r, bool object)
{
	for (uint64_t n = random_below(r, 4); n; n--)
		write_random(r, object);
}

static void write_random(struct random *r, bool in_object)
{
	char text[8] = {0};
	const char *key = in_object ? text : NULL;

	for (uint64_t i = random_below(r, 7); i; i--)
		text[i - 1] = (char)(1 + random_below(r, 255));
	switch (random_below(r, j.depth < JSON_DEPTH_MAX ? 6 : 4)) {
	case 0:
		return json_u64(&j, key, random_next(r));
	case 1:
		return json_milli(&j, key, random_next(r));
	case 2:
		return json_bool(&j, key, random_below(r, 2));
	case 3:
		return json_string(&j, key, text);
	case 4:
		json_object_begin(&j, key);
		write_random_members(r, true);
		return json_object_end(&j);
	default:
		json_array_begin(&j, key);
		write_random_members(r, false);
		return json_array_end(&j);
	}
}

static void random_documents_parse(void **state)
{
	struct random r;

	random_seed(&r, 13);
	for (int i = 0; i < 2000; i++) {
		const char *end;

		start(state);
		json_object_begin(&j, NULL);
		write_random_members(&r, true);
		json_object_end(&j);
		assert_int_equal(j.depth, 0);
		end = read_value(out.text);
		if (!end || strcmp(end, "\n"))
			fail_msg("not JSON:\n%s", out.text);
	}
}

/* Commas may be wrong beyond JSON_DEPTH_MAX, but nothing is written outside of struct json. */
static void too_deep_is_harmless(void **state)
{
	(void)state;
	for (int i = 0; i < 2 * JSON_DEPTH_MAX; i++)
		json_array_begin(&j, NULL);
	for (int i = 0; i < 2 * JSON_DEPTH_MAX; i++)
		json_array_end(&j);
	assert_int_equal(j.depth, 0);
	assert_ptr_equal(j.sink, &out.sink);
	assert_non_null(read_value(out.text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(whole_document, start),
		cmocka_unit_test_setup(brace_alone_on_first_and_last_line, start),
		cmocka_unit_test_setup(escapes, start),
		cmocka_unit_test_setup(random_documents_parse, start),
		cmocka_unit_test_setup(too_deep_is_harmless, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
