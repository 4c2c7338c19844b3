/* SPDX-License-Identifier: BSD-2-Clause */
/* What does each CPU keep for itself? GS leads to it. */
#ifndef ARCH_X86_64_PERCPU_H
#define ARCH_X86_64_PERCPU_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/x86_64/gdt.h"
#include "arch/x86_64/image.h"
#include "arch/x86_64/interrupt.h"
#include "arch/x86_64/lapic.h"
#include "lib/sink.h"

#define TIMER_NOT_ARMED UINT64_MAX

struct cpu {
	struct cpu *self; /* at GS:0 */
	unsigned index;	  /* cpu_index() */
	uint32_t apic_id; /* valid once @lapic is a mode */
	enum lapic_mode lapic;
	bool timer_ready;
	uint64_t handled;	  /* interrupts that end a wait */
	uint64_t armed;		  /* cycles() at which the timer will fire, or TIMER_NOT_ARMED */
	struct handler *handlers; /* DEVICE_VECTORS of them */
	unsigned next_vector;	  /* where the search for a free one begins */
	uint64_t spurious, unexpected, errors;
	uint32_t error_bits;

	/* Of the CPUs other than the first. */
	void (*run)(void *context); /* NULL: idle */
	void *run_context;
	bool up, stopped;
	struct stack_area stacks[STACK_COUNT];
	struct segments segments;
} __attribute__((aligned(64)));

static inline struct cpu *this_cpu(void)
{
	struct cpu *cpu;

	__asm__("movq %%gs:0, %0" : "=r"(cpu));
	return cpu;
}

/* NULL if there is none of that number: CPUs are numbered without a gap. */
struct cpu *cpu_of(unsigned index);
/* Sets who has that number; NULL takes him out again. */
void cpu_set(unsigned index, struct cpu *cpu);

/* Makes this_cpu() lead to the boot CPU; on that CPU, before anything else here. */
void percpu_init(void);

/* Sends all others an NMI, which ends in cpu_stop() there; says in @out who does not stop soon. */
void cpus_stop_others(struct sink *out);
_Noreturn void cpu_stop(void);

/* Where another CPU enters C, on its own stack (ap_entry.S). */
_Noreturn void ap_main(struct cpu *cpu);

#endif
