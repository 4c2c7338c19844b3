/* SPDX-License-Identifier: BSD-2-Clause */
/* How does formatted text reach a sink? */
#include "lib/sink.h"

#include <stdarg.h>

#include "lib/format.h"
#include "lib/mem.h"

#define LINE_MAX_BYTES 512

void sink_puts(struct sink *sink, const char *text)
{
	sink->write(sink, text, strlen(text));
}

void sink_printf(struct sink *sink, const char *fmt, ...)
{
	char line[LINE_MAX_BYTES + 1];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = format_v(line, sizeof(line), fmt, ap);
	va_end(ap);
	sink->write(sink, line, len < LINE_MAX_BYTES ? (size_t)len : LINE_MAX_BYTES);
}
