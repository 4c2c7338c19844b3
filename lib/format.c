/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a number become text, without a C library and without floating point? */
#include "lib/format.h"

#include <stdbool.h>

#include "lib/mem.h"

/* @len counts the whole text; what lies beyond @size - 1 is counted but not stored. */
struct out {
	char *buf;
	size_t size, len;
};

enum length {
	LENGTH_INT,
	LENGTH_CHAR,
	LENGTH_SHORT,
	LENGTH_LONG,
	LENGTH_LLONG,
	LENGTH_SIZE,
	LENGTH_MAX
};

struct spec {
	bool left, zero, plus, space, alternate;
	unsigned width;
	int precision; /* -1: none given */
	enum length length;
};

/* Widths and precisions written in the format end here, so that nothing overflows. */
#define NUMBER_MAX 99999

static void put(struct out *o, char c)
{
	if (o->len + 1 < o->size)
		o->buf[o->len] = c;
	o->len++;
}

static void put_text(struct out *o, const char *text, size_t len)
{
	while (len--)
		put(o, *text++);
}

static void put_fill(struct out *o, char c, size_t n)
{
	while (n--)
		put(o, c);
}

static bool parse_flag(struct spec *s, char c)
{
	switch (c) {
	case '-':
		return s->left = true;
	case '0':
		return s->zero = true;
	case '+':
		return s->plus = true;
	case ' ':
		return s->space = true;
	case '#':
		return s->alternate = true;
	default:
		return false;
	}
}

static int parse_digits(const char **fmt)
{
	int n = 0;

	for (; **fmt >= '0' && **fmt <= '9'; (*fmt)++)
		if (n <= NUMBER_MAX / 10)
			n = n * 10 + (**fmt - '0');
	return n;
}

static int parse_digits_or_star(const char **fmt, va_list *ap)
{
	if (**fmt != '*')
		return parse_digits(fmt);
	(*fmt)++;
	return va_arg(*ap, int);
}

static enum length parse_length(const char **fmt)
{
	char c = **fmt;
	bool twice;

	if (!c || !strchr("hlzj", c))
		return LENGTH_INT;
	twice = (c == 'h' || c == 'l') && (*fmt)[1] == c;
	*fmt += twice ? 2 : 1;
	switch (c) {
	case 'h':
		return twice ? LENGTH_CHAR : LENGTH_SHORT;
	case 'l':
		return twice ? LENGTH_LLONG : LENGTH_LONG;
	case 'z':
		return LENGTH_SIZE;
	default:
		return LENGTH_MAX;
	}
}

/* Reads all up to the conversion's letter and leaves @fmt on that. */
static struct spec parse_spec(const char **fmt, va_list *ap)
{
	struct spec s = {.precision = -1};
	int width;

	while (parse_flag(&s, **fmt))
		(*fmt)++;
	width = parse_digits_or_star(fmt, ap);
	if (width < 0)
		s.left = true;
	s.width = width < 0 ? 0u - (unsigned)width : (unsigned)width;
	if (**fmt == '.') {
		(*fmt)++;
		s.precision = parse_digits_or_star(fmt, ap);
		if (s.precision < 0)
			s.precision = -1;
	}
	s.length = parse_length(fmt);
	return s;
}

static int64_t take_signed(enum length length, va_list *ap)
{
	switch (length) {
	case LENGTH_CHAR:
		return (signed char)va_arg(*ap, int);
	case LENGTH_SHORT:
		return (short)va_arg(*ap, int);
	case LENGTH_INT:
		return va_arg(*ap, int);
	default: /* long, long long, size_t and intmax_t are all 64 bits here */
		return va_arg(*ap, int64_t);
	}
}

static uint64_t take_unsigned(enum length length, va_list *ap)
{
	switch (length) {
	case LENGTH_CHAR:
		return (unsigned char)va_arg(*ap, unsigned);
	case LENGTH_SHORT:
		return (unsigned short)va_arg(*ap, unsigned);
	case LENGTH_INT:
		return va_arg(*ap, unsigned);
	default:
		return va_arg(*ap, uint64_t);
	}
}

/* Writes @value's digits before @end and returns the first; none for 0. */
static char *digits(char *end, uint64_t value, unsigned base, const char *alphabet)
{
	for (; value; value /= base)
		*--end = alphabet[value % base];
	return end;
}

