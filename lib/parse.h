/* SPDX-License-Identifier: BSD-2-Clause */
/* How does text from the command line become a number, a size, a time? */
#ifndef LIB_PARSE_H
#define LIB_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each takes the whole string or returns false and leaves *out alone; overflow is false too. */
bool parse_u64(const char *s, uint64_t *out); /* 123, 0x7b */
bool parse_bool(const char *s, bool *out);    /* 0 1 off on no yes false true */
/* Bytes: 512, 4k, 4K, 4kb, 4kib, 1m, 2g, 1t, 1p; powers of 1024. */
bool parse_size(const char *s, uint64_t *out);
/* Nanoseconds: 10 (of @default_unit_ns each), 10s, 500ms, 20us, 5ns, 2m, 1h, 1d. */
bool parse_time(const char *s, uint64_t default_unit_ns, uint64_t *out_ns);
/* A number with up to 6 decimals, in millionths: 99.95 gives 99950000. */
bool parse_micro(const char *s, uint64_t *out);

/*
 * Takes the next token off @cursor and terminates it in place. Tokens are parted by blanks;
 * single or double quotes keep blanks and are removed. Returns NULL at the end, and also
 * sets *unclosed if a quote was never closed.
 */
char *parse_token(char **cursor, bool *unclosed);

#endif
