/* SPDX-License-Identifier: BSD-2-Clause */
/* How does formatted text reach a sink? */
#include "lib/sink.h"

#include <stdarg.h>

#include "lib/format.h"
#include "lib/mem.h"

#define LINE_MAX_BYTES 512
#define SEIZE_TRIES    200000 /* some ms: a line takes a virtual UART less than one */

void sink_write(struct sink *sink, const char *text, size_t len)
{
	spin_lock(&sink->lock);
	sink->write(sink, text, len);
	spin_unlock(&sink->lock);
}

bool sink_seize(struct sink *sink)
{
	bool seized = spin_try_lock(&sink->lock);

	for (unsigned i = 0; i < SEIZE_TRIES && !seized; i++) {
		__builtin_ia32_pause();
		seized = spin_try_lock(&sink->lock);
	}
	return seized;
}

void sink_puts(struct sink *sink, const char *text)
{
	sink_write(sink, text, strlen(text));
}

void sink_printf(struct sink *sink, const char *fmt, ...)
{
	char line[LINE_MAX_BYTES + 1];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = format_v(line, sizeof(line), fmt, ap);
	va_end(ap);
	sink_write(sink, line, len < LINE_MAX_BYTES ? (size_t)len : LINE_MAX_BYTES);
}