/* blanks, @prefix (sign or 0x), zeros, digits, blanks */
static void put_number(struct out *o, const struct spec *s, const char *prefix, uint64_t value,
		       unsigned base, const char *alphabet)
{
	char buf[20], *end = buf + sizeof(buf), *first = digits(end, value, base, alphabet);
	size_t n = (size_t)(end - first), prefix_len = strlen(prefix), zeros, fill;
	size_t least = s->precision < 0 ? 1 : (size_t)s->precision;

	zeros = n < least ? least - n : 0;
	if (s->zero && !s->left && s->precision < 0 && s->width > prefix_len + zeros + n)
		zeros = s->width - prefix_len - n;
	fill = s->width > prefix_len + zeros + n ? s->width - prefix_len - zeros - n : 0;
	put_fill(o, ' ', s->left ? 0 : fill);
	put_text(o, prefix, prefix_len);
	put_fill(o, '0', zeros);
	put_text(o, first, n);
	put_fill(o, ' ', s->left ? fill : 0);
}

static void put_signed(struct out *o, const struct spec *s, int64_t value)
{
	const char *sign = value < 0 ? "-" : s->plus ? "+" : s->space ? " " : "";

	put_number(o, s, sign, value < 0 ? 0u - (uint64_t)value : (uint64_t)value, 10,
		   "0123456789");
}

static void put_hex(struct out *o, const struct spec *s, uint64_t value, bool upper, bool prefix)
{
	put_number(o, s,
		   !prefix ? ""
		   : upper ? "0X"
			   : "0x",
		   value, 16, upper ? "0123456789ABCDEF" : "0123456789abcdef");
}

/* At most @precision bytes are read, so that @text need not end in a NUL. */
static void put_string(struct out *o, const struct spec *s, const char *text)
{
	size_t n = 0, fill;

	if (!text)
		text = "(null)";
	while ((s->precision < 0 || n < (size_t)s->precision) && text[n])
		n++;
	fill = s->width > n ? s->width - n : 0;
	put_fill(o, ' ', s->left ? 0 : fill);
	put_text(o, text, n);
	put_fill(o, ' ', s->left ? fill : 0);
}

static void put_char(struct out *o, const struct spec *s, char c)
{
	size_t fill = s->width > 1 ? s->width - 1 : 0;

	put_fill(o, ' ', s->left ? 0 : fill);
	put(o, c);
	put_fill(o, ' ', s->left ? fill : 0);
}

/* False if @conversion is none of ours. */
static bool put_conversion(struct out *o, const struct spec *s, char conversion, va_list *ap)
{
	uint64_t value;

	switch (conversion) {
	case 'd':
	case 'i':
		put_signed(o, s, take_signed(s->length, ap));
		return true;
	case 'u':
		put_number(o, s, "", take_unsigned(s->length, ap), 10, "0123456789");
		return true;
	case 'x':
	case 'X':
		value = take_unsigned(s->length, ap);
		put_hex(o, s, value, conversion == 'X', s->alternate && value);
		return true;
	case 'p':
		put_hex(o, s, (uintptr_t)va_arg(*ap, void *), false, true);
		return true;
	case 'c':
		put_char(o, s, (char)va_arg(*ap, int));
		return true;
	case 's':
		put_string(o, s, va_arg(*ap, const char *));
		return true;
	case '%':
		put(o, '%');
		return true;
	default:
		return false;
	}
}

int format_v(char *buf, size_t size, const char *fmt, va_list ap)
{
	struct out o = {.buf = buf, .size = size};
	va_list args;

	va_copy(args, ap);
	while (*fmt) {
		const char *start = fmt++;
		struct spec s;

		if (*start != '%') {
			put(&o, *start);
			continue;
		}
		s = parse_spec(&fmt, &args);
		if (*fmt && put_conversion(&o, &s, *fmt, &args))
			fmt++;
		else
			put_text(&o, start, (size_t)(fmt - start));
	}
	va_end(args);
	if (size)
		buf[o.len < size ? o.len : size - 1] = '\0';
	return (int)o.len;
}

int format(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = format_v(buf, size, fmt, ap);
	va_end(ap);
	return len;
}

char *format_milli(char *buf, size_t size, uint64_t value, unsigned decimals)
{
	static const unsigned unit_milli[] = {1000, 100, 10, 1}, parts[] = {1, 10, 100, 1000};
	unsigned d = decimals < 3 ? decimals : 3;
	uint64_t n = value / unit_milli[d];

	if (value % unit_milli[d] * 2 >= unit_milli[d])
		n++;
	if (d)
		format(buf, size, "%llu.%0*u", (unsigned long long)(n / parts[d]), (int)d,
		       (unsigned)(n % parts[d]));
	else
		format(buf, size, "%llu", (unsigned long long)n);
	return buf;
}
