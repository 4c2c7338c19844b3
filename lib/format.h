/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a number become text, without a C library and without floating point? */
#ifndef LIB_FORMAT_H
#define LIB_FORMAT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A subset of C99 vsnprintf: %d %i %u %x %X %c %s %p %%, the length modifiers
 * hh h l ll z j, the flags - 0 + space #, and width and precision, '*' included.
 * Always terminates @buf when @size > 0; returns the length that the whole text has.
 * A conversion that is not known is copied as it stands.
 */
int format_v(char *buf, size_t size, const char *fmt, va_list ap);
int format(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * @value is a count of thousandths. Writes it with @decimals (0 to 3) decimals, rounded to
 * nearest, e.g. 12345 with 2 gives "12.35". Returns @buf.
 */
char *format_milli(char *buf, size_t size, uint64_t value, unsigned decimals);

#define FORMAT_MILLI_MAX 32

#endif
