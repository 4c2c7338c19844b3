/* SPDX-License-Identifier: BSD-2-Clause */
/* How is a JSON document written as it goes, with the commas right? (RFC 8259) */
#include "lib/json.h"

#include "lib/format.h"

void json_init(struct json *j, struct sink *sink)
{
	*j = (struct json){.sink = sink};
}

/* Below the last level that is kept, levels share it: a comma may be wrong, memory never. */
static bool *has_member(struct json *j)
{
	return &j->has_member[j->depth < JSON_DEPTH_MAX ? j->depth : JSON_DEPTH_MAX];
}

static void new_line(struct json *j)
{
	sink_printf(j->sink, "\n%*s", (int)(2 * j->depth), "");
}

/* NULL where there is none. */
static const char *short_escape(char c)
{
	switch (c) {
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	case '\n':
		return "\\n";
	case '\r':
		return "\\r";
	case '\t':
		return "\\t";
	default:
		return NULL;
	}
}

static void write_escape(struct json *j, char c)
{
	const char *escape = short_escape(c);

	if (escape)
		sink_puts(j->sink, escape);
	else
		sink_printf(j->sink, "\\u%04x", (unsigned char)c);
}

static bool is_plain(char c)
{
	return c >= 0x20 && c < 0x7f && !short_escape(c);
}

/* Of the character at @s if it is UTF-8 of several bytes, else 0 (RFC 3629, 4). */
static size_t utf8_bytes(const char *s)
{
	const unsigned char *b = (const unsigned char *)s;
	size_t n = b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;

	if (b[0] < 0xc2 || b[0] > 0xf4)
		return 0;
	if ((b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xed && b[1] > 0x9f) ||
	    (b[0] == 0xf0 && b[1] < 0x90) || (b[0] == 0xf4 && b[1] > 0x8f))
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((b[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

static void write_string(struct json *j, const char *s)
{
	sink_puts(j->sink, "\"");
	while (*s) {
		size_t run = 0, bytes;

		while ((bytes = is_plain(s[run]) ? 1 : utf8_bytes(s + run)) != 0)
			run += bytes;
		if (run)
			sink_write(j->sink, s, run);
		s += run;
		if (*s)
			write_escape(j, *s++);
	}
	sink_puts(j->sink, "\"");
}

/* All that stands before a value: the comma, the place in the tree, the key. */
static void begin_value(struct json *j, const char *key)
{
	if (j->depth) {
		if (*has_member(j))
			sink_puts(j->sink, ",");
		new_line(j);
	}
	*has_member(j) = true;
	if (key) {
		write_string(j, key);
		sink_puts(j->sink, ": ");
	}
}

static void begin_nested(struct json *j, const char *key, const char *bracket)
{
	begin_value(j, key);
	sink_puts(j->sink, bracket);
	j->depth++;
	*has_member(j) = false;
}

static void end_nested(struct json *j, const char *bracket)
{
	bool broken = *has_member(j);

	j->depth--;
	if (broken)
		new_line(j);
	sink_puts(j->sink, bracket);
	if (!j->depth)
		sink_puts(j->sink, "\n");
}

void json_object_begin(struct json *j, const char *key)
{
	begin_nested(j, key, "{");
}

void json_object_end(struct json *j)
{
	end_nested(j, "}");
}

void json_array_begin(struct json *j, const char *key)
{
	begin_nested(j, key, "[");
}

void json_array_end(struct json *j)
{
	end_nested(j, "]");
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	begin_value(j, key);
	sink_printf(j->sink, "%llu", (unsigned long long)value);
}

void json_milli(struct json *j, const char *key, uint64_t value_milli)
{
	char text[FORMAT_MILLI_MAX];

	begin_value(j, key);
	sink_puts(j->sink, format_milli(text, sizeof(text), value_milli, 3));
}

void json_string(struct json *j, const char *key, const char *value)
{
	begin_value(j, key);
	write_string(j, value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	begin_value(j, key);
	sink_puts(j->sink, value ? "true" : "false");
}
