/* SPDX-License-Identifier: BSD-2-Clause */
/* How do panic() and a trap's report share one way out? */
#ifndef ARCH_X86_64_PANIC_H
#define ARCH_X86_64_PANIC_H

#include <stdint.h>

#include "lib/sink.h"

/*
 * Where to report to. Stops the other CPUs. Does not return if a report is under way: a fault within
 * it ends at once, and another CPU halts.
 */
struct sink *panic_begin(void);
/* Prints a backtrace from @rip and the frame pointer @rbp, then exits. */
_Noreturn void panic_end(struct sink *out, uint64_t rip, uint64_t rbp);

/* COM1, else the debug console, polled and bounded: for what happens before there is a log. */
struct sink *early_console(void);

#endif
