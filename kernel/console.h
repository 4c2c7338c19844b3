/* SPDX-License-Identifier: BSD-2-Clause */
/* Where do the report, the messages and the JSON go? */
#ifndef KERNEL_CONSOLE_H
#define KERNEL_CONSOLE_H

#include <stdbool.h>

#include "lib/sink.h"

/* COM1, else the debug console, else nowhere; becomes the log's sink too. */
void console_init(void);
/* For everything that a person reads. */
struct sink *console(void);
/* COM2 for the JSON, if there is one; else NULL: it goes to the console between marker lines. */
struct sink *console_json(void);
/* Whether text would go out at once: progress lines are not worth a wait. */
bool console_ready(void);
/* Without patience, what the reader does not take at once is dropped. */
void console_patient(bool patient);
/* Says so, if readers that had stopped made us lose text. False if JSON was lost. */
bool console_complete(void);

#endif
