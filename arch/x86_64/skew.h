/* SPDX-License-Identifier: BSD-2-Clause */
/* How far are the TSCs of two CPUs apart? */
#ifndef ARCH_X86_64_SKEW_H
#define ARCH_X86_64_SKEW_H

#include <stdbool.h>
#include <stdint.h>

struct cpu;

/* What goes to and fro: one cache line. A round has the number that both sides know it by. */
struct skew_line {
	uint64_t asked, answered;
	uint64_t at; /* on the TSC of the one who answers */
} __attribute__((aligned(64)));

/* Ends skew_answer() on @cpu, now or when it comes to it. */
void skew_release(struct cpu *cpu);
/* On the first CPU, when @cpu is up. False if @cpu does not get to skew_answer() within 1 s. */
bool skew_measure(struct cpu *cpu);
/* On @cpu: answers until the first CPU has seen enough. */
void skew_answer(struct cpu *cpu);

#endif
