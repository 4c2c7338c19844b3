/* SPDX-License-Identifier: BSD-2-Clause */
/* Who hears a panic before there is a log? COM1 if it is there, and the debug console. */
#include <arch/machine.h>

#include "arch/x86_64/panic.h"

#define COM1_DATA	 0x3f8
#define COM1_LINE_STATUS 0x3fd
#define TRANSMIT_EMPTY	 0x20
#define NO_UART		 0xff /* what a port without a device reads as */
#define WAITS_MAX	 100000
#define DEBUG_CONSOLE	 0xe9

static void put(char c)
{
	unsigned waits = 0;
	uint8_t status;

	port_write8(DEBUG_CONSOLE, (uint8_t)c);
	do {
		status = port_read8(COM1_LINE_STATUS);
		if (status == NO_UART)
			return;
	} while (!(status & TRANSMIT_EMPTY) && waits++ < WAITS_MAX);
	port_write8(COM1_DATA, (uint8_t)c);
}

static void early_write(struct sink *sink, const char *text, size_t len)
{
	(void)sink;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n')
			put('\r');
		put(text[i]);
	}
}

struct sink *early_console(void)
{
	static struct sink sink = {.write = early_write};

	return &sink;
}
