/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a message become one line, or nothing? */
#include "lib/log.h"

#include <stdarg.h>
#include <stddef.h>

#include "lib/format.h"
#include "lib/mem.h"

static enum log_level log_level = LOG_WARN;
static struct sink *log_sink;

static const char *const option_names[] = {
	[LOG_ERROR] = "error", [LOG_WARN] = "warn", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"};
static const char *const prefixes[] = {[LOG_ERROR] = "error: ",
				       [LOG_WARN] = "warning: ",
				       [LOG_INFO] = "info: ",
				       [LOG_DEBUG] = "debug: "};

void log_set_level(enum log_level level)
{
	log_level = level;
}

enum log_level log_get_level(void)
{
	return log_level;
}

bool log_level_parse(const char *name, enum log_level *level)
{
	for (unsigned i = 0; i < ARRAY_SIZE(option_names); i++) {
		if (str_eq(name, option_names[i])) {
			*level = (enum log_level)i;
			return true;
		}
	}
	return false;
}

void log_set_sink(struct sink *sink)
{
	log_sink = sink;
}

struct sink *log_get_sink(void)
{
	return log_sink;
}

/* One write per line, so that nothing comes between its parts. A long text is cut, its end is not. */
void log_line(enum log_level level, const char *fmt, ...)
{
	char line[512];
	size_t len, room;
	va_list ap;
	int text_len;

	if (!log_sink || level > log_level)
		return;
	len = strlen(prefixes[level]);
	memcpy(line, prefixes[level], len);
	room = sizeof(line) - len - 1;
	va_start(ap, fmt);
	text_len = format_v(line + len, room + 1, fmt, ap);
	va_end(ap);
	len += (size_t)text_len < room ? (size_t)text_len : room;
	line[len++] = '\n';
	sink_write(log_sink, line, len);
}
