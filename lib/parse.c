/* SPDX-License-Identifier: BSD-2-Clause */
/* How does text from the command line become a number, a size, a time? */
#include "lib/parse.h"

#include "lib/mem.h"

struct suffix {
	const char *name; /* in lower case */
	uint64_t factor;
};

static const struct suffix sizes[] = {
	{"k", 1ull << 10},   {"kb", 1ull << 10},  {"kib", 1ull << 10}, {"m", 1ull << 20},
	{"mb", 1ull << 20},  {"mib", 1ull << 20}, {"g", 1ull << 30},   {"gb", 1ull << 30},
	{"gib", 1ull << 30}, {"t", 1ull << 40},	  {"tb", 1ull << 40},  {"tib", 1ull << 40},
	{"p", 1ull << 50},   {"pb", 1ull << 50},  {"pib", 1ull << 50},
};

static const struct suffix times[] = {
	{"ns", 1},
	{"us", 1000},
	{"ms", 1000000},
	{"s", 1000000000},
	{"m", 60 * 1000000000ull},
	{"h", 3600 * 1000000000ull},
	{"d", 86400 * 1000000000ull},
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned digit_value(char c)
{
	c = lower(c);
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	return UINT32_MAX;
}

/* Reads the digits at @s; returns where they end, or NULL if there are none or too many. */
static const char *read_digits(const char *s, unsigned base, uint64_t *out)
{
	const char *first = s;
	uint64_t n = 0;

	for (; digit_value(*s) < base; s++)
		if (__builtin_mul_overflow(n, base, &n) ||
		    __builtin_add_overflow(n, digit_value(*s), &n))
			return NULL;
	*out = n;
	return s == first ? NULL : s;
}

static const char *read_u64(const char *s, uint64_t *out)
{
	if (s[0] == '0' && lower(s[1]) == 'x')
		return read_digits(s + 2, 16, out);
	return read_digits(s, 10, out);
}

static bool suffix_is(const char *s, const char *name)
{
	for (; *s && lower(*s) == *name; s++)
		name++;
	return !*s && !*name;
}

/* A number and one of @suffixes, or none: then @plain is its factor. */
static bool parse_scaled(const char *s, const struct suffix *suffixes, size_t n, uint64_t plain,
			 uint64_t *out)
{
	uint64_t value, factor = plain;
	const char *end = read_u64(s, &value);
	size_t i = 0;

	if (!end)
		return false;
	if (*end) {
		while (i < n && !suffix_is(end, suffixes[i].name))
			i++;
		if (i == n)
			return false;
		factor = suffixes[i].factor;
	}
	if (__builtin_mul_overflow(value, factor, &value))
		return false;
	*out = value;
	return true;
}

bool parse_u64(const char *s, uint64_t *out)
{
	return parse_scaled(s, NULL, 0, 1, out);
}

bool parse_size(const char *s, uint64_t *out)
{
	return parse_scaled(s, sizes, ARRAY_SIZE(sizes), 1, out);
}

bool parse_time(const char *s, uint64_t default_unit_ns, uint64_t *out_ns)
{
	return parse_scaled(s, times, ARRAY_SIZE(times), default_unit_ns, out_ns);
}

bool parse_bool(const char *s, bool *out)
{
	static const char *const names[] = {"0", "1", "off", "on", "no", "yes", "false", "true"};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		if (str_eq(s, names[i])) {
			*out = i % 2;
			return true;
		}
	}
	return false;
}

bool parse_micro(const char *s, uint64_t *out)
{
	uint64_t whole, part = 0;
	const char *end = read_digits(s, 10, &whole), *point;

	if (!end || __builtin_mul_overflow(whole, 1000000, &whole))
		return false;
	if (*end == '.') {
		point = end;
		end = read_digits(point + 1, 10, &part);
		if (!end || end - point > 7)
			return false;
		for (ptrdiff_t i = end - point; i < 7; i++)
			part *= 10;
	}
	if (*end || __builtin_add_overflow(whole, part, &whole))
		return false;
	*out = whole;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

char *parse_token(char **cursor, bool *unclosed)
{
	char *in = *cursor, *out, *token, quote = 0;

	while (is_blank(*in))
		in++;
	token = out = in;
	for (; *in && (quote || !is_blank(*in)); in++) {
		if (*in == quote)
			quote = 0;
		else if (!quote && (*in == '"' || *in == '\''))
			quote = *in;
		else
			*out++ = *in;
	}
	*cursor = *in ? in + 1 : in;
	*unclosed = quote;
	if (in == token || quote)
		return NULL;
	*out = '\0';
	return token;
}
