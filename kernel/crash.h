/* SPDX-License-Identifier: BSD-2-Clause */
/* What does a panic look like? debug.crash= provokes one. */
#ifndef KERNEL_CRASH_H
#define KERNEL_CRASH_H

#include "kernel/bench/options.h"

/* On @cpu, which runs. Does not come back, unless @kind is CRASH_NO. */
void crash(enum crash kind, unsigned cpu);

#endif
