/* SPDX-License-Identifier: BSD-2-Clause */
/* What ends a wait when nothing else does? The one-shot timer of the local APIC. */
#ifndef ARCH_X86_64_TIMER_H
#define ARCH_X86_64_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct cpu;

/* Finds out which timer there is and measures it, in about 0.4 ms; by itself at the first use. */
void timer_choose(void);

/*
 * Makes the timer of @cpu, the one that runs this, fire at cycles() = @deadline, or before: it may
 * be armed for an earlier time and stay so, and it counts no further than 32 bits. False if the
 * timer does not run. @deadline is not 0. Needs lapic_enable().
 */
bool timer_arm(struct cpu *cpu, uint64_t deadline);

#endif
