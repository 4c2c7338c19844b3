/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of C's memory and string functions exist without a C library? */
#ifndef LIB_MEM_H
#define LIB_MEM_H

#include <stdbool.h>
#include <stddef.h>

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);

static inline bool str_eq(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
