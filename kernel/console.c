/* SPDX-License-Identifier: BSD-2-Clause */
/* Where do the report, the messages and the JSON go? */
#include "kernel/console.h"

#include <stddef.h>

#include "drivers/char/uart.h"
#include "lib/log.h"

static struct uart com1, com2;
static struct sink debugcon;
static struct sink *text_sink, *json_sink;

static void discard(struct sink *sink, const char *text, size_t len)
{
	(void)sink;
	(void)text;
	(void)len;
}

static struct sink nowhere = {.write = discard};

void console_init(void)
{
	text_sink = &nowhere;
	if (uart_init(&com1, UART_COM1))
		text_sink = &com1.sink;
	else if (debugcon_init(&debugcon))
		text_sink = &debugcon;
	if (uart_init(&com2, UART_COM2))
		json_sink = &com2.sink;
	log_set_sink(text_sink);
}

struct sink *console(void)
{
	return text_sink;
}

struct sink *console_json(void)
{
	return json_sink;
}

bool console_ready(void)
{
	return text_sink != &com1.sink || uart_ready(&com1);
}

void console_patient(bool patient)
{
	com1.impatient = !patient;
}

bool console_complete(void)
{
	if (com1.dropped)
		log_warn("console: %llu bytes of text lost while the reader of COM1 had stopped",
			 (unsigned long long)com1.dropped);
	if (com2.dropped)
		log_error("console: %llu bytes of JSON lost while the reader of COM2 had stopped",
			  (unsigned long long)com2.dropped);
	return com2.dropped == 0;
}
