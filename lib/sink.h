/* SPDX-License-Identifier: BSD-2-Clause */
/* Where does text go? To a sink: a UART, the debug console, a buffer in a test. */
#ifndef LIB_SINK_H
#define LIB_SINK_H

#include <stddef.h>

struct sink {
	void (*write)(struct sink *sink, const char *text, size_t len);
};

void sink_puts(struct sink *sink, const char *text);
/* As format(); a line longer than 512 bytes is cut. */
void sink_printf(struct sink *sink, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
