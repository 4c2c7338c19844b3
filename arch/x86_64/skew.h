/* SPDX-License-Identifier: BSD-2-Clause */
/* How far are the TSCs of two CPUs apart? */
#ifndef ARCH_X86_64_SKEW_H
#define ARCH_X86_64_SKEW_H

#include <stdbool.h>

struct cpu;

/* On the first CPU, when @cpu is up. False if @cpu does not get to skew_answer() within 1 s. */
bool skew_measure(const struct cpu *cpu);
/* On @cpu: answers until the first CPU has seen enough. */
void skew_answer(const struct cpu *cpu);

#endif
