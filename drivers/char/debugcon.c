/* SPDX-License-Identifier: BSD-2-Clause */
/* How does text leave a machine without a UART? By the debug console that QEMU and Bochs have. */
#include "drivers/char/uart.h"

#include <arch/machine.h>

#define DEBUGCON_PORT 0xe9 /* reads back its own number where it exists */

static void debugcon_write(struct sink *sink, const char *text, size_t len)
{
	(void)sink;
	for (size_t i = 0; i < len; i++)
		port_write8(DEBUGCON_PORT, (uint8_t)text[i]);
}

bool debugcon_init(struct sink *sink)
{
	sink->write = debugcon_write;
	return port_read8(DEBUGCON_PORT) == DEBUGCON_PORT;
}
