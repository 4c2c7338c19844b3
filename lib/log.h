/* SPDX-License-Identifier: BSD-2-Clause */
/* How does any floor of the house say what it saw? */
#ifndef LIB_LOG_H
#define LIB_LOG_H

#include <stdbool.h>

#include "lib/sink.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Messages above @level are dropped. The default is LOG_WARN. */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);
/* Parses error|warn|info|debug; false if @name is none of them. */
bool log_level_parse(const char *name, enum log_level *level);
/* NULL (the default) drops everything. */
void log_set_sink(struct sink *sink);
struct sink *log_get_sink(void);

/*
 * One line, without its newline: "error: TEXT", "warning: TEXT", "info: TEXT", "debug: TEXT".
 * Not for the hot path: the call sites there are errors that end a run.
 */
void log_line(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)

#endif
