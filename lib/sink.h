/* SPDX-License-Identifier: BSD-2-Clause */
/* Where does text go? To a sink: a UART, the debug console, a buffer in a test. */
#ifndef LIB_SINK_H
#define LIB_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/spinlock.h"

/* Several CPUs may write to one: what is written at once stays together. */
struct sink {
	void (*write)(struct sink *sink, const char *text, size_t len); /* under the lock */
	struct spinlock lock;
};

void sink_write(struct sink *sink, const char *text, size_t len);

void sink_puts(struct sink *sink, const char *text);
/* As format(); a line longer than 512 bytes is cut. */
void sink_printf(struct sink *sink, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Keeps all others from writing, for good. Waits, not for long, until nobody does; false if the one
 * who writes does not end, as he may have been interrupted for this: what he wrote is cut.
 */
bool sink_seize(struct sink *sink);

#endif
