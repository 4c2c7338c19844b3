/* SPDX-License-Identifier: BSD-2-Clause */
/* How are bytes copied, set and compared where there is no C library? (Not linked on the host.) */
#include "lib/mem.h"

#include <stdint.h>

/* gcc would see memcpy in memcpy's own loop, and call it. The pragma drops -fno-omit-frame-pointer. */
#ifndef __clang__
#pragma GCC optimize("no-tree-loop-distribute-patterns", "no-omit-frame-pointer")
#endif

/* Eight bytes at any address, of any type. */
struct word {
	uint64_t v;
} __attribute__((packed, may_alias));

static void copy_up(unsigned char *d, const unsigned char *s, size_t n)
{
	for (; n >= sizeof(struct word); n -= sizeof(struct word)) {
		*(struct word *)d = *(const struct word *)s;
		d += sizeof(struct word);
		s += sizeof(struct word);
	}
	while (n--)
		*d++ = *s++;
}

static void copy_down(unsigned char *d, const unsigned char *s, size_t n)
{
	while (n >= sizeof(struct word)) {
		n -= sizeof(struct word);
		*(struct word *)(d + n) = *(const struct word *)(s + n);
	}
	while (n--)
		d[n] = s[n];
}

void *memcpy(void *restrict dst, const void *restrict src, size_t n)
{
	copy_up(dst, src, n);
	return dst;
}

void *memmove(void *dst, const void *src, size_t n)
{
	/* One unsigned comparison: @dst inside [@src, @src + @n) must go from the end. */
	if ((uintptr_t)dst - (uintptr_t)src < n)
		copy_down(dst, src, n);
	else
		copy_up(dst, src, n);
	return dst;
}

void *memset(void *dst, int byte, size_t n)
{
	uint64_t pattern = 0x0101010101010101ull * (unsigned char)byte;
	unsigned char *d = dst;

	for (; n >= sizeof(struct word); n -= sizeof(struct word)) {
		((struct word *)d)->v = pattern;
		d += sizeof(struct word);
	}
	while (n--)
		*d++ = (unsigned char)byte;
	return dst;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *p = a, *q = b;

	for (; n; n--, p++, q++)
		if (*p != *q)
			return *p - *q;
	return 0;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, SIZE_MAX);
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++) {
		if (*a != *b)
			return (unsigned char)*a - (unsigned char)*b;
		if (!*a)
			return 0;
	}
	return 0;
}

char *strchr(const char *s, int c)
{
	for (; *s != (char)c; s++)
		if (!*s)
			return NULL;
	return (char *)(uintptr_t)s;
}
