/* SPDX-License-Identifier: BSD-2-Clause */
/* How does text leave over a 16550, without ever waiting for ever? */
#include "drivers/char/uart.h"

#include <arch/machine.h>

enum {
	DATA = 0,
	INTERRUPT_ENABLE = 1,
	DIVISOR_LOW = 0,  /* with DIVISOR_LATCH */
	DIVISOR_HIGH = 1, /* with DIVISOR_LATCH */
	FIFO_CONTROL = 2,
	LINE_CONTROL = 3,
	MODEM_CONTROL = 4,
	LINE_STATUS = 5,
	SCRATCH = 7,
};

#define LINE_8N1	0x03
#define DIVISOR_LATCH	0x80
#define FIFO_ON_CLEARED 0x07
#define MODEM_DTR_RTS	0x03
#define TRANSMIT_EMPTY	0x20

/*
 * A reader may stop for a while; after that, what it does not take is lost, and counted. Before the
 * clock is calibrated, timebase is a guess, and the wait shorter or longer.
 */
#define PATIENCE_NS 30000000000ull

static uint8_t get(const struct uart *uart, unsigned reg)
{
	return port_read8((uint16_t)(uart->port + reg));
}

static void set(const struct uart *uart, unsigned reg, uint8_t value)
{
	port_write8((uint16_t)(uart->port + reg), value);
}

bool uart_ready(const struct uart *uart)
{
	return get(uart, LINE_STATUS) & TRANSMIT_EMPTY;
}

static bool wait_ready(struct uart *uart)
{
	uint64_t limit = ns_to_cycles(PATIENCE_NS), start;

	if (uart_ready(uart)) {
		uart->stalled = false;
		return true;
	}
	if (uart->stalled || uart->impatient)
		return false;
	for (start = cycles(); cycles() - start < limit; cpu_relax())
		if (uart_ready(uart))
			return true;
	uart->stalled = true;
	return false;
}

static void uart_write(struct sink *sink, const char *text, size_t len)
{
	struct uart *uart = (struct uart *)sink; /* sink is its first member */

	for (size_t i = 0; i < len; i++) {
		if (wait_ready(uart))
			set(uart, DATA, (uint8_t)text[i]);
		else
			uart->dropped++;
	}
}

bool uart_init(struct uart *uart, uint16_t port)
{
	*uart = (struct uart){.sink.write = uart_write, .port = port};
	set(uart, SCRATCH, 0x5a);
	if (get(uart, SCRATCH) != 0x5a)
		return false;
	set(uart, SCRATCH, 0xa5);
	if (get(uart, SCRATCH) != 0xa5)
		return false;
	set(uart, INTERRUPT_ENABLE, 0);
	set(uart, LINE_CONTROL, DIVISOR_LATCH);
	set(uart, DIVISOR_LOW, 1);
	set(uart, DIVISOR_HIGH, 0);
	set(uart, LINE_CONTROL, LINE_8N1);
	set(uart, FIFO_CONTROL, FIFO_ON_CLEARED);
	set(uart, MODEM_CONTROL, MODEM_DTR_RTS);
	return true;
}
