/* SPDX-License-Identifier: BSD-2-Clause */
/* How does text leave the machine? Over a 16550 UART, or QEMU's debug console. */
#ifndef DRIVERS_CHAR_UART_H
#define DRIVERS_CHAR_UART_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/sink.h"

#define UART_COM1 0x3f8
#define UART_COM2 0x2f8

struct uart {
	struct sink sink;
	uint16_t port;
	bool impatient;	  /* wait for no reader at all */
	bool stalled;	  /* the reader has stopped: text is dropped until it goes on */
	uint64_t dropped; /* bytes */
};

/* 115200 8N1, FIFO on, no interrupts. False if nothing answers at @port like a 16550. */
bool uart_init(struct uart *uart, uint16_t port);
/* Whether a byte would be taken at once: for text that is not worth waiting for. */
bool uart_ready(const struct uart *uart);

/* Port 0xe9, where there is no UART. False if no debug console answers. */
bool debugcon_init(struct sink *sink);

#endif
